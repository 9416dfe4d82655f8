// Calculates the amount that an account spent within the last 24 hours, according to the clock of
// the daily limit. The journal stores the total that each account spent in each ten-minute period.
// Every change of an attempt updates these totals, so the time of the calculation does not depend
// on the length of the history. The amounts are added as integers, in groups of nine digits,
// because SQLite cannot add decimals exactly. Without the stored totals, each submission would add
// up all attempts of the day under the lock of the account: 14 ms for 20,000 attempts in SQLite,
// with an index that contains the amounts, which is more than the rest of a row of a batch. A
// budget of the account counts its own part of these totals.
import Big from 'big.js';
import * as v from 'valibot';
import { fixed } from '../../formats/amount.js';
import {
  type Statement,
  type Sql,
  type SqlDatabase,
  flag,
  rowOf,
  jsonOf,
} from '../database/sql.js';
import type { ServiceTime, Spend, WrongTotals, Budget, BudgetRules } from './journal.js';
import { mayHaveMoved, movedInSql, type Attempt, type Payment } from './payment.js';
import { arrivalOf } from './rows.js';
import { actorOfJson, type Actor } from './steps.js';

/** 24 hours in ms, the time for which a submitted payment counts against a daily limit. */
export const dayMs = 86_400_000;
/**
 * The length in ms of the periods whose totals the journal stores. The last 24 hours usually begin
 * in the middle of a period, so svcpay adds up the attempts of that period one by one, and adds the
 * stored totals of the 144 later periods.
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
 * Splits an amount into groups of nine digits. For example, the amount 12.5 becomes two groups: 12
 * with the exponent 0, and 500000000 with the exponent -1.
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
  const { ccy, total } = arrivalOf(attempt);
  const received = total ?? approvedReceives;
  const isElsewhere = ccy !== null && ccy !== spendCcy && payment.kind !== 'swap';
  return isElsewhere && received !== null ? [debited, { ccy, total: received }] : [debited];
}

/**
 * The amounts that an attempt spends, split into groups of nine digits (see `groupsOf`). The groups
 * are sorted, so that two database transactions lock the rows of the stored totals in the same
 * order.
 */
export const spendingOf = (payment: Payment, attempt: Attempt): Group[] =>
  spendsOf(payment, attempt)
    .flatMap(groupsOf)
    .toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));

export const keyOf = ({ ccy, exponent }: Group): string => `${ccy} ${exponent}`;

/** The period under which the journal stores what a budget was charged in its whole time. */
const wholeTime = -1;

/**
 * Returns the statement that adds nine digits of an attempt's spending to the stored totals, or
 * subtracts these digits if `sign` is -1. A stored total is the total of the ten-minute period in
 * which svcpay submitted the attempt. A budget that the attempt charges has a total of its own for
 * this period, and one of its whole time.
 * @param token the token of a change to the payment; the statement has no effect if the journal did
 * not write this change
 */
export const addSpending = (
  [paymentId, number]: readonly [paymentId: string, attempt: number],
  { ccy, exponent, units }: Group,
  sign: 1 | -1,
  token: string | null,
): Statement => [
  `WITH spent AS (
     SELECT account, budget, limit_time / ${periodMs} AS period FROM attempts
     WHERE payment_id = ? AND number = ?
       AND EXISTS (SELECT 1 FROM payments WHERE id = payment_id AND last_change = ?)
   ), totals AS (
     SELECT account, '' AS budget, period FROM spent
     UNION ALL SELECT account, budget, period FROM spent
     UNION ALL SELECT account, budget, ${wholeTime} FROM spent
   )
   INSERT INTO spending (account, budget, period, ccy, exponent, units)
   SELECT account, budget, period, CAST(? AS TEXT), CAST(? AS BIGINT), CAST(? AS BIGINT)
     FROM totals WHERE budget IS NOT NULL
   ON CONFLICT (account, budget, period, ccy, exponent) DO UPDATE
     SET units = spending.units + excluded.units`,
  paymentId,
  number,
  token,
  ccy,
  exponent,
  sign * units,
];

