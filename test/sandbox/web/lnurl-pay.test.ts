// Tests LNURL-pay for users of the sandbox: the requests with which another wallet pays a user.
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { decodeInvoice } from '../../../src/formats/bolt11/decode.js';
import { fresh, lightningSend, type Client, type Fresh } from '../support.js';

let sandbox: Fresh;
let shop: Client;
beforeEach(async () => {
  sandbox = await fresh({ autoPay: 1000 });
  shop = await sandbox.login(
    (await sandbox.control('POST', 'accounts', { displayName: 'Café' })).body,
  );
});
afterEach(() => sandbox.close());

const payRequest = async (user: string) => sandbox.root(`/.well-known/lnurlp/${user}`);

/** Requests an invoice from the callback, as a wallet does. */
async function ask(user: string, amount: string) {
  const { body } = await payRequest(user);
  const { pathname } = new URL(body.callback);
  const answer = await sandbox.root(`${pathname}?amount=${amount}`);
  return { ...answer, metadata: String(body.metadata) };
}

describe('LNURL-pay for a user of the sandbox', () => {
  test('answers the pay request that any wallet sends to a Lightning Address', async () => {
    const { status, headers, body } = await payRequest(shop.accountId);
    expect(status).toBe(200);
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(body).toMatchObject({
      tag: 'payRequest',
      minSendable: 1000,
      maxSendable: 100_000_000_000,
    });
    expect(JSON.parse(body.metadata)).toEqual([
      ['text/plain', 'Payment to Café'],
      ['text/identifier', `${shop.accountId}@sandbox.localhost`],
    ]);
  });

  test('creates an invoice for the exact amount, bound to the metadata', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1000, max: 100_000_000_000 }), async (amount) => {
        const { status, body, metadata } = await ask(shop.accountId, String(amount));
        expect(status).toBe(200);
        const invoice = decodeInvoice(body.pr);
        expect(invoice.amountMsat).toBe(BigInt(amount));
        expect(invoice.descriptionHash).toBe(createHash('sha256').update(metadata).digest('hex'));
        expect(invoice.description).toBeNull();
      }),
      { numRuns: 20 },
    );
  });

  test('credits the amount of an invoice that is paid from outside, rounded down to whole satoshis', async () => {
    const { body } = await ask(shop.accountId, '2500999');
    const { txnId, txnState } = (await sandbox.pay(body.pr)).body;
    expect(txnState).toBe('completed');
    expect((await shop.wallet('BTC')).amount).toBe(0.000025);
    expect((await shop.get(txnId)).body.sourceReq.amtSettled).toBe(0.000025);
    expect((await sandbox.pay(body.pr)).status).toBe(400);
  });

  test('credits an invoice that another user pays', async () => {
    const { body } = await ask(shop.accountId, '2500000');
    await sandbox.run(lightningSend(body.pr));
    await sandbox.advance('1s');
    expect((await shop.wallet('BTC')).amount).toBe(0.000025);
  });

  test('does not pay an LNURL-pay invoice with the automatic payer', async () => {
    await ask(shop.accountId, '2500000');
    await sandbox.advance('1m');
    expect(await shop.wallet('BTC')).toBeUndefined();
    await sandbox.advance('1h');
    await shop.renew();
    const { data } = (await shop.call('GET', '/transaction')).body;
    expect(data.map(({ txnState }: { txnState: string }) => txnState)).toEqual(['expired']);
  });

  test.for([
    ['an empty amount', ''],
    ['less than the minimum', '999'],
    ['more than the maximum', '100000000001'],
    ['a negative amount', '-1000'],
    ['an amount with an exponent', '1e6'],
    ['a fractional amount', '1000.5'],
    ['a word as the amount', 'many'],
    ['an amount of 400 digits', '9'.repeat(400)],
    ['a hexadecimal amount', '0x1000'],
  ] as const)('refuses a pay request with %s', async ([, amount]) => {
    const { status, body } = await ask(shop.accountId, amount);
    expect(status).toBe(400);
    expect(body).toEqual({
      status: 'ERROR',
      reason: expect.stringContaining('1000 to 100000000000'),
    });
    expect((await shop.call('GET', '/transaction')).body.data).toEqual([]);
  });

  test('answers a pay request for an unknown user with 404', async () => {
    for (const path of ['nobody', 'nobody/callback?amount=1000', '..%2Fstatus']) {
      const { status, body } = await payRequest(path);
      expect([status, body.status]).toEqual([404, 'ERROR']);
    }
  });
});
