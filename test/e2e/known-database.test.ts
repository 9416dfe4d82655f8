// A home that knows the id of its database, but not its address, must not pay from an empty file.
import { describe, expect } from 'vitest';
import { svcpay } from '../support/in-process.js';
import { openPostgresJournal } from '../../src/index.js';
import { hasPostgres } from '../support/postgres.js';
import { preparedDatabase } from '../support/prepared-database.js';
import { usingPostgres } from '../support/shared-postgres.js';
import { test } from '../support/svcpay.js';

const server = usingPostgres();

describe('a home that knows its database by its id only', () => {
  test.for([
    ['send', ['send', 'lightning', 'INVOICE', '--yes', '--json']],
    ['db status', ['db', 'status', '--json']],
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
      message: expect.stringContaining('in the database known, and its address is missing'),
      hint: expect.stringContaining('SVCPAY_DATABASE_URL'),
    });
    expect(around.sandbox.requests('PUT')).toHaveLength(paid);
  });

  test('reports the missing address as a problem of the journal in doctor', async ({ around }) => {
    const known = { ...around, env: { ...around.env, SVCPAY_DATABASE_ID: 'known' } };
    const run = await svcpay(['doctor'], known);
    expect(run.exitCode).toBe(1);
    expect(run.stdout).toMatch(/Journal\s+problem\s+.*its address is missing/);
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
  });
});
