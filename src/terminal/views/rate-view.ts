// Shows exchange rates: a pair, its price, and the inverse.
import type { Big } from 'big.js';
import { fixed } from '../../formats/amount.js';
import { fieldsOf } from '../rows/cell.js';
import { dim, type ListView } from '../rows/view.js';
import { inverseText, rateText } from '../cards/quote-card.js';

/**
 * A rate: one unit of `base` costs `rate` units of `quote`. `base` and `quote` are null if svcpay
 * cannot read the name of the pair.
 */
export interface RateRow {
  readonly pair: string;
  readonly base: string | null;
  readonly quote: string | null;
  readonly rate: Big;
}

export const rateFields = fieldsOf<RateRow>()(['pair', 'base', 'quote', 'rate']);

export const rateList: ListView<RateRow> = {
  columns: [
    { name: 'pair', title: 'Pair', priority: 1 },
    { name: 'rate', title: 'Rate', text: (row) => shown(row, rateText) },
    {
      name: 'inverse',
      title: 'Inverse',
      value: () => undefined,
      text: (row) => (row.base === null ? '' : shown(row, inverseText)),
      style: dim,
      only: 'screen',
      priority: 2,
    },
  ],
  fields: rateFields,
  quiet: ({ rate }) => fixed(rate),
  empty: 'The service lists no rates.',
};

const shown = ({ base, quote, rate }: RateRow, text: typeof rateText): string =>
  base === null || quote === null ? fixed(rate) : text({ base, quote, value: rate });
