// Money that goes out over a blockchain: BTC to every format of address, USDT on TRON, fees,
// confirmations, failures.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { fresh, onchainSend, usdtSend, type Fresh } from '../support.js';

let sandbox: Fresh;

beforeEach(async () => {
  sandbox = await fresh();
});

afterEach(() => sandbox.close());

const tronAddress = async (): Promise<string> =>
  (await sandbox.call('GET', '/account/stablecoin-onchain-address?walletCcy=USDT&chainId=TRON'))
    .body.data.staticOnchainAddress;

const somewhere = 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx';
const someTron = 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8';
/** Addresses of twenty zeroes, which no network delivers to. */
const nowhere = 'tb1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq0l98cr';
const nowhereTron = 'T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb';

describe('an on-chain send', () => {
  test('costs the amount and both fees, is broadcast, and completes with its confirmations', async () => {
    const quote = (await sandbox.create(onchainSend(somewhere, 0.01))).body;
    expect(quote).toMatchObject({
      sourceReq: { amtRequested: 0.01, servicepayFees: 0.00002, networkFees: 0.000003 },
      destReq: { amtRequested: 0.01, reqDetails: { address: somewhere } },
    });
    expect((await sandbox.confirm(quote.txnId)).body.txnState).toBe('srccreated');
    expect(await sandbox.balance('BTC')).toEqual([1, 0.989977]);
    await sandbox.advance('2s');
    expect(await sandbox.state(quote.txnId)).toBe('destsent');
    await sandbox.advance(3 * 600_000 - 1);
    expect(await sandbox.state(quote.txnId)).toBe('destsent');
    await sandbox.advance(1);
    expect((await sandbox.get(quote.txnId)).body).toMatchObject({
      txnState: 'completed',
      sourceReq: { amtSettled: 0.01, reqStatus: '2' },
      destReq: { amtSettled: 0.01, reqStatus: '2' },
    });
    expect(await sandbox.balance('BTC')).toEqual([0.989977, 0.989977]);
  });

  test('shows the number of confirmations from its broadcast on', async () => {
    const { txnId } = await sandbox.run(onchainSend(somewhere, 0.01));
    const seen = async () => (await sandbox.get(txnId)).body.destReq.reqDetails;
    expect(await seen()).toEqual({ address: somewhere });
    await sandbox.mine(1);
    expect(await seen()).toEqual({
      address: somewhere,
      confirmations: 1,
      requiredConfirmations: 3,
    });
    await sandbox.mine(5);
    expect(await seen()).toEqual({
      address: somewhere,
      confirmations: 3,
      requiredConfirmations: 3,
    });
  });

  test.for([
    { fees: 'all', flag: 'deductNetworkFeesFromDest', paid: 0.01, arrives: 0.009977 },
    { fees: 'the service fee', flag: 'deductServicepayFees', paid: 0.010003, arrives: 0.00998 },
    { fees: 'the network fee', flag: 'deductNetworkFees', paid: 0.01002, arrives: 0.009997 },
  ])('takes $fees out of the received amount with $flag', async ({ flag, paid, arrives }) => {
    const { txnId } = await sandbox.run(onchainSend(somewhere, 0.01, { [flag]: true }));
    await sandbox.mine(6);
    expect((await sandbox.get(txnId)).body.destReq.amtSettled).toBe(arrives);
    expect((await sandbox.balance('BTC'))[0]).toBe(Number((1 - paid).toFixed(8)));
  });

  test('is broadcast by mining if it is still waiting', async () => {
    const { txnId } = await sandbox.run(onchainSend(somewhere, 0.001));
    await sandbox.mine(1);
    expect(await sandbox.state(txnId)).toBe('completed');
  });

  test('pays from a wallet of another currency', async () => {
    const quote = (await sandbox.create(onchainSend(somewhere, 0.01, {}, 'USDT'))).body;
    expect(quote.sourceReq).toMatchObject({
      ccy: 'USDT',
      amtRequested: 1000,
      servicepayFees: 2,
      networkFees: 0.3,
    });
  });

  test.for([
    'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
    'bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3',
    'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0',
    '3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy',
    '1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2',
    somewhere,
    'tb1pqqqqp399et2xygdj5xreqhjjvcmzhxw4aywxecjdzew6hylgvsesf3hn0c',
    'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn',
    '2MzQwSSnBHWHqSAqtTVQ6v47XtaisrJa1Vc',
  ])('is sent to %s', async (address) => {
    expect((await sandbox.create(onchainSend(address, 0.00001))).status).toBe(200);
  });

  test.for([
    {
      what: 'a wrong checksum',
      body: onchainSend('bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5', 0.01),
    },
    {
      what: 'an address of regtest',
      body: onchainSend('bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080', 0.01),
    },
    { what: 'a witness version to come', body: onchainSend('bc1sw50qgdz25j', 0.01) },
    { what: 'a TRON address', body: onchainSend(someTron, 0.01) },
    { what: 'no address', body: onchainSend('', 0.01) },
    { what: 'less than the minimum', body: onchainSend(somewhere, 0.00000999) },
    {
      what: 'two amounts',
      body: onchainSend(somewhere, 0.01, {
        sourceReq: { ccy: 'BTC', method: 'servicepay', amtRequested: 0.01 },
      }),
    },
    {
      what: 'the amount on the source',
      body: {
        sourceReq: { ccy: 'BTC', method: 'servicepay', amtRequested: 0.01 },
        destReq: { ccy: 'BTC', method: 'on-chain', reqDetails: { address: somewhere } },
      },
    },
    {
      what: 'another currency',
      body: {
        sourceReq: { ccy: 'USDT', method: 'servicepay' },
        destReq: {
          ccy: 'USDT',
          method: 'on-chain',
          amtRequested: 1,
          reqDetails: { address: somewhere },
        },
      },
    },
  ])('with $what is a bad request', async ({ body }) => {
    const answer = await sandbox.create(body);
    expect([answer.status, answer.body.error]).toEqual([400, 'bad request']);
  });

  test('to an address of zeroes fails, and nothing is deducted', async () => {
    const { txnId } = await sandbox.run(onchainSend(nowhere, 0.01));
    await sandbox.advance('2s');
    expect([await sandbox.state(txnId), await sandbox.balance('BTC')]).toEqual(['failed', [1, 1]]);
  });
});

