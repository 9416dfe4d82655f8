// The package as a library, in this process: the client's defaults and webhooks as an integrator receives them.
import { join } from 'node:path';
import { describe, expect, onTestFinished } from 'vitest';
import * as library from '../src/index.js';
import { Failure, parseWebhookEvent, signWebhook, verifyWebhook, WalletClient } from '../src/index.js';
import type { Sandbox } from '../src/sandbox/index.js';
import { test } from './support/svcpay.js';

const secret = 'whsec_5f2b';
const body = '{"txnId":"t1","extRefId":"order-118","txnState":"completed","msg":"","updatedAt":1736942400000}';
const signature = signWebhook(body, secret);

describe('payments', () => {
  const clientOf = (sandbox: Sandbox, more: Partial<library.WalletClientOptions> = {}): WalletClient =>
    new WalletClient({ baseUrl: sandbox.url, apiKey: sandbox.apiKey, apiSecret: sandbox.apiSecret, ...more });

  test('are made once, with a journal that outlives the program, and gone on with after it', async ({ sandbox, home }) => {
    const invoice = await sandbox.invoice('1000sat');
    const events: string[] = [];
    const open = async () => {
      const journal = await library.openSqliteJournal(join(home, 'payments.db'));
      const client = clientOf(sandbox);
      onTestFinished(() => Promise.all([journal.close(), client.close()]).then(() => undefined));
      return library.openPayments({ client, baseUrl: sandbox.url, journal, on: ({ type }) => void events.push(type) });
    };
    const payment = { to: invoice, ref: 'order-118', maxFee: { percent: '1' } };
    const begun = await (await open()).pay({ ...payment, wait: false });
    expect(begun.extRefId).toBe('order-118');
    await sandbox.clock.advance('5s');
    const later = await open();
    expect(await later.resume()).toMatchObject([{ txn: { txnId: begun.txnId, txnState: 'completed' } }]);
    expect(await later.pay(payment)).toMatchObject({ txnId: begun.txnId, txnState: 'completed' });
    expect(sandbox.requests('PUT')).toHaveLength(1);
    expect(events).toContain('quoted');
  });

  test('need a yes where one is asked for, and keep to limits', async ({ sandbox, home }) => {
    const journal = await library.openSqliteJournal(join(home, 'payments.db'));
    onTestFinished(() => journal.close());
    const limits = { perPayment: { BTC: '0.00002' }, perDay: {}, destinations: [] };
    const payments = library.openPayments({ client: clientOf(sandbox), baseUrl: sandbox.url, journal, limits });
    const fees: string[] = [];
    const refused = payments.pay({
      to: await sandbox.invoice('1000sat'),
      approve: async ({ quote }) => {
        fees.push(quote.total.value.toFixed(8));
        return false;
      },
    });
    await expect(refused).rejects.toMatchObject({ kind: 'declined' });
    expect(fees).toEqual(['0.00001003']);
    await expect(payments.pay({ to: await sandbox.invoice('3000sat') })).rejects.toMatchObject({ kind: 'limit' });
    expect(sandbox.requests('PUT')).toHaveLength(0);
  });

  test('and reads tell of every request, and are repeated as often as wished', async () => {
    const seen: string[] = [];
    const failing = new WalletClient({
      baseUrl: 'https://api.example.com',
      apiKey: 'k',
      apiSecret: 's',
      retries: 0,
      tokens: { load: async () => ({ accessToken: 't', expiresAt: Infinity, accountId: 'a' }), save: async () => {} },
      onRequest: ({ method }) => void seen.push(method),
      onResponse: ({ status }) => void seen.push(String(status)),
      transport: async () => ({ status: 500, headers: {}, body: '{"error":"down"}' }),
    });
    await expect(failing.wallets()).rejects.toMatchObject({ kind: 'temporary' });
    expect(seen).toEqual(['GET', '500']);
  });
});

