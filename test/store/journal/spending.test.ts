// The journal updates the daily sum with every change of a payment. These tests compare the daily
// sum with a plain loop over all payments in SQLite, in PostgreSQL, and after a move from SQLite to
// PostgreSQL.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Big from 'big.js';
import Database from 'libsql';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { moveInto } from '../../../src/store/database/move.js';
import { postgresDatabase, type Postgres } from '../../../src/store/database/postgres.js';
import type { SqlDatabase } from '../../../src/store/database/sql.js';
import { sqliteDatabase } from '../../../src/store/database/sqlite-database.js';
import { prepareTables } from '../../support/prepared-database.js';
import { inboxPart } from '../../../src/store/events/postgres-events.js';
import { eventsIn } from '../../../src/store/events/sqlite-events.js';
import type { Claim, Journal, Spend } from '../../../src/store/journal/journal.js';
import {
  latest,
  mayHaveMoved,
  requested,
  type Attempt,
  type PaymentDraft,
} from '../../../src/store/journal/payment.js';
import { journalIn, journalPart } from '../../../src/store/journal/schema.js';
import { chargedTo, spendsIn, spendsOf, wrongTotals } from '../../../src/store/journal/spending.js';
import { openSqlJournal } from '../../../src/store/journal/sql-journal.js';
import { openJournal } from '../../../src/store/journal/sqlite-journal.js';
import { hasPostgres } from '../../support/postgres.js';
import { usingPostgres } from '../../support/shared-postgres.js';
import { withClock } from '../../support/sql-clock.js';

const day = 86_400_000;
const minute = 60_000;
const account = 'ne01';

/** Decimals as services write them: satoshis, dong, and more digits than a double can hold. */
const amounts = fc.oneof(
  fc.integer({ min: 1, max: 2_100_000_000 }).map((sats) => Big(sats).times('1e-8').toFixed()),
  fc.integer({ min: 1, max: 1_000_000_000_000 }).map(String),
  fc
    .bigInt({ min: 1n, max: 10n ** 29n })
    .map((digits) => Big(String(digits)).times('1e-12').toFixed()),
);

interface Order {
  readonly kind: 'payout' | 'swap';
  readonly spendCcy: string;
  readonly total: string;
  readonly budget: string | null;
  /** The received amount, and whether the order or the quote states this amount. */
  readonly arrives: {
    readonly ccy: string;
    readonly total: string;
    readonly by: 'order' | 'quote';
  };
}

const ccys = fc.constantFrom('BTC', 'USDT', 'VND');
const orders: fc.Arbitrary<Order> = fc.record({
  kind: fc.constantFrom('payout', 'payout', 'swap'),
  spendCcy: ccys,
  total: amounts,
  budget: fc.constantFrom(null, 'a', 'b'),
  arrives: fc.record({ ccy: ccys, total: amounts, by: fc.constantFrom('order', 'quote') }),
});

/** The events of a test: time passes, an order is submitted or imported, or a payment changes. */
type Event =
  | { readonly does: 'wait'; readonly ms: number }
  | { readonly does: 'submit' | 'import'; readonly order: Order; readonly ago: number }
  | { readonly does: 'end'; readonly which: number; readonly state: Attempt['state'] }
  | { readonly does: 'return'; readonly which: number }
  | { readonly does: 'retry' | 'again'; readonly which: number; readonly order: Order };

const waits = fc.oneof(
  fc.integer({ min: 0, max: 20 * minute }),
  fc.constantFrom(day - 1, day, day / 2, 10 * minute),
);
const events: fc.Arbitrary<Event> = fc.oneof(
  fc.record({ does: fc.constant('wait' as const), ms: waits }),
  fc.record({
    does: fc.constantFrom('submit' as const, 'submit' as const, 'import' as const),
    order: orders,
    ago: fc.integer({ min: 0, max: 2 * day }),
  }),
  fc.record({
    does: fc.constant('end' as const),
    which: fc.nat(),
    state: fc.constantFrom<Attempt['state']>(
      'in-flight',
      'paid',
      'failed',
      'lapsed',
      'unknown',
      'error',
    ),
  }),
  fc.record({ does: fc.constant('return' as const), which: fc.nat() }),
  fc.record({
    does: fc.constantFrom('retry' as const, 'again' as const),
    which: fc.nat(),
    order: orders,
  }),
);

