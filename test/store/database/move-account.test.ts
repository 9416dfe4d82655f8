// If the move of an account to another database is interrupted at any step, no payment is lost or
// repeated, and the next run completes the move.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Failure } from '../../../src/formats/failure.js';
import { moveAccount, type IdentifiedDatabase } from '../../../src/store/database/move-account.js';
import { moveInto } from '../../../src/store/database/move.js';
import { postgresDatabase, type Postgres } from '../../../src/store/database/postgres.js';
import { checkTables } from '../../../src/store/database/postgres-schema.js';
import { inboxPart } from '../../../src/store/events/postgres-events.js';
import { eventsIn } from '../../../src/store/events/sqlite-events.js';
import {
  changeLimitsOfAccount,
  limitsOfAccount,
} from '../../../src/store/journal/account-limits.js';
import { bookRecords } from '../../../src/store/journal/book-records.js';
import type { Spend } from '../../../src/store/journal/journal.js';
import { journalPart } from '../../../src/store/journal/schema.js';
import { openSqlJournal } from '../../../src/store/journal/sql-journal.js';
import { journalIn } from '../../../src/store/journal/sqlite-journal.js';
import { account, fillHome } from '../../support/filled-home.js';
import { hasPostgres } from '../../support/postgres.js';
import { prepareTables } from '../../support/prepared-database.js';
import { usingPostgres } from '../../support/shared-postgres.js';

const server = usingPostgres();
const scope = account;
const nobody = (): boolean => false;

async function emptySide(): Promise<IdentifiedDatabase> {
  const database = postgresDatabase({
    url: server().database(),
    source: 'the test',
    clock: () => performance.now(),
  });
  onTestFinished(() => database.close());
  for (const part of [journalPart, inboxPart]) await prepareTables(database, part);
  return { database, id: (await checkTables(database, journalPart)).id };
}

/**
 * Creates a database with all records that an account can have, and with a payment of another
 * account.
 */
