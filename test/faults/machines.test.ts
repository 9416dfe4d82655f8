// Many homes share one database, as on many machines. Each payment is made once, limits hold, and
// every event arrives once and in order, even if a process, the database or its connection fails.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { openPayments, openPostgresJournal, WalletClient } from '../../src/index.js';
import { batchFile, lightningRows, paidReferences } from '../support/batch.js';
import { startDatabaseProxy, type DatabaseProxy } from '../support/database-proxy.js';
import { expectSameTransaction, test, type Payment } from '../support/faults.js';
import { svcpay as svcpayHere, type Here } from '../support/in-process.js';
import {
  hasPgBouncer,
  hasPostgres,
  startPostgres,
  type PostgresServer,
} from '../support/postgres.js';
import { runsAll } from '../support/part.js';
import { preparedDatabase } from '../support/prepared-database.js';
import { startSvcpay, svcpay, type Run } from '../support/svcpay.js';
import { until } from '../support/until.js';
import { deliver, startApplication, startListening } from '../support/webhooks.js';

const jumpingClock = pathToFileURL(join(import.meta.dirname, 'fixtures/jumping-clock.mjs')).href;
/**
 * A longer timeout, because several programs at once on a busy machine need more time than one
 * program.
 */
const timeoutFlags = ['--timeout', '20s'];

let server: PostgresServer;
beforeAll(async () => {
  if (hasPostgres) server = await startPostgres();
}, 60_000);
const cleanUps: (() => unknown)[] = [];
afterAll(async () => {
  for (const cleanUp of cleanUps) await cleanUp();
  await server?.stop();
});

function newHome(): string {
  const home = mkdtempSync(join(tmpdir(), 'svcpay-machine-'));
  cleanUps.push(() => rmSync(home, { recursive: true, force: true }));
  return home;
}

const machine = (around: Here, url: string, env: Record<string, string> = {}): Here => ({
  ...around,
  home: newHome(),
  env: { ...env, SVCPAY_DATABASE_URL: url },
});

const idOf = (url: string): string =>
  server.sql('SELECT id FROM svcpay.identity', new URL(url).pathname.slice(1)).trim();

const several = <T>(count: number, make: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => make(n)));

async function proxied(): Promise<DatabaseProxy> {
  const proxy = await startDatabaseProxy(server.port);
  cleanUps.push(() => proxy.stop());
  return proxy;
}

const sendOn = ({ command, around }: Payment, url: string): Promise<Run> =>
  svcpay([...command, ...timeoutFlags], machine(around, url));
/** Runs svcpay in this process, for a test in which no other process pays at the same time. */
const sendHere = ({ command, around }: Payment, url: string): Promise<Run> =>
  svcpayHere([...command, ...timeoutFlags], machine(around, url));

