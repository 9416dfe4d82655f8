// svcpay reconcile adds the payments that a restored journal lacks. After a restore of its
// database, svcpay refuses payments until svcpay db import has completed.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished } from 'vitest';
import { openPayments, openPostgresJournal, WalletClient } from '../../src/index.js';
import { test, type Payment } from '../support/faults.js';
import { hasPostgres } from '../support/postgres.js';
import { preparedDatabase } from '../support/prepared-database.js';
import { usingPostgres } from '../support/shared-postgres.js';
import { svcpay, type Here } from '../support/in-process.js';

const server = usingPostgres();

interface Keeping {
  readonly around: Here;
  backUp(): void;
  /** Restores the backup, and returns the home that uses the restored journal. */
  restored(): Here;
}

async function inFile({ around }: Payment): Promise<Keeping> {
  const [journal, copy] = ['journal.db', 'copy.db'].map((name) => join(around.home, name));
  const restored = (): Here => (copyFileSync(copy ?? '', journal ?? ''), around);
  return { around, backUp: () => copyFileSync(journal ?? '', copy ?? ''), restored };
}

async function inDatabase({ around }: Payment): Promise<Keeping> {
  const url = await preparedDatabase(server());
  const name = new URL(url).pathname.slice(1);
  const at = (address: string): Here => ({ ...around, env: { SVCPAY_DATABASE_URL: address } });
  return {
    around: at(url),
    backUp: () => void server().sql(`CREATE DATABASE ${name}_copy TEMPLATE ${name}`),
    restored: () => at(`${url}_copy`),
  };
}

const kept: [string, (payment: Payment) => Promise<Keeping>][] = [
  ['a file', inFile],
  ...(hasPostgres
    ? [['PostgreSQL', inDatabase] satisfies [string, (payment: Payment) => Promise<Keeping>]]
    : []),
];
const address = 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx';

describe.each(kept)('svcpay db import for a journal in %s', (_name, keep) => {
  test('adds all payments that a restored backup lacks', async ({ payment }) => {
    const { around, backUp, restored } = await keep(payment);
    const pay = (args: readonly string[], where: Here) =>
      svcpay([...args, '--yes', '--json', '--no-wait'], where);
    const toInvoice = (ref: string): string[] => [
      'send',
      'lightning',
      payment.invoice,
      '--ref',
      ref,
    ];
    const toAddress = (amount: string): string[] => [
      'send',
      'onchain',
      address,
      amount,
      '--deduct-fees',
      '--ref',
      'chain',
    ];
    await svcpay(['limits', 'set', '--per-day', '9000sat', '-q'], around);
    const early = await payment.sandbox.invoice('2000sat', { expiry: '2d' });
    expect(await pay(['send', 'lightning', early, '--ref', 'early'], around)).toMatchObject({
      exitCode: 0,
    });
    backUp();
    expect(await pay(toInvoice('since'), around)).toMatchObject({ exitCode: 0 });
    const first = await pay(toAddress('3000sat'), around);
    expect(first).toMatchObject({ exitCode: 0 });

    const after = restored();
    const reconciled = () => svcpay(['db', 'import', '--since', '1h', '--json'], after);
    expect((await reconciled()).json()).toMatchObject({ read: 3, entered: 2 });
    expect((await reconciled()).json()).toMatchObject({ read: 3, entered: 0 });

    const quoted = payment.sandbox.requests('POST', '/api/v2/transaction').length;
    const elsewhere = await pay(toInvoice('another'), after);
    expect([elsewhere.exitCode, elsewhere.error().message]).toEqual([
      2,
      expect.stringContaining('under the reference since'),
    ]);
    expect((await pay(toAddress('4000sat'), after)).error()).toMatchObject({
      exitCode: 2,
      message: expect.stringContaining('different payment'),
    });
    expect((await pay(toAddress('3000sat'), after)).json()).toMatchObject({ extRefId: 'chain' });
    expect((await pay(toInvoice('since'), after)).json()).toMatchObject({ extRefId: 'since' });
    const more = await payment.sandbox.invoice('4000sat', { expiry: '2d' });
    expect((await pay(['send', 'lightning', more, '--ref', 'more'], after)).error()).toMatchObject({
      exitCode: 7,
    });
    expect(payment.sandbox.requests('POST', '/api/v2/transaction')).toHaveLength(quoted);
  });
});

