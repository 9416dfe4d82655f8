// Shows transactions and the payments of the journal in words and as tables, and the story of a
// payment.
import { shortened, ownReference, shortId } from '../../formats/text.js';
import {
  formatAmount,
  shortAmount,
  givenFromWire,
  money,
  moneyFromWire,
  type Money,
} from '../../formats/amount.js';
import { isRetriable, hasLapsed, isQuoted } from '../../formats/states.js';
import { methodProperties, railOfKind } from '../../formats/rails.js';
import type { ListedTransaction, RequestSide, Transaction } from '../../api/types.js';
import Big from 'big.js';
import { paragraph, sanitize } from '../text.js';
import { cardLines } from '../cards/card.js';
import { dayAndMonth, formatDuration } from '../../formats/calendar.js';
import { dateTime, shortTime, clockTime } from '../time.js';
import {
  dim,
  type Cell,
  type Column,
  type ListView,
  fieldColumns,
  type RecordView,
  type RowView,
  columnsApart,
  columnsThrough,
  fieldsOf,
} from '../rows/view.js';
import {
  kindOf,
  stateStyle,
  stateWithReason,
  confirmationsText,
  sendWord,
  uncountedWord,
} from '../cards/steps.js';
import { transactionNames } from '../../api/names.js';
import type { Canvas } from '../terminal.js';
import type { AttemptState, Payment } from '../../store/journal/payment.js';

type Sides = Pick<ListedTransaction, 'sourceReq' | 'destReq'>;

/**
 * Describes the kind of a transaction, such as `Lightning receive`, `Swap` or `Payout`. The methods
 * of both sides decide the kind of the transaction.
 */
export function transactionKind({ sourceReq, destReq }: Sides): string {
  const source = sourceReq.method ?? '';
  const dest = destReq.method ?? '';
  if (source === '') return 'Transaction';
  const from = methodProperties(source);
  if (source !== 'servicepay')
    return from?.isRequested === true ? `${from.label} receive` : 'Deposit';
  if (dest === '') return 'Send';
  if (dest === 'servicepay') return 'Swap';
  const to = methodProperties(dest);
  return to === undefined ? 'Payout' : `${to.label} send`;
}

/**
 * Returns the amount of one side of a transaction: the settled amount or, before the settlement,
 * the requested amount. Returns undefined if this side of the transaction has neither a settled nor
 * a requested amount.
 */
export const sideAmount = (side: RequestSide): Money | undefined =>
  moneyFromWire(side.ccy, side.amtSettled ?? side.amtRequested);

/**
 * Describes the amounts of a transaction, such as `0.00100000 BTC → 70.79 USDT` for two currencies.
 * If both sides have the same currency, returns the received amount or, if the received amount is
 * unknown, the debited amount.
 */
export function movedText({ sourceReq, destReq }: Sides): string {
  const [from, to] = [sourceReq, destReq].map(sideAmount);
  const amounts = from && to && from.ccy !== to.ccy ? [from, to] : [to ?? from];
  return amounts.map((amount) => (amount === undefined ? '–' : formatAmount(amount))).join(' → ');
}

const rowsOnly = (
  name: string,
  value: (row: ListedTransaction) => Cell,
): Column<ListedTransaction> => ({
  name,
  value,
  only: 'rows',
});

export const minus = '\u2212';

/**
 * Formats the amount of a transaction in a list, such as `−2 507 sat`. The amount of a swap is the
 * debited amount.
 */
export function lineAmount(txn: Sides): string {
  const { method } = txn.sourceReq;
  const from = sideAmount(txn.sourceReq);
  const amount = kindOf(txn) === 'swap' ? from : (sideAmount(txn.destReq) ?? from);
  if (amount === undefined) return '–';
  return (method === 'servicepay' ? minus : method ? '+' : '') + shortAmount(amount);
}

type Directed = Sides & Partial<Pick<ListedTransaction, 'txnState'>>;

/** Returns the direction of a transaction, or `✗` for a transaction that failed. */
function arrowOf({ txnState = '', ...sides }: Directed): string {
  if (isRetriable(txnState) || txnState === 'error') return '✗';
  if (kindOf(sides) === 'swap') return '⇄';
  const { method } = sides.sourceReq;
  return method === 'servicepay' ? '↑' : method ? '↓' : '·';
}

