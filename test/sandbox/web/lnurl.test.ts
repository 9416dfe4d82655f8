// The sandbox resolves Lightning Addresses and LNURLs of its own users and of other services.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { encodeLnurl } from '../../../src/formats/destination.js';
import { fresh, lnurlSend, type Client, type Fresh } from '../support.js';

let sandbox: Fresh;
let child: Client;

beforeEach(async () => {
  sandbox = await fresh();
  child = await sandbox.login(
    (await sandbox.control('POST', 'accounts', { displayName: 'Child' })).body,
  );
});

afterEach(() => sandbox.close());

const outsideLnurl = encodeLnurl('https://pay.example/.well-known/lnurlp/alice');

describe('the sandbox for a send to a Lightning Address', () => {
  test('quotes the resolved address and completes the send like a Lightning payment', async () => {
    const quote = (await sandbox.create(lnurlSend('Alice@Pay.Example', 0.000025))).body;
    expect(quote).toMatchObject({
      txnState: 'quoted',
      sourceReq: { amtRequested: 0.000025, servicepayFees: 0.00000005, networkFees: 0.00000002 },
      destReq: {
        method: 'lnurl',
        amtRequested: 0.000025,
        reqDetails: { address: 'Alice@Pay.Example', lnurlAddress: 'alice@pay.example' },
      },
    });
    expect((await sandbox.confirm(quote.txnId)).body.txnState).toBe('srccreated');
    await sandbox.advance('200ms');
    expect(await sandbox.state(quote.txnId)).toBe('destsent');
    await sandbox.advance('800ms');
    expect(await sandbox.state(quote.txnId)).toBe('completed');
    expect(await sandbox.balance('BTC')).toEqual([0.99997493, 0.99997493]);
  });

  test('deducts the fees from the amount if the create request says so', async () => {
    const txn = await sandbox.run(
      lnurlSend('alice@pay.example', 0.000025, { deductNetworkFeesFromDest: true }),
    );
    await sandbox.advance('1s');
    expect((await sandbox.get(txn.txnId)).body.destReq.amtSettled).toBe(0.00002493);
    expect(await sandbox.balance('BTC')).toEqual([0.999975, 0.999975]);
  });

  test('converts an amount in USDT to BTC if a USDT wallet pays', async () => {
    const { body } = await sandbox.create(lnurlSend('alice@pay.example', 25, {}, 'USDT'));
    expect([body.sourceReq.ccy, body.destReq.amtRequested]).toEqual(['USDT', 0.00025]);
  });

  test('accepts an LNURL in lower case as the destination, and quotes it in upper case', async () => {
    const { body } = await sandbox.create(lnurlSend(outsideLnurl.toLowerCase(), 0.001));
    expect(body.destReq.reqDetails.lnurlAddress).toBe(outsideLnurl);
  });

  test.for(
    [
      { what: 'Lightning Address', address: (id: string) => `${id}@sandbox.localhost` },
      {
        what: 'LNURL',
        address: (id: string) => encodeLnurl(`http://sandbox.localhost/.well-known/lnurlp/${id}`),
      },
    ].map((each) => [each.what, each] as const),
  )(
    'records a completed Lightning receive for a user of the sandbox who is paid by %s',
    async ([, { address }]) => {
      const txn = await sandbox.run(lnurlSend(address(child.accountId), 0.001));
      await sandbox.advance('1s');
      expect(await sandbox.state(txn.txnId)).toBe('completed');
      expect((await child.wallet('BTC')).amount).toBe(0.001);
      const { data } = (await child.call('GET', '/transaction')).body;
      expect(data).toMatchObject([
        {
          txnState: 'completed',
          sourceReq: { method: 'lightning' },
          destReq: { amtSettled: 0.001 },
        },
      ]);
    },
  );

  test('fails a send to an unreachable user, and deducts nothing', async () => {
    const txn = await sandbox.run(lnurlSend('no-route@pay.example', 0.001));
    await sandbox.advance('200ms');
    expect(await sandbox.state(txn.txnId)).toBe('destsent');
    await sandbox.advance('800ms');
    expect([await sandbox.state(txn.txnId), await sandbox.balance('BTC')]).toEqual([
      'failed',
      [1, 1],
    ]);
  });

  test.for(
    [
      {
        what: 'an unknown user of the sandbox',
        body: lnurlSend('ne01-00000000@sandbox.localhost', 0.001),
      },
      { what: 'a user that cannot be resolved', body: lnurlSend('nobody@pay.example', 0.001) },
      { what: 'neither a Lightning Address nor an LNURL', body: lnurlSend('alice', 0.001) },
      {
        what: 'a wrong checksum in its LNURL',
        body: lnurlSend(`${outsideLnurl.slice(0, -1)}Q`, 0.001),
      },
      {
        what: 'the amount on the destination side',
        body: {
          sourceReq: { ccy: 'BTC', method: 'servicepay' },
          destReq: {
            ccy: 'BTC',
            method: 'lnurl',
            amtRequested: 0.001,
            reqDetails: { address: 'alice@pay.example' },
          },
        },
      },
      {
        what: 'no address',
        body: {
          sourceReq: { ccy: 'BTC', method: 'servicepay', amtRequested: 0.001 },
          destReq: { ccy: 'BTC', method: 'lnurl' },
        },
      },
    ].map((each) => [each.what, each] as const),
  )('refuses an lnurl send with %s', async ([, { body }]) => {
    const answer = await sandbox.create(body);
    expect([answer.status, answer.body.error]).toEqual([400, 'bad request']);
  });
});