/** The number of the ten-minute period that contains a time of the clock of the daily limit. */
const periodOf = (time: number): number => Math.floor(time / periodMs);

/**
 * Returns the statement that adds up the amounts that the account spent since `since`, a time of
 * the clock of the daily limit.
 * @param budget the budget whose part is added up, or an empty text for all of the account
 * @param stored the first period whose stored total counts; until then, each attempt counts
 */
export function spentSince(
  account: string,
  since: number,
  budget = '',
  stored = periodOf(since) + 1,
): Statement {
  return [
    // In the ten-minute period that contains `since`, only attempts that were submitted at or after
    // `since` count.
    `WITH late AS (
       SELECT a.spend_ccy, a.approved_total, p.kind, a.receives_ccy,
         COALESCE(a.receives_total, a.approved_receives) AS received
       FROM attempts a JOIN payments p ON p.id = a.payment_id
       WHERE a.account = ? AND a.limit_time >= ? AND a.limit_time < ? AND ? IN ('', a.budget)
         AND a.outcome IN (${movedInSql})
         AND a.spend_ccy IS NOT NULL AND a.approved_total IS NOT NULL
     )
     SELECT ccy, exponent, CAST(sum(units) AS TEXT) AS units FROM spending
       WHERE account = ? AND budget = ? AND period >= ? GROUP BY ccy, exponent
     UNION ALL SELECT spend_ccy, 0, approved_total FROM late
     UNION ALL SELECT receives_ccy, 0, received FROM late
       WHERE receives_ccy <> spend_ccy AND received IS NOT NULL AND kind <> 'swap'`,
    account,
    since,
    stored * periodMs,
    budget,
    account,
    budget,
    stored,
  ];
}

/** Returns the statement that reads what a budget was charged in its whole time. */
export const chargedTo = (account: string, budget: string): Statement => [
  `SELECT ccy, exponent, CAST(units AS TEXT) AS units FROM spending
   WHERE account = ? AND budget = ? AND period = ${wholeTime}`,
  account,
  budget,
];

const accountsSchema = v.array(
  v.object({ account: v.string(), budget: v.string(), time: v.number() }),
);

/**
 * Compares the stored totals of the last day of each account and budget, from which the limits
 * count, and the whole charge of each budget.
 */
export async function wrongTotals(sql: Sql): Promise<readonly WrongTotals[]> {
  const submitted = 'max(limit_time) AS time FROM attempts WHERE limit_time IS NOT NULL';
  const accounts = v.parse(
    accountsSchema,
    await sql.all(
      `SELECT account, '' AS budget, ${submitted} GROUP BY account
       UNION ALL SELECT account, budget, ${submitted} AND budget IS NOT NULL
       GROUP BY account, budget`,
    ),
  );
  const wrong: WrongTotals[] = [];
  for (const { account, budget, time } of accounts) {
    const since = (periodOf(time - dayMs) + 1) * periodMs;
    const ofAttempts = (from: number) => spentSince(account, from, budget, periodOf(time) + 1);
    const day = [spentSince(account, since, budget, periodOf(since)), ofAttempts(since)] as const;
    const whole = [chargedTo(account, budget), ofAttempts(0)] as const;
    const what = budget === '' ? 'the daily limit' : `the budget ${budget}`;
    for (const pair of budget === '' ? [day] : [day, whole]) {
      const [stored, attempts] = [await sql.all(...pair[0]), await sql.all(...pair[1])];
      const [counted, spent] = [stored, attempts].map(totalsInWords);
      if (counted !== spent)
        wrong.push({ account, differs: `${what} counts ${counted}, its payments ${spent}` });
    }
  }
  return wrong;
}

const totalsInWords = (rows: readonly unknown[]): string =>
  spendsIn(rows)
    .filter(({ total }) => /[1-9]/.test(total))
    .map(({ ccy, total }) => `${total} ${ccy}`)
    .toSorted()
    .join(' and ') || 'nothing';