const railOf = (txn: Sides): string => transactionKind(txn).replace(/ (send|receive)$/, '');

/**
 * Describes the kind of a transaction with its direction, such as `↓ Lightning` for incoming and `↑
 * Lightning` for outgoing.
 */
export const lineKind = (txn: Directed): string => `${arrowOf(txn)} ${railOf(txn)}`;

/** The fields that identify the other party, in order of preference. */
const partyFields = ['acctName', 'lnurlAddress', 'address', 'acctNum', 'bankAcctNum'] as const;

/**
 * Returns the other party of a transaction or, if the other party is unknown, the note. For a swap,
 * returns the received amount.
 */
export function partyOf(txn: ListedTransaction, recipientOf: RecipientOf): string {
  const { sourceReq, destReq, note } = txn;
  if (kindOf(txn) === 'swap') {
    const to = sideAmount(destReq);
    return to === undefined ? '' : `→ ${shortAmount(to)}`;
  }
  const details = sourceReq.method === 'servicepay' ? destReq.reqDetails : undefined;
  const named = partyFields.map((field) => details?.[field]).find((value) => value);
  return shortened(recipientOf(txn.txnId) ?? named ?? note ?? '');
}

/**
 * Describes a transaction on one line for shell completion, such as `↓ Lightning 50 000 sat,
 * Invoice 118, 2026-11-23 10:22`.
 */
export const lineText = (txn: ListedTransaction, recipientOf: RecipientOf): string =>
  [
    `${lineKind(txn)} ${lineAmount(txn)}`,
    partyOf(txn, recipientOf),
    txn.createdAt == null ? '' : dateTime(txn.createdAt).slice(0, 16),
  ]
    .filter(Boolean)
    .join(', ');

/** Returns the recipient of a payment from this home, or undefined for other transactions. */
export type RecipientOf = (txnId: string) => string | undefined;

/** Returns a prefix length at which all given ids differ. */
export function idLength(ids: readonly string[]): number {
  const countAt = (length: number): number => new Set(ids.map((id) => id.slice(0, length))).size;
  return [8, 12, 16, 20, 24, 28, 32].find((at) => countAt(at) === countAt(Infinity)) ?? Infinity;
}

interface TransactionListOptions {
  readonly recipientOf?: RecipientOf;
  /**
   * The ids on one screen, which svcpay shortens to unique prefixes. If `ids` is undefined, svcpay
   * shows whole ids.
   */
  readonly ids?: readonly string[];
  /** Whether the list also shows the state of transactions that are done. */
  readonly showsDone?: boolean;
  readonly heading?: string | undefined;
  readonly footer?: string | undefined;
}

/**
 * Returns the view of a page of the history. `now` is the current time in epoch ms, from which a
 * screen computes relative times. Rows for scripts have exact times.
 */
