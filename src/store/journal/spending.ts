// Calculates the amount that an account spent within the last day, by the limit clock. The journal
// stores the spent sum of each ten-minute period. Every change of an attempt updates the sums, so
// the time of the calculation does not depend on the length of the history. The amounts are added
// as integers, in groups of nine digits, because SQLite cannot add decimals exactly.
import Big from 'big.js';
import * as v from 'valibot';
import { fixed } from '../../formats/amount.js';
import type { Statement, Sql, SqlDatabase } from '../database/sql.js';
import type { Spend, ServiceTime } from './journal.js';
import { mayHaveMoved, type Attempt, type Payment } from './payment.js';
import { arrivalOf } from './rows.js';

/** The time in ms within which submitted payments count against a daily limit. */
export const dayMs = 86_400_000;
/**
 * The length of a period in ms. The last 24 hours begin within a period, so svcpay adds up the
 * attempts of the first period, and adds the stored sums of the 144 later periods.
 */
export const periodMs = 600_000;

const groupDigits = 9;

/** Nine digits of an amount, which stand for `units x 10^(9 x exponent)` of the currency. */
export interface Group {
  readonly ccy: string;
  readonly exponent: number;
  readonly units: number;
}

/**
 * Splits an amount into groups of nine digits. For example, the groups of 12.5 are 12 with exponent
 * 0 and 500000000 with exponent -1.
 */
export function groupsOf({ ccy, total }: Spend): Group[] {
  const amount = new Big(total);
  const [whole = '', fraction = ''] = fixed(amount.abs()).split('.');
  const size = (digits: string): number => Math.ceil(digits.length / groupDigits);
  const left = whole.padStart(size(whole) * groupDigits, '0');
  const right = fraction.padEnd(size(fraction) * groupDigits, '0');
  return Array.from({ length: size(left + right) }, (_, at) => ({
    ccy,
    exponent: size(left) - 1 - at,
    units: amount.s * Number((left + right).slice(at * groupDigits, (at + 1) * groupDigits)),
  })).filter(({ units }) => units !== 0);
}

/**
 * The amounts that an attempt spends: its debit, and the received amount if another party receives
 * a different currency.
 */
function spendsOf(payment: Payment, attempt: Attempt): Spend[] {
  const { approvedTotal, approvedReceives, spendCcy, submittedAt } = attempt;
  if (!mayHaveMoved(attempt) || submittedAt === null || spendCcy === null || approvedTotal === null)
    return [];
  const debited = { ccy: spendCcy, total: approvedTotal };
  // If the order states only the debit, the approved quote states the received amount.
  const { ccy, total } = arrivalOf(payment);
  const received = total ?? approvedReceives;
  const isElsewhere = ccy !== null && ccy !== spendCcy && payment.kind !== 'swap';
  return isElsewhere && received !== null ? [debited, { ccy, total: received }] : [debited];
}

/**
 * The groups of digits that an attempt adds to the stored sums. The groups of digits have a fixed
 * order, so that two transactions lock the rows of the sums in the same order.
 */
export const spendingOf = (payment: Payment, attempt: Attempt): Group[] =>
  spendsOf(payment, attempt)
    .flatMap(groupsOf)
    .toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));

export const keyOf = ({ ccy, exponent }: Group): string => `${ccy} ${exponent}`;

/**
 * Adds a group of digits to the sum of the period in which the attempt was submitted, or subtracts
 * the group if the sign is -1.
 * @param token the token of the change, because the sum stays unchanged if the change was not
 * written
 */
export const addSpending = (
  [paymentId, number]: readonly [paymentId: string, attempt: number],
  { ccy, exponent, units }: Group,
  sign: 1 | -1,
  token: string | null,
): Statement => [
  `INSERT INTO spending (account, period, ccy, exponent, units)
   SELECT account, limit_time / ${periodMs}, ?, ?, ? FROM attempts WHERE payment_id = ?
     AND number = ?
     AND EXISTS (SELECT 1 FROM payments WHERE id = payment_id AND last_change = ?)
   ON CONFLICT (account, period, ccy, exponent) DO UPDATE
     SET units = spending.units + excluded.units`,
  ccy,
  exponent,
  sign * units,
  paymentId,
  number,
  token,
];

/**
 * Returns the statement that adds up the amounts that the account spent since the time `since` of
 * the limit clock.
 */