describe.skipIf(!hasPostgres)('svcpay on a shared database', { timeout: 120_000 }, () => {
  test('pays once if five homes send one reference, and reports the same transaction to every home', async ({
    payment,
  }) => {
    const url = await preparedDatabase(server);
    expectSameTransaction(await several(5, () => sendOn(payment, url)));
    expect(await payment.timesPaid()).toBe(1);
    expect(payment.sandbox.requests('PUT')).toHaveLength(1);
  });

  test.runIf(runsAll)(
    'pays an invoice once if four homes send it under different references',
    async ({ payment }) => {
      const url = await preparedDatabase(server);
      const runs = await several(4, (n) =>
        svcpay(
          [
            'send',
            'lightning',
            payment.invoice,
            '--ref',
            `own-${n}`,
            '--yes',
            '--json',
            ...timeoutFlags,
          ],
          machine(payment.around, url),
        ),
      );
      expect(runs.filter(({ exitCode }) => exitCode === 0)).toHaveLength(1);
      for (const run of runs)
        if (run.exitCode !== 0)
          expect(run.error()).toMatchObject({
            exitCode: 2,
            message: expect.stringContaining('already'),
          });
      expect(await payment.timesPaid()).toBe(1);
    },
  );

  test('pays once if two library programs and the command line use the same reference', async ({
    sandbox,
  }) => {
    const url = await preparedDatabase(server);
    const to = await sandbox.invoice('1000sat');
    const { apiKey, apiSecret, url: baseUrl } = sandbox;
    const pay = async (): Promise<{ txnId: string; txnState: string }> => {
      const [journal, client] = [
        await openPostgresJournal(url, { id: idOf(url) }),
        new WalletClient({ baseUrl, apiKey, apiSecret }),
      ];
      const payments = openPayments({ client, journal });
      const paid = await payments.send({ to, ref: 'order-1' });
      expect(await payments.resume()).toEqual([]);
      await Promise.all([journal.close(), client.close()]);
      return paid;
    };
    const [one, other] = await Promise.all([pay(), pay()]);
    expect(one).toMatchObject({ txnId: other.txnId, txnState: 'completed' });
    const repeated = await svcpayHere(
      ['send', 'lightning', to, '--ref', 'order-1', '--yes', '--json'],
      machine({ home: '', sandbox }, url),
    );
    expect(repeated.json()).toMatchObject({ txnId: one.txnId });
    expect(sandbox.requests('PUT')).toHaveLength(1);
  });

  test('refuses a library program that expects another database id', async () => {
    const url = await preparedDatabase(server);
    for (const given of [{ id: 'another' }, undefined])
      await expect(Reflect.apply(openPostgresJournal, undefined, [url, given])).rejects.toThrow(
        expect.objectContaining({ kind: 'usage', hint: expect.stringContaining(idOf(url)) }),
      );
  });

  test('enforces one daily limit across six homes whose clocks differ', async ({ payment }) => {
    const url = await preparedDatabase(server);
    const runs = await several(6, async (n) => {
      const jump = String([0, 3_600_000, -3_600_000, 90_000_000, 0, 60_000][n]);
      const around = machine(payment.around, url, {
        NODE_OPTIONS: `--import=${jumpingClock}`,
        CLOCK_JUMP_MS: jump,
        CLOCK_JUMPS_AFTER_MS: '0',
      });
      await svcpayHere(['limits', 'set', '--per-day', '2500sat', '-q'], {
        ...around,
        env: { SVCPAY_DATABASE_URL: url },
      });
      const invoice = await payment.sandbox.invoice('1000sat', { expiry: '2d' });
      return svcpay(['send', 'lightning', invoice, '--yes', '--json', ...timeoutFlags], around);
    });
    const paid = runs.filter(({ exitCode }) => exitCode === 0);
    expect({ paid: paid.length, times: await payment.timesPaid() }).toEqual({ paid: 2, times: 2 });
    for (const run of runs)
      if (run.exitCode !== 0) expect(run.error()).toMatchObject({ exitCode: 7 });
  });

  test.for([
    ['create request', 'after'],
    ['confirmation', 'before'],
    ['confirmation', 'after'],
  ] as const)(
    'lets another home resume a payment if the paying process was killed during the %s, %s the service acted',
    async ([exchange, when], { payment }) => {
      const url = await preparedDatabase(server);
      const held = payment.proxy.hold(exchange, when);
      const running = startSvcpay(payment.command, machine(payment.around, url));
      await held;
      running.child.kill('SIGKILL');
      await running.ended;
      payment.proxy.mend();
      const other = machine(payment.around, url);
      expect(await svcpayHere(['tx', 'resume', '--json', '--timeout', '2s'], other)).toMatchObject({
        exitCode: 0,
      });
      expect((await sendHere(payment, url)).json()).toMatchObject({ txnState: 'completed' });
      expect(await payment.timesPaid()).toBe(1);
    },
  );

  test('finds out whether a database commit succeeded if the answer to the commit is lost', async ({
    payment,
  }) => {
    const url = await preparedDatabase(server);
    const proxy = await proxied();
    proxy.cutCommits(4);
    const run = await sendHere(payment, proxy.through(url));
    expect(run).toMatchObject({ exitCode: 0 });
    proxy.cutCommits(0);
    expectSameTransaction([run, await sendHere(payment, url)]);
    expect([proxy.cuts(), await payment.timesPaid()]).toEqual([4, 1]);
  });

  test('completes a confirmed payment with a notice if the database becomes unreachable', async ({
    payment,
  }) => {
    const url = await preparedDatabase(server);
    const proxy = await proxied();
    const held = payment.proxy.hold('confirmation', 'before');
    const running = sendHere(payment, proxy.through(url));
    const { release } = await held;
    await proxy.stop();
    await release();
    const run = await running;
    expect(run).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining('SVCPAY_DATABASE_URL'),
    });
    expect(run.json()).toMatchObject({ txnState: 'completed' });
    expectSameTransaction([run, await sendHere(payment, url)]);
    expect(await payment.timesPaid()).toBe(1);
  });

  test('moves no money if the database does not answer', async ({ payment }) => {
    const proxy = await proxied();
    proxy.silence();
    const around = machine(payment.around, proxy.through(await preparedDatabase(server)));
    // This clock runs eight times as fast as real time, so svcpay stops waiting for the database
    // after one connection attempt, which times out after 4 s of real time.
    const elapsed = (): number => performance.now() * 8;
    const run = await svcpayHere([...payment.command, ...timeoutFlags], { ...around, elapsed });
    expect(run).toMatchObject({ exitCode: 75, stdout: '' });
    expect(run.error().message).toContain('SVCPAY_DATABASE_URL');
    expect(await payment.timesPaid()).toBe(0);
  });

  test.runIf(runsAll && hasPgBouncer)(
    'pays once if three homes use the same reference through a pooler in transaction mode',
    async ({ payment }) => {
      const url = (await server.pooler()).through(await preparedDatabase(server));
      expectSameTransaction(await several(3, () => sendOn(payment, url)));
      expect(await payment.timesPaid()).toBe(1);
    },
  );
});

