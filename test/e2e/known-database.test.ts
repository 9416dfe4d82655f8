// A home that knows the id of its database, but not its address, must not pay from an empty file,
// and neither must a home that is lost with its container.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished } from 'vitest';
import type { Sandbox } from '../../src/sandbox.js';
import { svcpay } from '../support/in-process.js';
import { openPostgresJournal, openSqliteJournal } from '../../src/index.js';
import { hasPostgres } from '../support/postgres.js';
import { preparedDatabase } from '../support/prepared-database.js';
import { usingPostgres } from '../support/shared-postgres.js';
import { test, type Environment } from '../support/svcpay.js';

const server = usingPostgres();

type Around = Environment & { readonly sandbox: Sandbox };

describe('a home that knows its database by its id only', () => {
  test.for([
    ['send', ['send', 'lightning', 'INVOICE', '--yes', '--json']],
    ['db status', ['db', 'status', '--json']],
    ['mcp', ['mcp', '--allow-payments', '--budget', 'agent', '--json']],
    ['webhook consumers', ['webhook', 'consumers', 'list', '--json']],
  ] as const)('refuses %s without the address of the database', async ([, args], { around }) => {
    const invoice = await around.sandbox.invoice('1000sat');
    await svcpay(['send', 'lightning', invoice, '--yes'], around);
    const paid = around.sandbox.requests('PUT').length;
    const words = args.map((word) => (word === 'INVOICE' ? invoice : word));
    const known = { ...around, env: { ...around.env, SVCPAY_DATABASE_ID: 'known' } };
    const run = await svcpay(words, known);
    expect(run).toMatchObject({ exitCode: 2, stdout: '' });
    expect(run.error()).toMatchObject({
      kind: 'usage',
      message: expect.stringContaining('in the database known, but its address is missing'),
      hint: expect.stringContaining('SVCPAY_DATABASE_URL'),
    });
    expect(around.sandbox.requests('PUT')).toHaveLength(paid);
  });

  test('refuses a journal in a file to a program', async ({ home }) => {
    process.env['SVCPAY_DATABASE_ID'] = 'known';
    onTestFinished(() => void delete process.env['SVCPAY_DATABASE_ID']);
    await expect(openSqliteJournal(join(home, 'journal.db'))).rejects.toMatchObject({
      kind: 'usage',
      message: expect.stringContaining('in the database known, but its address is missing'),
    });
  });

  test('reports the missing address as a problem of the journal in doctor', async ({ around }) => {
    const known = { ...around, env: { ...around.env, SVCPAY_DATABASE_ID: 'known' } };
    const run = await svcpay(['doctor'], known);
    expect(run.exitCode).toBe(1);
    expect(run.stdout).toMatch(/Journal\s+problem\s+.*its address is missing/);
  });
});

describe.runIf(existsSync('/dev/shm'))('a home in the memory of a container', () => {
  /** Makes a payment in two containers, and returns the exit codes and the number of payments. */
  async function paidTwice(around: Around, network: string) {
    const exitCodes: number[] = [];
    for (let container = 0; container < 2; container += 1) {
      const home = mkdtempSync('/dev/shm/svcpay-container-');
      onTestFinished(() => rmSync(home, { recursive: true, force: true }));
      const words = ['send', 'usdt', 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8', '5usdt', '--yes'];
      const env = { ...around.env, SVCPAY_NETWORK: network };
      const { exitCode, stderr } = await svcpay([...words, '--no-wait'], { ...around, home, env });
      exitCodes.push(exitCode);
      if (exitCode === 2) expect(stderr).toContain('is lost when the container ends');
    }
    return { exitCodes, payments: around.sandbox.requests('PUT').length };
  }

  test('makes a payment on a test network, which the next container repeats', async ({
    around,
  }) => {
    expect(await paidTwice(around, 'testnet')).toEqual({ exitCodes: [0, 0], payments: 2 });
  });

  test('makes no payment of real money', async ({ around }) => {
    expect(await paidTwice(around, 'mainnet')).toEqual({ exitCodes: [2, 2], payments: 0 });
  });
});

describe.runIf(hasPostgres)('the expected id of a database', () => {
  test('is accepted in upper case', async ({ around }) => {
    const url = await preparedDatabase(server());
    const statusWith = (id: string) =>
      svcpay(['webhook', 'consumers', 'list', '--json'], {
        ...around,
        env: { ...around.env, SVCPAY_DATABASE_URL: url, SVCPAY_DATABASE_ID: id },
      });
    const refused = await statusWith('another');
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).not.toContain('paid');
    const [, id = ''] = /its id is ([0-9a-f-]{36})/.exec(refused.stderr) ?? [];
    expect(await statusWith(id.toUpperCase())).toMatchObject({ exitCode: 0 });
    const journal = await openPostgresJournal(url, { id: id.toUpperCase() });
    await journal.close();
    await expect(openPostgresJournal(url, { id: 'another' })).rejects.toThrow(
      `The database of the journal has the id ${id.toLowerCase()}, which differs from the given id.`,
    );
  });
});
