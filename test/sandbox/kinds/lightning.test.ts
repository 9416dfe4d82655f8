// The sandbox issues real Lightning invoices, shows every state of a transaction, and pays no
// invoice twice.
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { decodeInvoice } from '../../../src/formats/bolt11/decode.js';
import { encodeInvoice, type InvoiceFields } from '../../../src/formats/bolt11/encode.js';
import { fresh, lightningReceive, lightningSend, type Fresh } from '../support.js';

let sandbox: Fresh;

beforeEach(async () => {
  sandbox = await fresh();
});

afterEach(() => sandbox.close());

/** An invoice of an external node: 1000 sat on testnet by default. */
function foreign(fields: Partial<InvoiceFields>): string {
  return encodeInvoice(
    {
      network: 'testnet',
      amountMsat: 1_000_000n,
      paymentHash: randomBytes(32).toString('hex'),
      paymentSecret: randomBytes(32).toString('hex'),
      description: 'Elsewhere',
      timestamp: Math.floor(Date.now() / 1000),
      ...fields,
    },
    randomBytes(32),
  );
}

const balance = async () => {
  const { amount, availableBalance } = await sandbox.wallet('BTC');
  return [amount, availableBalance];
};
const stateOf = async (txnId: string) => (await sandbox.get(txnId)).body.txnState;

describe('the sandbox for a Lightning receive', () => {
  test('returns every field of a Lightning quote, but no invoice or payment page', async () => {
    const { status, body } = await sandbox.create(
      lightningReceive(0.0005, { extRefId: 'order-118', note: 'Coffee' }),
    );
    const { now } = (await sandbox.control('GET', 'clock')).body;
    expect(status).toBe(200);
    expect(body).toEqual({
      txnId: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
      accountId: sandbox.accountId,
      accountDisplayName: 'Sandbox',
      extRefId: 'order-118',
      note: 'Coffee',
      txnState: 'quoted',
      sourceReq: {
        ccy: 'BTC',
        method: 'lightning',
        amtRequested: 0.0005,
        amtSettled: null,
        reqDetails: { paymentRequest: null, invoicePageUrl: null },
        servicepayFees: 0,
        networkFees: 0,
        reqStatus: '0',
        expiresAt: now + 60_000,
        createAt: now,
        updatedAt: now,
      },
      destReq: {
        ccy: 'BTC',
        method: 'servicepay',
        amtRequested: 0.0005,
        amtSettled: null,
        reqDetails: {},
        reqStatus: '0',
        createAt: now,
        updatedAt: now,
      },
      fxRate: 1,
      createdAt: now,
    });
  });

  test('creates a signed testnet invoice and a payment page when a receive request is confirmed', async () => {
    const txn = await sandbox.run(lightningReceive(0.0005));
    const { paymentRequest, invoicePageUrl } = txn.sourceReq.reqDetails;
    const invoice = decodeInvoice(paymentRequest);
    expect(txn.txnState).toBe('srccreated');
    expect(invoice).toMatchObject({ network: 'testnet', amountMsat: 50_000_000n, expiry: 3600 });
    expect(invoice.expiresAt).toBe(txn.sourceReq.expiresAt);
    expect(invoicePageUrl).toBe(`${sandbox.url}/pay/${txn.txnId}`);
  });

  test('credits a paid invoice once', async () => {
    const txn = await sandbox.run(lightningReceive(0.0005));
    const { paymentRequest } = txn.sourceReq.reqDetails;
    expect(await balance()).toEqual([1, 1]);
    expect((await sandbox.pay(paymentRequest)).body).toEqual({
      txnId: txn.txnId,
      txnState: 'completed',
    });
    const paid = (await sandbox.get(txn.txnId)).body;
    expect(paid.sourceReq).toMatchObject({ amtSettled: 0.0005, reqStatus: '2' });
    expect(paid.destReq).toMatchObject({ amtSettled: 0.0005, reqStatus: '2' });
    expect((await sandbox.pay(paymentRequest)).status).toBe(400);
    expect((await sandbox.pay(txn.txnId)).status).toBe(400);
    expect(await balance()).toEqual([1.0005, 1.0005]);
  });

  test('opens a wallet for a receive in another currency', async () => {
    const txn = await sandbox.run({
      sourceReq: { ccy: 'BTC', method: 'lightning' },
      destReq: { ccy: 'EUR', method: 'servicepay', amtRequested: 90 },
    });
    expect(decodeInvoice(txn.sourceReq.reqDetails.paymentRequest).amountMsat).toBe(100_000_000n);
    await sandbox.pay(txn.txnId);
    expect((await sandbox.wallet('EUR')).amount).toBe(90);
  });

  test('expires a receive at the millisecond at which its invoice expires', async () => {
    const txn = await sandbox.run(lightningReceive(0.0005));
    const { now } = (await sandbox.control('GET', 'clock')).body;
    await sandbox.advance(txn.sourceReq.expiresAt - now - 1);
    // The token has expired, because it is older than the invoice and has the same lifetime.
    await sandbox.renew();
    expect(await stateOf(txn.txnId)).toBe('srccreated');
    await sandbox.advance(1);
    expect(await stateOf(txn.txnId)).toBe('expired');
    expect((await sandbox.pay(txn.txnId)).status).toBe(400);
  });

  test('lets the automatic payer pay a receive request before it expires, even if the clock moves far ahead', async () => {
    await sandbox.control('PUT', 'auto-pay', { after: '3s' });
    const txn = await sandbox.run(lightningReceive(0.0005));
    await sandbox.advance('2999ms');
    expect(await stateOf(txn.txnId)).toBe('srccreated');
    await sandbox.advance('1d');
    const again = await sandbox.login(sandbox);
    const paid = (await again.get(txn.txnId)).body;
    expect(paid.txnState).toBe('completed');
    expect(paid.sourceReq.updatedAt).toBe(txn.sourceReq.updatedAt + 3000);
  });
});

