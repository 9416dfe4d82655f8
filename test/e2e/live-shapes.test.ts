// Every kind of command against a service that answers as live ones were seen to; npm run
// test:shapes runs all the others.
import { describe, expect } from 'vitest';
import { svcpay } from '../support/in-process.js';
import { payoutWords } from '../support/payout.js';
import { test as base } from '../support/svcpay.js';

const test = base.extend({ sandboxOptions: { autoPay: 20, liveShapes: ['all'] } });
const address = 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx';
const tron = 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8';
describe('with all live shapes enabled', () => {
  test.for<{ args: string[]; state: RegExp }>([
    { args: ['swap', '10', 'USDT', 'BTC', '--yes'], state: /^completed$/ },
    { args: ['send', 'ann@example.com', '1000sat', '--yes'], state: /^completed$/ },
    { args: ['send', 'onchain', address, '50000sat', '--yes', '--no-wait'], state: /^srcsent$/ },
    { args: ['send', 'usdt', tron, '10usdt', '--yes', '--no-wait'], state: /^srcsent$/ },
    { args: ['receive', 'lightning', '1000sat', '--wait'], state: /^completed$/ },
    {
      args: [...payoutWords({ '--method': 'vnd-instant' }), '--yes', '--no-wait'],
      state: /^srcpendconfirmfill$/,
    },
  ])('$args moves the money once and reports it', async ({ args, state }, { around }) => {
    const run = await svcpay([...args, '--json', '--ref', 'order-1'], around);
    expect(run).toMatchObject({ exitCode: 0 });
    expect(run.json()).toMatchObject({ txnState: expect.stringMatching(state) });
    const again = await svcpay(['tx', 'get', 'order-1', '-q'], around);
    expect(again.stdout.trim()).toBe(String(Object(run.json()).txnId));
    expect(around.sandbox.requests('PUT')).toHaveLength(1);
  });

  test.for<{ args: string[]; shows: RegExp }>([
    { args: ['wallets'], shows: /BTC\t/ },
    { args: ['account'], shows: /ACTIVE/ },
    { args: ['rates', 'BTC/USDC'], shows: /100000/ },
    { args: ['receive', 'address', 'btc', '-q'], shows: /^tb1/ },
    { args: ['receive', 'address', 'usdt', '--chain', 'tron', '-q'], shows: /^T/ },
    { args: ['payout', 'institutions', 'VN'], shows: /970436\t/ },
    { args: ['webhook', 'list', '--json'], shows: /^\[\]/ },
    { args: ['tx', 'list', '--since', '1h', '--json'], shows: /^\[\]/ },
    { args: ['whoami'], shows: /ne01-/ },
  ])('$args reads the right data', async ({ args, shows }, { around }) => {
    const run = await svcpay(args, around);
    expect(run).toMatchObject({ exitCode: 0 });
    expect(run.stdout).toMatch(shows);
  });

  test('a refusal keeps its exit code', async ({ around }) => {
    const wrong = { ...around, sandbox: { ...around.sandbox, apiSecret: 'wrong' } };
    expect((await svcpay(['wallets'], wrong)).exitCode).toBe(4);
    expect((await svcpay(['swap', '90000', 'USDT', 'BTC', '--yes'], around)).exitCode).toBe(7);
    expect((await svcpay(['tx', 'get', 'nobody'], around)).exitCode).toBe(5);
  });
});

describe('with abbreviated reads of single transactions', () => {
  const shaped = base.extend({
    sandboxOptions: { autoPay: 20, liveShapes: ['read-abbreviated'] },
  });
  shaped.for<string[]>([
    ['swap', '10', 'USDT', 'BTC', '--yes'],
    ['send', 'ann@example.com', '1000sat', '--yes'],
    ['receive', 'lightning', '1000sat', '--wait'],
  ])('%s moves the money once and reports its end', async (args, { around }) => {
    const run = await svcpay([...args, '--json', '--ref', 'order-1'], around);
    expect(run).toMatchObject({ exitCode: 0 });
    expect(run.json()).toMatchObject({ txnState: 'completed' });
    expect(around.sandbox.requests('PUT')).toHaveLength(1);
  });
});
