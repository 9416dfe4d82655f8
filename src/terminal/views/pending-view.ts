// Payments of the journal: the unfinished ones, and the results of resuming them.
import type { Big } from 'big.js';
import type { Transaction } from '../../api/types.js';
import { money } from '../../formats/amount.js';
import { hasLapsed, isQuoted } from '../../formats/states.js';
import type { AttemptState, Payment } from '../../store/journal/payment.js';
import { shortTime } from '../time.js';
import { sendWord, stateWord } from './state-words.js';
import { shortAmount } from './transaction-view.js';
import type { ListView } from '../rows/view.js';

export interface PendingPayment extends Pick<Payment, 'ref' | 'kind' | 'openedAt' | 'updatedAt'> {
  /** State of the latest attempt, its number, and its transaction. */
  readonly step: AttemptState;
  readonly attempt: number;
  readonly txnId: string | null;
  readonly txnState: string | null;
  readonly destination: string;
  /** The recipient in readable form. */
  readonly with: string;
  /** The requested amount: the received one if the order defines it, otherwise the debited one. */
  readonly ccy: string | null;
  readonly amount: Big | null;
  /** Whether `tx resume` continues without a question. */
  readonly agreed: boolean;
  /** Epoch ms: when the service reported this state, or when it was last written here. */
  readonly asOf: number;
  /** The state just read from the service; omitted if it could not be read. */
  readonly transaction: Transaction | undefined;
}

const stepWords: Readonly<Record<AttemptState, string>> = {
  requested: 'not quoted yet',
  quoted: 'quoted',
  submitting: 'outcome unknown',
  'in-flight': 'confirmed',
  unknown: 'outcome unknown',
  paid: 'paid',
  failed: 'failed',
  error: 'error',
  lapsed: 'expired',
};

export const isSubmitted = ({ step }: PendingPayment): boolean =>
  ['submitting', 'in-flight', 'unknown'].includes(step);

/** Submitted, and not read from the service just now. */
export const isUnchecked = (payment: PendingPayment): boolean =>
  payment.transaction === undefined && isSubmitted(payment);

/** The progress in words; a state that may have changed is marked as the last one seen. */
export function progressOf(payment: PendingPayment): string {
  const { step, agreed, transaction, txnState } = payment;
  if (isUnchecked(payment))
    return txnState === null || step !== 'in-flight'
      ? stepWords[step]
      : `last seen ${sendWord(txnState)}`;
  if (transaction !== undefined && !isQuoted(transaction.txnState)) {
    return isSubmitted(payment) && hasLapsed(transaction.txnState)
      ? `unknown: the service reports ${stateWord(transaction)}`
      : stateWord(transaction);
  }
  if (isSubmitted(payment))
    return txnState === null || step !== 'in-flight' ? stepWords[step] : sendWord(txnState);
  return agreed ? stepWords[step] : `${stepWords[step]}, your yes is missing`;
}

/** @param footer the time of the data, and the next step */
export function pendingList(now: number, footer: string): ListView<PendingPayment> {
  return {
    columns: [
      {
        name: 'since',
        title: 'Since',
        value: ({ openedAt }) => new Date(openedAt).toISOString(),
        text: ({ openedAt }) => shortTime(openedAt, now),
        style: (cell, style) => style.dim(cell),
        priority: 2,
      },
      { name: 'kind', title: 'What', value: ({ kind }) => kind },
      {
        name: 'amount',
        title: 'Amount',
        value: ({ amount }) => amount,
        text: ({ ccy, amount }) =>
          ccy === null || amount === null ? '–' : shortAmount(money(ccy, amount)),
        align: 'decimal',
      },
      {
        name: 'with',
        title: 'With',
        value: (row) => row.with,
        only: 'screen',
        priority: 3,
        shrinks: true,
      },
      { name: 'ccy', title: 'Currency', value: ({ ccy }) => ccy, only: 'rows' },
      { name: 'step', title: 'State', value: ({ step }) => step, text: progressOf },
      { name: 'agreed', title: 'Your yes', value: ({ agreed }) => agreed, only: 'rows' },
      {
        name: 'ref',
        title: 'Reference',
        value: ({ ref }) => ref,
        style: (cell, style) => style.dim(cell),
        below: true,
      },
      { name: 'txnId', title: 'Transaction', value: ({ txnId }) => txnId, only: 'rows' },
      { name: 'txnState', title: 'State', value: ({ txnState }) => txnState, only: 'rows' },
    ],
    fields: [
      'destination',
      'with',
      'amount',
      'ccy',
      'attempt',
      'openedAt',
      'updatedAt',
      'asOf',
      'transaction',
    ],
    quiet: ({ ref }) => ref,
    empty: 'No unfinished payments. All payments: svcpay tx list',
    footer,
  };
}

export interface OverduePayment extends PendingPayment {
  /** The last process with a claim; nulls if it was released. */
  readonly host: string | null;
  readonly pid: number | null;
}

export function overdueList(now: number): ListView<OverduePayment> {
  const pending = pendingList(
    now,
    'from the journal alone · svcpay tx resume finishes or reports each',
  );
  const process: ListView<OverduePayment>['columns'] = [
    { name: 'host', title: 'Host', value: ({ host }) => host, below: true },
    { name: 'pid', title: 'Process', value: ({ pid }) => pid, only: 'rows' },
  ];
  return { ...pending, columns: [...pending.columns, ...process] };
}

export interface ResumedPayment extends Pick<
  PendingPayment,
  'ref' | 'kind' | 'txnId' | 'txnState'
> {
  readonly exitCode: number;
  /** Why it is unfinished. */
  readonly message: string | null;
}

export const resumedList: ListView<ResumedPayment> = {
  columns: [
    { name: 'kind', title: 'What', value: ({ kind }) => kind },
    {
      name: 'txnState',
      title: 'State',
      value: ({ txnState }) => txnState,
      text: ({ txnState }) => (txnState === null ? '' : sendWord(txnState)),
    },
    { name: 'message', title: 'Result', value: ({ message }) => message ?? 'done', below: true },
    { name: 'exitCode', title: 'Exit', value: ({ exitCode }) => exitCode, only: 'rows' },
    {
      name: 'txnId',
      title: 'Transaction',
      value: ({ txnId }) => txnId,
      style: (cell, style) => style.dim(cell),
      below: true,
    },
    { name: 'ref', title: 'Reference', value: ({ ref }) => ref, only: 'rows' },
  ],
  quiet: ({ txnId, ref }) => txnId ?? ref,
  empty: 'No unfinished payments.',
};
