// svcpay without a command shows the overview at a terminal, and an error in a pipe.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { svcpay, svcpayTty } from '../support/in-process.js';
import { test } from '../support/svcpay.js';
import { asSpecified } from '../support/shapes.js';

const down = '\u001B[B';
const enter = '\r';
const escape = '\u001B';

describe('the overview of svcpay', { timeout: 60_000 }, () => {
  // In some live response formats, the list omits the destination side, which contains the
  // recipient.
  test.skipIf(!asSpecified)(
    'shows balances and payments in flight, and returns to its menu after each choice',
    async ({ around }) => {
      const invoice = await around.sandbox.invoice('2500sat');
      await around.sandbox.clock.freeze();
      expect(
        await svcpay(['send', 'lightning', invoice, '--yes', '--no-wait'], around),
      ).toMatchObject({ exitCode: 0 });
      const tty = svcpayTty([], { ...around, columns: 100 });
      await tty.waitFor(/default · 127\.0\.0\.1:\d+ · ne01-\w+ +as of \d\d:\d\d:\d\d/);
      await tty.waitFor(/BTC +0\.9999\d+ +≈ [\d ]+ USD/);
      await tty.waitFor(/↑ Lightning +−2 500 sat +\S.* ● confirmed/);
      await tty.waitFor('What next?');
      tty.type(`${down}${down}${down}${down}${enter}`);
      await tty.waitFor(/\? History[^]*↑ \S.* −2 500 sat +lightning +confirmed/);
      tty.type(enter);
      await tty.waitFor(/History · 1 of \d+[^]*Lightning send +confirmed[^]*esc back/);
      tty.type(escape);
      await tty.waitFor(/\? History \(type/);
      tty.type(escape);
      await tty.waitFor(/as of[^]*What next\?/);
      tty.type(escape);
      expect(await tty.ended).toBe(0);
    },
  );

  test('shows the story of the last payment by one key, and the rest of a long story by space', async ({
    around,
  }) => {
    await svcpay(['send', 'ada@example.com', '1000sat', '--yes'], around);
    const tty = svcpayTty([], { ...around, columns: 80, rows: 12 });
    await tty.waitFor("e last payment's story");
    tty.type('e');
    await tty.waitFor(/Send lnurl · 1 000 sat to ada@example\.com[^]*space more/);
    tty.type(' ');
    await tty.waitFor('Paid once: 1 003 sat left your BTC wallet.');
    tty.type(escape);
    await tty.waitFor('What next?');
    tty.type(escape);
    expect(await tty.ended).toBe(0);
  });

  test('shows a receipt whole if it fits above one line of keys', async ({ around }) => {
    await svcpay(['send', 'ada@example.com', '1000sat', '--yes'], around);
    const tty = svcpayTty([], { ...around, columns: 80, rows: 23 });
    await tty.waitFor("e last payment's story");
    tty.type('e');
    await tty.waitFor('Paid once');
    tty.type('s');
    await tty.waitFor(/Lightning send +done[^]*Transaction +\S{36}\s+a pay again[^\n]*esc back/);
    tty.type(escape);
    await tty.waitFor('What next?');
    tty.type(escape);
    expect(await tty.ended).toBe(0);
  });

  test.for([
    [80, 24],
    [60, 20],
    [140, 45],
  ] as const)(
    'prints only lines that fit a window of %d x %d, as svcpay tx list does',
    async ([columns, rows], { around }) => {
      await svcpay(['swap', '25', 'USDT', 'BTC', '--yes'], around);
      const widest = (text: string): number =>
        Math.max(...text.split('\n').map((line) => line.length));
      const list = svcpayTty(['tx', 'list'], { ...around, columns, rows });
      expect(await list.ended).toBe(0);
      const row = asSpecified ? '.*−25\\.00 USDT.*' : '.*';
      expect(list.text()).toMatch(
        new RegExp(`All 6 · all of history · newest last\n[^]*\n${row} [0-9a-f]{8}\n`),
      );
      const home = svcpayTty([], { ...around, columns, rows });
      await home.waitFor(/BTC[^]*What next\?/);
      home.type(escape);
      expect(await home.ended).toBe(0);
      expect(Math.max(widest(list.text()), widest(home.text()))).toBeLessThanOrEqual(columns);
    },
  );

  test('shows a payment as completed if the service has settled the payment in the meantime', async ({
    around,
  }) => {
    const invoice = await around.sandbox.invoice('2500sat');
    await svcpay(['send', 'lightning', invoice, '--yes', '--no-wait', '--ref', 'tea'], around);
    await around.sandbox.clock.advance('1m');
    const run = await svcpayTty(['--json'], around);
    expect(await run.ended).toBe(0);
    expect(JSON.parse(run.text())).toMatchObject({
      pending: [],
      unfinished: [],
      recent: [{ txnState: 'completed' }],
    });
    const pending = await svcpay(['tx', 'pending', '--json'], around);
    expect(pending.json()).toEqual([]);
  });

  test('checks 30 payments of a batch with fewer than 8 GET requests', async ({
    around,
    sandbox,
  }) => {
    const rows = Array.from({ length: 30 }, (_, i) => `ada${i}@example.com,100sat,r${i}`);
    const file = join(around.home, 'payroll.csv');
    writeFileSync(file, ['to,amount,ref', ...rows].join('\n'));
    await sandbox.clock.freeze();
    expect(await svcpay(['batch', file, '--no-wait', '--yes'], around)).toMatchObject({
      exitCode: 0,
    });
    await sandbox.clock.advance('5m');
    const readsBefore = sandbox.requests('GET').length;
    const home = svcpayTty([], { ...around, rows: 24 });
    await home.waitFor(/BTC[^]*What next\?/);
    home.type(escape);
    expect(await home.ended).toBe(0);
    expect(home.text()).not.toMatch(/On its way|more|checked/);
    expect(sandbox.requests('GET').length - readsBefore).toBeLessThan(8);
    expect((await svcpay(['tx', 'pending', '--json'], around)).json()).toEqual([]);
  });

  test('shows local data with its age while the service is down', async ({ around, sandbox }) => {
    const invoice = await sandbox.invoice('2500sat', { description: 'Coffee House' });
    await sandbox.clock.freeze();
    await svcpay(['send', 'lightning', invoice, '--yes', '--no-wait', '--ref', 'tea'], around);
    await sandbox.faults.add({ kind: 'status', status: 503, times: 'always' });
    const hasty = (...args: readonly string[]) => svcpay([...args, '--timeout', '500ms'], around);
    const [got, pending, rows] = [
      await hasty('tx', 'get', 'tea'),
      await hasty('tx', 'pending'),
      await hasty('tx', 'list'),
    ];
    expect(got).toMatchObject({
      exitCode: 75,
      stdout: '',
      stderr: expect.stringMatching(/last seen as confirmed \(last checked \d{4}-/),
    });
    expect(pending).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('tea'),
      stderr: expect.stringMatching(/last checked \d{4}-/),
    });
    expect(rows).toMatchObject({ exitCode: 75, stdout: '' });
    const list = svcpayTty(['tx', 'list', '--timeout', '500ms'], around);
    await list.waitFor(
      /Payments from this home \(service error \(503\)\) · last checked \d{4}-[^]*↑ Coffee House +−2 500 sat +lightning +confirmed/,
    );
    expect(await list.ended).toBe(75);
    const home = svcpayTty(['--timeout', '500ms'], { ...around, rows: 24 });
    await home.waitFor(
      /service error \(503\)[^]*−2 500 sat +Coffee House +● last seen confirmed.*\s+last checked \d{4}-[^]*❯ Try again/,
    );
    await sandbox.faults.clear();
    home.type(enter);
    await home.waitFor(/BTC +0\.99[^]*What next\?/);
    home.type(escape);
    expect(await home.ended).toBe(0);
  });

  test('ends with exit 130 after Ctrl-C in a command chosen from the menu', async ({ around }) => {
    const tty = svcpayTty([], around);
    await tty.waitFor('What next?');
    tty.type(`${down}${down}${down}${enter}`);
    await tty.waitFor('Country to pay out to');
    tty.type('\u0003');
    expect(await tty.ended).toBe(130);
  });

  test('ends on Esc without creating a transaction', async ({ around }) => {
    const tty = svcpayTty([], around);
    await tty.waitFor('What next?');
    tty.type(escape);
    expect(await tty.ended).toBe(0);
    expect(around.sandbox.requests('POST', '/api/v2/transaction')).toHaveLength(0);
  });

  test('suggests the sandbox if no account is connected', async ({ home }) => {
    const tty = svcpayTty([], { home });
    await tty.waitFor('No account is connected yet.');
    await tty.waitFor('Try the sandbox');
    tty.type(`${down}${enter}`);
    await tty.waitFor('svcpay login --sandbox');
    await tty.waitFor(/Account[^]*What next\?[^]*❯ Receive/);
    tty.type(escape);
    expect(await tty.ended).toBe(0);
  });

  test('prints a single JSON document and no menu if --json is given', async ({ around }) => {
    const tty = svcpayTty(['--json'], around);
    expect(await tty.ended).toBe(0);
    expect(JSON.parse(tty.text())).toMatchObject({
      profile: 'default',
      pending: [],
      unfinished: [],
    });
  });

  test('prints the help and ends with a usage error if there is no terminal', async ({
    around,
  }) => {
    const run = await svcpay([], around);
    expect(run).toMatchObject({
      exitCode: 2,
      stdout: '',
      stderr: expect.stringContaining('Usage: svcpay'),
    });
  });
});

test(
  'svcpay send accepts a pasted invoice with line breaks',
  { timeout: 60_000 },
  async ({ around }) => {
    const invoice = await around.sandbox.invoice('2500sat');
    const tty = svcpayTty(['send'], around);
    await tty.waitFor('Pay to');
    tty.type(`${invoice.slice(0, 70)}\r    ${invoice.slice(70, 140)}\r  ${invoice.slice(140)}\r`);
    await tty.waitFor(/You pay +0\.00002507 BTC[^]*\(y\/N\)/);
    tty.type('n\r');
    await tty.waitFor('What now?');
    tty.type(escape);
    expect(await tty.ended).toBe(9);
  },
);
