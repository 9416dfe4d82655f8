// svcpay stores the exchange rate of each transaction whose settlement this home observes.
import { describe, expect } from 'vitest';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import Big from 'big.js';
import { svcpay, type Here } from '../../support/in-process.js';
import { test } from '../../support/svcpay.js';
import { until } from '../../support/until.js';
import { deliver, startListening } from '../../support/webhooks.js';

type Row = Record<string, string>;

async function worth(around: Here): Promise<Row[]> {
  const { stdout } = await svcpay(['statement', '-o', 'csv'], {
    ...around,
    sleep: () => Promise.resolve(),
    now: Date.now,
  });
  const rows: Row[] = parse(stdout, { columns: true });
  // Omits the receives that fund a new sandbox.
  return rows.filter(({ txnId, note }) => txnId !== '' && note !== 'Sandbox money');
}

const withFiat = async (around: Here): Promise<void> => {
  expect(await svcpay(['config', 'set', 'fiat', 'usd'], around)).toMatchObject({ exitCode: 0 });
};

describe('svcpay with a fiat currency', () => {
  test('stores the rate at the settlement of a send, a swap and a receive', async ({ around }) => {
    await withFiat(around);
    const invoice = await around.sandbox.invoice('100000sat');
    expect(await svcpay(['send', 'lightning', invoice, '--yes'], around)).toMatchObject({
      exitCode: 0,
    });
    expect(await svcpay(['swap', '20usd', 'BTC', '--yes'], around)).toMatchObject({ exitCode: 0 });
    await around.sandbox.autoPay(0);
    expect(await svcpay(['receive', 'lightning', '5000sat', '--wait', '-q'], around)).toMatchObject(
      { exitCode: 0 },
    );
    const rows = await worth(around);
    const { stdout } = await svcpay(['rates', 'BTCUSD', '-q'], around);
    expect(rows.map(({ kind, wallet }) => `${kind} ${wallet}`).toSorted()).toEqual([
      'receive BTC',
      'send BTC',
      'swap BTC',
      'swap USD',
    ]);
    for (const row of rows) {
      const rate = row['wallet'] === 'USD' ? '1' : stdout.trim();
      const moved = new Big(row['in'] ?? 0)
        .minus(row['out'] ?? 0)
        .minus(row['fee'] ?? 0)
        .abs();
      expect(row).toMatchObject({
        fiat: 'USD',
        fiatRate: rate,
        fiatValue: moved.times(rate).round(2).toFixed(),
      });
    }
  });

  test('reads the rate once, while the payment is in flight', async ({ around }) => {
    await withFiat(around);
    const invoice = await around.sandbox.invoice('1000sat');
    await svcpay(['send', 'lightning', invoice, '--yes'], around);
    const paths = around.sandbox
      .requests()
      .map(({ method, path }) => `${method} ${path.replace(/\?.*|[0-9a-f]{8}-[-0-9a-f]+/g, '')}`);
    expect(paths.filter((path) => path === 'GET /api/v2/rate')).toHaveLength(1);
    expect(paths.indexOf('GET /api/v2/rate')).toBeLessThan(
      paths.lastIndexOf('GET /api/v2/transaction/'),
    );
  });

  test('stores a rate for a send and a batch row that settled after the command ended', async ({
    around,
  }) => {
    await withFiat(around);
    const { sandbox, home } = around;
    const to = 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx';
    await svcpay(['send', 'onchain', to, '20000sat', '--yes', '--no-wait'], around);
    const file = join(home, 'pay.csv');
    writeFileSync(file, `to,amount,ref\n${to},30000sat,row-1\n`);
    await svcpay(['batch', file, '--yes', '--no-wait'], around);
    await sandbox.mine(6);
    await sandbox.clock.advance('3h');
    expect(await worth(around)).toMatchObject([{ fiat: 'USD' }, { fiat: 'USD' }]);
    await svcpay(['tx', 'resume'], around);
    expect(await worth(around)).toMatchObject([{ fiat: 'USD' }, { fiat: 'USD' }]);
  });

  test("stores the rate of another home's payment when webhook listen receives an event of the payment", async ({
    around,
  }) => {
    await withFiat(around);
    const { sandbox, home } = around;
    const elsewhere = { ...around, home: join(home, 'elsewhere') };
    const send = ['send', 'lightning', await sandbox.invoice('1000sat'), '--yes', '-q'];
    const txnId = (await svcpay(send, elsewhere)).stdout.trim();
    expect(await worth(around)).toMatchObject([{ fiat: '' }]);
    const listener = await startListening([], { ...around, env: {} });
    const event = { txnId, txnState: 'completed', updatedAt: Date.now() };
    expect(await deliver(listener.url, event)).toBe(200);
    await until(async () => (await worth(around))[0]?.['fiat'] === 'USD');
    listener.child.kill('SIGINT');
    expect(await listener.ended).toMatchObject({ exitCode: 0 });
  });

  test('pays if the rate is unavailable, and stores no rate later', async ({ around }) => {
    await withFiat(around);
    await around.sandbox.faults.add({
      kind: 'status',
      path: '/api/v2/rate',
      status: 500,
      times: 'always',
    });
    const invoice = await around.sandbox.invoice('1000sat');
    const { stdout, exitCode } = await svcpay(
      ['send', 'lightning', invoice, '--yes', '-q', '--timeout', '2s'],
      around,
    );
    expect(exitCode).toBe(0);
    await around.sandbox.faults.clear();
    await around.sandbox.clock.advance('2h');
    await svcpay(['tx', 'get', stdout.trim()], around);
    expect(await worth(around)).toMatchObject([{ fiat: '', fiatRate: '', fiatValue: '' }]);
  });
});

test('svcpay requests no rate if no fiat currency is set', async ({ around }) => {
  const invoice = await around.sandbox.invoice('1000sat');
  await svcpay(['send', 'lightning', invoice, '--yes'], around);
  expect(around.sandbox.requests('GET', '/api/v2/rate')).toEqual([]);
  expect(await worth(around)).toMatchObject([{ fiat: '' }]);
});

test.for(['btc', 'usdt', 'dollar', ''])(
  'svcpay config set fiat refuses %j',
  async (text, { around }) => {
    expect(await svcpay(['config', 'set', 'fiat', text], around)).toMatchObject({ exitCode: 2 });
  },
);