export function transactionList(
  now: number,
  options: TransactionListOptions = {},
): ListView<ListedTransaction> {
  const { recipientOf = () => undefined, ids, showsDone, heading, footer } = options;
  const shown = ids === undefined ? Infinity : idLength(ids);
  return {
    columns: [
      {
        name: 'time',
        value: ({ createdAt }) => (createdAt == null ? '' : new Date(createdAt).toISOString()),
        text: timeText((at) => shortTime(at, now)),
        align: 'right',
        style: dim,
        priority: 3,
      },
      rowsOnly('what', transactionKind),
      {
        name: 'party',
        value: (txn) => `${arrowOf(txn)} ${partyOf(txn, recipientOf) || railOf(txn)}`,
        only: 'screen',
        priority: 2,
        below: true,
        shrinks: 10,
      },
      {
        name: 'amount',
        value: lineAmount,
        align: 'decimal',
        only: 'screen',
        // Incoming money is green.
        style: (cell, style, { txnState, sourceReq }) =>
          txnState === 'completed' && sourceReq.method !== 'servicepay' ? style.green(cell) : cell,
      },
      rowsOnly('sourceReq.ccy', ({ sourceReq }) => sourceReq.ccy),
      rowsOnly('sourceAmount', ({ sourceReq }) => sideAmount(sourceReq)?.value),
      rowsOnly('destReq.ccy', ({ destReq }) => destReq.ccy),
      rowsOnly('destAmount', ({ destReq }) => sideAmount(destReq)?.value),
      ...(['servicepayFees', 'networkFees'] as const).map((name) =>
        rowsOnly(`sourceReq.${name}`, ({ sourceReq }) => givenFromWire(sourceReq[name])),
      ),
      {
        name: 'rail',
        value: (txn) => railOf(txn).toLowerCase(),
        only: 'screen',
        style: dim,
        priority: 7,
      },
      {
        name: 'txnState',
        text: (txn) =>
          txn.txnState === 'completed' && showsDone !== true ? '' : stateWithReason(txn),
        style: (cell, style, { txnState }) => stateStyle(txnState, style)(cell),
        priority: 4,
        below: true,
      },
      { name: 'fee', value: feeMark, only: 'screen', style: dim, priority: 6 },
      { name: 'txnId', text: ({ txnId }) => txnId.slice(0, shown), priority: 5, style: dim },
      rowsOnly('extRefId', ({ extRefId }) => extRefId),
      rowsOnly('with', (txn) => partyOf(txn, recipientOf)),
    ],
    fields: transactionNames,
    quiet: ({ txnId }) => txnId,
    empty:
      'No transactions yet, or no transaction matches the filters. All transactions: ' +
      'svcpay tx list',
    heading,
    footer,
  };
}

/**
 * Returns the columns of a movement on the home screen and in `watch`, such as `1 h  ↓ Coffee House
 * +50 000 sat`.
 * @param time describes a time in words
 */
export const movementColumns = (
  time: (at: number) => string,
  recipientOf: RecipientOf,
): Column<ListedTransaction>[] =>
  transactionList(0, { recipientOf })
    .columns.filter(({ name }) => ['time', 'party', 'amount'].includes(name))
    .map((column) => (column.name === 'time' ? { ...column, text: timeText(time) } : column));

const timeText =
  (text: (at: number) => string) =>
  ({ createdAt }: ListedTransaction): string =>
    createdAt == null ? '–' : text(createdAt);

/**
 * Returns the fees of a completed transaction as a mark such as `+7 fee`, without a unit if the
 * amount beside it has the same unit.
 */
function feeMark(txn: ListedTransaction): string {
  const { ccy, servicepayFees, networkFees } = txn.sourceReq;
  const fees = [servicepayFees, networkFees].flatMap((fee) => givenFromWire(fee) ?? []);
  const sum = fees.reduce((total, fee) => total.plus(fee), new Big(0));
  if (sum.eq(0) || !ccy || txn.txnState !== 'completed') return '';
  const [number = '', unit = ''] = shortAmount(money(ccy, sum)).split(/ (?=[a-z]+$)/i);
  return `+${number}${lineAmount(txn).endsWith(` ${unit}`) ? '' : ` ${unit}`} fee`;
}

/**
 * The fields of a command that moves money. svcpay checks the names in `--fields` before the
 * command starts.
 */
export const paymentFields: readonly string[] = [
  ...transactionNames,
  'time',
  'what',
  'sourceAmount',
  'destAmount',
];

interface ExplainedStep {
  /** The time of the step, as ISO 8601. */
  readonly at: string;
  readonly step: string;
  readonly attempt: number | null;
  /** The step as a sentence, or null if the sentence of the next step includes it. */
  readonly text: string | null;
  /** Who or what performed the step. */
  readonly by: { readonly door: string; readonly user: string; readonly host: string };
  readonly detail: object;
}

export interface Explained {
  readonly ref: string;
  readonly txnId: string | null;
  readonly status: string;
  /** Where the money is. */
  readonly end: string;
  readonly steps: readonly ExplainedStep[];
}

export const explainedView: RecordView<Explained> = {
  columns: fieldColumns(['ref', 'txnId', 'status', 'end', 'steps']),
  quiet: ({ status }) => status,
  screen: () => [],
};