describe.skipIf(!hasPostgres)('svcpay with a database restored from a backup', () => {
  /** Creates a database that can be restored from its backup at the same address. */
  async function restorable({ around }: Payment) {
    const url = await preparedDatabase(server());
    const name = new URL(url).pathname.slice(1);
    const copy = `${name}_copy`;
    const run = (...statements: readonly string[]): void => {
      for (const text of statements) server().sql(text, 'postgres');
    };
    return {
      url,
      id: server().sql('SELECT id FROM svcpay.identity', name).trim(),
      at: (home: string): Here => ({ ...around, home, env: { SVCPAY_DATABASE_URL: url } }),
      sql: (text: string): string => server().sql(`SET search_path = svcpay; ${text}`, name).trim(),
      /** Creates a new home, like the home of a new container. */
      container(): Here {
        const home = mkdtempSync(join(tmpdir(), 'svcpay-container-'));
        onTestFinished(() => rmSync(home, { recursive: true, force: true }));
        const id = server().sql('SELECT id FROM svcpay.identity', name).trim();
        return { ...around, home, env: { SVCPAY_DATABASE_URL: url, SVCPAY_DATABASE_ID: id } };
      },
      backUp: () =>
        run(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`,
          `CREATE DATABASE ${copy} TEMPLATE ${name}`,
        ),
      restore(): void {
        run(`DROP DATABASE ${name} WITH (FORCE)`, `ALTER DATABASE ${copy} RENAME TO ${name}`);
        // Makes the recorded `place` match the restored table, as after a restore of the server's
        // files, so that svcpay can detect the restore only by its counters.
        const own = `(SELECT oid FROM pg_database WHERE datname = current_database())`;
        const place = `concat_ws(' ', ${own}, tableoid, txid_current())`;
        server().sql(`UPDATE svcpay.identity SET place = ${place}`, name);
      },
    };
  }
  const send = (invoice: string, where: Here, ...more: string[]) =>
    svcpay(['send', 'lightning', invoice, '--yes', '--json', ...more], where);
  const invoice = ({ sandbox }: Payment): Promise<string> =>
    sandbox.invoice('2000sat', { expiry: '2d' });

  test('stops payments of every home until reconcile compares the journal with the service', async ({
    payment,
    home,
  }) => {
    const { at, backUp, restore } = await restorable(payment);
    const [one, other] = [at(home), at(join(home, 'other'))];
    const [early, since, later] = [
      await invoice(payment),
      await invoice(payment),
      await invoice(payment),
    ];
    expect(await send(early, one)).toMatchObject({ exitCode: 0 });
    backUp();
    expect(await send(since, one, '--ref', 'since')).toMatchObject({ exitCode: 0 });
    restore();

    const created = payment.sandbox.requests('POST', '/api/v2/transaction').length;
    // The first command detects the restore. After that, both homes refuse payments.
    for (const where of [one, other]) {
      const refused = await send(since, where, '--ref', 'again');
      expect(refused).toMatchObject({ exitCode: 2, stdout: '' });
      expect(refused.error()).toMatchObject({
        message: expect.stringContaining('restored from a backup'),
        hint: expect.stringContaining('svcpay db import'),
      });
    }
    expect(payment.sandbox.requests('POST', '/api/v2/transaction')).toHaveLength(created);
    const status = await svcpay(['db', 'status', '--json'], other);
    expect(status).toMatchObject({ exitCode: 2 });
    expect(status.json()).toMatchObject([{ generation: 1, restored: true }, {}]);
    const figures = await svcpay(['db', 'status', '-o', 'prometheus'], other);
    expect(figures.stdout).toContain('svcpay_payments_refused 1');

    expect(await svcpay(['db', 'import', '--since', '1h'], other)).toMatchObject({
      exitCode: 0,
    });
    expect((await svcpay(['db', 'status', '--json'], one)).json()).toMatchObject([
      { generation: 2, restored: false },
      {},
    ]);
    expect((await send(since, one, '--ref', 'again')).error()).toMatchObject({ exitCode: 2 });
    expect(await send(later, one)).toMatchObject({ exitCode: 0 });
  });

  test('refuses payments of a home whose payment a promoted replica lacks, after as many new payments', async ({
    payment,
    home,
  }) => {
    const { at, backUp, restore, container } = await restorable(payment);
    const since = await invoice(payment);
    expect(await send(await invoice(payment), at(home))).toMatchObject({ exitCode: 0 });
    backUp();
    expect(await send(since, at(home), '--ref', 'since')).toMatchObject({ exitCode: 0 });
    restore();
    // A home that does not know of the lost payment pays, so the database counts two payments again.
    expect(await send(await invoice(payment), container())).toMatchObject({ exitCode: 0 });
    const paid = payment.sandbox.requests('PUT').length;
    for (const where of [at(home), container()])
      expect((await send(since, where, '--ref', 'again')).error()).toMatchObject({
        exitCode: 2,
        message: expect.stringContaining('restored from a backup'),
      });
    expect(payment.sandbox.requests('PUT')).toHaveLength(paid);
  });

  test('detects in a new container that the database was restored from a dump', async ({
    payment,
    home,
  }) => {
    const { url, container } = await restorable(payment);
    const dump = join(home, 'svcpay.dump');
    const pgDump = (program: string, ...args: string[]): unknown =>
      execFileSync(program, [...args, '--dbname', url, '--schema=svcpay'], { stdio: 'ignore' });
    const [early, since, later] = [
      await invoice(payment),
      await invoice(payment),
      await invoice(payment),
    ];
    expect(await send(early, container())).toMatchObject({ exitCode: 0 });
    pgDump('pg_dump', '--format=custom', '--file', dump);
    expect(await send(since, container(), '--ref', 'since')).toMatchObject({ exitCode: 0 });
    pgDump('pg_restore', '--clean', '--single-transaction', dump);
    const created = payment.sandbox.requests('POST', '/api/v2/transaction').length;
    const refused = await send(since, container(), '--ref', 'again');
    expect(refused).toMatchObject({ exitCode: 2, stdout: '' });
    expect(refused.error().message).toContain('restored from a backup');
    expect(payment.sandbox.requests('POST', '/api/v2/transaction')).toHaveLength(created);
    const status = async (): Promise<unknown> =>
      (await svcpay(['db', 'status', '--json'], container())).json();
    expect(await status()).toMatchObject([{ generation: 1, restored: true }, {}]);
    expect(await svcpay(['db', 'import', '--since', '1h'], container())).toMatchObject({
      exitCode: 0,
    });
    expect(await status()).toMatchObject([{ generation: 2, restored: false }, {}]);
    expect(await send(since, container(), '--ref', 'again')).toMatchObject({ exitCode: 2 });
    expect(await send(later, container())).toMatchObject({ exitCode: 0 });
  });

  test('accepts a database whose rows were moved by a vacuum', async ({ payment, home }) => {
    const { at, sql } = await restorable(payment);
    for (const command of [
      'VACUUM (FULL, FREEZE) identity',
      'CLUSTER identity USING identity_pkey',
    ])
      server().sql(
        `${command.replace('identity', 'svcpay.identity')}`,
        sql('SELECT current_database()'),
      );
    expect(await send(await invoice(payment), at(home))).toMatchObject({ exitCode: 0 });
  });

  test('refuses payments after db status in another home has found restored database files', async ({
    payment,
    home,
  }) => {
    const { at, sql, container } = await restorable(payment);
    const figures = ['db', 'status', '-o', 'prometheus'];
    expect(await send(await invoice(payment), container())).toMatchObject({ exitCode: 0 });
    expect(await svcpay(figures, at(home))).toMatchObject({ exitCode: 0 });
    // Removes rows but leaves the column `place` unchanged, as a restore of the database files
    // does.
    sql('DELETE FROM payments; DELETE FROM submissions');
    expect(await svcpay(figures, at(home))).toMatchObject({ exitCode: 0 });
    const refused = await send(await invoice(payment), container());
    expect([refused.exitCode, refused.error().message]).toEqual([
      2,
      expect.stringContaining('restored from a backup'),
    ]);
  });

  test('refuses payments of a running library program after its database was restored', async ({
    payment,
    sandbox,
  }) => {
    const { url, id, backUp, restore } = await restorable(payment);
    const journal = await openPostgresJournal(url, { id });
    const { url: baseUrl, apiKey, apiSecret } = sandbox;
    const client = new WalletClient({ baseUrl, apiKey, apiSecret });
    onTestFinished(() => Promise.all([journal.close(), client.close()]).then(() => undefined));
    const payments = openPayments({ client, journal });
    await payments.send({ to: await invoice(payment) });
    backUp();
    const to = await invoice(payment);
    await payments.send({ to, ref: 'since' });
    restore();
    await expect(payments.send({ to, ref: 'again' })).rejects.toMatchObject({
      kind: 'usage',
      message: expect.stringContaining('restored from a backup'),
    });
  });
});
