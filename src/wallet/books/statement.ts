// Calculates a statement: opening balance, movements, closing balance, and transactions that could
// explain a difference from the service's balance.
import Big from 'big.js';
import type { Span } from '../../formats/calendar.js';
import { changeOf, type Candidate, type Movement } from './movement.js';

export interface StatementRow extends Omit<Movement, 'kind' | 'at' | 'other'> {
  readonly kind: Movement['kind'] | 'opening' | 'closing' | 'difference';
  /**
   * The time of the row in epoch ms, or null for the opening row of a statement that covers the
   * whole history.
   */
  readonly at: number | null;
  readonly other: string | null;
  /** The wallet's balance after this row. */
  readonly balance: Big;
}

const zero = new Big(0);

/**
 * Yields the opening balance, the movements of the period with running balances, and the closing
 * balance.
 * @param movements all movements of one wallet, oldest first, including movements before and after
 * the period
 * @param now the end of an unfinished period, in epoch ms
 */
export function* statementRows(
  ccy: string,
  movements: Iterable<Movement>,
  period: Span,
  now: number,
): Generator<StatementRow, void, void> {
  let balance = zero;
  let isOpen = false;
  const mark = (kind: 'opening' | 'closing', at: number | null): StatementRow => ({
    ccy,
    kind,
    at,
    created: null,
    txnId: null,
    other: null,
    reference: null,
    note: null,
    in: zero,
    out: zero,
    fee: zero,
    balance,
  });
  const opening = (): StatementRow => mark('opening', period.first <= 0 ? null : period.first);
  for (const movement of movements) {
    if (movement.at >= period.end) break;
    if (movement.at >= period.first && !isOpen) {
      isOpen = true;
      yield opening();
    }
    balance = balance.plus(changeOf(movement));
    if (isOpen) yield { ...movement, balance };
  }
  if (!isOpen) yield opening();
  yield mark('closing', Math.min(period.end - 1, now));
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
