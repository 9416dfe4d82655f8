// Lists the remittance advices of a batch.
import { formatAmount, type Money } from '../../formats/amount.js';
import type { ListView } from '../rows/view.js';

/** A remittance advice, which is one page with all payments to a payee. */
export interface Remittance {
  readonly payee: string;
  readonly payments: number;
  readonly amounts: readonly Money[];
  readonly file: string;
}

export const remittanceList: ListView<Remittance> = {
  columns: [
    { name: 'payee', title: 'Payee', shrinks: true },
    {
      name: 'amounts',
      title: 'Amount',
      value: ({ amounts }) => amounts.map(formatAmount).join(' + '),
      align: 'right',
    },
    {
      name: 'payments',
      title: 'Payments',
      align: 'right',
      priority: 1,
    },
    { name: 'file', title: 'Page', below: true, priority: 2 },
  ],
  quiet: ({ file }) => file,
  empty: 'No row of this batch is paid yet.',
};
