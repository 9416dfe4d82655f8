// Calculates a statement: opening balance, movements, closing balance, and transactions that could
// explain a difference from the service's balance. Rows of closed months stay as they were sealed:
// a change becomes a correction, dated to the first instant after the last closed month.
import Big from 'big.js';
import type { Span } from '../../formats/calendar.js';
import { changeOf, type StatementRow } from '../../formats/statement-row.js';
import { withoutTransaction, type Candidate, type Cells, type Movement } from './movement.js';

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
  const { at, ...row } = movement;
  return { ...unlooked, ...row, date: dayOf(at), balance };
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
  wallet,
  kind,
  balance,
});

/** The period of a statement, and the calendar of its rows. */
export interface StatementScope {
  readonly period: Span;
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
  /** `now` is the current time of the service in epoch ms, which ends an unfinished period. */
  { period, now, day }: StatementScope & { readonly now: number },
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
  /** The transactions that may explain the difference. */
  readonly explanations: readonly Explanation[];
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
  difference: Big,
  candidates: readonly Candidate[],
): readonly Explanation[] {
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

export interface Change {
  readonly change: 'added' | 'removed' | 'changed';
  /**
   * The key of a row, which is unique in a statement: the wallet, with the transaction id, the id
   * of the recorded entry, or the kind of the row.
   */
  readonly row: string;
  /** The cells before and after the change, joined by commas, or null without a row. */
  readonly before: string | null;
  readonly after: string | null;
}

const keyOf = ({ wallet, txnId, reference, kind }: Cells): string =>
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
export function changesBetween(was: readonly Cells[], is: readonly Cells[]): Change[] {
  const byKey = (rows: readonly Cells[]) => new Map(rows.map((row) => [keyOf(row), row]));
  const [old, current] = [byKey(was), byKey(is)];
  const textOf = (cells: Cells | undefined): string | null =>
    cells === undefined ? null : Object.values(cells).join(',');
  return [...new Set([...current.keys(), ...old.keys()])].flatMap((row): Change[] => {
    const [before, after] = [old.get(row), current.get(row)];
    if (before && after && factsOf(before) === factsOf(after)) return [];
    const change = before === undefined ? 'added' : after === undefined ? 'removed' : 'changed';
    return [{ change, row, before: textOf(before), after: textOf(after) }];
  });
}
