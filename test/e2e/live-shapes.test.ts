// Tests each kind of command against a service with the response formats of live services. With
// `npm run test:shapes`, all other end-to-end tests also use the response formats of live services.
import { describe, expect } from 'vitest';
import { svcpay } from '../support/in-process.js';
import { payoutWords } from '../support/payout.js';
import { test as base } from '../support/svcpay.js';

const test = base.extend({ sandboxOptions: { autoPay: 20, liveShapes: ['all'] } });
const address = 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx';
const tron = 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8';
describe('svcpay with the response formats of live services', () => {
  test.for([
    ['a swap', ['swap', '10', 'USDT', 'BTC', '--yes'], /^completed$/],
    [
      'a payment by Lightning Address',
      ['send', 'ann@example.com', '1000sat', '--yes'],
      /^completed$/,
    ],
    [
      'an on-chain payment',
      ['send', 'onchain', address, '50000sat', '--yes', '--no-wait'],
      /^srcsent$/,
    ],
    ['a USDT payment', ['send', 'usdt', tron, '10usdt', '--yes', '--no-wait'], /^srcsent$/],
    ['a Lightning request', ['receive', 'lightning', '1000sat', '--wait'], /^completed$/],
    [
      'a payout',
      [...payoutWords({ '--method': 'vnd-instant' }), '--yes', '--no-wait'],
      /^srcpendconfirmfill$/,
    ],
  ] as const)('confirms %s once and reports its state', async ([, args, state], { around }) => {
    const run = await svcpay([...args, '--json', '--ref', 'order-1'], around);
    expect(run).toMatchObject({ exitCode: 0 });
    expect(run.json()).toMatchObject({ txnState: expect.stringMatching(state) });
    const again = await svcpay(['tx', 'get', 'order-1', '-q'], around);
    expect(again.stdout.trim()).toBe(String(Object(run.json()).txnId));
    expect(around.sandbox.requests('PUT')).toHaveLength(1);
  });

  test.for([
    ['wallets', /BTC\t/],
    ['account', /ACTIVE/],
    ['rates BTC/USDC', /100000/],
    ['receive address btc -q', /^tb1/],
    ['receive address usdt --chain tron -q', /^T/],
    ['payout institutions VN', /970436\t/],
    ['webhook list --json', /^\[\]/],
    ['tx list --since 1h --json', /^\[\]/],
    ['whoami', /ne01-/],
  ] as const)('reads the response to "svcpay %s" correctly', async ([line, shows], { around }) => {
    const run = await svcpay(line.split(' '), around);
    expect(run).toMatchObject({ exitCode: 0 });
    expect(run.stdout).toMatch(shows);
  });

  test('ends with the documented exit codes after refusals', async ({ around }) => {
    const wrong = { ...around, sandbox: { ...around.sandbox, apiSecret: 'wrong' } };
    expect((await svcpay(['wallets'], wrong)).exitCode).toBe(4);
    expect((await svcpay(['swap', '90000', 'USDT', 'BTC', '--yes'], around)).exitCode).toBe(7);
    expect((await svcpay(['tx', 'get', 'nobody'], around)).exitCode).toBe(5);
  });
});

describe('svcpay for a service that abbreviates single transactions', () => {
  const shaped = base.extend({
    sandboxOptions: { autoPay: 20, liveShapes: ['read-abbreviated'] },
  });
  shaped.for<string[]>([
    ['swap', '10', 'USDT', 'BTC', '--yes'],
    ['send', 'ann@example.com', '1000sat', '--yes'],
    ['receive', 'lightning', '1000sat', '--wait'],
  ])('completes svcpay %s with a single confirmation', async (args, { around }) => {
    const run = await svcpay([...args, '--json', '--ref', 'order-1'], around);
    expect(run).toMatchObject({ exitCode: 0 });
    expect(run.json()).toMatchObject({ txnState: 'completed' });
    expect(around.sandbox.requests('PUT')).toHaveLength(1);
  });
});
