// Tests receives over a blockchain: addresses, confirmations by the clock and on demand, and
// deposits.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  parseBitcoinAddress,
  parseEvmAddress,
  parseTronAddress,
} from '../../../src/formats/address.js';
import { parseBip21 } from '../../../src/formats/destination.js';
import { fresh, onchainReceive, onchainSend, type Answered, type Fresh } from '../support.js';

let sandbox: Fresh;

beforeEach(async () => {
  sandbox = await fresh();
});

afterEach(() => sandbox.close());

const now = async (): Promise<number> => (await sandbox.control('GET', 'clock')).body.now;
const bitcoinAddress = async (): Promise<string> =>
  (await sandbox.call('GET', '/account/onchain-address')).body.staticOnchainAddress;
const usdtAddress = (chainId: string, walletCcy = 'USDT'): Promise<Answered> =>
  sandbox.call(
    'GET',
    `/account/stablecoin-onchain-address?walletCcy=${walletCcy}&chainId=${chainId}`,
  );

describe('the sandbox for an on-chain receive', () => {
  test('omits the address and the payment page from the quote of an on-chain receive', async () => {
    const { body } = await sandbox.create(onchainReceive(0.005));
    expect(body).toMatchObject({
      txnState: 'quoted',
      fxRate: 1,
      sourceReq: { method: 'on-chain', amtSettled: null },
    });
    expect(body.sourceReq.reqDetails).toEqual({ address: null, invoicePageUrl: null });
  });

  test('creates a testnet address, a BIP21 URI and a page at the confirmation', async () => {
    const txn = await sandbox.run(onchainReceive(0.005));
    const { address, invoice, ...rest } = txn.sourceReq.reqDetails;
    expect(txn.txnState).toBe('srcintent');
    expect(parseBitcoinAddress(address)).toMatchObject({ network: 'testnet', type: 'p2wpkh' });
    expect([parseBip21(invoice).address, parseBip21(invoice).amount?.toFixed()]).toEqual([
      address,
      '0.005',
    ]);
    expect(rest).toEqual({
      amount: 0.005,
      invoicePageUrl: `${sandbox.url}/pay/${txn.txnId}`,
      expiredAt: new Date(txn.sourceReq.expiresAt).toISOString(),
    });
    const other = await sandbox.run(onchainReceive(0.005));
    expect(other.sourceReq.reqDetails.address).not.toBe(address);
  });

  test.for(
    [
      { amount: 0.005, confirmations: 1 },
      { amount: 0.01, confirmations: 3 },
      { amount: 0.1, confirmations: 6 },
    ].map((each) => [each.amount, each.confirmations, each] as const),
  )('credits a receive of %s BTC after %s confirmations of ten minutes each', async ([, , row]) => {
    const txn = await sandbox.run(onchainReceive(row.amount));
    expect((await sandbox.pay(txn.txnId)).body).toEqual({
      txnId: txn.txnId,
      txnState: 'srccreated',
    });
    await sandbox.advance(row.confirmations * 600_000 - 1);
    await sandbox.renew();
    expect([await sandbox.state(txn.txnId), await sandbox.balance('BTC')]).toEqual([
      'srccreated',
      [1, 1],
    ]);
    await sandbox.advance(1);
    expect((await sandbox.get(txn.txnId)).body).toMatchObject({
      txnState: 'completed',
      sourceReq: { amtSettled: row.amount, reqStatus: '2' },
      destReq: { amtSettled: row.amount, reqStatus: '2' },
    });
  });

  test('confirms a receive at once if blocks are mined', async () => {
    const txn = await sandbox.run(onchainReceive(0.01));
    await sandbox.pay(txn.sourceReq.reqDetails.invoice);
    expect((await sandbox.mine(2)).body.data).toEqual([
      { id: txn.txnId, chain: 'bitcoin', confirmations: 2, needed: 3 },
    ]);
    expect(await sandbox.state(txn.txnId)).toBe('srccreated');
    await sandbox.mine(5);
    expect(await sandbox.balance('BTC')).toEqual([1.01, 1.01]);
    expect((await sandbox.mine(5)).body.data).toEqual([]);
  });

  test('credits the paid amount, even if it differs from the requested amount', async () => {
    const txn = await sandbox.run(onchainReceive(0.005));
    await sandbox.pay(txn.sourceReq.reqDetails.address, '400000sat');
    await sandbox.mine(1);
    expect((await sandbox.get(txn.txnId)).body).toMatchObject({
      txnState: 'completed',
      sourceReq: { amtRequested: 0.005, amtSettled: 0.004 },
      destReq: { amtRequested: 0.005, amtSettled: 0.004 },
    });
    expect(await sandbox.balance('BTC')).toEqual([1.004, 1.004]);
  });

  test('expires a receive exactly at its expiry time, unless a payment was detected', async () => {
    const [unpaid, paid] = [
      await sandbox.run(onchainReceive(0.005)),
      await sandbox.run(onchainReceive(0.1)),
    ];
    await sandbox.advance(unpaid.sourceReq.expiresAt - (await now()) - 1);
    await sandbox.renew();
    await sandbox.pay(paid.txnId);
    await sandbox.advance(1);
    const states = await Promise.all([unpaid, paid].map(({ txnId }) => sandbox.state(txnId)));
    expect(states).toEqual(['expired', 'srccreated']);
    expect((await sandbox.pay(unpaid.sourceReq.reqDetails.address)).status).toBe(400);
  });

  test('credits a payment to an expired address as a deposit', async () => {
    const txn = await sandbox.run(onchainReceive(0.005));
    await sandbox.advance(txn.sourceReq.expiresAt - (await now()));
    expect((await sandbox.pay(txn.sourceReq.reqDetails.address, '0.005')).body).toEqual({
      depositId: expect.any(String),
      ccy: 'BTC',
      amount: 0.005,
      confirmations: 0,
      needed: 1,
    });
    await sandbox.mine(1);
    await sandbox.renew();
    expect([await sandbox.state(txn.txnId), await sandbox.balance('BTC')]).toEqual([
      'expired',
      [1.005, 1.005],
    ]);
  });

  test('lets the automatic payer pay a receive request, which then waits for blocks', async () => {
    await sandbox.control('PUT', 'auto-pay', { after: '3s' });
    const txn = await sandbox.run(onchainReceive(0.005));
    await sandbox.advance('3s');
    expect(await sandbox.state(txn.txnId)).toBe('srccreated');
    await sandbox.advance('10m');
    expect(await sandbox.state(txn.txnId)).toBe('completed');
  });

  test('records two transactions if a user pays the receive of another user', async () => {
    const txn = await sandbox.run(onchainReceive(0.005));
    const send = await sandbox.run(onchainSend(txn.sourceReq.reqDetails.address, 0.005));
    await sandbox.advance('2s');
    expect(await Promise.all([send, txn].map(({ txnId }) => sandbox.state(txnId)))).toEqual([
      'destsent',
      'srccreated',
    ]);
    await sandbox.mine(1);
    expect(await Promise.all([send, txn].map(({ txnId }) => sandbox.state(txnId)))).toEqual([
      'completed',
      'completed',
    ]);
    expect(await sandbox.balance('BTC')).toEqual([0.999987, 0.999987]);
  });
});

