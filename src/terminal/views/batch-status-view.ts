// Shows the rows of a batch after its run, starting with the rows that need work.
import type { Big } from 'big.js';
import { formatAmount, money, type Money } from '../../formats/amount.js';
import { counted } from '../../formats/text.js';
import { heading } from '../cards/card.js';
import { sanitize } from '../sanitize.js';
import type { Canvas } from '../terminal.js';
import type { ListView } from '../rows/view.js';

export interface StatusLine {
  readonly line: number;
  readonly payee: string;
  readonly amount: Big;
  readonly ccy: string;
  readonly state:
    | 'returned'
    | 'underpaid'
    | 'failed'
    | 'ended'
    | 'unknown'
    | 'in-flight'
    | 'not-started'
    | 'paid';
  readonly ref: string;
  readonly txnId: string | null;
  /** The command to run next for the row. */
  readonly next: string | null;
}

const words: Readonly<Record<StatusLine['state'], string>> = {
  returned: 'returned',
  underpaid: 'underpaid',
  failed: 'failed',
  ended: 'error: ask the service',
  unknown: 'outcome unknown',
  'in-flight': 'in flight',
  'not-started': 'not started',
  paid: 'paid',
};

export const batchStatusList: ListView<StatusLine> = {
  columns: [
    { name: 'line', title: 'Line', value: ({ line }) => line, align: 'right' },
    { name: 'payee', title: 'Payee', value: ({ payee }) => payee, shrinks: true },
    {
      name: 'amount',
      title: 'Amount',
      value: ({ amount }) => amount,
      text: ({ amount, ccy }) => formatAmount(money(ccy, amount)),
      align: 'right',
    },
    { name: 'ccy', title: 'Currency', value: ({ ccy }) => ccy, only: 'rows' },
    {
      name: 'state',
      title: 'State',
      value: ({ state }) => state,
      text: ({ state }) => words[state],
    },
    { name: 'next', title: 'What to do', value: ({ next }) => next, below: true, priority: 1 },
    { name: 'ref', title: 'Reference', value: ({ ref }) => ref, priority: 2 },
    { name: 'txnId', title: 'Id', value: ({ txnId }) => txnId, only: 'rows' },
  ],
  quiet: ({ ref }) => ref,
  empty: 'This batch has no rows.',
};

/** Returns a heading such as `payroll.csv: 15 of 18 rows paid · 2 in flight · 1 failed`. */
export function statusHeading(
  file: string,
  lines: readonly StatusLine[],
  canvas: Canvas,
): string[] {
  const count = (state: StatusLine['state']): number =>
    lines.filter((each) => each.state === state).length;
  const others = [...new Set(lines.map(({ state }) => state))].filter((state) => state !== 'paid');
  const parts = [
    `${sanitize(file)}: ${count('paid')} of ${counted(lines.length, 'row')} paid`,
    ...others.map((state) => `${count(state)} ${words[state]}`),
  ];
  return heading(parts.join(' · '), canvas);
}

/** A remittance advice, which is one page with all payments to a payee. */
export interface Remittance {
  readonly payee: string;
  readonly payments: number;
  readonly amounts: readonly Money[];
  readonly file: string;
}

export const remittanceList: ListView<Remittance> = {
  columns: [
    { name: 'payee', title: 'Payee', value: ({ payee }) => payee, shrinks: true },
    {
      name: 'amounts',
      title: 'Amount',
      value: ({ amounts }) => amounts.map(formatAmount).join(' + '),
      align: 'right',
    },
    {
      name: 'payments',
      title: 'Payments',
      value: ({ payments }) => payments,
      align: 'right',
      priority: 1,
    },
    { name: 'file', title: 'Page', value: ({ file }) => file, below: true, priority: 2 },
  ],
  quiet: ({ file }) => file,
  empty: 'No row of this batch is paid yet.',
};