describe('the sandbox for a Lightning send', () => {
  test('completes a send at the first request after the duration of the send has passed', async () => {
    let machine = Date.now();
    const running = await fresh({ now: () => machine });
    await running.control('POST', 'clock/thaw');
    const { txnId } = await running.run(lightningSend(await running.invoice('2500sat')));
    machine += 1_000;
    const { body } = await running.get(txnId);
    expect([body.txnState, body.sourceReq.updatedAt]).toEqual(['completed', machine]);
    await running.close();
  });

  test('reserves the amount and fees of a send at the confirmation, and deducts them at the end', async () => {
    const quote = (await sandbox.create(lightningSend(await sandbox.invoice('2500sat')))).body;
    expect(quote.sourceReq).toMatchObject({
      servicepayFees: 0.00000005,
      networkFees: 0.00000002,
      amtRequested: 0.000025,
    });
    expect(await balance()).toEqual([1, 1]);

    expect((await sandbox.confirm(quote.txnId)).body.txnState).toBe('srccreated');
    expect(await balance()).toEqual([1, 0.99997493]);

    await sandbox.advance('200ms');
    expect(await stateOf(quote.txnId)).toBe('destsent');
    expect(await balance()).toEqual([1, 0.99997493]);

    await sandbox.advance('800ms');
    expect((await sandbox.get(quote.txnId)).body).toMatchObject({
      txnState: 'completed',
      sourceReq: { reqStatus: '2' },
      destReq: { amtSettled: 0.000025, reqStatus: '2' },
    });
    expect(await balance()).toEqual([0.99997493, 0.99997493]);
  });

  test('debits a wallet of another currency at the quoted rate', async () => {
    const quote = (
      await sandbox.create(lightningSend(await sandbox.invoice('1000sat'), {}, 'USDT'))
    ).body;
    expect(quote.sourceReq).toMatchObject({
      ccy: 'USDT',
      amtRequested: 1,
      servicepayFees: 0.002,
      networkFees: 0.0005,
    });
    expect(quote.fxRate).toBe(0.00001);
    await sandbox.confirm(quote.txnId);
    await sandbox.advance('1s');
    expect((await sandbox.wallet('USDT')).amount).toBe(9998.9975);
    expect(await balance()).toEqual([1, 1]);
  });

  test('rounds the amount of an invoice up to a whole satoshi', async () => {
    const { body } = await sandbox.create(lightningSend(foreign({ amountMsat: 1_500_001n })));
    expect(body.destReq.amtRequested).toBe(0.00001501);
  });

  test.for(['mainnet', 'testnet'] as const)(
    'pays a %s invoice of another service only once',
    async (network) => {
      const invoice = foreign({ network });
      for (const state of ['completed', 'failed']) {
        const { txnId } = await sandbox.run(lightningSend(invoice));
        await sandbox.advance('1s');
        expect(await stateOf(txnId)).toBe(state);
      }
      expect(await balance()).toEqual([0.99998997, 0.99998997]);
    },
  );

  test('fails the payment of a forged invoice that has the payment hash of another invoice', async () => {
    const receive = await sandbox.run(lightningReceive(0.5));
    const { paymentHash } = decodeInvoice(receive.sourceReq.reqDetails.paymentRequest);
    const forged = foreign({ paymentHash });
    expect((await sandbox.pay(forged)).status).toBe(400);
    const send = await sandbox.run(lightningSend(forged));
    await sandbox.advance('1s');
    expect([await stateOf(receive.txnId), await stateOf(send.txnId)]).toEqual([
      'srccreated',
      'failed',
    ]);
    expect(await balance()).toEqual([1, 1]);
  });

  test('fails the payment of an invoice that the sandbox issued and then deleted in a reset', async () => {
    const receive = await sandbox.run(lightningReceive(0.5));
    await sandbox.control('POST', 'reset');
    await sandbox.control('POST', 'clock/freeze');
    const send = await sandbox.run(lightningSend(receive.sourceReq.reqDetails.paymentRequest));
    await sandbox.advance('1s');
    expect(await stateOf(send.txnId)).toBe('failed');
  });

  test('fails a second payment of a paid invoice, and deducts nothing', async () => {
    const invoice = await sandbox.invoice('2500sat');
    await sandbox.run(lightningSend(invoice));
    await sandbox.advance('1s');
    const before = await balance();
    const again = await sandbox.run(lightningSend(invoice));
    await sandbox.advance('1s');
    const failed = (await sandbox.get(again.txnId)).body;
    expect(failed).toMatchObject({
      txnState: 'failed',
      destReq: { amtSettled: null, reqStatus: '0' },
    });
    expect(await balance()).toEqual(before);
  });

  test('pays an invoice once if three sends confirm it at the same time', async () => {
    const invoice = await sandbox.invoice('2500sat');
    const quotes = await Promise.all([1, 2, 3].map(() => sandbox.create(lightningSend(invoice))));
    await Promise.all(quotes.map(({ body }) => sandbox.confirm(body.txnId)));
    await sandbox.advance('1s');
    const states = await Promise.all(quotes.map(({ body }) => stateOf(body.txnId)));
    expect(states.toSorted()).toEqual(['completed', 'failed', 'failed']);
    expect(await balance()).toEqual([0.99997493, 0.99997493]);
  });

  test('credits its own user if an invoice of the user is paid', async () => {
    const receive = await sandbox.run(lightningReceive(0.1));
    const send = await sandbox.run(lightningSend(receive.sourceReq.reqDetails.paymentRequest));
    await sandbox.advance('1s');
    expect([await stateOf(receive.txnId), await stateOf(send.txnId)]).toEqual([
      'completed',
      'completed',
    ]);
    expect(await balance()).toEqual([0.99975, 0.99975]);
  });

  test('fails a send if the invoice expires between quote and payment', async () => {
    const quote = (
      await sandbox.create(lightningSend(await sandbox.invoice('2500sat', { expiry: '30s' })))
    ).body;
    await sandbox.advance('29900ms');
    await sandbox.confirm(quote.txnId);
    await sandbox.advance('1s');
    expect(await stateOf(quote.txnId)).toBe('failed');
    expect(await balance()).toEqual([1, 1]);
  });

  test('fails a send in flight if the invoice has the description "no route"', async () => {
    const send = await sandbox.run(
      lightningSend(await sandbox.invoice('2500sat', { description: 'no route' })),
    );
    await sandbox.advance('200ms');
    expect(await stateOf(send.txnId)).toBe('destsent');
    await sandbox.advance('800ms');
    expect(await stateOf(send.txnId)).toBe('failed');
    expect(await balance()).toEqual([1, 1]);
  });

  test.for(['deductNetworkFeesFromDest', 'deductServicepayFees', 'deductNetworkFees'])(
    'refuses the flag %s for a send to an invoice',
    async (flag) => {
      const answer = await sandbox.create(
        lightningSend(await sandbox.invoice('2500sat'), { [flag]: true }),
      );
      expect([answer.status, answer.body.error]).toEqual([400, 'bad request']);
    },
  );

  test('fails a send at the confirmation if the balance became too small after the quote', async () => {
    const quote = async () =>
      (await sandbox.create(lightningSend(await sandbox.invoice('0.6')))).body.txnId;
    const [first, second] = [await quote(), await quote()];
    expect((await sandbox.confirm(first)).body.txnState).toBe('srccreated');
    const refused = await sandbox.confirm(second);
    expect([refused.status, refused.body.txnState]).toEqual([200, 'failed']);
    await sandbox.advance('1s');
    expect(await stateOf(first)).toBe('completed');
  });

  test('refuses a quote above the balance', async () => {
    const answer = await sandbox.create(lightningSend(await sandbox.invoice('1')));
    expect([answer.status, answer.body]).toEqual([
      400,
      {
        error: 'insufficient balance',
        message: expect.stringContaining('1.00250000 BTC needed'),
      },
    ]);
  });

  const changeOne = (invoice: string): string =>
    invoice.slice(0, 40) + (invoice[40] === 'q' ? 'p' : 'q') + invoice.slice(41);

  test.for(
    [
      { what: 'one character changed', change: changeOne },
      { what: 'its end cut off', change: (invoice: string) => invoice.slice(0, -1) },
      { what: 'no amount', change: () => foreign({ amountMsat: null }) },
      { what: 'a network other than its own', change: () => foreign({ network: 'regtest' }) },
      { what: 'only its prefix', change: () => 'lntb' },
    ].map((each) => [each.what, each] as const),
  )('refuses an invoice with %s', async ([, { change }]) => {
    const answer = await sandbox.create(lightningSend(change(await sandbox.invoice('2500sat'))));
    expect([answer.status, answer.body.error]).toEqual([400, 'bad request']);
  });

  test('refuses an expired invoice', async () => {
    const invoice = await sandbox.invoice('2500sat', { expiry: '10s' });
    await sandbox.advance('10s');
    const answer = await sandbox.create(lightningSend(invoice));
    expect([answer.status, answer.body]).toEqual([
      400,
      { error: 'bad request', message: 'invoice expired' },
    ]);
  });
});
