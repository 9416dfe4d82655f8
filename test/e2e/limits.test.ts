// The limits of svcpay apply to every way to pay, even if two processes pay at once.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { svcpay, svcpayTty } from '../support/in-process.js';
import { startSvcpay, test, type Run, type Environment } from '../support/svcpay.js';

const set = (around: Environment, ...limits: string[]): Promise<Run> =>
  svcpay(['limits', 'set', ...limits], around);
const confirmations = (
  around: Environment & { sandbox: { requests(method: string): unknown[] } },
): number => around.sandbox.requests('PUT').length;

describe('svcpay limits', () => {
  test('allows only one of two concurrent payments if the daily limit covers one payment', async ({
    around,
  }) => {
    await set(around, '--per-day', '1500sat');
    const invoices = await Promise.all([
      around.sandbox.invoice('1000sat'),
      around.sandbox.invoice('1000sat'),
    ]);
    const runs = await Promise.all(
      invoices.map((invoice) => startSvcpay(['send', 'lightning', invoice, '--yes'], around).ended),
    );
    expect(runs.map(({ exitCode }) => exitCode).toSorted()).toEqual([0, 7]);
    expect(confirmations(around)).toBe(1);
  });

  const mistyped = [
    ['perPayment', 'btc', '0.000001'],
    ['perDay', 'XBT', '0.000001'],
    ['perDay', 'BTC', 'little'],
  ] as const;
  test.for(mistyped)(
    'stops payments if config.json contains the invalid limit "%s %s %s"',
    async ([rule, ccy, amount], { around }) => {
      await set(around, '--per-day', '5usdt');
      const file = join(around.home, 'config.json');
      const config: { profiles: { default: { limits: Record<string, object> } } } = JSON.parse(
        readFileSync(file, 'utf8'),
      );
      config.profiles.default.limits[rule] = { [ccy]: amount };
      writeFileSync(file, JSON.stringify(config));
      const sent = await svcpay(
        ['send', 'lightning', await around.sandbox.invoice('1000sat'), '--yes'],
        around,
      );
      for (const run of [sent, await svcpay(['limits', 'list'], around)]) {
        expect(run).toMatchObject({ exitCode: 2, stdout: '' });
        expect(run.stderr).toContain(`"${amount === 'little' ? amount : ccy}"`);
      }
      expect(confirmations(around)).toBe(0);
    },
  );

  test('refuses a limit in an unknown currency', async ({ around }) => {
    expect(await set(around, '--per-day', '5xbt')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('XBT is not a currency'),
    });
  });

  test('stops a payment above the per-payment limit before svcpay creates a transaction', async ({
    around,
  }) => {
    await set(around, '--per-payment', '999sat');
    const invoice = await around.sandbox.invoice('1000sat');
    const run = await svcpay(['send', 'lightning', invoice, '--yes', '--json'], around);
    expect(run).toMatchObject({ exitCode: 7, stdout: '' });
    expect(around.sandbox.requests('POST', '/api/v2/transaction')).toEqual([]);
  });

  test('counts the fees of a quote against the per-payment limit', async ({ around }) => {
    await set(around, '--per-payment', '1000sat');
    const invoice = await around.sandbox.invoice('1000sat');
    const run = await svcpay(['send', 'lightning', invoice, '--yes'], around);
    expect(run).toMatchObject({ exitCode: 7, stdout: '' });
    expect(confirmations(around)).toBe(0);
  });

  test('applies the per-payment limit to the source amount of a swap', async ({ around }) => {
    await set(around, '--per-payment', '10usdt');
    const run = await svcpay(['swap', '11usdt', 'BTC', '--yes'], around);
    expect(run).toMatchObject({ exitCode: 7, stdout: '' });
  });

  test('applies the per-payment limit to the received amount if --spend fixes the debit', async ({
    around,
  }) => {
    await set(around, '--per-payment', '10usdt');
    const run = await svcpay(
      ['send', 'usdt', 'TJCnKsPa7y5okkXvQAidZBzqx3QyQ6sxMW', '--spend', '2500000vnd', '--yes'],
      around,
    );
    expect(run).toMatchObject({ exitCode: 7, stdout: '' });
    expect(confirmations(around)).toBe(0);
  });

  test('applies a limit to a quote that svcpay created before the limit was set', async ({
    around,
  }) => {
    const invoice = await around.sandbox.invoice('1000sat');
    const quoted = await svcpay(['send', 'lightning', invoice, '--quote-only', '-q'], around);
    await set(around, '--per-day', '500sat');
    const run = await svcpay(['tx', 'confirm', quoted.stdout.trim(), '--yes'], around);
    expect(run).toMatchObject({ exitCode: 7, stdout: '' });
    expect(confirmations(around)).toBe(0);
  });

  test('prints only a warning with --quote-only if the payment would exceed a limit', async ({
    around,
  }) => {
    await set(around, '--per-day', '1500sat');
    const line = ['send', 'satoshi@example.com', '1000sat'];
    expect(await svcpay([...line, '--yes'], around)).toMatchObject({ exitCode: 0 });
    const quoted = await svcpay([...line, '--quote-only', '--json'], around);
    expect(quoted).toMatchObject({
      exitCode: 0,
      stderr: expect.stringMatching(
        /your limits refuse this payment because 0\.0000100\d BTC \(1.00\d sat\) is over your daily limit of 0\.00001500 BTC \(1.500 sat\)/,
      ),
    });
    expect(quoted.json()).toMatchObject({ txnState: 'quoted' });
    expect(await svcpay([...line, '--yes'], around)).toMatchObject({ exitCode: 7, stdout: '' });
    await svcpay(['limits', 'allow', 'ada@example.com'], around);
    expect((await svcpay([...line, '--quote-only'], around)).stderr).toContain(
      'your limits refuse this payment because satoshi@example.com is not on your allow-list',
    );
    expect(confirmations(around)).toBe(1);
  });

  test('allows the Lightning node of an allowed invoice and stops other destinations', async ({
    around,
  }) => {
    const invoices = await Promise.all([
      around.sandbox.invoice('1000sat'),
      around.sandbox.invoice('1000sat'),
    ]);
    const allowed = await svcpay(['limits', 'allow', invoices[0], '-q'], around);
    expect(allowed.stdout).toMatch(/^0[23][0-9a-f]{64}\n$/);
    const paid = await svcpay(['send', 'lightning', invoices[1], '--yes'], around);
    expect(paid).toMatchObject({ exitCode: 0 });
    const other = await svcpay(['send', 'satoshi@example.com', '1000sat', '--yes'], around);
    expect(other).toMatchObject({ exitCode: 7, stdout: '' });
    expect(other.stderr).toContain('svcpay limits allow satoshi@example.com');
  });

  test('applies the allow-list and the daily limit to payouts', async ({ around }) => {
    await set(around, '--per-day', '600000vnd');
    await svcpay(['limits', 'allow', '970436:0123456789'], around);
    const parties =
      '--recipient-type individual --recipient-name Le --recipient-country VN --sender-type individual --sender-name Jane'
        .concat(
          ' --sender-country CA --purpose 1 --source 1 --relationship 1 --amount 500000vnd --yes --no-wait',
        )
        .split(' ');
    const payout = (account: string, ...more: string[]): Promise<Run> =>
      svcpay(
        [
          ...`payout --country VN --institution 970436 --acct-num ${account} --acct-name Le`.split(
            ' ',
          ),
          ...parties,
          ...more,
        ],
        around,
      );
    expect(await payout('9876543210')).toMatchObject({ exitCode: 7 });
    expect(await payout('0123456789')).toMatchObject({ exitCode: 0 });
    const again = await payout('0123456789', '--again');
    expect(again).toMatchObject({ exitCode: 7 });
    expect(again.stderr).toMatch(/daily limit of 600.000 VND, of which 500.000 VND is used/);
    expect(confirmations(around)).toBe(1);
  });

  test('removes the last destination of the allow-list only with --yes', async ({ around }) => {
    await svcpay(['limits', 'allow', 'a@example.com'], around);
    await svcpay(['limits', 'allow', 'b@example.com'], around);
    expect(await svcpay(['limits', 'disallow', 'a@example.com'], around)).toMatchObject({
      exitCode: 0,
    });
    expect(await svcpay(['limits', 'disallow', 'b@example.com'], around)).toMatchObject({
      exitCode: 9,
      stdout: '',
    });
    expect((await svcpay(['limits', 'list', '-q'], around)).stdout).toBe('b@example.com\n');
    expect(await svcpay(['limits', 'disallow', 'b@example.com', '--yes'], around)).toMatchObject({
      exitCode: 0,
      stdout: '',
    });
  });

  test('lists the used and the remaining amounts as JSON', async ({ around }) => {
    await set(around, '--per-day', '5000sat', '--per-payment', '20usdt');
    await svcpay(['send', 'lightning', await around.sandbox.invoice('1000sat'), '--yes'], around);
    const run = await svcpay(['limits', 'list', '--json'], around);
    expect(run.json()).toMatchObject([
      { rule: 'per payment', ccy: 'USDT', amount: 20, used: null },
      { rule: 'per day', ccy: 'BTC', amount: 0.00005, used: 0.00001003, left: 0.00003997 },
    ]);
  });

  test('works without a login and shows which currencies have no limit', async ({ home }) => {
    const tty = svcpayTty(['limits', 'set', '--per-day', '5000sat'], { home });
    expect(await tty.ended).toBe(0);
    expect(tty.text()).toMatch(/per day\s+0\.00005000 BTC/);
    expect(tty.text()).toContain('no limit in currencies other than BTC');
    const cleared = await svcpay(['limits', 'clear', '--json', '--yes'], { home });
    expect(cleared.stdout).toBe('[]\n');
  });

  test.for([
    ['no flags', []],
    ['an amount without a unit', ['--per-day', '5000']],
    ['a limit of zero', ['--per-day', '0sat']],
    ['two values for the daily limit', ['--per-day', '1sat', '--per-day', '2sat']],
  ] as const)('refuses svcpay limits set with %s', async ([, flags], { home }) => {
    expect(await svcpay(['limits', 'set', ...flags], { home })).toMatchObject({
      exitCode: 2,
      stdout: '',
    });
  });
});
