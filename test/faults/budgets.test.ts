// A budget holds: with ten sessions that are killed and run again, with a stop at every step of a
// payment, and with clocks that are years off.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished } from 'vitest';
import { sqliteDatabase } from '../../src/store/database/sqlite-database.js';
import { budgetRecords } from '../../src/store/journal/spending.js';
import type { BudgetRules } from '../../src/store/journal/journal.js';
import { mayHavePaid } from '../../src/store/journal/payment.js';
import { unnamedActor } from '../../src/store/journal/steps.js';
import { openSqlJournal } from '../../src/store/journal/sql-journal.js';
import { journalIn } from '../../src/store/journal/schema.js';
import { pay } from '../../src/wallet/payment/pay.js';
import { hasPostgres } from '../support/postgres.js';
import { preparedDatabase } from '../support/prepared-database.js';
import { usingPostgres } from '../support/shared-postgres.js';
import { lnurl, test as strictTest } from '../support/strict.js';
import { startSvcpay, svcpay, test, type Environment } from '../support/svcpay.js';
import { asked, bench } from '../wallet/support/machine.js';

const server = usingPostgres();
const sessions = Array.from({ length: 10 }, (_, number) => number);

describe('ten sessions of one budget', { timeout: 120_000 }, () => {
  test.for([
    ['SQLite', true],
    ['PostgreSQL', hasPostgres],
  ] as const)('never exceed it with kills in %s', async ([kind, has], { around, skip }) => {
    if (!has) skip();
    const url = kind === 'PostgreSQL' ? await preparedDatabase(server()) : undefined;
    const here = { ...around, env: url === undefined ? {} : { SVCPAY_DATABASE_URL: url } };
    // Each payment costs a little more than 1000 sat, so three fit into the budget.
    await svcpay(['budget', 'add', 'bot', '--per-day', '3500sat', '--total', '1btc'], here);
    const paying = (number: number): string[] =>
      `send user${number}@example.com 1000sat --ref r${number} --yes --budget bot --timeout 20s`.split(
        ' ',
      );
    await Promise.all(
      sessions.map(async (number) => {
        const { child, ended } = startSvcpay(paying(number), here);
        // Half of the sessions are killed, at moments spread over a payment.
        const after = 250 + number * 60;
        const timer = setTimeout(() => number % 2 === 0 && child.kill('SIGKILL'), after);
        await ended;
        clearTimeout(timer);
      }),
    );
    const again = await Promise.all(sessions.map((number) => svcpay(paying(number), here)));
    expect([...new Set(again.map(({ exitCode }) => exitCode))].toSorted()).toEqual([0, 7]);
    expect(again.filter(({ exitCode }) => exitCode === 0)).toHaveLength(3);
    expect(around.sandbox.requests('PUT').length).toBeGreaterThanOrEqual(3);
    expect(await spentIn(here)).toBeLessThanOrEqual(0.000035);
    expect((await svcpay(['db', 'verify'], here)).exitCode).toBe(0);
    // What the budget was charged does not stop the owner.
    const own = await svcpay(['send', 'own@example.com', '9000sat', '--yes'], here);
    expect(own.exitCode).toBe(0);
  });
});

async function spentIn(around: Environment): Promise<number> {
  const { stdout } = await svcpay(['budget', 'show', 'bot', '--json'], around);
  const [{ value }]: [{ value: number }] = JSON.parse(stdout).spentToday;
  return value;
}

const rules: BudgetRules = {
  perPayment: {},
  perDay: { BTC: '1' },
  total: {},
  askAbove: {},
  destinations: [],
  kinds: [],
  expiresAt: null,
  outbox: null,
};

describe('budget stop', () => {
  test.for(['one budget', 'all budgets'] as const)(
    'of %s at any step of a payment prevents exactly the submissions after it',
    async (what) => {
      const folder = mkdtempSync(join(tmpdir(), 'svcpay-budgets-'));
      onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
      const on = bench();
      const database = sqliteDatabase(journalIn(join(folder, 'journal.db')), () => on.time);
      const records = budgetRecords(database, unnamedActor);
      const journal = openSqlJournal(database, () => false);
      const set = (stopped: boolean) =>
        records.change(
          'account',
          what === 'one budget' ? 'bot' : undefined,
          ({ rules: before }) => ({ stopped, rules: before }),
          undefined,
        );
      await records.change('account', 'bot', () => ({ stopped: false, rules }), undefined);
      const outcomes = new Set<string>();
      for (let step = 1, isOver = false; !isOver; step += 1) {
        await set(false);
        const ref = `step ${step}`;
        let [count, wasSubmitted] = [0, false];
        const counted = <T extends object>(target: T): T =>
          new Proxy(target, {
            get(from, name) {
              const value: unknown = Reflect.get(from, name);
              if (typeof value !== 'function' || name === 'serviceNow' || name === 'datedNow')
                return value;
              return async (...args: unknown[]): Promise<unknown> => {
                const result: unknown = await value.apply(from, args);
                count += 1;
                if (count !== step) return result;
                await set(true);
                const payment = await journal.find('scope', ref);
                wasSubmitted = payment !== undefined && mayHavePaid(payment);
                return result;
              };
            },
          });
        const deps = {
          ...on.deps,
          journal: counted(journal),
          service: counted(on.deps.service),
          budget: { name: 'bot' },
        };
        const request = { instruction: asked, ref, terms: {}, consent: { by: 'yes' } } as const;
        const isPaid = await pay(request, { wait: 'forever', retry: false }, deps).then(
          () => true,
          () => false,
        );
        isOver = count < step;
        expect([step, isPaid]).toEqual([step, wasSubmitted || isOver]);
        outcomes.add(isPaid ? 'paid' : 'refused');
      }
      expect(outcomes).toEqual(new Set(['paid', 'refused']));
      await database.close();
    },
  );
});

const [day, year] = [86_400_000, 365 * 86_400_000];

describe('a budget with clocks that are years off', () => {
  strictTest('neither starts a new day nor expires early', async ({ strict }) => {
    const { service, run } = strict;
    service.temper.headers = () => ({ date: new Date().toUTCString() });
    await run('budget add bot --per-day 1500sat --expires 2d');
    const codes: number[] = [];
    for (const offset of [0, 3 * year, -3 * year]) {
      const now = (): number => Date.now() + offset;
      const ref = `--ref r${offset} --budget bot`;
      codes.push((await run(`${lnurl('shop')} ${ref}`, 'home', { now })).exitCode);
    }
    expect(codes).toEqual([0, 7, 7]);
    const later = (days: number) => {
      const now = (): number => Date.now() + days * day;
      service.temper.headers = () => ({ date: new Date(now()).toUTCString() });
      return run(`${lnurl('shop')} --ref after-${days} --budget bot`, 'home', { now });
    };
    expect(await later(1.1)).toMatchObject({ exitCode: 0 });
    const expired = await later(2.1);
    expect(expired).toMatchObject({ exitCode: 7 });
    expect(expired.error().message).toContain('the budget bot has expired');
  });
});
