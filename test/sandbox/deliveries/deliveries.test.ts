// The sandbox signs webhook deliveries, sends them in order, retries them according to the
// service's clock, logs them and replays them. A receiver that never answers does not delay the
// webhooks of other accounts.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Sandbox, SandboxOptions } from '../../../src/sandbox/server.js';
import { makeCertificate } from '../../support/certificate.js';
import { startReceiver, hmac, type Receiver } from '../../support/receiver.js';
import {
  connect,
  fresh,
  lightningReceive,
  lightningSend,
  serve,
  swap,
  type Client,
} from '../support.js';

const cleanups: (() => Promise<void> | void)[] = [];
let sandbox: Sandbox;
let client: Client;
let receiver: Receiver;

const start = async (options: SandboxOptions = {}): Promise<void> => {
  ({ sandbox, client } = await serve({ allowHttpCallbacks: true, ...options }));
  cleanups.push(() => sandbox.stop());
  await sandbox.clock.freeze();
};

const register = async (callback = receiver.url, secret = 'secret') =>
  (await client.call('POST', '/webhook', { callback, secret })).body;

beforeEach(async () => {
  receiver = await startReceiver();
  cleanups.push(() => receiver.close());
  await start();
});

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

describe('the sandbox after a state change', () => {
  test('posts a state change with the fields of the specification, signed over the raw bytes', async () => {
    await register();
    const txn = (await client.create(swap(10, 'USDT', 'USD', { extRefId: 'order-1' }))).body;
    await sandbox.webhooks.settled();
    const [{ headers, raw, event }] = receiver.received as [Receiver['received'][number]];
    expect(event).toEqual({
      txnId: txn.txnId,
      extRefId: 'order-1',
      txnState: 'quoted',
      msg: '',
      updatedAt: txn.sourceReq.updatedAt,
    });
    expect(headers['x-servicepay-signature']).toBe(hmac('secret', raw));
    expect(headers['content-type']).toBe('application/json');
  });

  test('posts a state change without a reference if the transaction has no reference', async () => {
    await register();
    await client.create(swap(10, 'USDT', 'USD'));
    await sandbox.webhooks.settled();
    expect(receiver.received[0]?.event).not.toHaveProperty('extRefId');
  });

  test('posts every state change in order, and the reason why a payment failed', async () => {
    await register();
    await client.run(lightningSend(await sandbox.invoice('1000sat')));
    await sandbox.clock.advance('1s');
    const invoice = await sandbox.invoice('1000sat', { expiry: '30s' });
    const late = (await client.create(lightningSend(invoice))).body;
    await sandbox.clock.advance('29900ms');
    await client.confirm(late.txnId);
    await sandbox.clock.advance('1s');
    await sandbox.webhooks.settled();
    expect(receiver.states()).toEqual([
      'quoted',
      'srccreated',
      'destsent',
      'completed',
      'quoted',
      'srccreated',
      'failed',
    ]);
    expect(receiver.received.at(-1)?.event.msg).toBe('invoice expired');
  });

  test('posts nothing if no webhook is configured', async () => {
    await client.run(swap(10, 'USDT', 'USD'));
    expect(sandbox.webhooks.deliveries()).toEqual([]);
  });

  test('posts a state change of a subaccount only to the webhook of the subaccount', async () => {
    await register();
    const shop = await sandbox.account('Shop');
    await sandbox.fund('USDT', '100', shop.accountId);
    const shops = await connect(fetch, sandbox.url, shop);
    await shops.run(swap(10, 'USDT', 'USD'));
    await client.run(swap(10, 'USDT', 'USD'));
    await sandbox.webhooks.settled();
    expect(sandbox.webhooks.deliveries().map(({ accountId }) => accountId)).toEqual([
      sandbox.accountId,
      sandbox.accountId,
    ]);
  });

  test('signs a webhook in a header whose name contains the configured service name', async () => {
    await start({ maker: 'acme' });
    await register();
    await sandbox.webhooks.trigger({ state: 'completed' });
    await sandbox.webhooks.settled();
    const [{ headers, raw }] = receiver.received as [Receiver['received'][number]];
    expect(headers['x-acmepay-signature']).toBe(hmac('secret', raw));
  });
});