const groupsSchema = v.array(
  v.object({ ccy: v.string(), exponent: v.number(), units: v.pipe(v.string(), v.decimal()) }),
);

/** The total spent in each currency, from the rows of {@link spentSince}. */
export function spendsIn(rows: readonly unknown[]): Spend[] {
  const sums = new Map<string, Big>();
  for (const { ccy, exponent, units } of v.parse(groupsSchema, rows)) {
    const amount = new Big(units).times(`1e${exponent * groupDigits}`);
    sums.set(ccy, (sums.get(ccy) ?? new Big(0)).plus(amount));
  }
  return [...sums].map(([ccy, sum]) => ({ ccy, total: fixed(sum) }));
}

/**
 * A reading of the clock that measures the 24 hours of a daily limit. In PostgreSQL, the clock of
 * the daily limit is the clock of the database. A journal in a file has one clock of the daily
 * limit for each account, and the stored time of this clock never goes back. In a journal in a
 * file, the clock of the daily limit adds up the time that passes on the machine's clock between
 * two readings, and uses the service's clock to detect jumps of the machine's clock.
 */
export interface LimitClock {
  /**
   * The time of the clock of the daily limit in epoch ms, which is correct unless the machine's
   * clock or the service's clock has jumped.
   */
  readonly time: number;
  /** The machine's time when svcpay read the clock of the daily limit. */
  readonly machine: number;
  /**
   * The service's time when svcpay read the clock of the daily limit, or null if the service's time
   * was unknown.
   */
  readonly service: number | null;
}

/**
 * One year in ms, the longest plausible time between two readings of the clock of the daily limit.
 * If the machine's clock and the service's clock disagree, svcpay ignores a clock that went back
 * since the previous reading, or went ahead by more than a year.
 */
const longestGapMs = 365 * 86_400_000;
/**
 * The largest accepted difference in ms between the time that passed on the machine's clock and on
 * the service's clock. svcpay accepts this difference, because it learns the service's time only
 * when a response arrives.
 */
const agreedMs = 60_000;

/**
 * The current time of the clock of the daily limit. If the machine's clock and the service's clock
 * disagree about the time that passed, the shorter time counts, so that a jump of one clock does
 * not start a new day early. If the machine's clock and the service's clock both jumped to
 * implausible times, no time counts as passed, so earlier payments count against the daily limit
 * for at most 24 hours after the jump.
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
 * Returns the clock reading to store, from which the next reading of the clock of the daily limit
 * continues. A clock reading without the service's time does not replace a stored reading that has
 * the service's time, because svcpay needs the service's time to detect jumps.
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
 * Reads the clock of an account's daily limit within a database transaction. For a journal in a
 * file, `limitTime` also stores the clock reading, unless {@link kept} prefers the stored reading.
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

const amounts = v.record(v.string(), v.string());

const rulesSchema = v.object({
  perPayment: amounts,
  perDay: amounts,
  total: amounts,
  askAbove: amounts,
  destinations: v.array(v.string()),
  kinds: v.array(v.string()),
  expiresAt: v.nullable(v.number()),
  outbox: v.nullable(v.string()),
});

export interface BudgetState {
  readonly stopped: boolean;
  /** The rules, or null if the budget does not exist or was removed. */
  readonly rules: BudgetRules | null;
}

/** A change of a budget or of all budgets, with the state after the change. */
export interface BudgetChange extends BudgetState {
  readonly ofAll: boolean;
  readonly at: number;
  readonly by: Actor;
}

/** The name under which the stop of all budgets is stored. It cannot be the name of a budget. */
const all = '*';

const rowsSchema = v.array(
  rowOf({
    name: v.string(),
    at: v.number(),
    actor: actorOfJson,
    stopped: flag,
    rules: v.nullable(jsonOf(rulesSchema)),
  }),
);

const columns = 'SELECT name, at, actor, stopped, rules FROM budgets b';
const inForce = 'seq = (SELECT max(seq) FROM budgets WHERE account = b.account AND name = b.name)';

