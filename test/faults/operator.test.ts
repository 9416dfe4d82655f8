// Many homes share one database. svcpay checks that the database has the expected id, names missing
// privileges and announces upgrades.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished } from 'vitest';
import { test, type Payment } from '../support/faults.js';
import { svcpay, type Here } from '../support/in-process.js';
import { hasPostgres, startPostgres, type PostgresServer } from '../support/postgres.js';
import { preparedDatabase } from '../support/prepared-database.js';
import type { Run } from '../support/svcpay.js';

let server: PostgresServer;
beforeAll(async () => {
  if (hasPostgres) server = await startPostgres();
}, 60_000);
afterAll(() => server?.stop());

const at = (around: Here, url: string): Here => ({ ...around, env: { SVCPAY_DATABASE_URL: url } });
const nameOf = (url: string): string => new URL(url).pathname.slice(1);
const tablesIn = (url: string): string =>
  server.sql(`SELECT count(*) FROM pg_tables WHERE schemaname = 'svcpay'`, nameOf(url)).trim();
const send = ({ command, around }: Payment, url: string): Promise<Run> =>
  svcpay(command, at(around, url));

describe.skipIf(!hasPostgres)('svcpay with a database', () => {
  test('pays nothing from an empty database, and creates no table in it', async ({ payment }) => {
    const empty = server.database();
    const run = await send(payment, empty);
    expect(run).toMatchObject({ exitCode: 2, stdout: '' });
    expect(run.error()).toMatchObject({
      message: expect.stringContaining('has no tables'),
      hint: expect.stringContaining('svcpay db upgrade --new'),
    });
    for (const command of ['upgrade', 'move'])
      expect(await svcpay(['db', command], at(payment.around, empty))).toMatchObject({
        exitCode: 2,
      });
    expect([tablesIn(empty), await payment.timesPaid()]).toEqual(['0', 0]);
  });

  test('pays nothing from a database with another id until a person accepts the id', async ({
    payment,
  }) => {
    const [first, second] = [await preparedDatabase(server), await preparedDatabase(server)];
    expect(await send(payment, first)).toMatchObject({ exitCode: 0 });
    const run = await send(payment, second);
    expect(run).toMatchObject({ exitCode: 2, stdout: '' });
    const [known, other] = [first, second].map((url) =>
      server.sql('SELECT id FROM svcpay.identity', nameOf(url)).trim(),
    );
    expect(run.error().message).toContain(known);
    expect(run.error().message).toContain(other);
    expect(await send(payment, first)).toMatchObject({ exitCode: 0 });
    expect(await payment.timesPaid()).toBe(1);
    const wayOut =
      /svcpay (config set database-id \S+)/.exec(run.error().hint ?? '')?.[1]?.split(' ') ?? [];
    expect(await svcpay(wayOut, at(payment.around, second))).toMatchObject({ exitCode: 0 });
    expect(await svcpay(['tx', 'pending', '--json'], at(payment.around, second))).toMatchObject({
      exitCode: 0,
    });
  });

  test('refuses to pay if the journal file of the home was lost before svcpay db move copied its payments', async ({
    payment,
  }) => {
    const { around } = payment;
    const url = await preparedDatabase(server);
    const early = await payment.sandbox.invoice('2000sat');
    expect(await svcpay(['send', 'lightning', early, '--yes'], around)).toMatchObject({
      exitCode: 0,
    });
    for (const part of ['', '-wal', '-shm'])
      rmSync(join(around.home, `journal.db${part}`), { force: true });
    const run = await send(payment, url);
    expect(run).toMatchObject({ exitCode: 2, stdout: '' });
    expect(run.error()).toMatchObject({
      message: expect.stringContaining('is missing'),
      hint: expect.stringContaining('svcpay tx resume --new-journal'),
    });
    expect(await svcpay(['tx', 'resume', '--new-journal'], at(around, url))).toMatchObject({
      exitCode: 0,
    });
    expect(await send(payment, url)).toMatchObject({ exitCode: 0 });
  });

  test('shows the database id, the row count and writability in db status and doctor', async ({
    payment,
  }) => {
    const url = await preparedDatabase(server);
    await send(payment, url);
    const id = server.sql('SELECT id FROM svcpay.identity', nameOf(url)).trim();
    const status = async (): Promise<unknown> =>
      (await svcpay(['db', 'status', '--json'], at(payment.around, url))).json();
    expect(await status()).toMatchObject([
      { part: 'journal', id, rows: 1, writable: true },
      { part: 'inbox', id, rows: 0, writable: true },
    ]);
    const doctor = await svcpay(['doctor', '--json'], at(payment.around, url));
    expect(doctor.json()).toContainEqual(
      expect.objectContaining({
        check: 'Journal',
        state: 'ok',
        detail: expect.stringContaining(
          `database ${id}, generation 1: intact, 1 payment, 0 events`,
        ),
      }),
    );
    expect(await svcpay(['db', 'status'], at(payment.around, server.database()))).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('has no tables'),
    });
    const other = await svcpay(
      ['db', 'status'],
      at(payment.around, await preparedDatabase(server)),
    );
    expect([other.exitCode, other.stderr]).toEqual([2, expect.stringContaining(id)]);
    const failing = (
      name: string,
      kind: string,
    ): string => `CREATE FUNCTION ${name}() RETURNS ${kind}
      LANGUAGE plpgsql AS
      $$ BEGIN RAISE 'No space left on device' USING ERRCODE = '53100'; END $$;`;
    // If the tables have space for further rows, a full disk refuses only new pages.
    for (const [isFull, isRepaired] of [
      [
        `${failing('fail_pages', 'event_trigger')}
        CREATE EVENT TRIGGER full_pages ON ddl_command_start WHEN TAG IN ('CREATE TABLE AS')
          EXECUTE FUNCTION fail_pages()`,
        'DROP EVENT TRIGGER full_pages',
      ],
      [
        `${failing('fail_rows', 'trigger')}
        CREATE TRIGGER full_rows BEFORE INSERT ON svcpay.events EXECUTE FUNCTION fail_rows()`,
        'DROP TRIGGER full_rows ON svcpay.events',
      ],
    ] as const) {
      server.sql(isFull, nameOf(url));
      for (const [command, exitCode] of [
        ['db status', 75],
        ['doctor', 1],
      ] as const) {
        const run = await svcpay(command.split(' '), at(payment.around, url));
        expect([run.exitCode, run.stdout + run.stderr]).toEqual([
          exitCode,
          expect.stringContaining('has no disk space left'),
        ]);
      }
      server.sql(isRepaired, nameOf(url));
    }
    server.sql(`ALTER DATABASE ${nameOf(url)} SET default_transaction_read_only = on`);
    expect(await status()).toMatchObject([{ id, rows: 1, writable: false }, { writable: false }]);
  });

  test('counts the payments of a journal file in db status', async ({ payment }) => {
    await payment.send();
    expect((await svcpay(['db', 'status', '--json'], payment.around)).json()).toMatchObject([
      { rows: 1, writable: true },
      { version: 0 },
    ]);
  });
});