async function filledSide(): Promise<IdentifiedDatabase> {
  const home = mkdtempSync(join(tmpdir(), 'svcpay-move-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  await fillHome(home);
  const side = await emptySide();
  const { database } = side;
  const files = {
    journal: journalIn(join(home, 'journal.db')),
    inbox: eventsIn(join(home, 'events.db')),
  };
  await moveInto(database, files, nobody, Date.now);
  await changeLimitsOfAccount(database, account, () => limits);
  const books = bookRecords(database);
  await books.add(scope, opening);
  await books.keepTies(scope, [{ ccy: 'BTC', tiedAt: 1, balance: '1' }]);
  await openSqlJournal(database, nobody).begin(draft('other', 'ne01-other'));
  return side;
}

const limits = { perPayment: {}, perDay: { BTC: '1' }, destinations: [] };
const opening = {
  id: 'opening BTC',
  kind: 'opening',
  ccy: 'BTC',
  amount: '1',
  dated: '2026-11-14',
  note: null,
  recordedAt: 1,
} as const;

const draft = (ref: string, of = account) => ({
  id: `id-${ref}`,
  scope: of,
  account: of,
  ref,
  kind: 'payout' as const,
  request: '{}',
  instruction: '{}',
  digest: ref,
  idempotencyKey: null,
  terms: {},
});

const move = (
  from: IdentifiedDatabase,
  to: IdentifiedDatabase,
  isAlive = nobody,
): Promise<number> => moveAccount({ from, to, account, scope, isAlive });

/** Returns whether the database accepts a new payment of the account, and removes the payment. */
async function accepts({ database }: IdentifiedDatabase): Promise<boolean> {
  try {
    await openSqlJournal(database, nobody).begin(draft('probe'));
  } catch (error) {
    expect(error).toMatchObject({ kind: 'usage' });
    return false;
  }
  await database.transaction((sql) => sql.run(`DELETE FROM payments WHERE ref = 'probe'`));
  return true;
}

const countIn = async (
  { database }: IdentifiedDatabase,
  table: string,
  of: string,
): Promise<number> => {
  const rows = await database.read((sql) =>
    sql.all(`SELECT 1 FROM ${table} WHERE ${of} = ?`, scope),
  );
  return rows.length;
};

const sorted = (spends: readonly Spend[]): Spend[] =>
  spends.toSorted((one, other) => (one.ccy < other.ccy ? -1 : 1));

async function contentsOf({ database }: IdentifiedDatabase): Promise<object> {
  const journal = openSqlJournal(database, nobody);
  const books = bookRecords(database);
  return {
    payments: await journal.page(scope, '', 100),
    unfinished: await journal.open(scope),
    spent: sorted(await journal.spent(account, undefined)),
    limits: await limitsOfAccount(database, account),
    entries: await books.entries(scope),
    ties: await books.ties(scope),
  };
}

async function expectMoved(
  from: IdentifiedDatabase,
  to: IdentifiedDatabase,
  contents: object,
): Promise<void> {
  expect(await contentsOf(to)).toEqual(contents);
  expect([await accepts(from), await accepts(to)]).toEqual([false, true]);
  for (const [table, of] of [
    ['payments', 'scope'],
    ['attempts', 'account'],
    ['spending', 'account'],
    ['account_limits', 'account'],
    ['book_entries', 'scope'],
  ] as const)
    expect([table, await countIn(from, table, of)]).toEqual([table, 0]);
}

/** Simulates a kill: `step` runs before each transaction of the database, and can throw. */
function killed({ database, id }: IdentifiedDatabase, step: () => void): IdentifiedDatabase {
  const stopping: Postgres = {
    ...database,
    read: async (action) => (step(), database.read(action)),
    transaction: async (action, options) => (step(), database.transaction(action, options)),
  };
  return { database: stopping, id };
}

describe.skipIf(!hasPostgres)('moveAccount', () => {
  test(
    'keeps every payment exactly once wherever the move is killed',
    { timeout: 60_000 },
    async () => {
      let from = await filledSide();
      const others = from;
      const contents = await contentsOf(from);
      for (let allowed = 0, isWhole = false; !isWhole; allowed += 1) {
        const to = await emptySide();
        let left = allowed;
        const step = (): void => {
          if ((left -= 1) < 0) throw new Error('killed');
        };
        isWhole = await move(killed(from, step), killed(to, step)).then(
          () => true,
          () => false,
        );
        // While the old database accepts payments, the new database contains no payments. Once the
        // old database refuses payments, the new database accepts payments only after a complete
        // move.
        if (await accepts(from)) expect(await countIn(to, 'payments', 'scope')).toBe(0);
        else expect([allowed, await accepts(to)]).toEqual([allowed, isWhole]);
        await move(from, to);
        await expectMoved(from, to, contents);
        expect(await move(from, to)).toBe(0);
        from = to;
      }
      const rest = `SELECT ref FROM payments WHERE scope <> '${scope}'`;
      expect(await others.database.read((sql) => sql.all(rest))).toEqual([{ ref: 'other' }]);
    },
  );

  test('restores the original database if the account moves back', async () => {
    const [from, to] = [await filledSide(), await emptySide()];
    const contents = await contentsOf(from);
    await move(from, to);
    expect(await move(to, from)).toBe(10);
    await expectMoved(to, from, contents);
  });

  test('moves an account once if two processes move it at the same time', async () => {
    const [from, to] = [await filledSide(), await emptySide()];
    const contents = await contentsOf(from);
    const runs = await Promise.allSettled([move(from, to), move(from, to)]);
    for (const run of runs)
      if (run.status === 'rejected') expect(run.reason).toMatchObject({ kind: 'temporary' });
    expect(runs.map((run) => run.status)).toContain('fulfilled');
    await expectMoved(from, to, contents);
  });

  test('leaves an account in one database if two processes move it in opposite directions', async () => {
    const [one, other] = [await filledSide(), await emptySide()];
    const contents = await contentsOf(one);
    await Promise.allSettled([move(one, other), move(other, one)]);
    const [first] = [await accepts(one), await accepts(other)];
    await (first === true ? expectMoved(other, one, contents) : expectMoved(one, other, contents));
  });

  test('refuses to move an account while a process drives one of its payments', async () => {
    const [from, to] = [await filledSide(), await emptySide()];
    const journal = openSqlJournal(from.database, nobody);
    const claim = await journal.claim('id-going', 'host 1 x');
    await expect(move(from, to, () => true)).rejects.toMatchObject({ kind: 'temporary' });
    expect([await accepts(from), await accepts(to)]).toEqual([true, true]);
    if (claim !== undefined) await journal.release(claim);
    expect(await move(from, to, () => true)).toBe(10);
  });

  test('names the new database to a process that still uses the old database', async () => {
    const [from, to, third] = [await filledSide(), await emptySide(), await emptySide()];
    await move(from, to);
    const refusal = await openSqlJournal(from.database, nobody)
      .begin(draft('late'))
      .catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(Failure);
    expect(refusal).toMatchObject({
      kind: 'usage',
      message: expect.stringContaining(`${account} were moved`),
      next: { do: 'accept-database', id: to.id },
    });
    await expect(move(from, third)).rejects.toMatchObject({
      kind: 'usage',
      message: expect.stringContaining(to.id),
    });
    expect(await accepts(third)).toBe(true);
  });
});
