// The budgets of an account: what those who pay for the owner may spend. Each change of a budget is
// a row that never changes, and the latest row of a name is in force.
import * as v from 'valibot';
import { flag, rowOf, type Sql, type SqlDatabase, type Statement } from '../database/sql.js';
import type { Budget, BudgetRules, ServiceTime } from './journal.js';
import { chargedTo, dayMs, limitTime, spendsIn, spentSince } from './spending.js';
import { actorOfJson, type Actor } from './steps.js';

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
    rules: v.nullable(v.pipe(v.string(), v.parseJson(), rulesSchema)),
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
  const one = async (sql: Sql, account: string, name: string, time: number) =>
    readBudget((...statement) => sql.all(...statement), account, name, time);
  const timed = <T>(
    account: string,
    service: ServiceTime,
    read: (sql: Sql, time: number) => Promise<T>,
  ): Promise<T> =>
    database.transaction(async (sql) =>
      read(sql, await limitTime(sql, database, account, service)),
    );
  return {
    all: (account, service) =>
      timed(account, service, async (sql, time) => {
        const select = 'SELECT DISTINCT name FROM budgets WHERE account = ? ORDER BY name';
        const names = v.parse(namesSchema, await sql.all(select, account));
        const found: Budget[] = [];
        for (const { name } of names) {
          const budget = await one(sql, account, name, time);
          if (budget !== undefined) found.push(budget);
        }
        return found;
      }),
    one: (account, name, service) =>
      timed(account, service, (sql, time) => one(sql, account, name, time)),
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
