// Shows payments of the journal: unfinished payments, and the results of resumed payments.
import type { Big } from 'big.js';
import { transactionNames } from '../../api/names.js';
import type { ListedTransaction, Transaction } from '../../api/types.js';
import { money, shortAmount } from '../../formats/amount.js';
import { formatDuration } from '../../formats/calendar.js';
import { railOfKind } from '../../formats/rails.js';
import { hasLapsed, isQuoted } from '../../formats/states.js';
import { ownReference, shortId } from '../../formats/text.js';
import type { AttemptState, Payment } from '../../store/journal/payment.js';
import { commandLine, type RunGlobals } from '../next-step.js';
import { type Column, columnsThrough, dim, fieldsOf, type ListView } from '../rows/view.js';
import { shortTime } from '../time.js';
import { confirmationsText, sendWord, uncountedWord, stateStyle } from '../cards/steps.js';
import { lineAmount, lineKind, minus, partyOf, type RecipientOf } from './transaction-view.js';

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
  { name: 'what', title: 'What', priority: 4, only: 'screen' },
  {
    name: 'signed',
    title: 'Amount',
    value: ({ amount }) => amount,
    align: 'decimal',
    only: 'screen',
  },
  {
    name: 'party',
    title: 'With',
    value: (line) => line.with,
    priority: 2,
    below: true,
    shrinks: true,
    only: 'screen',
  },
  {
    name: 'progress',
    title: 'State',
    value: ({ progress }) => `● ${progress}`,
    style: (cell, style, { txnState }) => stateStyle(txnState, style)(cell),
    priority: 1,
    below: true,
    only: 'screen',
  },
  { name: 'detail', style: dim, priority: 3, only: 'screen' },
  {
    name: 'opened',
    title: 'Since',
    value: ({ since }) => (since == null ? '–' : shortTime(since, now)),
    style: dim,
    priority: 5,
    only: 'screen',
  },
];

/** Returns the view of the unfinished payments. */
export function pendingList(now: number): ListView<PendingPayment> {
  return {
    columns: [
      {
        name: 'since',
        title: 'Since',
        value: ({ openedAt }) => new Date(openedAt).toISOString(),
        only: 'rows',
      },
      { name: 'kind', only: 'rows' },
      { name: 'amount', only: 'rows' },
      { name: 'ccy', only: 'rows' },
      { name: 'step', only: 'rows' },
      { name: 'agreed', only: 'rows' },
      ...columnsThrough(openColumns(now), (payment: PendingPayment) => paymentLine(payment, now)),
      {
        name: 'ref',
        title: 'Reference',
        text: ({ ref, txnId }) => (txnId === null ? ref : ownReference(ref)),
        style: dim,
        priority: 9,
        below: true,
      },
      { name: 'txnId', title: 'Id', text: shortId, style: dim, priority: 8, below: true },
      { name: 'txnState', only: 'rows' },
    ],
    fields: [...pendingFields, ...transactionNames.map((name) => `transaction.${name}`)],
    quiet: ({ ref }) => ref,
    empty: 'No unfinished payments. All payments',
    next: { command: 'tx list' },
  };
}

export interface OverduePayment extends PendingPayment {
  /**
   * The host of the last process that claimed the payment, or null if that process released the
   * claim.
   */
  readonly host?: string | null;
  readonly pid?: number | null;
}

export function overdueList(now: number, run: RunGlobals): ListView<OverduePayment> {
  const resume = commandLine({ command: 'tx resume' }, run);
  const pending = pendingList(now);
  const process: ListView<OverduePayment>['columns'] = [
    { name: 'host', title: 'Host', value: ({ host }) => host ?? null, priority: 8, below: true },
    { name: 'pid', value: ({ pid }) => pid ?? null, only: 'rows' },
  ];
  return {
    ...pending,
    columns: [...pending.columns, ...process],
    footer: `from the journal only · ${resume} finishes or reports each payment`,
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
