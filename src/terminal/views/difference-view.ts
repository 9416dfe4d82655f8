// Shows the result of a reconciliation: a row per difference.
import { ownReference } from '../../formats/text.js';
import { fixed, formatNumber, money } from '../../formats/amount.js';
import type { Big } from 'big.js';
import type { Column, ListView } from '../rows/view.js';

interface Difference {
  readonly difference: string;
  readonly source: string;
  readonly txnId: string | null;
  readonly reference: string | null;
  readonly ccy: string | null;
  readonly here: Big | null;
  readonly there: Big | null;
  readonly detail: string;
  /** The note of the person who accepted the difference, or null. */
  readonly accepted: string | null;
}

const amountColumn = (name: 'here' | 'there', title: string): Column<Difference> => ({
  name,
  title,
  value: (row) => row[name],
  text: ({ ccy, [name]: value }) =>
    value === null ? '' : ccy === null ? fixed(value) : formatNumber(money(ccy, value)),
  align: 'right',
  priority: 2,
});

export const differenceList: ListView<Difference> = {
  columns: [
    { name: 'difference', title: 'Difference' },
    { name: 'source', title: 'Against' },
    {
      name: 'reference',
      title: 'Reference',
      text: ({ reference }) => ownReference(reference),
      shrinks: true,
      priority: 3,
    },
    { name: 'ccy', title: 'Currency', priority: 2 },
    amountColumn('here', 'Here'),
    amountColumn('there', 'There'),
    { name: 'detail', title: 'Detail', priority: 3, below: true },
    {
      name: 'accepted',
      title: 'Accepted',
      priority: 4,
      below: true,
    },
    { name: 'txnId', title: 'Id', priority: 9, below: true },
  ],
  quiet: ({ txnId }) => txnId ?? '',
  empty: 'No differences.',
};
