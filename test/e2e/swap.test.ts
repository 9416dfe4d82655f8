// Tests svcpay swap between the wallets of an account, with the amount on either side.
import { describe, expect } from 'vitest';
import { svcpay, svcpayTty } from '../support/in-process.js';
import { walletSide } from '../support/orders.js';
import { test } from '../support/svcpay.js';

describe('svcpay swap', () => {
  test.for(
    [
      { line: '25 USDT BTC', from: walletSide('USDT', 25), to: walletSide('BTC') },
      { line: '25usdt btc', from: walletSide('USDT', 25), to: walletSide('BTC') },
      {
        line: '100000sat USDT BTC --receive',
        from: walletSide('USDT'),
        to: walletSide('BTC', 0.001),
      },
      { line: '50 USD VND', from: walletSide('USD', 50), to: walletSide('VND') },
    ].map(({ line, from, to }) => [line, from, to] as const),
  )(
    'sends exactly the specified body for "svcpay swap %s"',
    async ([line, from, to], { around }) => {
      const run = await svcpay(['swap', ...line.split(' '), '--yes', '--json'], around);
      expect(run).toMatchObject({ exitCode: 0 });
      expect(run.json()).toMatchObject({ txnState: 'completed' });
      const [request] = around.sandbox.requests('POST', '/api/v2/transaction');
      expect(JSON.parse(request?.requestBody ?? '')).toEqual({
        sourceReq: from,
        destReq: to,
        extRefId: expect.any(String),
      });
    },
  );

  test('empties the wallet to the last unit, including fees, if the amount is "all"', async ({
    around,
  }) => {
    const line = ['swap', 'all', 'USDT', 'BTC', '--yes', '--ref', 'everything', '--json'];
    const run = await svcpay(line, around);
    expect(run).toMatchObject({ exitCode: 0 });
    const balance = async () =>
      JSON.parse((await svcpay(['wallets', 'USDT', '--json'], around)).stdout);
    expect(await balance()).toMatchObject([{ ccy: 'USDT', availableBalance: 0, amount: 0 }]);
    expect((await svcpay(line, around)).stdout).toBe(run.stdout);
    expect(await svcpay(['swap', 'all', 'USDT', 'BTC', '--yes'], around)).toMatchObject({
      exitCode: 7,
      stderr: expect.stringContaining('your USDT wallet is empty'),
    });
    expect(await svcpay(['swap', 'all', 'USD', 'BTC', '--receive', '--yes'], around)).toMatchObject(
      {
        exitCode: 2,
      },
    );
  });

  test('shows the rate in both directions and the received amount at a terminal', async ({
    around,
  }) => {
    const tty = svcpayTty(['swap', '25', 'USDT', 'BTC'], around);
    await tty.waitFor(/1 USDT = 0\.00001000 BTC\s+1 BTC ≈ 100 000\.00 USDT/);
    await tty.waitFor(/You get\s+0\.00025000 BTC/);
    await tty.waitFor(/You pay\s+25\.0625 USDT/);
    await tty.waitFor(/Pay .*\? /);
    tty.type('y\r');
    expect(await tty.ended).toBe(0);
    expect(tty.text()).toContain('✓ You got 0.00025000 BTC (25 000 sat)');
  });

  test.for([
    [
      'an amount in the destination currency without --receive',
      ['100000sat', 'USDT', 'BTC'],
      /the amount that you pay\.\s+To receive \S+, add --receive/,
    ],
    [
      'an amount in the source currency with --receive',
      ['25usdt', 'USDT', 'BTC', '--receive'],
      /the amount that you receive\.\s+To debit \S+, remove --receive/,
    ],
    [
      'an amount in a currency of neither wallet',
      ['5eur', 'USDT', 'BTC'],
      /amount in EUR, but the amount must be in USDT/,
    ],
  ] as const)('refuses %s', async ([, args, message], { around }) => {
    const run = await svcpay(['swap', ...args, '--yes'], around);
    expect(run).toMatchObject({ exitCode: 2, stdout: '' });
    expect(run.stderr).toMatch(message);
    expect(around.sandbox.requests('POST', '/api/v2/transaction')).toHaveLength(0);
  });
});

test('svcpay swap all keeps the amount of its earlier quote, and says so', async ({ around }) => {
  const swap = ['swap', 'all', 'USDT', 'BTC', '--ref', 'r'];
  const quoted = await svcpay([...swap, '--quote-only', '--json'], around);
  expect(quoted).toMatchObject({ exitCode: 0 });
  expect(quoted.stderr).not.toContain('earlier quote');
  await around.sandbox.fund('USDT', '100');
  const paid = await svcpay([...swap, '--yes', '--json'], around);
  expect(paid).toMatchObject({
    exitCode: 0,
    stderr: expect.stringContaining('keeps its total of 10 000.00 USDT.'),
  });
  expect(paid.json()).toMatchObject({ txnState: 'completed' });
  expect(around.sandbox.requests('POST', '/api/v2/transaction')).toHaveLength(1);
});
