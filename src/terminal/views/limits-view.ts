// The local spending policy as a list: a row for each limit, with what of it is used, and one for each destination.
import type { Big } from 'big.js';
import { formatAmount, money } from '../../formats/amount.js';
import type { ListView } from '../rows/view.js';

export interface LimitRow {
  readonly rule: 'per payment' | 'per day' | 'destination';
  /** Null for a destination. */
  readonly ccy: string | null;
  readonly amount: Big | null;
  /** Of a limit per day, what was let go in the last 24 hours; null where that is not known. */
  readonly used: Big | null;
  readonly left: Big | null;
  readonly destination: string | null;
}

export const limitFields: readonly string[] = ['rule', 'ccy', 'amount', 'limit', 'used', 'left', 'destination'];

const shown = (ccy: string | null, value: Big | null): string =>
  ccy === null || value === null ? '' : formatAmount(money(ccy, value));

/** @param footer what is not limited, or how the rules are to be read */
export const limitList = (footer: string): ListView<LimitRow> => ({
  columns: [
    { name: 'rule', title: 'Rule', value: ({ rule }) => rule, text: ({ rule }) => (rule === 'destination' ? 'may be paid' : rule) },
    { name: 'ccy', title: 'Currency', value: ({ ccy }) => ccy, only: 'rows' },
    {
      name: 'limit',
      title: 'Limit',
      value: ({ amount, destination }) => amount ?? destination,
      text: ({ ccy, amount, destination }) => destination ?? shown(ccy, amount),
    },
    { name: 'used', title: 'Used in 24 h', value: ({ used }) => used, text: ({ ccy, used }) => shown(ccy, used), align: 'right', priority: 2 },
    { name: 'left', title: 'Left', value: ({ left }) => left, text: ({ ccy, left }) => shown(ccy, left), align: 'right', priority: 1 },
  ],
  quiet: ({ destination, amount, ccy }) => destination ?? `${amount?.toFixed() ?? ''}${ccy?.toLowerCase() ?? ''}`,
  empty: 'There are no limits: every payment is up to you. Set some: svcpay limits set --per-day 100000sat',
  footer,
});