describe.skipIf(!hasPostgres)('svcpay with account limits in a database', () => {
  test('applies the account limits to a new home, whose own settings can only narrow the limits', async ({
    payment,
  }) => {
    const url = await preparedDatabase(server);
    const fresh = (env: Record<string, string> = {}): Here => {
      const home = mkdtempSync(join(tmpdir(), 'svcpay-fresh-'));
      onTestFinished(() => rmSync(home, { recursive: true, force: true }));
      return { ...payment.around, home, env: { SVCPAY_DATABASE_URL: url, ...env } };
    };
    const limit = (where: Here, ...args: string[]): Promise<Run> =>
      svcpay(['limits', ...args, '--json'], where);
    expect(await limit(fresh(), 'set', '--per-payment', '900sat')).toMatchObject({ exitCode: 0 });
    expect(await svcpay(payment.command, fresh())).toMatchObject({ exitCode: 7, stdout: '' });
    expect(
      await svcpay(payment.command, fresh({ SVCPAY_LIMIT_PER_PAYMENT: '5000sat' })),
    ).toMatchObject({ exitCode: 7 });
    expect(await limit(fresh(), 'set', '--per-payment', '5000sat', '--yes')).toMatchObject({
      exitCode: 0,
    });
    expect(
      await svcpay(payment.command, fresh({ SVCPAY_LIMIT_PER_DAY: '900sat,1usdt' })),
    ).toMatchObject({ exitCode: 7 });
    expect(
      (await svcpay(payment.command, fresh({ SVCPAY_LIMIT_PER_DAY: 'much' }))).error(),
    ).toMatchObject({ exitCode: 2, message: expect.stringContaining('SVCPAY_LIMIT_PER_DAY') });
    expect(await payment.timesPaid()).toBe(0);
    expect(await svcpay(payment.command, fresh())).toMatchObject({ exitCode: 0 });
    expect(await limit(fresh(), 'clear', '--yes')).toMatchObject({ exitCode: 0 });
    expect((await limit(fresh(), 'list')).json()).toEqual([]);
  });

  test('applies the limits of the settings in addition to the limits in the database', async ({
    payment,
  }) => {
    const url = await preparedDatabase(server);
    await svcpay(
      ['limits', 'set', '--per-payment', '900sat', '--per-day', '1usdt'],
      payment.around,
    );
    await svcpay(['limits', 'set', '--per-day', '2000sat'], at(payment.around, url));
    const home = mkdtempSync(join(tmpdir(), 'svcpay-fresh-'));
    onTestFinished(() => rmSync(home, { recursive: true, force: true }));
    const listed = (
      await svcpay(
        ['limits', 'list', '--json', '--fields', 'rule,ccy,amount'],
        at({ ...payment.around, home }, url),
      )
    ).json();
    expect(listed).toEqual([
      { rule: 'per payment', ccy: 'BTC', amount: 0.000009 },
      { rule: 'per day', ccy: 'USDT', amount: 1 },
      { rule: 'per day', ccy: 'BTC', amount: 0.00002 },
    ]);
  });
});

