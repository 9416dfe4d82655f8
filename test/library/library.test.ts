// The package as a library, in this process: the client's defaults and webhooks as an integrator
// receives them.
import { join } from 'node:path';
import { describe, expect, onTestFinished } from 'vitest';
import * as library from '../../src/index.js';
import {
  Failure,
  parseWebhookEvent,
  signWebhook,
  verifyWebhook,
  WalletClient,
} from '../../src/index.js';
import type { Sandbox } from '../../src/sandbox/index.js';
import { test } from '../support/svcpay.js';

const secret = 'whsec_5f2b';
const body =
  '{"txnId":"t1","extRefId":"order-118","txnState":"completed","msg":"","updatedAt":1736942400000}';
const signature = signWebhook(body, secret);

describe('payments', () => {
  const clientOf = (
    sandbox: Sandbox,
    more: Partial<library.WalletClientOptions> = {},
  ): WalletClient =>
    new WalletClient({
      baseUrl: sandbox.url,
      apiKey: sandbox.apiKey,
      apiSecret: sandbox.apiSecret,
      ...more,
    });

  test('are made once, with a journal on disk, and are resumed by the next program', async ({
    sandbox,
    home,
  }) => {
    const invoice = await sandbox.invoice('1000sat');
    const events: string[] = [];
    const open = async () => {
      const journal = await library.openSqliteJournal(join(home, 'payments.db'));
      const client = clientOf(sandbox);
      onTestFinished(() => Promise.all([journal.close(), client.close()]).then(() => undefined));
      return library.openPayments({ client, journal, on: ({ type }) => void events.push(type) });
    };
    const payment = { to: invoice, ref: 'order-118', maxFee: { percent: '1' } };
    const sent = await (await open()).send({ ...payment, wait: false });
    expect(sent.extRefId).toBe('order-118');
    await sandbox.clock.advance('5s');
    const later = await open();
    expect(await later.resume()).toMatchObject([
      { ref: 'order-118', transaction: { txnId: sent.txnId, txnState: 'completed' } },
    ]);
    expect(await later.send(payment)).toMatchObject({ txnId: sent.txnId, txnState: 'completed' });
    expect(sandbox.requests('PUT')).toHaveLength(1);
    expect(events).toContain('quoted');
  });

  // Each waits for the lease of the closed journal to end.
  test.concurrent.for([
    { at: 'quoted', kind: 'interrupted' },
    { at: 'submitting', kind: 'pending' },
    { at: 'state', kind: 'pending' },
  ] as const)(
    'whose journal is closed when they report $at are $kind, and are resumed',
    async ({ at, kind }, { sandbox, home, expect, onTestFinished }) => {
      const client = clientOf(sandbox);
      onTestFinished(() => client.close());
      const open = () => library.openSqliteJournal(join(home, 'payments.db'));
      const journal = await open();
      const payments = library.openPayments({ client, journal });
      const payment = { to: await sandbox.invoice('1000sat'), ref: 'order-7' };
      const on = ({ type }: library.PaymentEvent): void =>
        type === at ? void journal.close() : undefined;
      const sent = await payments.send({ ...payment, on }).catch((error: unknown) => error);
      expect(sent).toBeInstanceOf(Failure);
      expect(sent).toMatchObject({ kind });
      await expect(payments.send(payment)).rejects.toMatchObject({
        kind: 'usage',
        message: expect.stringContaining('closed'),
      });
      await journal.close();
      await sandbox.clock.advance('5s');

      const again = await open();
      onTestFinished(() => again.close());
      const later = library.openPayments({ client, journal: again });
      expect(await later.send(payment)).toMatchObject({ txnState: 'completed' });
      expect(sandbox.requests('PUT')).toHaveLength(1);
    },
  );

  const openIn = async (sandbox: Sandbox, more: Partial<library.PaymentsOptions> = {}) => {
    const [journal, client] = [await library.openMemoryJournal(), clientOf(sandbox)];
    onTestFinished(() => Promise.all([journal.close(), client.close()]).then(() => undefined));
    return library.openPayments({ client, journal, ...more });
  };
  const body: library.CreateTransaction = {
    sourceReq: {
      ccy: 'BTC',
      method: 'servicepay',
      kyc: { type: 'individual', details: { legalFullName: 'Ann', countryCode: 'CA' } },
    },
    destReq: {
      ccy: 'VND',
      method: 'vnd-instant',
      amtRequested: 50_000,
      reqDetails: {
        acctName: 'Le Van A',
        acctNum: '0123456789',
        institutionCode: '970436',
        institutionName: 'Vietcombank',
      },
      kyc: { type: 'individual', details: { legalFullName: 'Le Van A', countryCode: 'VN' } },
    },
    sourceOfFunds: { purpose: 1, source: 1, relationship: 1 },
  };

  test('swap, pay out and receive once under a reference, and report their kind', async ({
    sandbox,
  }) => {
    const payments = await openIn(sandbox);
    const swap = { amount: '25', from: 'usdt', to: 'btc', ref: 'swap-1' };
    const swapped = await payments.swap(swap);
    expect(await payments.swap(swap)).toMatchObject({
      txnId: swapped.txnId,
      txnState: 'completed',
    });
    const payout = { body, ref: 'payout-1', wait: false } as const;
    const { txnId } = await payments.payout(payout);
    expect((await payments.payout(payout)).txnId).toBe(txnId);
    expect(await payments.pending()).toMatchObject([
      { ref: 'payout-1', kind: 'payout', status: 'in-flight', txnId },
    ]);
    expect(await payments.status('swap-1')).toMatchObject({
      status: 'paid',
      txnState: 'completed',
    });
    expect(await payments.status('nothing')).toBeUndefined();
    const request = { amount: '1000sat', ref: 'receive-1' };
    const received = await payments.receive(request);
    expect(library.decodeInvoice(received.payTo)).toMatchObject({ amountMsat: 1_000_000n });
    expect((await payments.receive(request)).transaction.txnId).toBe(received.transaction.txnId);
    expect((await payments.receive({ amount: '0.001btc', method: 'on-chain' })).uri).toMatch(
      /^bitcoin:tb1.*amount=0\.001/,
    );
    expect(new Set(sandbox.requests('PUT').map(({ path }) => path)).size).toBe(4);
  });

  test('convert dollars from bitcoin, once under a reference whatever the rate is by then', async ({
    sandbox,
  }) => {
    const payments = await openIn(sandbox);
    const payment = { to: 'ann@example.com', amount: '10usd', from: 'btc', ref: 'order-9' };
    const paid = await payments.send(payment);
    expect(paid.sourceReq).toMatchObject({ ccy: 'BTC', amtRequested: 0.0001 });
    expect((await payments.send(payment)).txnId).toBe(paid.txnId);
    const rates = sandbox.requests('GET').filter(({ path }) => path.includes('rate'));
    expect(rates).toHaveLength(1);
    expect(sandbox.requests('PUT')).toHaveLength(1);
  });

  test('are refused by the rules of the command line, before anything is sent', async ({
    sandbox,
  }) => {
    const payments = await openIn(sandbox);
    const wrong = { ...body, destReq: { ...body.destReq, amtRequested: NaN } };
    const refused = [
      () => payments.send({ to: 'a@b.example', amount: '1000' }),
      () => payments.swap({ amount: '1usdt', from: 'USDT', to: 'usdt' }),
      () => payments.payout({ body: wrong }),
      () => payments.send({ to: 'a@b.example', amount: '1sat', ref: 'a~2' }),
      () =>
        payments.payout({
          body: {
            ...body,
            destReq: {
              ...body.destReq,
              method: 'vnd-instant',
              reqDetails: { acctName: 'Le Van A', acctNum: '0123456789', institutionCode: 'none' },
            },
          },
        }),
    ];
    for (const each of refused) await expect(each()).rejects.toMatchObject({ kind: 'usage' });
    await expect(clientOf(sandbox).createTransaction(wrong)).rejects.toMatchObject({
      kind: 'usage',
      message: expect.stringContaining('NaN'),
    });
    expect(sandbox.requests('POST', '/api/v2/transaction')).toHaveLength(0);
  });

  test('that were submitted are pending while nobody can sign in', async ({ sandbox }) => {
    const journal = await library.openMemoryJournal();
    onTestFinished(() => journal.close());
    const open = (): library.Payments => {
      const client = clientOf(sandbox);
      onTestFinished(() => client.close());
      return library.openPayments({ client, journal });
    };
    const payment = { to: 'ann@example.com', amount: '1000sat', ref: 'order-9' };
    await sandbox.faults.add({ kind: 'payment', outcome: 'error' });
    const { txnId } = await open().send({ ...payment, wait: false });
    await sandbox.faults.add({
      kind: 'status',
      status: 401,
      path: '**/token-signature',
      times: 'always',
    });
    const pending = { kind: 'pending', txnId };
    await expect(open().send(payment)).rejects.toMatchObject(pending);
    await expect(open().send({ ...payment, amount: '1usd', from: 'BTC' })).rejects.toMatchObject(
      pending,
    );
    await expect(open().resume()).rejects.toMatchObject(pending);
    await expect(open().resume({ ref: 'order-9' })).rejects.toMatchObject(pending);
    await expect(open().send({ ...payment, ref: 'order-10' })).rejects.toMatchObject({
      kind: 'authentication',
    });
  });

  test('abandon a quote that pays to the own deposit address', async ({ sandbox }) => {
    const payments = await openIn(sandbox);
    const { staticOnchainAddress: to } = await clientOf(sandbox).bitcoinAddress();
    await expect(payments.send({ to, amount: '0.001btc' })).rejects.toMatchObject({
      kind: 'usage',
      message: expect.stringContaining('your own deposit address'),
    });
    expect(await payments.pending()).toEqual([]);
    expect(sandbox.requests('PUT')).toEqual([]);
  });

  test('end on the signal of their call: interrupted before money moves, pending after', async ({
    sandbox,
  }) => {
    const payments = await openIn(sandbox);
    const stop = new AbortController();
    const onchain = {
      to: 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx',
      amount: '0.001btc',
      maxFee: { percent: '50' },
    };
    const submitted = payments.send({
      ...onchain,
      wait: 'forever',
      signal: stop.signal,
      on: ({ type }) => type === 'state' && stop.abort(),
    });
    await expect(submitted).rejects.toMatchObject({ kind: 'pending' });
    const early = new AbortController();
    const asked = payments.send({
      ...onchain,
      ref: 'b',
      signal: early.signal,
      approve: async () => (early.abort(), false),
    });
    await expect(asked).rejects.toMatchObject({
      kind: expect.stringMatching(/^(interrupted|declined)$/),
    });
    expect(sandbox.requests('PUT')).toHaveLength(1);
  });

  const calls: readonly (readonly [
    name: string,
    call: (payments: library.Payments, signal: AbortSignal) => Promise<unknown>,
  ])[] = [
    [
      'send',
      (payments, signal) => payments.send({ to: 'ann@example.com', amount: '1000sat', signal }),
    ],
    [
      'send on-chain',
      (payments, signal) =>
        payments.send({
          to: 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx',
          amount: '0.001btc',
          signal,
        }),
    ],
    [
      'swap',
      (payments, signal) => payments.swap({ amount: '25', from: 'USDT', to: 'BTC', signal }),
    ],
    ['payout', (payments, signal) => payments.payout({ body, signal })],
    ['receive', (payments, signal) => payments.receive({ amount: '10usd', signal })],
    ['resume', (payments, signal) => payments.resume({ signal })],
    ['pending', (payments, signal) => payments.pending({ signal })],
    ['status', (payments, signal) => payments.status('a', { signal })],
  ];

  test.for(calls)(
    '%s stops at its signal while the service does not answer, and asks nothing after it',
    async ([, call], { sandbox }) => {
      const payments = await openIn(sandbox);
      await expect(call(payments, AbortSignal.abort())).rejects.toMatchObject({
        kind: 'interrupted',
      });
      expect(sandbox.requests()).toHaveLength(0);
      await sandbox.faults.add({ kind: 'no-answer', times: 'always' });
      const stop = new AbortController();
      const stopped = call(payments, stop.signal);
      await expect.poll(() => sandbox.requests().length).toBe(1);
      stop.abort();
      await expect(stopped).rejects.toMatchObject({ kind: 'interrupted' });
    },
  );

  test('a signal stops the confirmation of its own call alone: the outcome is unknown, and resume finishes it', async ({
    sandbox,
  }) => {
    const payments = await openIn(sandbox);
    await sandbox.faults.add({ kind: 'no-answer', method: 'PUT' });
    const stop = new AbortController();
    const stopped = payments.send({
      to: await sandbox.invoice('1000sat'),
      ref: 'a',
      signal: stop.signal,
    });
    await expect.poll(() => sandbox.requests('PUT').length).toBe(1);
    stop.abort();
    await expect(stopped).rejects.toMatchObject({ kind: 'pending' });
    expect(await payments.resume()).toMatchObject([
      { ref: 'a', transaction: { txnState: 'completed' } },
    ]);
  });

  test('refuse what a program hands in by mistake, and keep the journal whole', async ({
    sandbox,
  }) => {
    const payments = await openIn(sandbox);
    const to = await sandbox.invoice('1000sat');
    const mistakes: readonly object[] = [
      { maxFee: { percent: NaN } },
      { maxFee: { percent: 1 } },
      { maxFee: { percent: 'abc' } },
      { maxFee: { percent: '-1' } },
      { maxFee: '1%' },
      { maxfee: { percent: '1' } },
      { maxRateLoss: 'x' },
      { wait: NaN },
      { wait: -1 },
      { wait: '5s' },
      { ref: 118 },
      { note: 118 },
      { approve: true },
      { amount: NaN },
      { to: undefined },
    ];
    for (const each of mistakes)
      await expect(payments.send({ to, ...each })).rejects.toMatchObject({ kind: 'usage' });
    await expect(payments.receive(JSON.parse('{"amount":1000}'))).rejects.toMatchObject({
      kind: 'usage',
    });
    expect(await payments.pending()).toEqual([]);
    expect(sandbox.requests('POST', '/api/v2/transaction')).toHaveLength(0);
  });

  test('take no word but true for a yes', async ({ sandbox }) => {
    const payments = await openIn(sandbox);
    const approve = async () => JSON.parse('"no"');
    await expect(
      payments.send({ to: await sandbox.invoice('1000sat'), approve }),
    ).rejects.toMatchObject({ kind: 'declined' });
    expect(sandbox.requests('PUT')).toHaveLength(0);
  });

  test('go on when a listener throws', async ({ sandbox }) => {
    const warned = new Promise<Error>((resolve) => process.once('warning', resolve));
    const payments = await openIn(sandbox);
    const on = (): never => {
      throw new Error('boom');
    };
    expect(await payments.send({ to: await sandbox.invoice('1000sat'), on })).toMatchObject({
      txnState: 'completed',
    });
    expect((await warned).message).toBe('boom');
  });

  test('act for the account of the key, and refuse a client of a subaccount', async ({
    sandbox,
  }) => {
    const { accountId } = await sandbox.account('Child');
    const [journal, client] = [await library.openMemoryJournal(), clientOf(sandbox, { accountId })];
    onTestFinished(() => Promise.all([journal.close(), client.close()]).then(() => undefined));
    const payments = library.openPayments({ client, journal });
    for (const call of [
      () => payments.send({ to: 'ann@example.com', amount: '1000sat' }),
      () => payments.receive({ amount: '1000sat' }),
      () => payments.pending(),
    ]) {
      await expect(call()).rejects.toMatchObject({
        kind: 'usage',
        message: expect.stringContaining(accountId),
      });
    }
    expect(sandbox.requests('POST', '/api/v2/transaction')).toHaveLength(0);
  });

  test('report a request for money as an event', async ({ sandbox }) => {
    const events: library.PaymentEvent[] = [];
    const { transaction } = await (
      await openIn(sandbox)
    ).receive({ amount: '1000sat', on: (event) => void events.push(event) });
    expect(events).toEqual([{ type: 'state', transaction }]);
  });

  test('need a yes if required, and respect limits', async ({ sandbox, home }) => {
    const journal = await library.openSqliteJournal(join(home, 'payments.db'));
    onTestFinished(() => journal.close());
    const limits = { perPayment: { BTC: '0.00002' }, perDay: {}, destinations: [] };
    const payments = library.openPayments({ client: clientOf(sandbox), journal, limits });
    const fees: string[] = [];
    const refused = payments.send({
      to: await sandbox.invoice('1000sat'),
      approve: async ({ quote }) => {
        fees.push(quote.total.value.toFixed(8));
        return false;
      },
    });
    await expect(refused).rejects.toMatchObject({ kind: 'declined' });
    expect(fees).toEqual(['0.00001003']);
    await expect(payments.send({ to: await sandbox.invoice('3000sat') })).rejects.toMatchObject({
      kind: 'limit',
    });
    expect(sandbox.requests('PUT')).toHaveLength(0);
  });

  test('and reads report every request, and are repeated as often as configured', async () => {
    const seen: string[] = [];
    const failing = new WalletClient({
      baseUrl: 'https://api.example.com',
      apiKey: 'k',
      apiSecret: 's',
      maxNetworkRetries: 0,
      tokens: {
        load: async () => ({ accessToken: 't', expiresAt: Infinity, accountId: 'a' }),
        save: async () => {},
      },
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
    const client = new WalletClient({
      baseUrl: sandbox.url,
      apiKey: sandbox.apiKey,
      apiSecret: sandbox.apiSecret,
    });
    const quote = await client.createTransaction({
      sourceReq: { ccy: 'BTC', method: 'lightning' },
      destReq: { ccy: 'BTC', method: 'servicepay', amtRequested: 0.0005 },
    });
    const { sourceReq } = await client.confirmTransaction(quote.txnId);
    await sandbox.pay(String(sourceReq.reqDetails?.['paymentRequest']));
    expect(await client.transaction(quote.txnId)).toMatchObject({ txnState: 'completed' });
    await client.close();
  });

  test.for([
    [{ timeout: NaN }, /timeout is NaN, and a number is needed/],
    [{ timeout: 0 }, /timeout is .* and a whole number from 1 on is needed/],
    [{ maxNetworkRetries: -1 }, /maxNetworkRetries/],
    [{ apiSecret: undefined }, /^WalletClient: apiSecret is missing\.$/],
    [{ apiKey: '' }, /apiKey is empty/],
    [{ apikey: 'k' }, /there is no option apikey\. Did you mean apiKey\?/],
    [{ timeoutMs: 1 }, /there is no option timeoutMs\. Did you mean timeout\?/],
    [{ baseURL: 'https://x' }, /Did you mean baseUrl/],
    [{ signal: {} }, /signal is .*an AbortSignal is needed/],
  ] as const)('refuses the option %o in plain words', ([option, message]) => {
    const usual = { baseUrl: 'https://api.example.com', apiKey: 'k', apiSecret: 's-123' };
    const make = () => Reflect.construct(WalletClient, [{ ...usual, ...option }]);
    expect(make).toThrow(
      expect.objectContaining({ kind: 'usage', message: expect.stringMatching(message) }),
    );
    expect(make).not.toThrow('s-123');
    expect(() => Reflect.construct(WalletClient, [])).toThrow(Failure);
  });

  test('keeps to the timeout, the retries and the signal of one call', async () => {
    let tries = 0;
    const client = new WalletClient({
      baseUrl: 'https://api.example.com',
      apiKey: 'k',
      apiSecret: 's',
      tokens: {
        load: async () => ({ accessToken: 't', expiresAt: Infinity, accountId: 'a' }),
        save: async () => {},
      },
      transport: async ({ timeoutMs, signal }) => {
        tries += 1;
        if (tries <= 2) return { status: 500, headers: {}, body: '{"error":"down"}' };
        expect([timeoutMs, signal?.aborted]).toEqual([1_234, false]);
        return { status: 200, headers: { 'x-request-id': 'r-1' }, body: '{"data":[]}' };
      },
    });
    for (const expected of [1, 2]) {
      await expect(client.wallets({ maxNetworkRetries: 0 })).rejects.toMatchObject({
        kind: 'temporary',
      });
      expect(tries).toBe(expected);
    }
    const { signal } = new AbortController();
    const wallets = await client.wallets({ timeout: 1_234, signal });
    expect(wallets.lastResponse).toEqual({
      requestId: 'r-1',
      status: 200,
      headers: { 'x-request-id': 'r-1' },
    });
    expect([JSON.stringify(wallets), Object.keys(wallets)]).toEqual(['[]', []]);
    await expect(client.wallets({ signal: AbortSignal.abort() })).rejects.toMatchObject({
      kind: 'interrupted',
    });
    await expect(
      Promise.resolve().then(() => Reflect.apply(client.wallets, client, [{ timeoutms: 1 }])),
    ).rejects.toMatchObject({ kind: 'usage', message: expect.stringContaining('timeout') });
    expect(tries).toBe(3);
  });

  test('collects the first rows of a list, and one client of until() pays', async ({ sandbox }) => {
    const client = new WalletClient({
      baseUrl: sandbox.url,
      apiKey: sandbox.apiKey,
      apiSecret: sandbox.apiSecret,
    });
    for (let n = 1; n <= 4; n += 1)
      await client.createTransaction({
        sourceReq: { ccy: 'BTC', method: 'lightning' },
        destReq: { ccy: 'BTC', method: 'servicepay', amtRequested: n / 1_000 },
      });
    const rows = await client.eachTransaction().autoPagingToArray({ limit: 3 });
    expect(rows).toHaveLength(3);
    const all = await client.eachTransaction().autoPagingToArray({ limit: 1_000 });
    expect(all.slice(0, 3)).toEqual(rows);
    const journal = await library.openMemoryJournal();
    const stopping = new AbortController();
    const payments = library.openPayments({ client: client.until(stopping.signal), journal });
    expect(await payments.pending()).toEqual([]);
    stopping.abort();
    await expect(payments.pending()).rejects.toMatchObject({ kind: 'interrupted' });
    const other = { journal, client: { baseUrl: 'https://x' } };
    expect(() => Reflect.apply(library.openPayments, undefined, [other])).toThrow(
      'not a WalletClient',
    );
    await Promise.all([journal.close(), client.close()]);
  });

  test('refuses a page that is no number before it asks, and an amount that is none', async ({
    sandbox,
  }) => {
    const client = new WalletClient({
      baseUrl: sandbox.url,
      apiKey: sandbox.apiKey,
      apiSecret: sandbox.apiSecret,
    });
    await expect(client.transactions({ limit: NaN })).rejects.toMatchObject({ kind: 'usage' });
    await expect(client.eachTransaction({ page: NaN }).next()).rejects.toMatchObject({
      kind: 'usage',
    });
    expect(sandbox.requests()).toHaveLength(0);
    for (const read of [
      () => library.fromWire(NaN),
      () => library.money('BTC', NaN),
      () => library.fromWire(Infinity),
    ]) {
      expect(read).toThrow(expect.objectContaining({ kind: 'usage' }));
    }
    await client.close();
  });

  test('shows hooks neither the secret of a webhook nor a token', async ({ sandbox }) => {
    const seen: string[] = [];
    const client = new WalletClient({
      baseUrl: sandbox.url,
      apiKey: sandbox.apiKey,
      apiSecret: sandbox.apiSecret,
      onRequest: (request) => void seen.push(JSON.stringify(request)),
      onResponse: (response, request) => void seen.push(JSON.stringify([response, request])),
    });
    const { accessToken } = await client.authenticate();
    await client.createWebhook({ callback: 'https://shop.example/hooks', secret: 'whsec_"5f2b' });
    expect(seen.join()).toContain('https://shop.example/hooks');
    expect(seen.join()).not.toMatch(new RegExp(`5f2b|${accessToken}|${sandbox.apiKey}`));
    await client.close();
  });

  test('signs in once for many requests', async ({ sandbox }) => {
    const client = new WalletClient({
      baseUrl: sandbox.url,
      apiKey: sandbox.apiKey,
      apiSecret: sandbox.apiSecret,
    });
    await Promise.all([client.wallets(), client.account(), client.rates()]);
    expect(sandbox.requests('POST', '/api/v2/authentication/token-signature')).toHaveLength(1);
    await client.close();
  });

  test('identifies itself after the integrator', async () => {
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

  test('refuses to send a token to an unencrypted address', () => {
    expect(
      () => new WalletClient({ baseUrl: 'http://api.example.com', apiKey: 'k', apiSecret: 's' }),
    ).toThrow(Failure);
  });
});

describe('the client', () => {
  const pageOf = (page: number) => ({
    data: [{ txnId: `t${page}`, txnState: 'completed', sourceReq: {}, destReq: {} }],
    pagination: { page, limit: 1, total: 100 },
  });

  test('hides secrets from hooks, and stops prefetched pages when a loop is left or its signal fires', async () => {
    const [headers, aborted]: [string[], number[]] = [[], []];
    const client = new WalletClient({
      baseUrl: 'https://api.example.com',
      apiKey: 'key-1234',
      apiSecret: 's',
      tokens: {
        load: async () => ({ accessToken: 'token-5678', expiresAt: Infinity, accountId: 'a' }),
        save: async () => {},
      },
      onRequest: (request) => void headers.push(JSON.stringify(request.headers)),
      transport: async ({ url, signal }) => {
        const page = Number(new URL(url).searchParams.get('page'));
        if (page <= 1) return { status: 200, headers: {}, body: JSON.stringify(pageOf(1)) };
        return new Promise((_, reject) =>
          signal?.addEventListener('abort', () => {
            aborted.push(page);
            reject(new library.NetworkError('aborted', { requestSent: true }));
          }),
        );
      },
    });
    for await (const { txnId } of client.eachTransaction({ limit: 1 })) {
      expect(txnId).toBe('t1');
      break;
    }
    expect(aborted).not.toHaveLength(0);
    const signal = AbortSignal.timeout(50);
    const all = async (): Promise<void> => {
      for await (const { txnId } of client.eachTransaction({ limit: 1 }, { signal }))
        expect(txnId).toBe('t1');
    };
    await expect(all()).rejects.toMatchObject({ kind: 'interrupted' });
    expect(headers.join()).not.toMatch(/token-5678|key-1234/);
    expect(headers.join()).toContain('[redacted]');
  });

  test('fails with errors that JSON shows completely', () => {
    const failure = new Failure('limit', 'Too much.', { code: '2001', status: 400 });
    expect(JSON.parse(JSON.stringify(failure))).toEqual({
      kind: 'limit',
      message: 'Too much.',
      exitCode: 7,
      code: '2001',
      status: 400,
    });
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
  ] as const)('accepts %s unchanged', ([, given, signature, genuine]) => {
    expect(verifyWebhook(given, signature, secret)).toBe(genuine);
  });

  test('refuses the signature of another secret', () => {
    expect(verifyWebhook(body, signWebhook(body, 'another'), secret)).toBe(false);
  });

  test('refuses an empty secret', () => {
    expect(() => verifyWebhook(body, signature, '')).toThrow(Failure);
    expect(() => signWebhook(body, '')).toThrow(Failure);
  });
});

describe('readWebhook', () => {
  test('returns the event of a genuine delivery, also while one secret replaces another', () => {
    expect(library.readWebhook(body, signature, secret)).toMatchObject({ txnId: 't1' });
    const bytes = new TextEncoder().encode(body).buffer;
    expect(library.readWebhook(bytes, signature, ['new', secret]).txnState).toBe('completed');
  });

  test.for([
    [
      'another signature',
      body,
      'ab'.repeat(32),
      secret,
      'authentication',
      /does not match this body/,
    ],
    ['no signature', body, undefined, secret, 'authentication', /has no signature/],
    ['a parsed body', JSON.parse(body), signature, secret, 'usage', /parsed\. Pass .*express\.raw/],
    ['no body', undefined, signature, secret, 'usage', /pass the raw body/],
    ['no secret', body, signature, undefined, 'usage', /secret .* is missing.*registered with/],
    ['an empty secret', body, signature, ['', secret], 'usage', /secret .* is missing/],
    ['no secrets', body, signature, [], 'usage', /secret .* is missing/],
    ['several signatures', body, [signature], secret, 'usage', /not a text\. Pass .* one header/],
    [
      'a signed body of something else',
      '{}',
      signWebhook('{}', secret),
      secret,
      'usage',
      /not the b/,
    ],
  ] as const)(
    'answers %s in words that name the cure',
    ([, given, signed, under, kind, message]) => {
      const read = () => Reflect.apply(library.readWebhook, undefined, [given, signed, under]);
      expect(read).toThrow(
        expect.objectContaining({ kind, message: expect.stringMatching(message) }),
      );
      expect(read).toThrow(Failure);
    },
  );
});

describe('parseWebhookEvent', () => {
  test('reads the specified payload and keeps unknown fields', () => {
    const event = parseWebhookEvent(body.replace('{', '{"further":1,'));
    expect(event).toMatchObject({
      txnId: 't1',
      extRefId: 'order-118',
      txnState: 'completed',
      further: 1,
    });
  });

  test.for([
    ['a time in text', '{"txnId":"t1","txnState":"COMPLETED","updatedAt":"2025-01-15T12:00:00Z"}'],
    ['a time in seconds', '{"txnId":"t1","txnState":"completed","updatedAt":1736942400}'],
    ['data around it', `{"data":${body}}`],
  ])('reads %s', ([, text = '']) => {
    expect(parseWebhookEvent(text)).toMatchObject({
      txnId: 't1',
      txnState: 'completed',
      updatedAt: 1736942400000,
    });
  });

  test('needs only the transaction and its state', () => {
    expect(parseWebhookEvent('{"txnId":"t1","txnState":"completed"}')).toEqual({
      txnId: 't1',
      txnState: 'completed',
    });
  });

  test.for([
    '',
    'null',
    '[]',
    '{"txnId":"t1"}',
    '{"txnId":"","txnState":"completed","updatedAt":1}',
  ])('refuses %s', (text) => {
    expect(() => parseWebhookEvent(text)).toThrow(Failure);
  });
});