/** A transaction with the facts that this home or database knows about it. */
export interface ExportedTransaction extends ListedTransaction {
  readonly destination?: string;
  readonly paymentHash?: string | null;
  readonly reference?: string;
  readonly approvedBy?: string | null;
  /** The currency of the rates that svcpay stored when the transaction settled. */
  readonly fiat?: string | undefined;
  readonly sourceFiatRate?: Big | undefined;
  readonly destFiatRate?: Big | undefined;
}

const exportedSide = (name: 'source' | 'dest'): Column<ListedTransaction>[] => {
  const side = (txn: Sides): RequestSide => txn[`${name}Req`];
  return [
    rowsOnly(`${name}Method`, (txn) => side(txn).method),
    rowsOnly(`${name}Ccy`, (txn) => side(txn).ccy),
    rowsOnly(`${name}Amount`, (txn) =>
      givenFromWire(side(txn).amtSettled ?? side(txn).amtRequested),
    ),
  ];
};

/** The columns of the history as a file. The two fees are in the source currency. */
export const exportList: RowView<ExportedTransaction> = {
  columns: [
    rowsOnly('time', ({ createdAt }) => createdAt && new Date(createdAt).toISOString()),
    { name: 'txnId' },
    { name: 'extRefId' },
    { name: 'txnState' },
    ...exportedSide('source'),
    ...exportedSide('dest'),
    rowsOnly('servicepayFees', ({ sourceReq }) => givenFromWire(sourceReq.servicepayFees)),
    rowsOnly('networkFees', ({ sourceReq }) => givenFromWire(sourceReq.networkFees)),
    rowsOnly('fxRate', ({ fxRate }) => givenFromWire(fxRate)),
    { name: 'note' },
    { name: 'fiat' },
    { name: 'sourceFiatRate' },
    { name: 'destFiatRate' },
    { name: 'destination' },
    { name: 'paymentHash' },
    { name: 'reference' },
    { name: 'approvedBy' },
  ],
  quiet: ({ txnId }) => txnId,
};

export const stepList: ListView<ExplainedStep> = {
  columns: [
    { name: 'at', title: 'When' },
    { name: 'step', title: 'Step' },
    { name: 'text', title: 'What' },
    { name: 'door', title: 'By', value: ({ by }) => by.door },
    { name: 'user', title: 'User', value: ({ by }) => by.user },
    { name: 'host', title: 'Host', value: ({ by }) => by.host },
  ],
  quiet: ({ step }) => step,
  empty: '',
};

interface DrawnStory {
  readonly title: string;
  readonly names: readonly string[];
  readonly lines: readonly { readonly at: number | undefined; readonly text: string }[];
  readonly end: string;
}

/** @param command the next command */
export function storyLines(
  { title, names, lines, end }: DrawnStory,
  command: string,
  now: number,
  canvas: Canvas,
): string[] {
  const { style } = canvas;
  // A line without a time is a gap in the story, which the card shows dim.
  const told = lines.map(({ at, text }) =>
    at === undefined
      ? { label: '', value: '', note: text }
      : { label: `${dayAndMonth(at, now)} ${clockTime(at)}`, value: text },
  );
  return [
    ...paragraph(sanitize(title), canvas),
    ...paragraph(sanitize(names.join(' · ')), canvas, style.dim),
    '',
    ...cardLines(told, { ...canvas, gap: 2 }),
    '',
    ...paragraph(sanitize(end), canvas, style.bold),
    `  ${command}`,
  ];
}

export interface PendingPayment extends Pick<Payment, 'ref' | 'kind' | 'openedAt' | 'updatedAt'> {
  /** The state of the latest attempt. */
  readonly step: AttemptState;
  readonly attempt: number;
  readonly txnId: string | null;
  readonly txnState: string | null;
  readonly destination: string;
  /** The recipient in words. */
  readonly with: string;
  /** The currency of the requested amount. */
  readonly ccy: string | null;
  /** The amount to receive if the order states this amount, otherwise the amount to debit. */
  readonly amount: Big | null;
  /**
   * Whether `tx resume` continues without a question, because a person has approved the payment.
   */
  readonly agreed: boolean;
  /**
   * The time in epoch ms when the service reported the payment's state, or when this home recorded
   * the state.
   */
  readonly asOf: number;
  /** The transaction that svcpay has just read, or undefined if the read failed. */
  readonly transaction: Transaction | undefined;
  /**
   * In a list of overdue payments, the host of the last process that claimed the payment, or null
   * if that process released the claim.
   */
  readonly host?: string | null;
  readonly pid?: number | null;
}

