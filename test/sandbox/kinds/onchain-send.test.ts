// Tests sends over a blockchain, with BTC to every format of address, USDT on TRON, fees,
// confirmations and failures.
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
/** Addresses of twenty zero bytes. In the sandbox, each send to these addresses fails. */
const nowhere = 'tb1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq0l98cr';
const nowhereTron = 'T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb';

describe('the sandbox for an on-chain send', () => {
  test('debits the amount and both fees, broadcasts the send, and completes it with its confirmations', async () => {
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

  test('shows the number of confirmations of a send after its broadcast', async () => {
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

  test.for(
    [
      { fees: 'all fees', flag: 'deductNetworkFeesFromDest', paid: 0.01, arrives: 0.009977 },
      { fees: 'the service fee', flag: 'deductServicepayFees', paid: 0.010003, arrives: 0.00998 },
      { fees: 'the network fee', flag: 'deductNetworkFees', paid: 0.01002, arrives: 0.009997 },
    ].map((each) => [each.fees, each.flag, each] as const),
  )('deducts %s from the received amount if %s is set', async ([, , { flag, paid, arrives }]) => {
    const { txnId } = await sandbox.run(onchainSend(somewhere, 0.01, { [flag]: true }));
    await sandbox.mine(6);
    expect((await sandbox.get(txnId)).body.destReq.amtSettled).toBe(arrives);
    expect((await sandbox.balance('BTC'))[0]).toBe(Number((1 - paid).toFixed(8)));
  });

  test('completes a pending on-chain send after one block is mined', async () => {
    const { txnId } = await sandbox.run(onchainSend(somewhere, 0.001));
    await sandbox.mine(1);
    expect(await sandbox.state(txnId)).toBe('completed');
  });

  test('quotes an on-chain send from a wallet of another currency', async () => {
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
  ])('accepts a send to the address %s', async (address) => {
    expect((await sandbox.create(onchainSend(address, 0.00001))).status).toBe(200);
  });

  test.for(
    [
      {
        what: 'a wrong checksum',
        body: onchainSend('bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5', 0.01),
      },
      {
        what: 'a regtest address',
        body: onchainSend('bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080', 0.01),
      },
      { what: 'an unsupported witness version', body: onchainSend('bc1sw50qgdz25j', 0.01) },
      { what: 'a TRON address', body: onchainSend(someTron, 0.01) },
      { what: 'an empty address', body: onchainSend('', 0.01) },
      { what: 'an amount below the minimum', body: onchainSend(somewhere, 0.00000999) },
      {
        what: 'two amounts',
        body: onchainSend(somewhere, 0.01, {
          sourceReq: { ccy: 'BTC', method: 'servicepay', amtRequested: 0.01 },
        }),
      },
      {
        what: 'the amount on the source side',
        body: {
          sourceReq: { ccy: 'BTC', method: 'servicepay', amtRequested: 0.01 },
          destReq: { ccy: 'BTC', method: 'on-chain', reqDetails: { address: somewhere } },
        },
      },
      {
        what: 'a currency other than BTC',
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
    ].map((each) => [each.what, each] as const),
  )('refuses an on-chain send with %s', async ([, { body }]) => {
    const answer = await sandbox.create(body);
    expect([answer.status, answer.body.error]).toEqual([400, 'bad request']);
  });

  test('ends a send to an address of zero bytes as `failed`, and leaves the balance unchanged', async () => {
    const { txnId } = await sandbox.run(onchainSend(nowhere, 0.01));
    await sandbox.advance('2s');
    expect([await sandbox.state(txnId), await sandbox.balance('BTC')]).toEqual(['failed', [1, 1]]);
  });
});

describe('the sandbox for a USDT send', () => {
  test('debits the amount and both fees, and completes the send with its confirmation', async () => {
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

  test.for(['BTC', 'USD', 'VND'])('debits a USDT send from the %s wallet', async (from) => {
    const [before] = await sandbox.balance(from);
    const txn = await sandbox.run(usdtSend(someTron, 100, {}, from));
    await sandbox.mine(1);
    expect(await sandbox.state(txn.txnId)).toBe('completed');
    expect((await sandbox.balance(from))[0]).toBeLessThan(before as number);
    expect(await sandbox.balance('USDT')).toEqual([10_000, 10_000]);
  });

  test('credits a send to an address of its own user as a deposit', async () => {
    const address = await tronAddress();
    await sandbox.run(usdtSend(address, 100));
    await sandbox.advance('5s');
    expect(await sandbox.balance('USDT')).toEqual([9998.8, 9998.8]);
  });

  test.for(
    [
      { what: 'a wrong checksum', body: usdtSend('TJRabPrwbZy45sbavfcjinPJC18kjpRTv9', 1) },
      { what: 'a Bitcoin address', body: usdtSend(somewhere, 1) },
      {
        what: 'the USDT contract as the address',
        body: usdtSend('TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', 1),
      },
      {
        what: 'the chain Ethereum',
        body: usdtSend('0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359', 1, {}, 'USDT', 'eth'),
      },
      {
        what: 'BTC as the currency',
        body: {
          sourceReq: { ccy: 'BTC', method: 'servicepay' },
          destReq: {
            ccy: 'BTC',
            method: 'tron',
            amtRequested: 1,
            reqDetails: { address: someTron },
          },
        },
      },
      {
        what: 'a source field with the name amount',
        body: {
          sourceReq: { ccy: 'USD', method: 'servicepay', amount: 5 },
          destReq: { ccy: 'USDT', method: 'tron', reqDetails: { address: someTron } },
        },
      },
    ].map((each) => [each.what, each] as const),
  )('refuses a USDT send with %s', async ([, { body }]) => {
    const answer = await sandbox.create(body);
    expect([answer.status, answer.body.error]).toEqual([400, 'bad request']);
  });

  test.for(
    [
      { from: 'BTC', amount: 0.001, arrives: 100 },
      { from: 'VND', amount: 250_000, arrives: 10 },
      { from: 'USDT', amount: 12.5, arrives: 12.5 },
    ].map((each) => [each.from, each] as const),
  )('converts an amount of the %s wallet to USDT', async ([, { from, amount, arrives }]) => {
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

  test('fails a USDT send to an address of zeroes, and deducts nothing', async () => {
    const { txnId } = await sandbox.run(usdtSend(nowhereTron, 1));
    await sandbox.advance('2s');
    expect([await sandbox.state(txnId), await sandbox.balance('USDT')]).toEqual([
      'failed',
      [10_000, 10_000],
    ]);
  });
});
