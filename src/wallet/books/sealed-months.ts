// Keeps the rows of closed months as they were sealed. A change of a closed month becomes a
// correction, dated to the first instant after the last closed month.
import Big from 'big.js';
import type { SortedRow, SortedRows } from '../../store/files/sorted-rows.js';
import type { Cells } from './changes.js';
import { changeOf, readMovement, type Movement } from './movement.js';

export interface SealedMonth {
  /** A month such as `2026-10`. */
  readonly month: string;
  readonly first: number;
  readonly end: number;
  readonly rows: readonly Cells[];
}

interface SealedMovement extends Movement {
  readonly month: string;
}

/** Returns the movements of a closed month that transactions caused. */
export function sealedMovements({ month, rows }: SealedMonth): SealedMovement[] {
  return rows.flatMap((cells): SealedMovement[] => {
    const { wallet: ccy = '', time = '', created, kind, txnId = '' } = cells;
    if (txnId === '') return [];
    const data = {
      ccy,
      at: Date.parse(time),
      created: created ? Date.parse(created) : null,
      kind,
      txnId,
      reference: cells['reference'] || null,
      note: cells['note'] || null,
      other: cells['counterparty'] ?? '',
      in: cells['in'],
      out: cells['out'],
      fee: cells['fee'],
    };
    return [{ ...readMovement(JSON.stringify(data)), month }];
  });
}

/**
 * Replaces the movements of closed months that differ from the sealed rows by the sealed rows and
 * their corrections. The sum of all movements of a wallet stays the same.
 * @param changed called for each transaction that differs, with its movements
 */
export function keepSealed(
  months: readonly SealedMonth[],
  wallets: readonly string[],
  rows: SortedRows,
  changed: (txnId: string, movements: readonly Movement[]) => void,
): void {
  const [first, last] = [months[0], months.at(-1)];
  if (first === undefined || last === undefined) return;
  const sealed = new Map<string, SealedMovement[]>();
  for (const movement of months.flatMap(sealedMovements)) {
    const id = movement.txnId ?? '';
    sealed.set(id, [...(sealed.get(id) ?? []), movement]);
  }
  const unsealed = new Set<string>();
  for (const ccy of wallets)
    for (const text of rows.each(ccy, first.first, last.end)) {
      const { txnId } = readMovement(text);
      if (txnId !== null && !sealed.has(txnId)) unsealed.add(txnId);
    }
  for (const txnId of [...sealed.keys(), ...unsealed]) {
    const was = sealed.get(txnId) ?? [];
    const movements = wallets.flatMap((ccy) => {
      const text = rows.find(ccy, txnId);
      return corrected(
        was.filter((each) => each.ccy === ccy),
        text === undefined ? undefined : readMovement(text),
        months,
      );
    });
    if (movements.every((each) => isIn(rows, each)) && movements.length <= was.length) continue;
    rows.replace([txnId], movements.map(rowOf));
    changed(txnId, movements);
  }
}

const rowOf = (movement: Movement): SortedRow => ({
  group: movement.ccy,
  at: movement.at,
  id: movement.txnId ?? '',
  data: JSON.stringify(movement),
});

/** Whether the sorted rows already contain the movement with this time and amount. */
function isIn(rows: SortedRows, { ccy, at, txnId, ...amounts }: Movement): boolean {
  const text = rows.find(ccy, txnId ?? '');
  if (text === undefined) return false;
  const present = readMovement(text);
  return present.at === at && changeOf(present).eq(changeOf(amounts));
}

/** Returns the sealed movements of a transaction in one wallet, followed by their correction. */
function corrected(
  was: readonly SealedMovement[],
  current: Movement | undefined,
  months: readonly SealedMonth[],
): Movement[] {
  const sum = was.reduce((total, each) => total.plus(changeOf(each)), zero);
  const now = current === undefined ? zero : changeOf(current);
  const [movement] = current === undefined ? was : [current];
  if (movement === undefined) return [];
  const difference = now.minus(sum);
  if (difference.eq(0)) return was.length > 0 ? [...was] : [movement];
  const month =
    was[0]?.month ?? months.find(({ end }) => movement.at < end)?.month ?? months.at(-1)?.month;
  const reason =
    current === undefined
      ? 'no longer in the list'
      : was.length === 0
        ? 'not in the list when the month was closed'
        : 'had another amount when the month was closed';
  const correction: Movement = {
    ...movement,
    kind: 'correction',
    at: months.at(-1)?.end ?? movement.at,
    note: `correction of ${month}, ${movement.txnId}, ${reason}`,
    in: difference.gt(0) ? difference : zero,
    out: difference.lt(0) ? difference.abs() : zero,
    fee: zero,
  };
  return [...was, correction];
}

const zero = new Big(0);