/** Applies events to a journal, and computes the daily sum with a plain loop over its payments. */
function ledger(journal: Journal, clock: { now: number }) {
  const ids: string[] = [];
  /**
   * For each attempt, the time of its submission, from which the loop over all payments computes
   * the daily sum.
   */
  const submittedAt = new Map<string, number>();
  const draftOf = ({ kind, arrives }: Order): PaymentDraft => {
    const id = `p${ids.length}`;
    const receives =
      arrives.by === 'order' ? { ccy: arrives.ccy, value: arrives.total } : undefined;
    return {
      id,
      scope: account,
      account,
      ref: `ref-${id}`,
      kind,
      request: JSON.stringify({ receives, body: { destReq: { ccy: arrives.ccy } } }),
      instruction: '{}',
      digest: id,
      idempotencyKey: null,
      terms: {},
    };
  };
  const approved = ({ spendCcy, total, budget, arrives }: Order) => ({
    spendCcy,
    budget,
    approvedTotal: total,
    approvedReceives: arrives.by === 'quote' ? arrives.total : null,
  });

  /** Writes a state, unless the state table refuses the transition. */
  async function write(claim: Claim, change: Partial<Attempt>): Promise<Claim> {
    const attempt = { ...latest(claim.payment), ...change };
    return journal.write(claim, { attempt }).catch((error: unknown) => {
      if (String(error).includes('refuses the transition')) return claim;
      throw error;
    });
  }
  async function submit(claim: Claim, order: Order): Promise<void> {
    const attempt: Attempt = { ...latest(claim.payment), ...approved(order), state: 'submitting' };
    const done = await journal.submit(claim, { attempt }, undefined, () => undefined);
    submittedAt.set(`${claim.payment.id} ${attempt.number}`, clock.now);
    await journal.release(done);
  }
  const quoted = (claim: Claim): Promise<Claim> =>
    write(claim, { state: 'quoted', txnId: `t${latest(claim.payment).number}` });
  const claimed = async (id: string): Promise<Claim> => {
    const claim = await journal.claim(id, 'test 1 x');
    if (claim === undefined) throw new Error(`${id} is held`);
    return claim;
  };
  async function enter(order: Order, ago: number): Promise<void> {
    const draft = draftOf(order);
    ids.push(draft.id);
    const found = { number: 1, txnId: 't1', state: 'paid', txnState: 'completed' } as const;
    await journal.enter(draft, { ...found, ...approved(order), ago }, undefined);
    submittedAt.set(`${draft.id} 1`, clock.now - ago);
  }
  async function change(event: Extract<Event, { readonly which: number }>): Promise<void> {
    const claim = await claimed(ids[event.which % ids.length] ?? '');
    const { number, state } = latest(claim.payment);
    if (event.does === 'retry') {
      const attempt = requested(number + 1, latest(claim.payment).request);
      await submit(await quoted(await journal.write(claim, { attempt })), event.order);
    } else if (event.does === 'again' && state === 'quoted') await submit(claim, event.order);
    else if (event.does === 'return')
      await journal.release(await write(claim, { state: 'quoted', submittedAt: null }));
    else
      await journal.release(
        event.does === 'end' ? await write(claim, { state: event.state }) : claim,
      );
  }

  return {
    async apply(event: Event): Promise<void> {
      clock.now += 1;
      if (event.does === 'wait') clock.now += event.ms;
      else if ('which' in event) {
        if (ids.length > 0) await change(event);
      } else if (event.does === 'import') await enter(event.order, event.ago);
      else {
        const { payment } = await journal.begin(draftOf(event.order));
        ids.push(payment.id);
        await submit(await quoted(await claimed(payment.id)), event.order);
      }
    },
    /** @param budget only the payments that charged this budget, whenever they were submitted */
    async looped(budget?: string): Promise<Record<string, string>> {
      const sums = new Map<string, Big>();
      const add = (ccy: string, total: string): void =>
        void sums.set(ccy, (sums.get(ccy) ?? Big(0)).plus(total));
      for (const id of ids) {
        const payment = await journal.read(id);
        for (const attempt of payment?.attempts ?? []) {
          const at = submittedAt.get(`${id} ${attempt.number}`) ?? 0;
          const counts = mayHaveMoved(attempt) && attempt.submittedAt !== null;
          const isOver = Math.floor(at / minute) < Math.floor((clock.now - day) / minute);
          if (!counts || (budget === undefined && isOver)) continue;
          if (budget !== undefined && attempt.budget !== budget) continue;
          add(attempt.spendCcy ?? '', attempt.approvedTotal ?? '');
          const { receives, body } = JSON.parse(attempt.request);
          const arrives = receives?.value ?? attempt.approvedReceives;
          const { ccy } = body.destReq;
          if (payment?.kind !== 'swap' && ccy !== attempt.spendCcy && arrives !== null)
            add(ccy, arrives);
        }
      }
      return textsOf([...sums].map(([ccy, sum]) => ({ ccy, total: sum.toFixed() })));
    },
    spent: async () => textsOf(await journal.spent(account, undefined)),
  };
}

