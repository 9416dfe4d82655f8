// Tests docs/scale.md as an operator follows it: roles with only the granted rights, settings,
// archive and backup.
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import { svcpay } from '../../support/in-process.js';
import { findProgram } from '../../support/installed.js';
import {
  freePort,
  hasPgBouncer,
  hasPostgres,
  startPostgres,
  type PostgresServer,
} from '../../support/postgres.js';
import { test } from '../../support/svcpay.js';
import { deliver, startApplication, startListening } from '../../support/webhooks.js';
import { until } from '../../support/until.js';
import { runsAll } from '../../support/part.js';

const page = readFileSync(join(resolve(import.meta.dirname, '../../..'), 'docs/scale.md'), 'utf8');

/**
 * Returns the first code block of docs/scale.md that has the given language and contains `within`.
 */
const block = (language: string, within: string): string =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, 'gm'))]
    .map(([, code = '']) => code)
    .find((code) => code.includes(within)) ?? '';

let server: PostgresServer;
beforeAll(async () => {
  if (hasPostgres) server = await startPostgres();
}, 60_000);
afterAll(() => server?.stop());

test.runIf(runsAll && hasPostgres)(
  'PostgreSQL commands of docs/scale.md work as written',
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
    expect(await svcpay(['db', 'upgrade', '--new'], as('svcpay_owner'))).toMatchObject({
      exitCode: 0,
    });
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

    const [dump = '', restore = ''] = block('sh', 'pg_restore').trim().split('\n');
    const shell = (line: string): string =>
      execFileSync('sh', ['-ec', line], {
        cwd: home,
        encoding: 'utf8',
        env: { PATH: process.env['PATH'], ...as('svcpay_owner').env },
      });
    shell(dump);
    const third = await around.sandbox.invoice('3000sat', { expiry: '2d' });
    expect(await send('third', third)).toMatchObject({ exitCode: 0 });
    shell(restore);
    expect(run('SELECT ref FROM svcpay.payments')).toBe('second');
    expect(
      await svcpay(['db', 'import', '--since', '36h', '--json'], as('svcpay_payer')),
    ).toMatchObject({ exitCode: 0 });
    expect(await svcpay(['tx', 'resume'], as('svcpay_payer'))).toMatchObject({ exitCode: 0 });
    expect((await send('other', third)).exitCode).toBe(2);
    expect(around.sandbox.requests('PUT')).toHaveLength(3);
  },
);

test.runIf(runsAll && hasPgBouncer)(
  'pgbouncer.ini of docs/scale.md accepts connections with the passwords of the roles',
  { timeout: 60_000 },
  async ({ home }) => {
    const secured = await startPostgres({ password: 'of-the-owner' });
    onTestFinished(() => secured.stop());
    secured.sql('CREATE DATABASE svcpay');
    secured.sql(block('sql', 'CREATE ROLE svcpay_payer').replaceAll('\n', ' '), 'svcpay');
    for (const role of ['svcpay_owner', 'svcpay_payer'])
      secured.sql(`ALTER ROLE ${role} PASSWORD 'of-${role}'`);
    const listen = await freePort();
    const users = join(home, 'userlist.txt');
    writeFileSync(users, secured.sql(block('sql', 'pg_authid')));
    const settings = block('ini', '[pgbouncer]')
      .replace('port=5432', `port=${secured.port}`)
      .replace('listen_port = 6432', `listen_port = ${listen}`)
      .replace('/etc/pgbouncer/userlist.txt', users);
    writeFileSync(join(home, 'pgbouncer.ini'), `${settings}unix_socket_dir =\n`);
    chmodSync(home, 0o755);
    const asRoot = process.getuid?.() === 0 ? ['-u', 'postgres'] : [];
    const pooler = spawn(findProgram('pgbouncer') ?? '', [...asRoot, join(home, 'pgbouncer.ini')], {
      stdio: 'ignore',
    });
    onTestFinished(() => void pooler.kill('SIGKILL'));
    const as = (role: string, port: number, password: string) => ({
      home,
      env: { SVCPAY_DATABASE_URL: `postgres://${role}:${password}@127.0.0.1:${port}/svcpay` },
    });
    const owner = as('svcpay_owner', secured.port, 'of-svcpay_owner');
    expect(await svcpay(['db', 'upgrade', '--new'], owner)).toMatchObject({ exitCode: 0 });
    const status = (password: string) =>
      svcpay(['db', 'status', '--json'], as('svcpay_payer', listen, password));
    await until(async () => (await status('of-svcpay_payer')).exitCode === 0);
    expect((await status('of-svcpay_payer')).json()).toMatchObject([
      { part: 'journal', writable: true },
      { part: 'inbox', writable: true },
    ]);
    expect((await status('wrong')).exitCode).toBe(4);
  },
);

test.skipIf(!hasPostgres)(
  'svcpay db status estimates the rows of a large table instead of counting them',
  async ({ home }) => {
    const url = server.database();
    const env = { SVCPAY_DATABASE_URL: url };
    expect(await svcpay(['db', 'upgrade', '--new'], { home, env })).toMatchObject({ exitCode: 0 });
    const events = async (): Promise<unknown> =>
      ((await svcpay(['db', 'status', '--json'], { home, env })).json() as object[])[1];
    const add = (count: number): string =>
      server.sql(
        `SET search_path = svcpay; INSERT INTO events (received_at, body, signature, out_of_order, missing)
         SELECT 1, '', '', 0, '' FROM generate_series(1, ${count}); ANALYZE events`,
        new URL(url).pathname.slice(1),
      );
    add(9_999);
    expect(await events()).toMatchObject({ rows: 9_999 });
    add(43_210);
    expect(await events()).toMatchObject({ rows: 53_000 });
  },
);

test.runIf(runsAll && hasPostgres)(
  'commands of docs/scale.md move an account to its own database',
  { timeout: 60_000 },
  async ({ around, home }) => {
    const [old, own] = [server.database(), server.database()];
    const at = (url: string) => ({ ...around, home, env: { SVCPAY_DATABASE_URL: url } });
    expect(await svcpay(['db', 'upgrade', '--new'], at(old))).toMatchObject({ exitCode: 0 });
    const invoice = await around.sandbox.invoice('1000sat', { expiry: '2d' });
    const send = (ref: string, url: string) =>
      svcpay(['send', 'lightning', invoice, '--ref', ref, '--yes', '--json'], at(url));
    expect(await svcpay(['limits', 'set', '--per-day', '1btc', '-q'], at(old))).toMatchObject({
      exitCode: 0,
    });
    expect(await send('moved', old)).toMatchObject({ exitCode: 0 });
    const [copy = '', , ...lines] = block('sh', 'pg_dump --schema=svcpay "$OLD"')
      .trim()
      .split('\n');
    const { PATH = '' } = process.env;
    execFileSync('sh', ['-c', copy], { env: { PATH, OLD: old, NEW: own } });
    const unchecked = await send('moved', own);
    expect(unchecked).toMatchObject({ exitCode: 2 });
    expect(unchecked.error().hint).toContain('svcpay db import');
    for (const line of lines) {
      const [, ...words] = line.split(' ');
      expect(await svcpay(words, at(own))).toMatchObject({ exitCode: 0 });
    }
    const limits = (await svcpay(['limits', 'list', '--json'], at(own))).stdout;
    expect(limits).toContain('0.00001');
    const puts = around.sandbox.requests('PUT').length;
    expect(await send('moved', own)).toMatchObject({ exitCode: 0 });
    expect(await send('again', own)).toMatchObject({ exitCode: 2 });
    expect(around.sandbox.requests('PUT')).toHaveLength(puts);
  },
);