/** Reads a budget and what it was charged, each with one statement. */
export async function readBudget(
  read: (...statement: Statement) => Promise<readonly unknown[]>,
  account: string,
  name: string,
  time: number,
): Promise<Budget | undefined> {
  const select = `${columns} WHERE account = ? AND name IN (?, '${all}') AND ${inForce}`;
  const rows = v.parse(rowsSchema, await read(select, account, name));
  const own = rows.find((each) => each.name === name);
  if (own === undefined || own.rules === null || name === all) return undefined;
  const isAllStopped = rows.some((each) => each.name === all && each.stopped);
  return {
    name,
    rules: own.rules,
    stopped: isAllStopped ? 'all' : own.stopped ? 'this' : null,
    time,
    spentToday: spendsIn(await read(...spentSince(account, time - dayMs, name))),
    spentEver: spendsIn(await read(...chargedTo(account, name))),
  };
}

export interface BudgetRecords {
  /** All budgets of the account, by name. */
  all(account: string, service: ServiceTime): Promise<readonly Budget[]>;
  one(account: string, name: string, service: ServiceTime): Promise<Budget | undefined>;
  /** The changes of a budget and of all budgets, oldest first. */
  changes(account: string, name: string): Promise<readonly BudgetChange[]>;
  /**
   * Changes a budget durably, or stops or starts all budgets without a name. No payment that the
   * change forbids is submitted after the change.
   * @param change receives the rules in force, and the time by the clock of the daily limit
   */
  change(
    account: string,
    name: string | undefined,
    change: (before: BudgetState, time: number) => BudgetState,
    service: ServiceTime,
  ): Promise<void>;
}

const namesSchema = v.array(v.object({ name: v.string() }));

/** @param by who changes budgets */
export const budgetRecords = (database: SqlDatabase, by: Actor): BudgetRecords => {
  const readAll: BudgetRecords['all'] = (account, service) =>
    database.transaction(async (sql) => {
      const time = await limitTime(sql, database, account, service);
      const select = 'SELECT DISTINCT name FROM budgets WHERE account = ? ORDER BY name';
      const found: Budget[] = [];
      for (const { name } of v.parse(namesSchema, await sql.all(select, account))) {
        const budget = await readBudget((...query) => sql.all(...query), account, name, time);
        if (budget !== undefined) found.push(budget);
      }
      return found;
    });
  return {
    all: readAll,
    one: async (account, wanted, service) =>
      (await readAll(account, service)).find(({ name }) => name === wanted),
    changes: async (account, name) => {
      const select = `${columns} WHERE account = ? AND name IN (?, '${all}') ORDER BY at, seq`;
      const rows = await database.read((sql) => sql.all(select, account, name));
      return v.parse(rowsSchema, rows).map(({ actor: by, name: of, ...row }) => ({
        ...row,
        by,
        ofAll: of === all,
      }));
    },
    change: (account, name = all, change, service) =>
      database.transaction(
        async (sql) => {
          const time = await limitTime(sql, database, account, service);
          const latest = `${columns} WHERE account = ? AND name = ? AND ${inForce}`;
          const [before = { stopped: false, rules: null }] = v.parse(
            rowsSchema,
            await sql.all(latest, account, name),
          );
          const { stopped, rules } = change(before, time);
          const insert = `INSERT INTO budgets (account, name, seq, at, actor, stopped, rules)
            SELECT ?, ?, COALESCE(max(seq), 0) + 1, ?, ?, ?, ? FROM budgets
              WHERE account = ? AND name = ?`;
          const values = [await sql.now(), JSON.stringify(by), Number(stopped)] as const;
          const text = rules && JSON.stringify(rules);
          await sql.run(insert, account, name, ...values, text, account, name);
        },
        // The lock that a submission holds while it reads the budget.
        { lasts: true, locks: [accountLock(account)] },
      ),
  };
};

/** The lock under which the spending of an account is read and changed. */
export const accountLock = (account: string): string => `account ${account}`;