describe.skipIf(!hasPostgres)('svcpay with a database that refuses access', () => {
  test('exits 75 and moves no money if the database is read-only, as during a failover', async ({
    payment,
  }) => {
    const url = await preparedDatabase(server);
    server.sql(`ALTER DATABASE ${nameOf(url)} SET default_transaction_read_only = on`);
    const run = await send(payment, url);
    expect(run).toMatchObject({ exitCode: 75, stdout: '' });
    expect(run.error().message).toContain('is read-only now');
    expect(payment.sandbox.requests('POST', '/api/v2/transaction')).toHaveLength(0);
  });

  test('lists the GRANTs that a role without privileges needs', async ({ payment }) => {
    const url = await preparedDatabase(server);
    server.sql('CREATE ROLE payer LOGIN', nameOf(url));
    onTestFinished(() => void server.sql('DROP OWNED BY payer; DROP ROLE payer', nameOf(url)));
    const asPayer = url.replace('owner@', 'payer@');
    const run = await send(payment, asPayer);
    expect(run).toMatchObject({ exitCode: 4, stdout: '' });
    const grants = /As the owner of the tables: (.*)$/.exec(run.error().hint ?? '')?.[1] ?? '';
    server.sql(grants, nameOf(url));
    expect(await send(payment, asPayer)).toMatchObject({ exitCode: 0 });
    const upgrade = await svcpay(
      ['db', 'upgrade', '--new', '--json'],
      at(payment.around, server.database().replace('owner@', 'payer@')),
    );
    expect(upgrade.error().hint).toContain('GRANT CREATE ON DATABASE');
  });
});

describe.skipIf(!hasPostgres)('svcpay with a starting database', () => {
  test('waits until the database has started', async ({ payment }) => {
    const home = mkdtempSync(join(tmpdir(), 'svcpay-late-'));
    onTestFinished(() => rmSync(home, { recursive: true, force: true }));
    const url = await preparedDatabase(server);
    const crashed = server.crash();
    const run = await send(payment, url);
    await crashed;
    expect(run).toMatchObject({ exitCode: 0 });
    expect(await payment.timesPaid()).toBe(1);
  });
});

test.skipIf(!hasPostgres)(
  'svcpay db upgrade may run longer than the timeout of a payment',
  async ({ home }) => {
    const url = server.database();
    // This trigger makes one statement take longer than the statement timeout of a payment.
    server.sql(
      `CREATE FUNCTION slow() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(6.5); END $$;
      CREATE EVENT TRIGGER slow ON ddl_command_start WHEN TAG IN ('CREATE SCHEMA') EXECUTE FUNCTION slow()`,
      nameOf(url),
    );
    const startedAt = performance.now();
    expect(await svcpay(['db', 'upgrade', '--new'], at({ home }, url))).toMatchObject({
      exitCode: 0,
    });
    expect(performance.now() - startedAt).toBeGreaterThan(6_500);
  },
);
