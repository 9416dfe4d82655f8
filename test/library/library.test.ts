// Tests the package as a library in this process: payments, the client and webhooks.
import { join } from 'node:path';
import { describe, expect, onTestFinished, vi } from 'vitest';
import * as library from '../../src/index.js';
import {
  Failure,
  parseWebhookEvent,
  signWebhook,
  verifyWebhook,
  WalletClient,
} from '../../src/index.js';
import { startCheckedSandbox } from '../support/openapi.js';
import type { Sandbox } from '../../src/sandbox/server.js';
import { test } from '../support/svcpay.js';

const secret = 'whsec_5f2b';
const body =
  '{"txnId":"t1","extRefId":"order-118","txnState":"completed","msg":"","updatedAt":1736942400000}';
const signature = signWebhook(body, secret);

describe('openPayments', () => {
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

  test('pays once with a journal on disk, and the next program resumes the payment', async ({
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

  test.for([
    ['interrupted', 'quoted', 0],
    ['interrupted', 'submitting', 0],
    ['pending', 'state', 1],
  ] as const)(
    'reports a payment as %s if its journal is closed at the event `%s`',
    async ([kind, at, confirmed], { sandbox, home }) => {
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
      expect(sandbox.requests('PUT')).toHaveLength(confirmed);
      await expect(payments.send(payment)).rejects.toMatchObject({
        kind: 'usage',
        message: expect.stringContaining('closed'),
      });
      await journal.close();
      await sandbox.clock.advance('5s');

      const again = await open();
      onTestFinished(() => again.close());
      const later = library.openPayments({ client, journal: again });
      const started = performance.now();
      expect(await later.send(payment)).toMatchObject({ txnState: 'completed' });
      expect(performance.now() - started, 'no wait for the lease, which lasts 30 s').toBeLessThan(
        10_000,
      );
      expect(sandbox.requests('PUT')).toHaveLength(1);
    },
  );

  test('pays while a test runner fakes the timers', async () => {
    const sandbox = await startCheckedSandbox({ settle: 0 });
    vi.useFakeTimers({
      toFake: ['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask'],
    });
    onTestFinished(() => void vi.useRealTimers());
    const [journal, client] = [await library.openMemoryJournal(), clientOf(sandbox)];
    const payments = library.openPayments({ client, journal });
    const to = 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx';
    expect(await payments.send({ to, amount: '20000sat' })).toMatchObject({
      txnState: 'completed',
    });
    await journal.close();
    await client.close();
    await sandbox.stop();
  });

  test('does not wait for an approval that closes the journal itself', async ({ sandbox }) => {
    const [journal, client] = [await library.openMemoryJournal(), clientOf(sandbox)];
    onTestFinished(() => client.close());
    const payments = library.openPayments({ client, journal });
    const approve = async (): Promise<boolean> => {
      await journal.close();
      return true;
    };
    const sent = payments.send({ to: await sandbox.invoice('1000sat'), approve });
    await expect(sent).rejects.toMatchObject({ kind: 'interrupted' });
    expect(sandbox.requests('PUT')).toHaveLength(0);
  });

  const openIn = async (sandbox: Sandbox, more: Partial<library.PaymentsOptions> = {}) => {
    const [journal, client] = [await library.openMemoryJournal(), clientOf(sandbox)];
    onTestFinished(() => Promise.all([journal.close(), client.close()]).then(() => undefined));
    return library.openPayments({ client, journal, ...more });
  };
  test('advises another reference for the request of an expired invoice', async ({ sandbox }) => {
    const payments = await openIn(sandbox);
    const request = { amount: '1000sat', ref: 'order-9' };
    const { txnId } = (await payments.receive(request)).transaction;
    await sandbox.clock.advance('2h');
    await expect(payments.receive(request)).rejects.toMatchObject({
      kind: 'payment-failed',
      txnId,
      hint: expect.stringContaining('use another reference'),
    });
  });

  test('finds, reports and waits for a payment request by its reference', async ({ sandbox }) => {
    const client = clientOf(sandbox);
    const payments = await openIn(sandbox, { client });
    const request = await payments.receive({ amount: '1000sat', ref: 'order-9' });
    expect(await payments.status('order-9')).toMatchObject({ kind: 'receive', status: 'open' });
    expect(await payments.status('nothing')).toBeUndefined();
    const { txnId } = request.transaction;
    const { paymentHash } = library.decodeInvoice(request.payTo);
    for (const sought of [{ ref: 'order-9' }, { invoice: request.payTo }, { paymentHash }])
      expect(await client.findTransaction(sought)).toMatchObject({ txnId });
    await expect(payments.waitFor('order-9', { wait: false })).rejects.toMatchObject({
      kind: 'pending',
    });
    await sandbox.pay(request.payTo);
    expect(await payments.waitFor('order-9')).toMatchObject({ txnId, txnState: 'completed' });
    expect(await payments.status('order-9')).toMatchObject({ status: 'paid' });
    await expect(payments.waitFor('nothing')).rejects.toMatchObject({ kind: 'not-found' });
  });

  test('refuses unsuitable first arguments, references and options', async ({ sandbox }) => {
    const client = clientOf(sandbox);
    const payments = await openIn(sandbox, { client });
    const to = await sandbox.invoice('1000sat');
    const body = { sourceReq: { ccy: 'BTC' }, extRefID: 'a' };
    const wrong: [() => unknown, RegExp][] = [
      [() => payments.send({ to, ref: 'a\nb' }), /"a\\nb" cannot be a reference/],
      [() => client.createTransaction(body as never), /no option extRefID. Did you mean extRefId/],
      [() => client.transactions({ txnStatus: [] } as never), /Did you mean txnStatuses/],
      [() => client.createWebhook({ calback: '' } as never), /Did you mean callback/],
      [() => client.findTransaction({} as never), /pass one of invoice, paymentHash and ref/],
      [() => clientOf(sandbox, { maker: '' }), /maker: is empty|maker is empty/],
      [() => clientOf(sandbox, { userAgent: 'a\r\nb' }), /userAgent: contains a line break/],
    ];
    for (const [call, message] of wrong)
      await expect((async () => call())()).rejects.toMatchObject({
        kind: 'usage',
        message: expect.stringMatching(message),
      });
    const later = client.until(new AbortController().signal);
    await client.close();
    for (const each of [client, later])
      await expect(each.wallets()).rejects.toMatchObject({
        kind: 'usage',
        message: expect.stringContaining('the client is closed'),
      });
  });

  test('gives the response of a refusal to the program, but not to its log', async ({
    sandbox,
  }) => {
    const client = clientOf(sandbox);
    const error: unknown = await client.transaction('nothing').catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(library.ServiceError);
    if (!(error instanceof library.ServiceError)) return;
    const { headers, body, requestId } = error;
    expect(headers['x-request-id']).toBe(requestId);
    expect(requestId).toMatch(/^req-/);
    expect(JSON.parse(body)).toHaveProperty('error');
    expect(JSON.stringify(error)).not.toContain('x-request-id');
  });

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

  test('makes a swap, a payout and a request only once per reference', async ({ sandbox }) => {
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

  test('refuses a reference of a different payment and names both', async ({ sandbox }) => {
    const payments = await openIn(sandbox);
    const first = { to: 'ann@example.com', amount: '1000sat', ref: 'order-118' } as const;
    const { txnId } = await payments.send(first);
    for (const other of [{ to: 'bob@example.com' }, { amount: '1usd' }, { amount: '5usdt' }])
      await expect(payments.send({ ...first, ...other })).rejects.toMatchObject({
        kind: 'usage',
        exitCode: 2,
        message: expect.stringMatching(
          /order-118 belongs to a different payment: 1 000 sat to ann@example\.com, and this is /,
        ),
      });
    expect((await payments.send(first)).txnId).toBe(txnId);
    expect(sandbox.requests('PUT')).toHaveLength(1);
  });

  test('converts a dollar amount to bitcoin only once per reference', async ({ sandbox }) => {
    const payments = await openIn(sandbox);
    const payment = { to: 'ann@example.com', amount: '10usd', from: 'btc', ref: 'order-9' };
    const paid = await payments.send(payment);
    expect(paid.sourceReq).toMatchObject({ ccy: 'BTC', amtRequested: 0.0001 });
    expect((await payments.send(payment)).txnId).toBe(paid.txnId);
    const rates = sandbox.requests('GET').filter(({ path }) => path.includes('rate'));
    expect(rates).toHaveLength(1);
    expect(sandbox.requests('PUT')).toHaveLength(1);
  });

  test('repeats an unfinished payment only with `again` or an approval that knows of it', async ({
    sandbox,
  }) => {
    const payments = await openIn(sandbox);
    const payment = { to: 'ann@example.com', amount: '1000sat', wait: false } as const;
    const { txnId } = await payments.send(payment);
    await expect(payments.send(payment)).rejects.toMatchObject({ kind: 'usage', txnId });
    const approve = async ({ earlier }: library.Approval): Promise<boolean> =>
      earlier?.ref === undefined;
    await expect(payments.send({ ...payment, approve })).rejects.toMatchObject({
      kind: 'declined',
    });
    expect(sandbox.requests('PUT')).toHaveLength(1);
    expect((await payments.send({ ...payment, again: true })).txnId).not.toBe(txnId);
  });

  test('refuses invalid payments before it creates a transaction', async ({ sandbox }) => {
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
    const named = payments.payout({ body: { ...body, extRefId: 'a' }, ref: 'b' });
    await expect(named).rejects.toMatchObject({
      kind: 'usage',
      message: expect.stringContaining('ref is b, but body.extRefId is a'),
    });
    await expect(clientOf(sandbox).createTransaction(wrong)).rejects.toMatchObject({
      kind: 'usage',
      message: expect.stringContaining('NaN'),
    });
    expect(sandbox.requests('POST', '/api/v2/transaction')).toHaveLength(0);
  });

  test('reports a submitted payment as pending if the sign-in fails', async ({ sandbox }) => {
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

  test("abandons a quote that pays the account's own deposit address", async ({ sandbox }) => {
    const payments = await openIn(sandbox);
    const { staticOnchainAddress: to } = await clientOf(sandbox).bitcoinAddress();
    await expect(payments.send({ to, amount: '0.001btc' })).rejects.toMatchObject({
      kind: 'usage',
      message: expect.stringContaining('your own deposit address'),
    });
    expect(await payments.pending()).toEqual([]);
    expect(sandbox.requests('PUT')).toEqual([]);
  });

  test('rejects an aborted call as interrupted before the submission, and as pending after the submission', async ({
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
      'send()',
      (payments, signal) => payments.send({ to: 'ann@example.com', amount: '1000sat', signal }),
    ],
    [
      'send() on-chain',
      (payments, signal) =>
        payments.send({
          to: 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx',
          amount: '0.001btc',
          signal,
        }),
    ],
    [
      'swap()',
      (payments, signal) => payments.swap({ amount: '25', from: 'USDT', to: 'BTC', signal }),
    ],
    ['payout()', (payments, signal) => payments.payout({ body, signal })],
    ['receive()', (payments, signal) => payments.receive({ amount: '10usd', signal })],
    ['resume()', (payments, signal) => payments.resume({ signal })],
    ['pending()', (payments, signal) => payments.pending({ signal })],
    ['status()', (payments, signal) => payments.status('a', { signal })],
  ];

  test.for(calls)(
    'stops %s if the signal aborts while the service does not respond',
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

  test('stops a confirmation when the signal of the call aborts, and resume() completes the payment', async ({
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

  test('refuses invalid arguments without a journal entry or a transaction', async ({
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

  test('confirms only if approve() returns true', async ({ sandbox }) => {
    const payments = await openIn(sandbox);
    const approve = async () => JSON.parse('"no"');
    await expect(
      payments.send({ to: await sandbox.invoice('1000sat'), approve }),
    ).rejects.toMatchObject({ kind: 'declined' });
    expect(sandbox.requests('PUT')).toHaveLength(0);
  });

  test('completes a payment even if an event listener throws', async ({ sandbox }) => {
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

  test('refuses a client that acts for a subaccount', async ({ sandbox }) => {
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

  test('reports the state of a receive request as an event', async ({ sandbox }) => {
    const events: library.PaymentEvent[] = [];
    const { transaction } = await (
      await openIn(sandbox)
    ).receive({ amount: '1000sat', on: (event) => void events.push(event) });
    expect(events).toEqual([{ type: 'state', transaction }]);
  });

  test('sends no confirmation if approve() declines or a limit is exceeded', async ({
    sandbox,
    home,
  }) => {
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

  test('sends a failing read once and calls onRequest and onResponse if maxNetworkRetries is 0', async () => {
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
  test('receives a payment with no options other than address, key and secret', async ({
    sandbox,
  }) => {
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
    ['a timeout of NaN', { timeout: NaN }, /timeout must be a number, not NaN/],
    ['a timeout of zero', { timeout: 0 }, /timeout must be a whole number of at least 1, not /],
    ['a negative maxNetworkRetries', { maxNetworkRetries: -1 }, /maxNetworkRetries/],
    ['a missing apiSecret', { apiSecret: undefined }, /^WalletClient: apiSecret is missing\.$/],
    ['an empty apiKey', { apiKey: '' }, /apiKey is empty/],
    [
      'the misspelled option apikey',
      { apikey: 'k' },
      /there is no option apikey\. Did you mean apiKey\?/,
    ],
    [
      'the unknown option timeoutMs',
      { timeoutMs: 1 },
      /there is no option timeoutMs\. Did you mean timeout\?/,
    ],
    ['the misspelled option baseURL', { baseURL: 'https://x' }, /Did you mean baseUrl/],
    ['a signal that is not an AbortSignal', { signal: {} }, /signal must be an AbortSignal, not /],
  ] as const)('refuses %s and names the option', ([, option, message]) => {
    const usual = { baseUrl: 'https://api.example.com', apiKey: 'k', apiSecret: 's-123' };
    const make = () => Reflect.construct(WalletClient, [{ ...usual, ...option }]);
    expect(make).toThrow(
      expect.objectContaining({ kind: 'usage', message: expect.stringMatching(message) }),
    );
    expect(make).not.toThrow('s-123');
    expect(() => Reflect.construct(WalletClient, [])).toThrow(Failure);
  });

  test.for([
    ['createTransaction', { sourceReq: {}, destReq: {}, extRefID: 'a' }, 'extRefID', 'extRefId'],
    ['transactions', { txnStatus: 'completed' }, 'txnStatus', 'txnStatuses'],
    ['createWebhook', { callback: 'https://x.example', secert: 's' }, 'secert', 'secret'],
    ['wallets', { timeOut: 1 }, 'timeOut', 'timeout'],
  ] as const)('refuses an unknown name given to %s, before any request', async (row) => {
    const [method, given, wrong, right] = row;
    const client = new WalletClient({
      baseUrl: 'https://api.example.com',
      apiKey: 'k',
      apiSecret: 's',
      transport: () => Promise.reject(new Error('No request was expected.')),
    });
    const called = (async () => Reflect.apply(client[method], client, [given]))();
    await expect(called).rejects.toMatchObject({
      kind: 'usage',
      message: expect.stringContaining(`there is no option ${wrong}. Did you mean ${right}?`),
    });
  });

  test('applies the timeout, the retries and the signal of a single call', async () => {
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
        expect(timeoutMs).toBeLessThanOrEqual(1_234);
        expect(signal?.aborted).toBe(false);
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

  test('collects the first rows of a list, and stops all calls when the signal given to until() aborts', async ({
    sandbox,
  }) => {
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

  test('refuses NaN as a page or an amount before it sends a request', async ({ sandbox }) => {
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

  test('hides webhook secrets and tokens from hooks', async ({ sandbox }) => {
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

  test('signs in only once for several requests', async ({ sandbox }) => {
    const client = new WalletClient({
      baseUrl: sandbox.url,
      apiKey: sandbox.apiKey,
      apiSecret: sandbox.apiSecret,
    });
    await Promise.all([client.wallets(), client.account(), client.rates()]);
    expect(sandbox.requests('POST', '/api/v2/authentication/token-signature')).toHaveLength(1);
    await client.close();
  });

  test('puts the name of the integrator before its own name in the User-Agent header', async () => {
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

  test('refuses an http address of a remote host', () => {
    expect(
      () => new WalletClient({ baseUrl: 'http://api.example.com', apiKey: 'k', apiSecret: 's' }),
    ).toThrow(Failure);
  });
});

describe('WalletClient pages and errors', () => {
  const pageOf = (page: number) => ({
    data: [{ txnId: `t${page}`, txnState: 'completed', sourceReq: {}, destReq: {} }],
    pagination: { page, limit: 1, total: 100 },
  });

  test('aborts prefetched pages when a loop ends early or its signal fires', async () => {
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

  test('fails with errors whose JSON contains every field', () => {
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
    ['accepts', 'the signed body as text', body, signature],
    ['accepts', 'the signed body as bytes', Buffer.from(body), signature],
    ['refuses', 'a changed body', body.replace('t1', 't2'), signature],
    ['refuses', 'a reformatted body', JSON.stringify(JSON.parse(body), null, 1), signature],
    ['refuses', 'a signature in upper case', body, signature.toUpperCase()],
    ['refuses', 'a truncated signature', body, signature.slice(2)],
    ['refuses', 'a missing signature', body, undefined],
  ] as const)(
    'compares the signature with the raw body: it %s %s',
    ([verdict, , given, signature]) => {
      expect(verifyWebhook(given, signature, secret)).toBe(verdict === 'accepts');
    },
  );

  test('refuses a signature made with another secret', () => {
    expect(verifyWebhook(body, signWebhook(body, 'another'), secret)).toBe(false);
  });

  test('throws if the webhook secret is empty', () => {
    expect(() => verifyWebhook(body, signature, '')).toThrow(Failure);
    expect(() => signWebhook(body, '')).toThrow(Failure);
  });
});

describe('readWebhook', () => {
  test('returns the event of a delivery that is signed with either of two secrets', () => {
    expect(library.readWebhook(body, signature, secret)).toMatchObject({ txnId: 't1' });
    const bytes = new TextEncoder().encode(body).buffer;
    expect(library.readWebhook(bytes, signature, ['new', secret]).txnState).toBe('completed');
  });

  test.for([
    [
      'a wrong signature',
      body,
      'ab'.repeat(32),
      secret,
      'authentication',
      /does not match this body/,
    ],
    ['a missing signature', body, undefined, secret, 'authentication', /has no signature/],
    [
      'a parsed body instead of the raw body',
      JSON.parse(body),
      signature,
      secret,
      'usage',
      /parsed\. Pass .*express\.raw/,
    ],
    ['a missing body', undefined, signature, secret, 'usage', /Pass the raw body/],
    [
      'a missing secret',
      body,
      signature,
      undefined,
      'usage',
      /secret .* is missing.*registered with/,
    ],
    [
      'an empty secret next to a valid secret',
      body,
      signature,
      ['', secret],
      'usage',
      /secret .* is missing/,
    ],
    ['an empty list of secrets', body, signature, [], 'usage', /secret .* is missing/],
    [
      'an array of signatures',
      body,
      [signature],
      secret,
      'usage',
      /not a string\. Pass .* one header/,
    ],
    [
      'a signed body that is not an event',
      '{}',
      signWebhook('{}', secret),
      secret,
      'usage',
      /not the b/,
    ],
  ] as const)('explains how to fix %s', ([, given, signed, under, kind, message]) => {
    const read = () => Reflect.apply(library.readWebhook, undefined, [given, signed, under]);
    expect(read).toThrow(
      expect.objectContaining({ kind, message: expect.stringMatching(message) }),
    );
    expect(read).toThrow(Failure);
  });
});

describe('parseWebhookEvent', () => {
  test('reads the specified event and keeps unknown fields', () => {
    const event = parseWebhookEvent(body.replace('{', '{"further":1,'));
    expect(event).toMatchObject({
      txnId: 't1',
      extRefId: 'order-118',
      txnState: 'completed',
      further: 1,
    });
  });

  test.for([
    [
      'an event with a time as text',
      '{"txnId":"t1","txnState":"COMPLETED","updatedAt":"2025-01-15T12:00:00Z"}',
    ],
    [
      'an event with a time in seconds',
      '{"txnId":"t1","txnState":"completed","updatedAt":1736942400}',
    ],
    ['an event inside a data field', `{"data":${body}}`],
  ])('reads %s', ([, text = '']) => {
    expect(parseWebhookEvent(text)).toMatchObject({
      txnId: 't1',
      txnState: 'completed',
      updatedAt: 1736942400000,
    });
  });

  test('requires only the transaction id and the state of an event', () => {
    expect(parseWebhookEvent('{"txnId":"t1","txnState":"completed"}')).toEqual({
      txnId: 't1',
      txnState: 'completed',
    });
  });

  test.for([
    ['an empty text as an event', ''],
    ['null as an event', 'null'],
    ['an array as an event', '[]'],
    ['an event without a state', '{"txnId":"t1"}'],
    ['an event with an empty transaction id', '{"txnId":"","txnState":"completed","updatedAt":1}'],
  ] as const)('refuses %s', ([, text]) => {
    expect(() => parseWebhookEvent(text)).toThrow(Failure);
  });
});
