// Converts opening balances and adjustments (money that no transaction explains) to movements of a
// wallet.
import Big from 'big.js';
import { fixed } from '../../formats/amount.js';
import { parseDate, spanOf } from '../../formats/calendar.js';
import type { BookEntry } from '../../store/journal/book-records.js';
import type { Movement } from './movement.js';

/**
 * Converts an entry to a movement. An adjustment is dated to the beginning of its day, in the time
 * zone of the statement.
 */
export function movementOf(entry: Omit<BookEntry, 'recordedAt'>, zone: string): Movement {
  const { id, kind, ccy, dated, note } = entry;
  const amount = new Big(entry.amount);
  return {
    ccy,
    at: dated.includes('T') ? Date.parse(dated) : spanOf(parseDate(dated), zone).first,
    created: null,
    kind: kind === 'opening' ? 'opening entry' : 'adjustment',
    txnId: null,
    reference: id,
    note,
    other: 'not explained by a transaction',
    in: amount.gt(0) ? amount : zero,
    out: amount.lt(0) ? amount.abs() : zero,
    fee: zero,
  };
}

const zero = new Big(0);

/**
 * Returns the opening balance of a wallet in the form that the journal records.
 * @param at epoch ms
 */
export const openingEntry = (
  ccy: string,
  amount: Big,
  at: number,
): Omit<BookEntry, 'recordedAt'> => ({
  id: `opening-${ccy}`,
  kind: 'opening',
  ccy,
  amount: fixed(amount),
  dated: new Date(at).toISOString(),
  note: null,
});