/** Expects that the stored totals of both budgets equal the sums of their payments. */
async function expectBudgets(
  { looped }: ReturnType<typeof ledger>,
  database: SqlDatabase,
): Promise<void> {
  for (const budget of ['a', 'b']) {
    const rows = await database.read((sql) => sql.all(...chargedTo(account, budget)));
    expect(textsOf(spendsIn(rows))).toEqual(await looped(budget));
  }
  expect(await database.read(wrongTotals)).toEqual([]);
}

const textsOf = (spends: readonly Spend[]): Record<string, string> =>
  Object.fromEntries(
    spends
      .filter(({ total }) => !Big(total).eq(0))
      .toSorted((one, other) => (one.ccy < other.ccy ? -1 : 1))
      .map(({ ccy, total }) => [ccy, total]),
  );

test('spendsOf rounds an amount with more than twelve decimals up', () => {
  const attempt = {
    ...requested(1, '{}'),
    state: 'paid' as const,
    spendCcy: 'BTC',
    approvedTotal: '0.10000000000001',
    submittedAt: 0,
  };
  expect(spendsOf({ kind: 'send' }, attempt)).toEqual([{ ccy: 'BTC', total: '0.100000000001' }]);
});

const server = usingPostgres();

async function preparedPostgres(): Promise<Postgres> {
  const database = postgresDatabase({
    url: server().database(),
    source: 'the test',
    clock: () => performance.now(),
  });
  onTestFinished(() => database.close());
  for (const part of [journalPart, inboxPart]) await prepareTables(database, part);
  return database;
}

function openFile(path: string): Database.Database {
  const db = new Database(path);
  onTestFinished(() => void db.close());
  return db;
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'svcpay-spending-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const isAlive = (): boolean => false;
const runs = { numRuns: 25 };
const start = Date.now() - 30 * day;

async function inSqlite(taken: readonly Event[], path: string) {
  const clock = { now: start };
  const journal = openJournal({ path, isAlive, now: () => clock.now });
  const made = ledger(journal, clock);
  for (const event of taken) await made.apply(event);
  return { ...made, clock, close: () => journal.close() };
}

describe('daily sum of the journal', { timeout: 60_000 }, () => {
  test('matches a sum recomputed from all payments in SQLite', async () => {
    let files = 0;
    const folder = newFolder();
    await fc.assert(
      fc.asyncProperty(fc.array(events, { maxLength: 25 }), async (taken) => {
        const path = join(folder, `${(files += 1)}.db`);
        const made = await inSqlite(taken, path);
        expect(await made.spent()).toEqual(await made.looped());
        const database = sqliteDatabase(journalIn(path), () => made.clock.now);
        await expectBudgets(made, database);
        await database.close();
        await made.close();
      }),
      runs,
    );
  });

  test.skipIf(!hasPostgres)(
    'matches a sum recomputed from all payments in PostgreSQL',
    async () => {
      const database = await preparedPostgres();
      await fc.assert(
        fc.asyncProperty(fc.array(events, { maxLength: 25 }), async (taken) => {
          await database.transaction((sql) =>
            sql.script('TRUNCATE payments, attempts, trail, spending'),
          );
          const clock = { now: start };
          const made = ledger(
            openSqlJournal(
              withClock(database, () => clock.now),
              isAlive,
            ),
            clock,
          );
          for (const event of taken) await made.apply(event);
          expect(await made.spent()).toEqual(await made.looped());
          await expectBudgets(made, database);
        }),
        runs,
      );
    },
  );

  test.skipIf(!hasPostgres)(
    'matches a sum recomputed from all payments after a repeated move into PostgreSQL',
    async () => {
      const database = await preparedPostgres();
      const folder = newFolder();
      let files = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.array(events, { maxLength: 15 }),
          fc.array(events, { maxLength: 5 }),
          async (taken, later) => {
            await database.transaction((sql) =>
              sql.script('TRUNCATE payments, attempts, trail, spending'),
            );
            const path = join(folder, `${(files += 1)}.db`);
            const made = await inSqlite(taken, path);
            const both = { journal: journalIn(path), inbox: eventsIn(join(folder, 'none.db')) };
            const shared = openSqlJournal(
              withClock(database, () => made.clock.now),
              isAlive,
            );
            const move = (): Promise<unknown> =>
              moveInto(
                withClock(database, () => made.clock.now),
                both,
                isAlive,
                () => made.clock.now,
              );
            await move();
            const inDatabase = async () => textsOf(await shared.spent(account, undefined));
            expect(await inDatabase()).toEqual(await made.looped());
            // Simulates a move of the journal that was interrupted before the move closed the
            // journal file.
            openFile(path).exec(
              'DROP TRIGGER moved_before_insert; DROP TRIGGER moved_before_update',
            );
            for (const event of later) await made.apply(event);
            await move();
            expect(await inDatabase()).toEqual(await made.looped());
            await expectBudgets(made, database);
            await made.close();
          },
        ),
        runs,
      );
    },
  );
});
