// Keeps the rows of closed months as they were sealed, and compares them with the current rows. A
// change of a closed month becomes a correction, dated to the first instant after the last closed
// month.
import Big from 'big.js';
import type { BookRows } from './book-rows.js';
import { changeOf, type Movement, readMovement, signed, withoutTransaction } from './movement.js';

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

export interface SealedMonth {
  /** A month such as `2026-10`. */
  readonly month: string;
  readonly first: number;
  readonly end: number;
  readonly rows: readonly Cells[];
}

/** Returns the movements of a closed month that transactions caused. */
export const sealedMovements = ({ rows }: Pick<SealedMonth, 'rows'>): Movement[] =>
  rows.flatMap((cells): Movement[] => {
    const text = (name: string): string | null => cells[name] || null;
    if (text('txnId') === null) return [];
    const data = {
      ...cells,
      ccy: cells['wallet'],
      at: Date.parse(cells['time'] ?? ''),
      created: text('created') === null ? null : Date.parse(cells['created'] ?? ''),
      reference: text('reference'),
      note: text('note'),
      other: text('method') ?? text('counterparty') ?? '',
      exchanged: text('exchanged'),
      exchangedCcy: text('exchangedCcy'),
    };
    return [readMovement(JSON.stringify(data))];
  });

/**
 * Replaces the movements of closed months that differ from the sealed rows by the sealed rows and
 * their corrections. The sum of all movements of a wallet stays the same.
 */
export function keepSealed(months: readonly SealedMonth[], rows: BookRows): void {
  const [first, last] = [months[0], months.at(-1)];
  if (first === undefined || last === undefined) return;
  const sealed = new Map<string, Movement[]>();
  for (const movement of months.flatMap(sealedMovements)) {
    const id = movement.txnId ?? '';
    sealed.set(id, [...(sealed.get(id) ?? []), movement]);
  }
  const unsealed = new Set<string>();
  for (const { txnId } of rows.movements(undefined, { first: first.first, end: last.end }))
    if (txnId !== null && !sealed.has(txnId)) unsealed.add(txnId);
  const wallets = new Set([
    ...rows.currencies(),
    ...[...sealed.values()].flat().map(({ ccy }) => ccy),
  ]);
  for (const txnId of [...sealed.keys(), ...unsealed]) {
    const was = sealed.get(txnId) ?? [];
    const movements = [...wallets].flatMap((ccy) =>
      corrected(
        was.filter((each) => each.ccy === ccy),
        rows.movement(ccy, txnId),
        months,
      ),
    );
    const isSame = movements.length <= was.length && movements.every((each) => isIn(rows, each));
    if (!isSame) rows.replace([txnId], movements);
  }
}

/** Whether the sorted rows already contain the movement with this time and amount. */
function isIn(rows: BookRows, { ccy, at, txnId, ...amounts }: Movement): boolean {
  const present = rows.movement(ccy, txnId ?? '');
  return present?.at === at && changeOf(present).eq(changeOf(amounts));
}

/** Returns the sealed movements of a transaction in one wallet, followed by their correction. */
function corrected(
  was: readonly Movement[],
  current: Movement | undefined,
  months: readonly SealedMonth[],
): Movement[] {
  const sum = was.reduce((total, each) => total.plus(changeOf(each)), new Big(0));
  const now = current === undefined ? new Big(0) : changeOf(current);
  const movement = current ?? was[0];
  if (movement === undefined) return [];
  const difference = now.minus(sum);
  if (difference.eq(0)) return was.length > 0 ? [...was] : [movement];
  const [{ at }] = [was[0] ?? movement];
  const month = months.find(({ end }) => at < end)?.month ?? months.at(-1)?.month;
  const reason =
    current === undefined
      ? 'no longer in the list'
      : was.length === 0
        ? 'not in the list when the month was closed'
        : 'had another amount when the month was closed';
  const { ccy, txnId, created, reference, other } = movement;
  const correction: Movement = {
    ...withoutTransaction,
    ...signed(difference),
    ccy,
    txnId,
    created,
    reference,
    other,
    kind: 'correction',
    at: months.at(-1)?.end ?? at,
    note: `correction of ${month}, ${txnId}, ${reason}`,
  };
  return [...was, correction];
}
