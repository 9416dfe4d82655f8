// Payments as the journal knows them: those that are open, and what became of them when they were gone on with.
import type { Big } from 'big.js';
import { formatAmount, money } from '../../formats/amount.js';
import type { Intent } from '../../store/journal/journal.js';
import { relativeTime } from '../time.js';
import type { ListView } from '../rows/view.js';

/** An open payment, as `tx pending` lists it. */
export interface PendingPayment {
  readonly ref: string;
  readonly kind: string;
  readonly destination: string;
  /** As it was asked for: what arrives where the order fixes that, else what leaves. */
  readonly ccy: string | null;
  readonly amount: Big | null;
  readonly step: Intent['step'];
  /** Whether `tx resume` goes on without asking. */
  readonly agreed: boolean;
  readonly txnId: string | null;
  /** As last seen. */
  readonly txnState: string | null;
  readonly attempt: number;
  /** Epoch ms. */
  readonly openedAt: number;
  readonly updatedAt: number;
}

const stepWords: Readonly<Record<Intent['step'], string>> = {
  intent: 'not quoted yet',
  created: 'quoted',
  confirming: 'confirmation in doubt',
  confirmed: 'on its way',
  final: 'over',
};

export function pendingList(now: number): ListView<PendingPayment> {
  return {
    columns: [
      {
        title: 'Since',
        value: ({ openedAt }) => new Date(openedAt).toISOString(),
        text: ({ openedAt }) => relativeTime(openedAt, now),
        style: (cell, style) => style.dim(cell),
        priority: 2,
      },
      { title: 'What', value: ({ kind }) => kind },
      {
        title: 'Amount',
        value: ({ amount }) => amount,
        text: ({ ccy, amount }) => (ccy === null || amount === null ? '–' : formatAmount(money(ccy, amount))),
        align: 'right',
      },
      { title: 'Currency', value: ({ ccy }) => ccy, only: 'rows' },
      { title: 'Step', value: ({ step }) => step, text: ({ step }) => stepWords[step] },
      { title: 'Your yes', value: ({ agreed }) => agreed, text: ({ agreed }) => (agreed ? 'given' : 'is missing'), priority: 1 },
      { title: 'Reference', value: ({ ref }) => ref, style: (cell, style) => style.dim(cell), below: true },
      { title: 'Transaction', value: ({ txnId }) => txnId, only: 'rows' },
      { title: 'State', value: ({ txnState }) => txnState, only: 'rows' },
    ],
    quiet: ({ ref }) => ref,
    empty: 'Nothing is pending.',
    footer: 'svcpay tx resume finishes or reports each of them',
  };
}

/** What became of an open payment, as `tx resume` lists it. */
export interface ResumedPayment {
  readonly ref: string;
  readonly kind: string;
  readonly txnId: string | null;
  readonly txnState: string | null;
  readonly exitCode: number;
  /** Why it is not done. */
  readonly message: string | null;
}

export const resumedList: ListView<ResumedPayment> = {
  columns: [
    { title: 'What', value: ({ kind }) => kind },
    { title: 'State', value: ({ txnState }) => txnState },
    { title: 'Result', value: ({ message }) => message ?? 'done', below: true },
    { title: 'Exit', value: ({ exitCode }) => exitCode, only: 'rows' },
    { title: 'Transaction', value: ({ txnId }) => txnId, style: (cell, style) => style.dim(cell), below: true },
    { title: 'Reference', value: ({ ref }) => ref, only: 'rows' },
  ],
  quiet: ({ txnId, ref }) => txnId ?? ref,
  empty: 'Nothing is pending.',
};