export function spentSince(account: string, since: number): Statement {
  const first = Math.floor(since / periodMs);
  return [
    // In the first period, only attempts that were submitted at or after `since` count.
    `WITH late AS (
       SELECT a.spend_ccy, a.approved_total, p.kind, p.receives_ccy,
         COALESCE(p.receives_total, a.approved_receives) AS received
       FROM attempts a JOIN payments p ON p.id = a.payment_id
       WHERE a.account = ? AND a.limit_time >= ? AND a.limit_time < ?
         AND a.state IN ('submitting','in-flight','paid','error','unknown')
         AND a.spend_ccy IS NOT NULL AND a.approved_total IS NOT NULL
     )
     SELECT ccy, exponent, CAST(sum(units) AS TEXT) AS units FROM spending
       WHERE account = ? AND period > ? GROUP BY ccy, exponent
     UNION ALL SELECT spend_ccy, 0, approved_total FROM late
     UNION ALL SELECT receives_ccy, 0, received FROM late
       WHERE receives_ccy <> spend_ccy AND received IS NOT NULL AND kind <> 'swap'`,
    account,
    since,
    (first + 1) * periodMs,
    account,
    first,
  ];
}

const groupsSchema = v.array(
  v.object({ ccy: v.string(), exponent: v.number(), units: v.pipe(v.string(), v.decimal()) }),
);

/** The spent sum of each currency, from the rows of {@link spentSince}. */
export function spendsIn(rows: readonly unknown[]): Spend[] {
  const sums = new Map<string, Big>();
  for (const { ccy, exponent, units } of v.parse(groupsSchema, rows)) {
    const amount = new Big(units).times(`1e${exponent * groupDigits}`);
    sums.set(ccy, (sums.get(ccy) ?? new Big(0)).plus(amount));
  }
  return [...sums].map(([ccy, sum]) => ({ ccy, total: fixed(sum) }));
}

/**
 * A reading of the limit clock, which measures the day of a daily limit. A journal in PostgreSQL
 * uses the clock of the database as the limit clock. A journal in a file has a limit clock for each
 * account, whose stored reading never goes back. The limit clock of a journal in a file adds up the
 * time between readings by the machine's clock, and detects jumps of the machine's clock by the
 * service's clock.
 */
export interface LimitClock {
  /** The time of the limit clock in epoch ms, which is correct unless a clock has jumped. */
  readonly time: number;
  /** The time of the machine's clock at the reading of the limit clock. */
  readonly machine: number;
  /**
   * The time of the service's clock at the reading of the limit clock, or null if the service's
   * time was unknown.
   */
  readonly service: number | null;
}

/**
 * The longest plausible time between two readings of the limit clock. svcpay ignores a clock by
 * which the time between two readings is longer or negative.
 */
const longestGapMs = 365 * 86_400_000;
/**
 * The largest accepted difference in ms between the time that passed by the machine's clock and by
 * the service's clock. The accepted difference between the clocks covers the time that responses
 * take.
 */
const agreedMs = 60_000;

/**
 * The present time of the limit clock. If the machine's clock and the service's clock disagree
 * about the time that passed, the shorter time counts, so that a jump of one clock does not start a
 * new day early. If both clocks jumped to implausible times, the limit clock does not follow them,
 * so the day of a limit ends at most 24 hours after the jump.
 */
export function advanced(
  before: LimitClock | undefined,
  machine: number,
  service: number | null,
): LimitClock {
  if (before === undefined) return { time: machine, machine, service };
  const byMachine = machine - before.machine;
  const byService =
    service === null || before.service === null ? undefined : service - before.service;
  return { time: before.time + passed(byMachine, byService), machine, service };
}

/**
 * The reading from which the limit clock continues. A reading without the service's time does not
 * replace a reading with the service's time, because svcpay detects jumps by the service's clock.
 */
export const kept = (before: LimitClock | undefined, clock: LimitClock): LimitClock =>
  before === undefined || before.service === null || clock.service !== null ? clock : before;

function passed(byMachine: number, byService: number | undefined): number {
  if (byMachine >= 0 && byService !== undefined && Math.abs(byMachine - byService) <= agreedMs)
    return byMachine;
  const plausible = [byMachine, byService ?? Infinity].filter(
    (ms) => ms >= 0 && ms <= longestGapMs,
  );
  return plausible.length === 0 ? 0 : Math.min(...plausible);
}

const clockSchema = v.array(
  v.object({ time: v.number(), machine: v.number(), service: v.nullable(v.number()) }),
);

/**
 * Reads the limit clock of an account within a transaction. A journal in a file also stores the
 * reading that {@link kept} selects.
 */
export async function limitTime(
  sql: Sql,
  { kind }: SqlDatabase,
  account: string,
  service: ServiceTime,
): Promise<number> {
  const machine = await sql.now();
  if (kind === 'postgres') return machine;
  const [before] = v.parse(
    clockSchema,
    await sql.all('SELECT time, machine, service FROM limit_clocks WHERE account = ?', account),
  );
  const clock = advanced(before, machine, service ?? null);
  if (kept(before, clock) !== clock) return clock.time;
  const keep = `INSERT INTO limit_clocks (account, time, machine, service) VALUES (?, ?, ?, ?)
    ON CONFLICT (account) DO UPDATE
      SET time = excluded.time, machine = excluded.machine, service = excluded.service`;
  await sql.run(keep, account, clock.time, clock.machine, clock.service);
  return clock.time;
}