describe('the sandbox with webhook deliveries', () => {
  const deliveries = async () => {
    await sandbox.webhooks.settled();
    return sandbox.webhooks.deliveries();
  };

  /** Starts a sandbox whose webhook receiver never answers, and returns the sandbox file. */
  const startPosting = async (): Promise<string> => {
    const folder = mkdtempSync(join(tmpdir(), 'sandbox-'));
    cleanups.push(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'sandbox.db');
    await start({ file });
    await register();
    receiver.answer(null);
    await sandbox.webhooks.trigger({ state: 'completed' });
    await expect.poll(() => receiver.received.length).toBe(1);
    return file;
  };

  test('repeats a delivery at growing intervals of the service clock until it succeeds', async () => {
    await register();
    receiver.answer(500, 404, 302);
    await sandbox.webhooks.trigger({ state: 'completed' });
    const begun = await sandbox.clock.now();
    await sandbox.webhooks.settled();
    expect(receiver.received).toHaveLength(1);
    await sandbox.clock.advance('1h');
    const [delivery] = await deliveries();
    expect(delivery?.status).toBe('delivered');
    expect(delivery?.attempts.map(({ at, status }) => [at - begun, status])).toEqual([
      [0, 500],
      [5_000, 404],
      [35_000, 302],
      [155_000, 200],
    ]);
    expect(new Set(receiver.received.map(({ raw }) => raw)).size).toBe(1);
  });

  test('ends a delivery after its last attempt', async () => {
    await register();
    receiver.answer(...Array.from({ length: 20 }, () => 500));
    await sandbox.webhooks.trigger({ state: 'completed' });
    await sandbox.webhooks.settled();
    await sandbox.clock.advance('3d');
    const [delivery] = await deliveries();
    expect(delivery).toMatchObject({ status: 'failed', nextAttemptAt: null });
    expect(delivery?.attempts).toHaveLength(8);
  });

  test('shows why a delivery failed, and when its next attempt is due', async () => {
    await register('http://localhost:1/hook');
    await sandbox.webhooks.trigger({ state: 'completed' });
    const [delivery] = await deliveries();
    expect(delivery?.attempts).toMatchObject([
      { status: null, error: expect.stringContaining('ECONNREFUSED') },
    ]);
    expect(delivery).toMatchObject({
      status: 'scheduled',
      nextAttemptAt: (await sandbox.clock.now()) + 5_000,
    });
  });

  test('repeats a delivery with the address and secret of an updated webhook', async () => {
    const { id } = await register('http://localhost:1/hook');
    await sandbox.webhooks.trigger({ state: 'completed' });
    await sandbox.webhooks.settled();
    await client.call('PUT', `/webhook/${id}`, { callback: receiver.url, secret: 'new' });
    await sandbox.clock.advance('5s');
    await sandbox.webhooks.settled();
    const [{ headers, raw }] = receiver.received as [Receiver['received'][number]];
    expect(headers['x-servicepay-signature']).toBe(hmac('new', raw));
  });

  test('cancels a delivery if its webhook is deleted', async () => {
    const { id } = await register('http://localhost:1/hook');
    await sandbox.webhooks.trigger({ state: 'completed' });
    await sandbox.webhooks.settled();
    await client.call('DELETE', `/webhook/${id}`);
    await sandbox.clock.advance('30m');
    const [delivery] = await deliveries();
    expect(delivery).toMatchObject({ status: 'canceled', nextAttemptAt: null });
    expect(delivery?.attempts).toHaveLength(1);
    await client.run(swap(1, 'USDT', 'USD'));
    expect(await deliveries()).toHaveLength(1);
  });

  test('replays a delivery to the current webhook', async () => {
    await register('http://localhost:1/hook');
    const id = await sandbox.webhooks.trigger({ state: 'completed', extRefId: 'r' });
    await sandbox.webhooks.settled();
    await register();
    await sandbox.webhooks.replay(id);
    await sandbox.webhooks.replay(id);
    const [delivery] = await deliveries();
    expect(delivery).toMatchObject({
      status: 'delivered',
      attempts: [{ status: null }, { status: 200 }],
    });
    await sandbox.webhooks.replay(id);
    await sandbox.webhooks.settled();
    expect(receiver.received.map(({ event }) => event.extRefId)).toEqual(['r', 'r']);
    await expect(sandbox.webhooks.replay(99)).rejects.toThrow('not found');
  });

  test('delays neither its own answers nor the webhooks of other accounts if a receiver never answers', async () => {
    await register();
    receiver.answer(null);
    await sandbox.webhooks.trigger({ state: 'completed' });
    const shop = await sandbox.account('Shop');
    const other = await startReceiver();
    cleanups.push(() => other.close());
    const shops = await connect(fetch, sandbox.url, shop);
    await shops.call('POST', '/webhook', { callback: other.url, secret: 'two' });
    await shops.create(lightningReceive(0.01));
    await client.create(swap(10, 'USDT', 'USD'));
    await expect.poll(() => other.states()).toEqual(['quoted']);
    expect(receiver.states()).toEqual(['completed']);
    // The sandbox stores the answer of the second receiver a moment after that receiver has the
    // event.
    await expect
      .poll(() =>
        sandbox.webhooks.deliveries({ status: 'sending' }).map(({ txnState }) => txnState),
      )
      .toEqual(['completed', 'quoted']);
  });

  test('posts an interrupted delivery after the next start', async () => {
    const file = await startPosting();
    await sandbox.stop();
    await start({ file });
    await client.call('GET', '/webhook');
    const [delivery] = await deliveries();
    expect(delivery).toMatchObject({ status: 'delivered', attempts: [{ status: 200 }] });
    expect(receiver.received).toHaveLength(2);
  });

  test('takes over a delivery when the lease of a killed process expires', async () => {
    const file = await startPosting();
    // The first process still holds its lease, as a killed process would.
    let ahead = 14_000;
    const other = await fresh({ file, now: () => Date.now() + ahead });
    await other.close();
    expect(receiver.received).toHaveLength(1);
    ahead = 16_000;
    const later = await fresh({ file, now: () => Date.now() + ahead });
    await later.close();
    expect(receiver.received).toHaveLength(2);
    expect(sandbox.webhooks.deliveries()).toMatchObject([
      { status: 'delivered', attempts: [{ status: 200 }] },
    ]);
  });

  test('logs every delivery, and filters the log', async () => {
    await register();
    const txn = await client.run(swap(10, 'USDT', 'USD'));
    await sandbox.webhooks.trigger({ state: 'error', txnId: txn.txnId, msg: 'for testing' });
    await sandbox.webhooks.trigger({ state: 'completed' });
    await sandbox.webhooks.settled();
    expect(
      sandbox.webhooks.deliveries({ txnId: txn.txnId }).map(({ txnState }) => txnState),
    ).toEqual(['quoted', 'completed', 'error']);
    expect(sandbox.webhooks.deliveries({ limit: 1 })).toHaveLength(1);
    expect(sandbox.webhooks.deliveries({ status: 'failed' })).toEqual([]);
    const [{ raw }] = receiver.received as [Receiver['received'][number]];
    const { body } = await client.control('GET', 'deliveries');
    expect(body.data).toEqual(sandbox.webhooks.deliveries());
    expect(body.data[0]).toMatchObject({
      body: raw,
      attempts: [
        { callback: receiver.url, signature: hmac('secret', raw), status: 200, error: null },
      ],
    });
  });
});

