// Shows the webhooks of an account, their signatures, and the received events, for people and for
// scripts.
import { transactionNames, webhookNames } from '../../api/names.js';
import type { Transaction, Webhook } from '../../api/types.js';
import { cardView, sentenceView } from '../cards/card.js';
import { fieldColumns, type ListView, type RecordView, type StreamView } from '../rows/view.js';
import { type LayoutPart, sideBySide, widthOf, sanitize } from '../text.js';
import { clockTime, relativeTime } from '../time.js';
import { counted, ownReference, shortId } from '../../formats/text.js';
import type { StoredEvent } from '../../store/events/event-store.js';
import type { Canvas } from '../terminal.js';
import { lineAmount, transactionKind } from './transaction-view.js';
import { stateStyle } from '../cards/steps.js';

export function webhookRows(now: number): ListView<Webhook> {
  return {
    columns: [
      { name: 'id', title: 'ID', priority: 9, below: true },
      { name: 'callback', title: 'Callback' },
      {
        name: 'createdAt',
        title: 'Created',
        text: ({ createdAt }) => createdText(createdAt, now),
      },
    ],
    quiet: ({ id }) => id,
    empty: 'No webhook is set. Set a webhook',
    next: { command: 'webhook set https://…' },
  };
}

const createdText = (at: Webhook['createdAt'], now: number): string =>
  at == null ? '–' : relativeTime(at, now);

export interface WebhookChange extends Webhook {
  /** A new secret, which svcpay shows only once. */
  readonly secret?: string;
  /** Where the new secret is stored, in words, or undefined if the webhook keeps its old secret. */
  readonly secretIn?: string;
}

export const webhookCard: RecordView<WebhookChange> = cardView({
  columns: [
    { name: 'id', title: 'ID' },
    { name: 'callback', title: 'Callback' },
    { name: 'createdAt', only: 'rows' },
    { name: 'secret', title: 'Secret', note: ({ secret }) => secret && 'shown only once' },
    {
      name: 'secretIn',
      title: 'Kept',
      text: ({ secretIn }) => (secretIn ? `in ${secretIn}` : ''),
      only: 'screen',
    },
  ],
  fields: [...webhookNames, 'secretIn'],
  quiet: ({ id, secret }) => secret ?? id,
});

export const removedView: RecordView<{ readonly id: string }> = {
  ...sentenceView(
    ['id'],
    ({ id }) => `Removed the webhook ${id}. Events already on their way may still arrive.`,
    ({ id }) => id,
  ),
  fields: ['removed'],
};

export interface Signature {
  readonly signature: string;
  /** The name of the signature header. */
  readonly header: string;
}

export const signatureView: RecordView<Signature> = {
  screen: (_canvas, { signature }) => [signature],
  columns: fieldColumns(['signature']),
  fields: ['header'],
  quiet: ({ signature }) => signature,
};

export interface Verified {
  readonly valid: true;
  readonly bytes: number;
}

export const verifiedView: RecordView<Verified> = {
  ...sentenceView(
    ['valid'],
    ({ bytes }) => `The signature matches these ${bytes} bytes.`,
    () => 'valid',
  ),
  fields: ['bytes'],
};

/** An event: the fields of the inbox, and the payload with the field names of the specification. */
export interface EventRow extends Pick<
  StoredEvent,
  'receivedAt' | 'duplicateOf' | 'outOfOrder' | 'missing'
> {
  readonly txnId?: string | null;
  readonly extRefId?: string | null | undefined;
  readonly txnState?: string | null;
  readonly msg?: string | null | undefined;
  readonly updatedAt?: number | null | undefined;
  readonly eventId: number;
  /** The body of a signed delivery whose payload does not match the specification. */
  readonly body?: string;
  /** The current transaction as the service reports it. */
  readonly transaction?: Transaction;
  /**
   * The HTTP status with which an address answered a forwarded or replayed event, or null if the
   * address did not answer.
   */
  readonly status?: number | null;
  readonly error?: string;
  /** The address that answered a forwarded event, and the time until the answer. */
  readonly answeredBy?: { readonly target: string; readonly ms: number };
}

const rowFields: Readonly<Record<Exclude<keyof EventRow, 'answeredBy'>, readonly string[]>> = {
  txnId: [],
  extRefId: [],
  txnState: [],
  msg: [],
  updatedAt: [],
  eventId: [],
  receivedAt: [],
  duplicateOf: [],
  outOfOrder: [],
  missing: [],
  body: [],
  transaction: transactionNames,
  status: [],
  error: [],
};

export const eventFields: readonly string[] = [
  ...Object.entries(rowFields).flatMap(([field, within]) => [
    field,
    ...within.map((name) => `${field}.${name}`),
  ]),
  'remarks',
];

export const eventStream: StreamView<EventRow> = {
  lines: eventLines,
  columns: [
    { name: 'eventId', title: 'Event' },
    { name: 'receivedAt', title: 'Received' },
    { name: 'txnState', title: 'State' },
    { name: 'txnId', title: 'Transaction' },
    { name: 'extRefId', title: 'Reference' },
    { name: 'updatedAt', title: 'Updated' },
    { name: 'remarks', title: 'Remarks', value: (row) => remarks(row).join('; ') },
  ],
  fields: eventFields,
  quiet: ({ txnId }) => txnId ?? '',
};