/** SQL that makes every insert into the table of payments fail with the given error. */
const fails = (code: string, message: string): string =>
  `CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION '${message}' USING ERRCODE = '${code}'; END $$;
   CREATE TRIGGER failing BEFORE INSERT ON svcpay.payments EXECUTE FUNCTION fail()`;

const refused: readonly [
  what: string,
  sql: string,
  url: (url: string) => string,
  exitCode: number,
][] = [
  [
    'has tables of a newer version',
    'UPDATE svcpay.part_versions SET version = 99',
    (url) => url,
    2,
  ],
  [
    'is read-only for its user',
    'CREATE ROLE reader LOGIN; GRANT USAGE ON SCHEMA svcpay TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA svcpay TO reader',
    (url) => url.replace('owner@', 'reader@'),
    4,
  ],
  ['is full', fails('53100', 'could not extend file: No space left on device'), (url) => url, 75],
  ['does not exist', 'SELECT 1', (url) => `${url}-not`, 2],
  ['lacks a column', 'ALTER TABLE svcpay.attempts DROP COLUMN txn_state', (url) => url, 2],
  ['is not PostgreSQL', 'SELECT 1', (url) => url.replace('postgres:', 'mysql:'), 2],
  ['does not support the requested encryption', 'SELECT 1', (url) => `${url}?sslmode=require`, 2],
  ['refuses connections', 'SELECT 1', (url) => url.replace(/:\d+\//, ':1/'), 75],
];

describe.skipIf(!hasPostgres).concurrent('svcpay send', () => {
  test.for(refused)(
    'pays nothing and names SVCPAY_DATABASE_URL if the database %s',
    async ([_what, sql, change, exitCode], { payment }) => {
      const url = await preparedDatabase(server);
      server.sql(sql, new URL(url).pathname.slice(1));
      const run = await sendHere(payment, change(url));
      expect(run).toMatchObject({ exitCode, stdout: '' });
      expect(run.error().message).toContain('SVCPAY_DATABASE_URL');
      expect(payment.sandbox.requests('POST', '/api/v2/transaction')).toHaveLength(0);
    },
  );
});

describe.runIf(runsAll && hasPostgres)('svcpay send during a database crash', () => {
  test('pays once if the database crashes before the confirmation and restarts', async ({
    payment,
  }) => {
    const url = await preparedDatabase(server);
    const held = payment.proxy.hold('confirmation', 'before');
    const running = sendOn(payment, url);
    const { release } = await held;
    await server.crash();
    await release();
    expectSameTransaction([await running, await sendHere(payment, url)]);
    expect(await payment.timesPaid()).toBe(1);
  });
});

test.runIf(runsAll && hasPostgres)(
  'svcpay batch pays each row once and writes equal reports if three machines run one file',
  async ({ sandbox }) => {
    const url = await preparedDatabase(server);
    const machines = Array.from({ length: 3 }, () => machine({ home: '', sandbox }, url));
    const files = machines.map(({ home }) => batchFile(home, lightningRows(12)));
    const runs = await several(3, (n) =>
      svcpay(
        ['batch', files[n] ?? '', '--yes', '--json', ...timeoutFlags],
        machines[n] ?? { home: '' },
      ),
    );
    expect(runs.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0]);
    const expected = lightningRows(12)
      .map((line) => line.split(',')[0])
      .toSorted();
    expect(await paidReferences(machines[0] ?? { home: '' })).toEqual(expected);
    const [first, ...others] = files.map(outcomesIn);
    expect(Object.keys(first ?? {}).toSorted()).toEqual(expected);
    for (const other of others) expect(other).toEqual(first);
  },
);

test.skipIf(!hasPostgres)(
  'svcpay tx resume on two machines at once confirms each payment once and reads payments in flight only from the list',
  { timeout: 60_000 },
  async ({ sandbox }) => {
    const url = await preparedDatabase(server);
    const at = (owner: string): Here => ({ ...machine({ home: '', sandbox }, url), owner });
    const address = 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx';
    const [listed, left] = [10, 10];
    const sender = at('first 1 x');
    const rows = Array.from({ length: listed }, (_, n) => `going-${n},${address},${1000 + n}sat,,`);
    const sent = ['batch', batchFile(sender.home, rows), '--yes', '--no-wait', '--accept-changes'];
    expect(await svcpayHere(sent, sender)).toMatchObject({ exitCode: 0 });
    for (let n = 0; n < left; n += 1) {
      const quoted = ['send', 'onchain', address, `${2000 + n}sat`, '--ref', `left-${n}`];
      expect(await svcpayHere([...quoted, '--quote-only'], sender)).toMatchObject({ exitCode: 0 });
    }
    // Simulates a process that was killed before the service received its confirmations.
    server.sql(
      `UPDATE svcpay.attempts SET state = 'submitting', approved_total = '0.00003',
        approved_receives = '0.00002', spend_ccy = 'BTC', submitted_at = 1, limit_time = 1
        WHERE state = 'quoted';
      UPDATE svcpay.payments SET abandoned = 0, unfinished = 1 WHERE ref LIKE 'left%'`,
      new URL(url).pathname.slice(1),
    );
    const before = sandbox.requests().length;
    const resume = ['tx', 'resume', '--no-wait', '--json'];
    const runs = await Promise.all(
      ['second 1 x', 'third 1 x'].map((owner) => svcpayHere(resume, at(owner))),
    );
    for (const run of runs) {
      expect(run.exitCode).toBe(0);
      expect(run.json()).toHaveLength(listed + left);
    }
    const requests = sandbox.requests().slice(before);
    const confirmed = requests.filter(({ method }) => method === 'PUT').map(({ path }) => path);
    expect([confirmed.length, new Set(confirmed).size]).toEqual([left, left]);
    const read = requests.filter(({ path }) => /\/transaction\/[^/?]+$/.test(path));
    expect(new Set(read.map(({ path }) => path)).size).toBe(left);
    expect(read.length).toBeLessThan(2 * left);
  },
);

/** The outcome, transaction and paid amount of each reference in a result file. */
function outcomesIn(file: string): Record<string, string[]> {
  const [head = '', ...lines] = readFileSync(`${file}.result.csv`, 'utf8').trimEnd().split('\n');
  const at = (name: string): number => head.split(',').indexOf(name);
  const cells = (line: string): string[] => line.split(',');
  return Object.fromEntries(
    lines.map((line) => [
      cells(line)[at('ref')],
      ['outcome', 'txnId', 'paid', 'paidCcy'].map((name) => cells(line)[at(name)] ?? ''),
    ]),
  );
}

test.runIf(runsAll && hasPostgres)(
  'svcpay webhook listen delivers every event in order if one of two receivers on a database is killed',
  async () => {
    const url = await preparedDatabase(server);
    const application = await startApplication(() => 200);
    const listen = () =>
      startListening(['--forward-to', application.url, '-q'], {
        home: newHome(),
        env: { SVCPAY_DATABASE_URL: url },
      });
    const first = await listen();
    const second = await listen();
    const course = ['quoted', 'srccreated', 'destsent', 'completed'];
    const transactions = 12;
    await several(transactions, async (n) => {
      for (const [at, txnState] of course.entries()) {
        const event = { txnId: `t${n}`, txnState, updatedAt: at };
        // Delivers the event to both receivers alternately until a receiver accepts the event, as
        // the service does.
        let turn = n + at;
        await until(
          async () => (await deliver([first, second][(turn += 1) % 2]?.url ?? '', event)) === 200,
        );
        if (n === 5 && at === 2) first.child.kill('SIGKILL');
      }
    });
    await until(() => new Set(application.bodies).size === transactions * course.length);
    second.child.kill('SIGINT');
    expect((await second.ended).exitCode).toBe(0);
    for (let n = 0; n < transactions; n += 1) {
      const own = [...new Set(application.bodies)]
        .map((body): { txnId: string; txnState: string } => JSON.parse(body))
        .filter(({ txnId }) => txnId === `t${n}`);
      expect(own.map(({ txnState }) => txnState)).toEqual(course);
    }
  },
);