describe('a USDT send', () => {
  test('costs the amount and both fees, and completes with its confirmation', async () => {
    const txn = await sandbox.run(usdtSend(someTron, 100));
    expect(txn).toMatchObject({
      txnState: 'srccreated',
      sourceReq: { servicepayFees: 0.2, networkFees: 1 },
      destReq: { amtRequested: 100 },
    });
    await sandbox.advance('2s');
    expect(await sandbox.state(txn.txnId)).toBe('destsent');
    await sandbox.advance('3s');
    expect(await sandbox.state(txn.txnId)).toBe('completed');
    expect(await sandbox.balance('USDT')).toEqual([9898.8, 9898.8]);
  });

  test.for(['BTC', 'USD', 'VND'])('may pay from the %s wallet', async (from) => {
    const txn = await sandbox.run(usdtSend(someTron, 100, {}, from));
    await sandbox.mine(1);
    expect(await sandbox.state(txn.txnId)).toBe('completed');
    expect(await sandbox.balance('USDT')).toEqual([10_000, 10_000]);
  });

  test('to a user of the service is a deposit there', async () => {
    const address = await tronAddress();
    await sandbox.run(usdtSend(address, 100));
    await sandbox.advance('5s');
    expect(await sandbox.balance('USDT')).toEqual([9998.8, 9998.8]);
  });

  test.for([
    { what: 'a wrong checksum', body: usdtSend('TJRabPrwbZy45sbavfcjinPJC18kjpRTv9', 1) },
    { what: 'a Bitcoin address', body: usdtSend(somewhere, 1) },
    { what: 'the contract of USDT', body: usdtSend('TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', 1) },
    {
      what: 'Ethereum, which is not available yet',
      body: usdtSend('0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359', 1, {}, 'USDT', 'eth'),
    },
    {
      what: 'BTC as the currency',
      body: {
        sourceReq: { ccy: 'BTC', method: 'servicepay' },
        destReq: { ccy: 'BTC', method: 'tron', amtRequested: 1, reqDetails: { address: someTron } },
      },
    },
    {
      what: 'a source field named amount',
      body: {
        sourceReq: { ccy: 'USD', method: 'servicepay', amount: 5 },
        destReq: { ccy: 'USDT', method: 'tron', reqDetails: { address: someTron } },
      },
    },
  ])('with $what is a bad request', async ({ body }) => {
    const answer = await sandbox.create(body);
    expect([answer.status, answer.body.error]).toEqual([400, 'bad request']);
  });

  test.for([
    { from: 'BTC', amount: 0.001, arrives: 100 },
    { from: 'VND', amount: 250_000, arrives: 10 },
    { from: 'USDT', amount: 12.5, arrives: 12.5 },
  ])('of an amount of the $from wallet arrives converted', async ({ from, amount, arrives }) => {
    const body = {
      sourceReq: { ccy: from, method: 'servicepay', amtRequested: amount, reqDetails: {} },
      destReq: { ccy: 'USDT', method: 'tron', reqDetails: { address: someTron } },
    };
    const { txnId, destReq } = await sandbox.run(body);
    expect(destReq.amtRequested).toBe(arrives);
    await sandbox.mine(1);
    expect((await sandbox.get(txnId)).body).toMatchObject({
      txnState: 'completed',
      destReq: { amtSettled: arrives },
    });
  });

  test('to an address of zeroes fails, and nothing is deducted', async () => {
    const { txnId } = await sandbox.run(usdtSend(nowhereTron, 1));
    await sandbox.advance('2s');
    expect([await sandbox.state(txnId), await sandbox.balance('USDT')]).toEqual([
      'failed',
      [10_000, 10_000],
    ]);
  });
});
