// The number of unfinished payments of a journal, for all accounts: for monitoring. Pure.
import { status, type Payment } from './payment.js';

export interface UnfinishedPayments {
  readonly status: 'open' | 'in-flight' | 'unknown';
  /** Opened within the last minute, 10 minutes or hour, or earlier. */
  readonly age: '1m' | '10m' | '1h' | 'older';
  readonly count: number;
  /** When the oldest of them was opened, epoch ms. */
  readonly oldest: number;
}

/** By status and age, the oldest first within a status. */
export function unfinishedOf(
  payments: readonly Payment[],
  now: number,
): readonly UnfinishedPayments[] {
  const groups = new Map<string, UnfinishedPayments>();
  for (const payment of payments) {
    const is = status(payment);
    if (is !== 'open' && is !== 'in-flight' && is !== 'unknown') continue;
    const age = ageOf(now - payment.openedAt);
    const { count = 0, oldest = payment.openedAt } = groups.get(`${is} ${age}`) ?? {};
    groups.set(`${is} ${age}`, {
      status: is,
      age,
      count: count + 1,
      oldest: Math.min(oldest, payment.openedAt),
    });
  }
  return [...groups.values()].toSorted((a, b) =>
    a.status === b.status ? a.oldest - b.oldest : a.status < b.status ? -1 : 1,
  );
}

const ageOf = (ms: number): UnfinishedPayments['age'] =>
  ms < 60_000 ? '1m' : ms < 600_000 ? '10m' : ms < 3_600_000 ? '1h' : 'older';