const margin = '  ';
const gap = '  ';
const stateWidth = 'usercanceled'.length;

/**
 * Draws the lines of an event. In a narrow window, svcpay omits words about the transaction that do
 * not fit, and puts the receiver's answer and the remarks on separate lines. An event without a
 * description of its transaction shows the whole transaction id.
 */
function eventLines(row: EventRow, { style, columns }: Canvas): string[] {
  const state = row.txnState ?? 'unreadable';
  const { transaction } = row;
  const below = (texts: string[]): LayoutPart[] => texts.map((text) => ({ text, below: true }));
  const parts = [
    ...(transaction === undefined
      ? below(nameParts(row))
      : described(row, transaction).map((text) => ({ text }))),
    ...below(answerText(row, style)),
    ...below(remarks(row).map((remark) => style.dim(remark))),
  ];
  const number = row.answeredBy === undefined ? ` #${row.eventId}` : '';
  const head = `${margin}${style.dim(clockTime(row.receivedAt) + number)}${gap}`;
  const [first = '', ...rest] = sideBySide(
    [
      { text: stateStyle(state, style)(sanitize(state).padEnd(stateWidth)) },
      ...parts.map((part, i) => ({ ...part, priority: i + 1 })),
    ],
    columns - widthOf(head),
    gap,
  );
  const indent = ' '.repeat(Math.min(widthOf(head), Math.max(0, columns - 36)));
  return [head + first, ...rest.map((line) => indent + line)].map((line) => line.trimEnd());
}

const nameParts = ({ txnId, extRefId, msg }: EventRow): string[] =>
  [txnId ?? '', extRefId ?? '', msg ?? ''].map(sanitize);

function described({ extRefId, msg, txnState, answeredBy }: EventRow, txn: Transaction): string[] {
  const isOld = txn.txnState !== txnState && answeredBy === undefined;
  return [
    transactionKind(txn).toLowerCase(),
    lineAmount(txn),
    shortId(txn),
    ownReference(extRefId),
    msg ?? '',
    isOld ? `now ${txn.txnState}` : '',
  ].map(sanitize);
}

function answerText({ status, answeredBy }: EventRow, style: Canvas['style']): string[] {
  if (answeredBy === undefined || status === undefined || status === null) return [];
  const colour = status >= 200 && status < 300 ? style.green : style.red;
  const { target, ms } = answeredBy;
  return [`-> ${sanitize(target)}  ${colour(String(status))}  ${Math.round(ms)} ms`];
}

function remarks(row: EventRow): string[] {
  const { duplicateOf, outOfOrder, missing, body, status, error, answeredBy } = row;
  return [
    ...(duplicateOf === null ? [] : [`duplicate of #${duplicateOf}`]),
    ...(outOfOrder ? ['out of order'] : []),
    ...(missing.length === 0 ? [] : [`no event for ${missing.map(sanitize).join(', ')}`]),
    ...(body === undefined ? [] : ['signed, but the payload does not follow the specification']),
    ...(status === undefined || answeredBy !== undefined
      ? []
      : [status === null ? `not delivered: ${sanitize(error ?? '')}` : `answered ${status}`]),
  ];
}

interface ListenTotals {
  readonly received: number;
  readonly duplicates: number;
  readonly outOfOrder: number;
  readonly wrongSignatures: number;
  readonly refused: number;
  readonly unwritten: number;
  readonly gaps: readonly { readonly txnId: string; readonly missing: readonly string[] }[];
  readonly consumers: readonly {
    readonly name: string;
    readonly delivered: number;
    readonly failed: number;
    readonly waiting: number;
  }[];
}

const gapsShown = 5;

/** Describes the totals in words, one sentence per line, without totals of zero. */
export function totalLines(totals: ListenTotals): string[] {
  const { received, duplicates, outOfOrder, wrongSignatures, refused, unwritten, gaps, consumers } =
    totals;
  const parts = [
    counted(received, 'event'),
    ...some(duplicates, (n) => counted(n, 'duplicate')),
    ...some(outOfOrder, (n) => `${n} out of order`),
    ...some(wrongSignatures, (n) => counted(n, 'wrong signature')),
    ...some(refused, (n) => `${counted(n, 'request')} refused`),
    ...some(unwritten, (n) => `${n} not stored (answered with 503)`),
  ];
  return [
    parts.join(' · '),
    ...consumers.map(({ name, delivered, failed, waiting }) =>
      [
        `${name}: ${delivered} delivered`,
        ...some(failed, (n) => `${n} failed`),
        ...some(
          waiting,
          (n) => `${counted(n, 'event')} waiting until svcpay forwards to this consumer again`,
        ),
      ].join(', '),
    ),
    ...gaps
      .slice(0, gapsShown)
      .map(
        ({ txnId, missing }) => `Gap: transaction ${txnId} has no event for ${missing.join(', ')}`,
      ),
    ...some(
      gaps.length - gapsShown,
      (n) => `Gap: events are missing for at least ${counted(n, 'other transaction')}`,
    ),
  ];
}

const some = (count: number, say: (count: number) => string): string[] =>
  count > 0 ? [say(count)] : [];
