// docs/scale.md as an operator follows it: roles with no more rights than it grants, its settings, its archive, its backup.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { svcpay } from '../../support/in-process.js';
import { hasPostgres, startPostgres, type PostgresServer } from '../../support/postgres.js';
import { test } from '../../support/svcpay.js';
import { deliver, startApplication, startListening } from '../../support/webhooks.js';
import { until } from '../../support/until.js';

const page = readFileSync(join(resolve(import.meta.dirname, '../../..'), 'docs/scale.md'), 'utf8');

/** The block of the page that has this in it. */
const block = (language: string, within: string): string =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, 'gm'))]
    .map(([, code = '']) => code)
    .find((code) => code.includes(within)) ?? '';

let server: PostgresServer;
beforeAll(async () => {
  if (hasPostgres) server = await startPostgres();
}, 60_000);
afterAll(() => server?.stop());

test.skipIf(!hasPostgres)(
  'roles, vacuum, archive and backup of docs/scale.md work as written',
  { timeout: 120_000 },
  async ({ around, home }) => {
    const url = server.database();
    const name = new URL(url).pathname.slice(1);
    const run = (sql: string): string => {
      const file = join(home, 'block.sql');
      writeFileSync(file, sql);
      return execFileSync(
        'psql',
        [
          '-h',
          '127.0.0.1',
          '-p',
          String(server.port),
          '-U',
          'owner',
          '-d',
          name,
          '-qAt',
          '-v',
          'ON_ERROR_STOP=1',
          '-f',
          file,
        ],
        { encoding: 'utf8' },
      ).trim();
    };
    const as = (role: string, address = url) => ({
      ...around,
      env: { SVCPAY_DATABASE_URL: address.replace('owner@', `${role}@`) },
    });
    const send = async (ref: string, invoice: string, where = as('svcpay_payer')) =>
      svcpay(['send', 'lightning', invoice, '--ref', ref, '--yes', '--json'], where);

    run(block('sql', 'CREATE ROLE svcpay_payer'));
    expect(await svcpay(['db', 'upgrade'], as('svcpay_owner'))).toMatchObject({ exitCode: 0 });
    const [first, second] = [
      await around.sandbox.invoice('1000sat', { expiry: '2d' }),
      await around.sandbox.invoice('2000sat', { expiry: '2d' }),
    ];
    expect(await send('first', first)).toMatchObject({ exitCode: 0 });

    const application = await startApplication(() => 200);
    const listener = await startListening(['--forward-to', application.url], as('svcpay_payer'));
    expect(await deliver(listener.url, { txnId: 't1', txnState: 'completed', updatedAt: 1 })).toBe(
      200,
    );
    await until(() => application.bodies.length === 1);
    expect((await fetch(`${listener.url}/readyz`)).status).toBe(200);
    listener.child.kill('SIGINT');
    await listener.ended;

    run(`SET ROLE svcpay_owner; ${block('sql', 'fillfactor')}`);
    run(block('sql', 'CREATE PROCEDURE'));
    run(
      "UPDATE svcpay.payments SET updated_at = updated_at - 500 * 86400000::bigint WHERE ref = 'first'",
    );
    expect(await send('second', second)).toMatchObject({ exitCode: 0 });
    run("SET ROLE svcpay_owner; CALL svcpay_archive.move_payments('400 days')");
    expect(run('SELECT ref FROM svcpay.payments')).toBe('second');
    expect(run('SELECT ref FROM svcpay_archive.payments_until_2026')).toBe('first');
    expect(run('SELECT count(*) FROM svcpay.attempts')).toBe('1');
    expect(run('SELECT state FROM svcpay_archive.attempts')).toBe('paid');

    const [dump = '', restore = ''] = block('sh', 'pg_dump').trim().split('\n');
    const shell = (line: string): string =>
      execFileSync('sh', ['-ec', line], {
        cwd: home,
        encoding: 'utf8',
        env: { PATH: process.env['PATH'], SVCPAY_DATABASE_URL: url },
      });
    shell(dump);
    const third = await around.sandbox.invoice('3000sat', { expiry: '2d' });
    expect(await send('third', third)).toMatchObject({ exitCode: 0 });
    shell(restore);
    expect(run('SELECT ref FROM svcpay.payments')).toBe('second');
    expect(
      await svcpay(['reconcile', '--import', '--since', '36h', '--json'], as('svcpay_payer')),
    ).toMatchObject({ exitCode: 0 });
    expect(await svcpay(['tx', 'resume'], as('svcpay_payer'))).toMatchObject({ exitCode: 0 });
    expect((await send('other', third)).exitCode).toBe(2);
    expect(around.sandbox.requests('PUT')).toHaveLength(3);
  },
);
