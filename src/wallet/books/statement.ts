// Calculates a statement: opening balance, movements, closing balance, and transactions that could
// explain a difference from the service's balance. Rows of closed months stay as they were sealed:
// a change becomes a correction, dated to the first instant after the last closed month.
import Big from 'big.js';
import type { Span } from '../../formats/calendar.js';
import type { StatementRow } from '../../formats/statement-row.js';
import {
  changeOf,
  withoutTransaction,
  type Candidate,
  type Movement,
  type BookRows,
  readMovement,
  signed,
} from './movement.js';

const zero = new Big(0);

/** The fields that only the data of this home can fill. */
const unlooked = {
  destination: null,
  paymentHash: null,
  approvedBy: null,
  fiatValue: null,
  fiatRate: null,
  exchangedRate: null,
  fiat: null,
} as const;

/** Converts a movement to a row with the balance after the movement. */
export function rowOf(
  movement: Movement,
  balance: Big,
  dayOf: (at: number) => string,
): StatementRow {
  const { ccy, at, created, kind, other, ...rest } = movement;
  return {
    ...unlooked,
    ...rest,
    date: dayOf(at),
    time: rest.txnId === null ? null : new Date(at).toISOString(),
    created: created === null ? null : new Date(created).toISOString(),
    wallet: ccy,
    kind,
    counterparty: other,
    method: kind === 'send' || kind === 'receive' ? other : null,
    balance,
  };
}

/** A row that is no movement: the opening, the closing, or a difference. */
export const markRow = (
  kind: 'opening' | 'closing' | 'difference',
  wallet: string,
  date: string | null,
  balance: Big,
): StatementRow => ({
  ...unlooked,
  ...withoutTransaction,
  in: zero,
  out: zero,
  date,
  time: null,
  wallet,
  kind,
  counterparty: null,
  method: null,
  balance,
});

/** The period of a statement, and the calendar of its rows. */
export interface StatementScope {
  readonly wallets: readonly string[];
  readonly period: Span;
  /** The current time of the service, in epoch ms, which ends an unfinished period. */
  readonly now: number;
  /** Returns the calendar day of an instant. */
  readonly day: (at: number) => string;
}

/**
 * Yields the opening balance, the movements of the period with running balances, and the closing
 * balance.
 * @param movements all movements of one wallet, oldest first, including movements before and after
 * the period
 */
export function* statementRows(
  ccy: string,
  movements: Iterable<Movement>,
  { period, now, day }: Omit<StatementScope, 'wallets'>,
): Generator<StatementRow, void, void> {
  let balance = zero;
  let totals = { in: zero, out: zero, fee: zero };
  let isOpen = false;
  const opening = (): StatementRow =>
    markRow('opening', ccy, period.first <= 0 ? null : day(period.first), balance);
  for (const movement of movements) {
    if (movement.at >= period.end) break;
    if (movement.at >= period.first && !isOpen) {
      isOpen = true;
      yield opening();
    }
    balance = balance.plus(changeOf(movement));
    if (!isOpen) continue;
    totals = {
      in: totals.in.plus(movement.in),
      out: totals.out.plus(movement.out),
      fee: totals.fee.plus(movement.fee),
    };
    yield rowOf(movement, balance, day);
  }
  if (!isOpen) yield opening();
  yield { ...markRow('closing', ccy, day(Math.min(period.end - 1, now)), balance), totals };
}

/**
 * Returns the balance after all movements, or after the movements before the time `end` in epoch
 * ms.
 */
export function balanceAfter(movements: Iterable<Movement>, end = Infinity): Big {
  let balance = zero;
  for (const movement of movements) {
    if (movement.at >= end) break;
    balance = balance.plus(changeOf(movement));
  }
  return balance;
}

/** A wallet whose movements do not add up to the service's balance. */
export interface Difference {
  readonly ccy: string;
  readonly added: Big;
  readonly reported: Big;
  /** The service's balance of the wallet minus the sum of its movements. */
  readonly difference: Big;
  /**
   * The time in epoch ms at which the movements last added up to the service's balance, or
   * undefined if they never did.
   */
  readonly lastTied: number | undefined;
}

export interface Explanation extends Candidate {
  /**
   * Whether the transaction's effect equals the difference between the movements and the service's
   * balance, alone or together with the effects of all transactions that have the same reason.
   */
  readonly isExact: boolean;
}

const mostExplanations = 20;

/**
 * Returns the transactions that may explain the difference: exact explanations first, then the
 * newest transactions.
 */
export function explanations(
  { difference }: Pick<Difference, 'difference'>,
  candidates: readonly Candidate[],
): Explanation[] {
  const single = candidates.find(({ effect }) => effect?.eq(difference) === true);
  const groups = [...new Set(candidates.map(({ reason }) => reason))].map((reason) =>
    candidates.filter((each) => each.reason === reason),
  );
  const group =
    single === undefined ? groups.find((each) => sumOf(each)?.eq(difference) === true) : [single];
  const exact = new Set(group);
  return candidates
    .map((candidate) => ({ ...candidate, isExact: exact.has(candidate) }))
    .toSorted((a, b) => Number(b.isExact) - Number(a.isExact) || b.at - a.at)
    .slice(0, mostExplanations);
}

/**
 * Returns the sum of the transactions' effects, or undefined if the effect of a transaction is
 * unknown.
 */
function sumOf(candidates: readonly Candidate[]): Big | undefined {
  let sum = zero;
  for (const { effect } of candidates) {
    if (effect === null) return undefined;
    sum = sum.plus(effect);
  }
  return sum;
}

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