const pendingFields = fieldsOf<PendingPayment>()([
  'ref',
  'kind',
  'step',
  'attempt',
  'txnId',
  'txnState',
  'destination',
  'with',
  'ccy',
  'amount',
  'agreed',
  'openedAt',
  'updatedAt',
  'asOf',
  'transaction',
  'host',
  'pid',
]);

const stepWords: Readonly<Record<AttemptState, string>> = {
  requested: 'not quoted yet',
  quoted: 'quoted',
  submitting: 'outcome unknown',
  'in-flight': 'confirmed',
  unknown: 'outcome unknown',
  paid: 'paid',
  failed: 'failed',
  error: 'error: ask the service',
  lapsed: 'expired',
};

const isSubmitted = ({ step }: PendingPayment): boolean =>
  ['submitting', 'in-flight', 'unknown', 'error'].includes(step);

/** Whether svcpay submitted the payment but has not read its transaction in this run. */
export const isUnchecked = (payment: PendingPayment): boolean =>
  payment.transaction === undefined && isSubmitted(payment);

/**
 * Describes the progress of a payment in words. `last seen` means that the state may have changed
 * since the last read.
 */
function progressOf(payment: PendingPayment): string {
  const { step, agreed, transaction, txnState } = payment;
  if (transaction !== undefined && !isQuoted(transaction.txnState)) {
    const word = uncountedWord(transaction);
    if (transaction.txnState === 'error') return stepWords.error;
    return isSubmitted(payment) && hasLapsed(transaction.txnState)
      ? `unknown: the service reports ${word}`
      : word;
  }
  if (!isSubmitted(payment))
    return agreed ? stepWords[step] : `${stepWords[step]}, not approved yet`;
  if (txnState === null || step !== 'in-flight') return stepWords[step];
  return isUnchecked(payment) ? `last seen ${sendWord(txnState)}` : sendWord(txnState);
}

/** An open payment or request on the home screen, in `watch` and in `tx pending`. */
export interface OpenLine {
  readonly txnId: string | null;
  readonly what: string;
  readonly amount: string;
  readonly with: string;
  readonly progress: string;
  /**
   * The state, which decides the colour, or an empty string if only the journal contains the
   * payment.
   */
  readonly txnState: string;
  /** The start of the payment in epoch ms. */
  readonly since: number | null | undefined;
  /**
   * The number of confirmations, the remaining time, or a remark such as `not checked` or `nothing
   * moved yet`.
   */
  readonly detail: string;
}

/**
 * Returns the lines of open payments: first payments that svcpay has just read, then other
 * transactions of the service, then payments that svcpay could not read.
 */
export function openLines(
  listed: readonly ListedTransaction[],
  open: readonly PendingPayment[],
  recipientOf: RecipientOf,
  now: number,
): OpenLine[] {
  const isChecked = (payment: PendingPayment): boolean => !isUnchecked(payment);
  return [
    ...open.filter(isChecked).map((payment) => paymentLine(payment, now)),
    ...listed.map((txn) => listedLine(txn, recipientOf, now)),
    ...open.filter(isUnchecked).map((payment) => paymentLine(payment, now)),
  ];
}

const listedLine = (txn: ListedTransaction, recipientOf: RecipientOf, now: number): OpenLine => ({
  txnId: txn.txnId,
  what: lineKind(txn),
  amount: lineAmount(txn),
  with: partyOf(txn, recipientOf),
  progress: uncountedWord(txn),
  txnState: txn.txnState,
  since: txn.createdAt,
  detail: detailOf(txn, now),
});

function paymentLine(payment: PendingPayment, now: number): OpenLine {
  const { txnId, kind, ccy, amount, openedAt, transaction } = payment;
  return {
    txnId,
    what: kindText(kind),
    amount: ccy === null || amount === null ? '–' : minus + shortAmount(money(ccy, amount)),
    with: payment.with,
    progress: progressOf(payment),
    txnState: '',
    since: transaction?.createdAt ?? openedAt,
    detail: isUnchecked(payment)
      ? 'not checked'
      : !isSubmitted(payment)
        ? 'nothing moved yet'
        : transaction === undefined
          ? ''
          : detailOf(transaction, now),
  };
}