describe('WalletClient', () => {
  test('needs an address and a key, and receives a payment with them', async ({ sandbox }) => {
    const client = new WalletClient({ baseUrl: sandbox.url, apiKey: sandbox.apiKey, apiSecret: sandbox.apiSecret });
    const quote = await client.createTransaction({
      sourceReq: { ccy: 'BTC', method: 'lightning' },
      destReq: { ccy: 'BTC', method: 'servicepay', amtRequested: 0.0005 },
    });
    const { sourceReq } = await client.confirmTransaction(quote.txnId);
    await sandbox.pay(String(sourceReq.reqDetails?.['paymentRequest']));
    expect(await client.transaction(quote.txnId)).toMatchObject({ txnState: 'completed' });
    await client.close();
  });

  test('signs in once for many requests', async ({ sandbox }) => {
    const client = new WalletClient({ baseUrl: sandbox.url, apiKey: sandbox.apiKey, apiSecret: sandbox.apiSecret });
    await Promise.all([client.wallets(), client.account(), client.rates()]);
    expect(sandbox.requests('POST', '/api/v2/authentication/token-signature')).toHaveLength(1);
    await client.close();
  });

  test('says what it is, after what the integrator is', async () => {
    const agents: (string | undefined)[] = [];
    const client = new WalletClient({
      baseUrl: 'https://api.example.com',
      apiKey: 'k',
      apiSecret: 's',
      userAgent: 'shop/1.0',
      transport: async ({ headers }) => {
        agents.push(headers['user-agent']);
        return { status: 401, headers: {}, body: '{"error":"invalid API key or signature"}' };
      },
    });
    await expect(client.wallets()).rejects.toThrow(library.ServiceError);
    expect(agents).toEqual([expect.stringMatching(/^shop\/1\.0 svcpay\/\d+\.\d+\.\d+$/)]);
  });

  test('refuses to give a token to an address that is not encrypted', () => {
    expect(() => new WalletClient({ baseUrl: 'http://api.example.com', apiKey: 'k', apiSecret: 's' })).toThrow(Failure);
  });
});

describe('verifyWebhook', () => {
  test.for([
    ['the body as text', body, signature, true],
    ['the body as bytes', Buffer.from(body), signature, true],
    ['a changed body', body.replace('t1', 't2'), signature, false],
    ['the same JSON written anew', JSON.stringify(JSON.parse(body), null, 1), signature, false],
    ['a signature in upper case', body, signature.toUpperCase(), false],
    ['a signature that is cut off', body, signature.slice(2), false],
    ['no signature', body, undefined, false],
  ] as const)('takes %s as it is', ([, given, signature, genuine]) => {
    expect(verifyWebhook(given, signature, secret)).toBe(genuine);
  });

  test('does not take the signature of another secret', () => {
    expect(verifyWebhook(body, signWebhook(body, 'another'), secret)).toBe(false);
  });

  test('refuses an empty secret, under which anyone could sign', () => {
    expect(() => verifyWebhook(body, signature, '')).toThrow(Failure);
    expect(() => signWebhook(body, '')).toThrow(Failure);
  });
});

describe('parseWebhookEvent', () => {
  test('reads the payload of the specification and keeps what it does not know', () => {
    const event = parseWebhookEvent(body.replace('{', '{"further":1,'));
    expect(event).toMatchObject({ txnId: 't1', extRefId: 'order-118', txnState: 'completed', further: 1 });
  });

  test.for([
    ['a time in text', '{"txnId":"t1","txnState":"COMPLETED","updatedAt":"2025-01-15T12:00:00Z"}'],
    ['a time in seconds', '{"txnId":"t1","txnState":"completed","updatedAt":1736942400}'],
    ['data around it', `{"data":${body}}`],
  ])('reads %s', ([, text = '']) => {
    expect(parseWebhookEvent(text)).toMatchObject({ txnId: 't1', txnState: 'completed', updatedAt: 1736942400000 });
  });

  test('needs no more than the transaction and its state', () => {
    expect(parseWebhookEvent('{"txnId":"t1","txnState":"completed"}')).toEqual({ txnId: 't1', txnState: 'completed' });
  });

  test.for(['', 'null', '[]', '{"txnId":"t1"}', '{"txnId":"","txnState":"completed","updatedAt":1}'])(
    'refuses %s',
    (text) => {
      expect(() => parseWebhookEvent(text)).toThrow(Failure);
    },
  );
});