describe('the sandbox with test events', () => {
  test('changes no transaction when it sends a test event', async () => {
    await register();
    const txn = (await client.create(swap(10, 'USDT', 'USD', { extRefId: 'mine' }))).body;
    await sandbox.webhooks.trigger({ state: 'rejected', txnId: txn.txnId });
    await sandbox.webhooks.settled();
    expect(receiver.received.at(-1)?.event).toMatchObject({
      txnId: txn.txnId,
      extRefId: 'mine',
      txnState: 'rejected',
    });
    expect((await client.get(txn.txnId)).body.txnState).toBe('quoted');
  });

  test.for(
    [
      { what: 'without a webhook', body: { state: 'completed' }, status: 400, why: 'no webhook' },
      { what: 'with an unknown state', body: { state: 'paid' }, status: 400, why: 'state' },
      {
        what: 'for an unknown transaction',
        body: { state: 'completed', txnId: 'none' },
        status: 404,
        why: 'not found',
      },
    ].map((each) => [each.what, each] as const),
  )('refuses a test event %s', async ([, { body, status, why }]) => {
    const answer = await client.control('POST', 'trigger', body);
    expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(why)]);
  });
});

describe('the sandbox with HTTPS callbacks', () => {
  const certificate = (): { key: string; cert: string } => {
    const folder = mkdtempSync(join(tmpdir(), 'certificate-'));
    cleanups.push(() => rmSync(folder, { recursive: true }));
    const { key, cert } = makeCertificate(folder);
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  };

  test('delivers webhooks only to a receiver whose certificate authority it trusts', async () => {
    const tls = certificate();
    const secure = await startReceiver(tls);
    cleanups.push(() => secure.close());
    await register(secure.url);
    await sandbox.webhooks.trigger({ state: 'completed' });
    await sandbox.webhooks.settled();
    const [refused] = sandbox.webhooks.deliveries();
    expect(refused?.attempts).toMatchObject([
      { status: null, error: expect.stringMatching(/certificate/) },
    ]);

    await start({ webhookCa: tls.cert });
    await register(secure.url);
    await sandbox.webhooks.trigger({ state: 'completed' });
    await sandbox.webhooks.trigger({ state: 'failed' });
    await sandbox.webhooks.settled();
    expect(secure.states()).toEqual(['completed', 'failed']);
  });
});

describe('the embedded sandbox', () => {
  test('posts the events of its requests before it closes', async () => {
    const embedded = await fresh({ allowHttpCallbacks: true });
    await embedded.call('POST', '/webhook', { callback: receiver.url, secret: 'secret' });
    await embedded.run(swap(10, 'USDT', 'USD'));
    await embedded.close();
    expect(receiver.states()).toEqual(['quoted', 'completed']);
  });
});
