// Compares the rows of a closed month with the current rows of the month.

/** The cells of one row of a statement, by column name. */
export type Cells = Readonly<Record<string, string>>;

export interface Change {
  readonly change: 'added' | 'removed' | 'changed';
  /**
   * The key of a row, which is unique in a statement: the wallet, with the transaction id, the id
   * of the recorded entry, or the kind of the row.
   */
  readonly row: string;
  readonly before: Cells | null;
  readonly after: Cells | null;
}

/** The month that follows a month such as `2026-10`. */
export function monthAfter(month: string): string {
  const [year = 0, number = 0] = month.split('-').map(Number);
  return new Date(Date.UTC(year, number, 1)).toISOString().slice(0, 7);
}

export const keyOf = ({ wallet, txnId, reference, kind }: Cells): string =>
  `${wallet} ${txnId || (kind === 'opening' || kind === 'closing' ? kind : reference)}`;

/**
 * Returns as JSON the cells by which svcpay detects whether a row has changed. The JSON contains
 * the balance only for an opening or closing row, because every other balance follows from the
 * earlier rows.
 */
const factsOf = (cells: Cells): string =>
  JSON.stringify({
    ...cells,
    balance: cells['kind'] === 'opening' || cells['kind'] === 'closing' ? cells['balance'] : '',
  });

/** Returns the changes in the order of the current statement, followed by the removed rows. */
export function changesBetween(before: readonly Cells[], after: readonly Cells[]): Change[] {
  const old = new Map(before.map((cells) => [keyOf(cells), cells]));
  const present = new Set(after.map(keyOf));
  const found = after.flatMap((cells): Change[] => {
    const row = keyOf(cells);
    const was = old.get(row);
    if (was === undefined) return [{ change: 'added', row, before: null, after: cells }];
    if (factsOf(was) === factsOf(cells)) return [];
    return [{ change: 'changed', row, before: was, after: cells }];
  });
  const gone = before.filter((cells) => !present.has(keyOf(cells)));
  return [
    ...found,
    ...gone.map((cells): Change => ({
      change: 'removed',
      row: keyOf(cells),
      before: cells,
      after: null,
    })),
  ];
}