/**
 * Describes the kind of a payment as lists describe the kind of a transaction, for example
 * `↑ On-chain` for `send onchain`.
 */
const kindText = (kind: string): string =>
  lineKind({
    sourceReq: { method: 'servicepay' },
    destReq: { method: kind === 'swap' ? 'servicepay' : (railOfKind(kind)?.method ?? kind) },
  });

function detailOf(txn: ListedTransaction, now: number): string {
  const counted = confirmationsText(txn);
  if (counted !== undefined) return counted;
  const { expiresAt, method } = txn.sourceReq;
  return method !== 'servicepay' && typeof expiresAt === 'number' && expiresAt > now
    ? `expires in ${formatDuration(expiresAt - now)}`
    : '';
}

/** Returns the columns that every screen of open payments shows. */
export const openColumns = (now: number): Column<OpenLine>[] => [
  { name: 'what', title: 'What', priority: 4 },
  {
    name: 'signed',
    title: 'Amount',
    value: ({ amount }) => amount,
    align: 'decimal',
  },
  {
    name: 'party',
    title: 'With',
    value: (line) => line.with,
    priority: 2,
    below: true,
    shrinks: true,
  },
  {
    name: 'progress',
    title: 'State',
    value: ({ progress }) => `● ${progress}`,
    style: (cell, style, { txnState }) => stateStyle(txnState, style)(cell),
    priority: 1,
    below: true,
  },
  { name: 'detail', style: dim, priority: 3 },
  {
    name: 'opened',
    title: 'Since',
    value: ({ since }) => (since == null ? '–' : shortTime(since, now)),
    style: dim,
    priority: 5,
  },
];

/** Returns the view of the unfinished payments. */
export function pendingList(now: number): ListView<PendingPayment> {
  return {
    columns: [
      { name: 'since', value: ({ openedAt }) => new Date(openedAt).toISOString(), only: 'rows' },
      ...columnsApart<PendingPayment>(
        ['kind', 'amount', 'ccy', 'step', 'agreed', 'ref', 'txnId', 'txnState', 'host', 'pid'],
        [
          ...columnsThrough(openColumns(now), (payment: PendingPayment) =>
            paymentLine(payment, now),
          ),
          {
            name: 'ref',
            title: 'Reference',
            text: ({ ref, txnId }) => (txnId === null ? ref : ownReference(ref)),
            style: dim,
            priority: 9,
            below: true,
          },
          { name: 'txnId', title: 'Id', text: shortId, style: dim, priority: 8, below: true },
          { name: 'host', title: 'Host', value: ({ host }) => host, priority: 8, below: true },
        ],
      ),
    ],
    fields: [...pendingFields, ...transactionNames.map((name) => `transaction.${name}`)],
    quiet: ({ ref }) => ref,
    empty: 'No unfinished payments. All payments',
    next: { command: 'tx list' },
  };
}

export interface ResumedPayment extends Pick<
  PendingPayment,
  'ref' | 'kind' | 'txnId' | 'txnState'
> {
  readonly exitCode: number;
  /** The reason why the payment is unfinished. */
  readonly message: string | null;
}

export const resumedList: ListView<ResumedPayment> = {
  columns: [
    { name: 'kind', title: 'What' },
    {
      name: 'txnState',
      title: 'State',
      text: ({ txnState }) => (txnState === null ? '' : sendWord(txnState)),
    },
    {
      name: 'message',
      title: 'Result',
      value: ({ message }) => message ?? 'done',
      priority: 1,
      below: true,
    },
    { name: 'exitCode', only: 'rows' },
    {
      name: 'txnId',
      title: 'Id',
      text: ({ txnId, ref }) => txnId ?? ref,
      style: dim,
      priority: 2,
      below: true,
    },
    { name: 'ref', only: 'rows' },
  ],
  quiet: ({ txnId, ref }) => txnId ?? ref,
  empty: 'No unfinished payments.',
};