describe('the sandbox with permanent addresses', () => {
  test('returns a permanent address in the format of each chain', async () => {
    const [tron, eth] = await Promise.all(
      ['TRON', 'ETH'].map(async (chainId) => (await usdtAddress(chainId)).body),
    );
    expect(tron).toEqual({
      resultStatus: 'success',
      data: {
        staticOnchainAddress: expect.any(String),
        walletCcy: 'USDT',
        chainId: 'TRON',
        accountId: sandbox.accountId,
      },
    });
    expect(() => parseTronAddress(tron.data.staticOnchainAddress)).not.toThrow();
    expect(parseEvmAddress(eth.data.staticOnchainAddress).address).toBe(
      eth.data.staticOnchainAddress,
    );
    expect(parseBitcoinAddress(await bitcoinAddress()).network).toBe('testnet');
    expect((await usdtAddress('TRON')).body).toEqual(tron);
    const before = await bitcoinAddress();
    await sandbox.control('POST', 'reset');
    expect(await bitcoinAddress()).toBe(before);
  });

  test('returns different permanent addresses for different accounts', async () => {
    const child = await sandbox.login(
      (await sandbox.control('POST', 'accounts', { displayName: 'Child' })).body,
    );
    const { body } = await child.call('GET', '/account/onchain-address');
    expect(body.staticOnchainAddress).not.toBe(await bitcoinAddress());
  });

  test.for([
    'walletCcy=USDT',
    'chainId=TRON',
    'walletCcy=BTC&chainId=TRON',
    'walletCcy=USDT&chainId=tron',
  ])('refuses a request for a USDT address with ?%s', async (query) => {
    expect((await sandbox.call('GET', `/account/stablecoin-onchain-address?${query}`)).status).toBe(
      400,
    );
  });

  test('credits repeated deposits of BTC, each after its confirmations', async () => {
    const address = await bitcoinAddress();
    await sandbox.pay(address, '0.001');
    await sandbox.pay(`bitcoin:${address}`, '0.02');
    await sandbox.mine(1);
    expect(await sandbox.balance('BTC')).toEqual([1.001, 1.001]);
    await sandbox.advance('20m');
    expect(await sandbox.balance('BTC')).toEqual([1.021, 1.021]);
  });

  test.for(
    [
      { chain: 'TRON', after: 3_000 },
      { chain: 'ETH', after: 15 * 60_000 },
    ].map((each) => [each.chain, each] as const),
  )(
    'credits a deposit of USDT on %s after the confirmation time of that blockchain',
    async ([, { chain, after }]) => {
      const address = (await usdtAddress(chain)).body.data.staticOnchainAddress;
      expect((await sandbox.pay(address, '12.5')).body).toMatchObject({
        ccy: 'USDT',
        amount: 12.5,
      });
      await sandbox.advance(after - 1);
      expect(await sandbox.balance('USDT')).toEqual([10_000, 10_000]);
      await sandbox.advance(1);
      expect(await sandbox.balance('USDT')).toEqual([10_012.5, 10_012.5]);
    },
  );

  test('refuses a deposit without an amount, and a deposit to an address of another service', async () => {
    expect((await sandbox.pay(await bitcoinAddress())).status).toBe(400);
    expect((await sandbox.pay('tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx', '0.1')).status).toBe(
      400,
    );
  });
});
