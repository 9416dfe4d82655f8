// Reads the sealed statements of closed months from the journal or the database.
import { parse } from 'csv-parse/sync';
import { parseDate, spanOf } from '../../formats/calendar.js';
import type { Close } from '../../store/journal/book-records.js';
import type { Cells } from '../../wallet/books/changes.js';
import { changeOf, type Candidate } from '../../wallet/books/movement.js';
import { sealedMovements, type SealedMonth } from '../../wallet/books/sealed-months.js';
import type { Context } from '../context.js';

/** Lists the closed months of this account in their order. */
export async function closesOf(context: Context): Promise<readonly Close[]> {
  const { scope } = await context.account();
  return (await context.books()).closes(scope);
}

export const closedRows = ({ sealed }: Close): readonly Cells[] => {
  const rows: Cells[] = parse(sealed, { columns: true });
  return rows;
};

export const sealedMonth = (close: Close): SealedMonth => ({
  month: close.month,
  ...spanOf(parseDate(close.month), close.zone),
  rows: closedRows(close),
});

/**
 * Returns the transactions of closed months, because the service's list may no longer contain them.
 */
export const closedTransactions = (months: readonly SealedMonth[]): Candidate[] =>
  months.flatMap(sealedMovements).flatMap((movement) =>
    movement.txnId === null || movement.kind === 'correction'
      ? []
      : {
          ccy: movement.ccy,
          at: movement.at,
          txnId: movement.txnId,
          reason: 'no longer in the list',
          txnState: 'completed',
          effect: changeOf(movement),
        },
  );
