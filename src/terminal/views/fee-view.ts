// Shows the fees of a month: a row for each wallet and payment method.
import type { Big } from 'big.js';
import { fixed, formatNumber, money } from '../../formats/amount.js';
import { methodProperties } from '../../formats/rails.js';
import type { Column, ListView } from '../rows/view.js';

export interface FeeSum {
  readonly wallet: string;
  /** The payment method, or `swap`. */
  readonly method: string;
  readonly payments: number;
  /** The sum of the amounts without fees. */
  readonly amount: Big;
  readonly serviceFee: Big;
  readonly networkFee: Big;
  readonly fee: Big;
  /** The fees in percent of the amount. */
  readonly percent: Big;
}

const amountColumn = (
  name: 'amount' | 'serviceFee' | 'networkFee' | 'fee',
  title: string,
  priority?: number,
): Column<FeeSum> => ({
  name,
  title,
  value: (row) => row[name],
  text: (row) => formatNumber(money(row.wallet, row[name])),
  align: 'right',
  ...(priority !== undefined && { priority }),
});

export const feeList: ListView<FeeSum> = {
  columns: [
    { name: 'wallet', title: 'Wallet' },
    {
      name: 'method',
      title: 'Method',
      text: ({ method }) => methodProperties(method)?.label ?? method,
      shrinks: true,
    },
    {
      name: 'payments',
      title: 'Payments',
      align: 'right',
      priority: 3,
    },
    amountColumn('amount', 'Amount', 2),
    amountColumn('serviceFee', 'Service fee', 4),
    amountColumn('networkFee', 'Network fee', 4),
    amountColumn('fee', 'Fees'),
    { name: 'percent', title: '%', align: 'right', priority: 1 },
  ],
  quiet: ({ wallet, fee }) => `${fixed(fee)} ${wallet}`,
  empty: 'No payments in this month.',
};
