// The webhook receiver, on real sockets, accepts and refuses requests, and acknowledges an event
// only after storing it.
import { connect, type Socket } from 'node:net';
import { describe, expect, onTestFinished } from 'vitest';
import {
  type Receiver,
  receiverLimits,
  type ReceiverOptions,
  startReceiver,
} from '../../src/webhooks/receive.js';
import { signBody } from '../../src/webhooks/events.js';
import { payload, secret, test } from './support.js';

async function start(
  store: ReceiverOptions['store'],
  change: Partial<ReceiverOptions> = {},
): Promise<Receiver> {
  const receiver = await startReceiver({
    host: '127.0.0.1',
    port: 0,
    secrets: [secret],
    signatureHeader: 'X-Acmepay-Signature',
    store,
    consumers: [],
    now: () => Date.now(),
    elapsed: () => performance.now(),
    onStored: () => undefined,
    onWrongSignature: () => undefined,
    onUnwritten: () => undefined,
    ...change,
  });
  onTestFinished(() => receiver.stop());
  return receiver;
}

const quick = { ...receiverLimits, headersMs: 200, requestMs: 300 };

const post = (
  url: string,
  body: string | Buffer,
  headers: Record<string, string> = {},
): Promise<Response> =>
  fetch(`${url}/any/path`, {
    method: 'POST',
    body: new Uint8Array(Buffer.from(body)),
    headers: { 'X-Acmepay-Signature': signBody(Buffer.from(body), secret), ...headers },
  });

/**
 * Sends raw text to the receiver, and resolves with the whole answer when the receiver closes the
 * connection.
 */
function speak(url: string, text: string, onOpen?: (socket: Socket) => void): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => {
      socket.write(text);
      onOpen?.(socket);
    });
    let answer = '';
    socket.on('data', (chunk) => (answer += chunk.toString()));
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(answer));
  });
}

const event = JSON.stringify(payload('t1'));
const anySignature = `X-Acmepay-Signature: ${'0'.repeat(64)}`;

describe('webhook receiver', () => {
  test('stores the received bytes unchanged and answers 200', async ({ store }) => {
    const { url, counts } = await start(store);
    const spaced = `${event}\n `;
    expect((await post(url, spaced)).status).toBe(200);
    expect(Buffer.from((await store.read(1))?.body ?? []).toString()).toBe(spaced);
    expect(await store.read(1)).toMatchObject({
      txnId: 't1',
      signature: signBody(Buffer.from(spaced), secret),
    });
    expect(counts).toMatchObject({ received: 1, wrongSignatures: 0 });
  });

  test('accepts POST and PUT and names both methods in a 405 answer', async ({ store }) => {
    const { url } = await start(store);
    const headers = { 'X-Acmepay-Signature': signBody(Buffer.from(event), secret) };
    expect((await fetch(url, { method: 'PUT', body: event, headers })).status).toBe(200);
    expect(await store.read(1)).toMatchObject({ txnId: 't1' });
    const other = await fetch(url, { method: 'PATCH', body: event, headers });
    expect([other.status, other.headers.get('allow')]).toEqual([405, 'POST, PUT']);
  });

  test('answers an event only after the event is on disk', async ({ store }) => {
    const order: string[] = [];
    let letGo = (): void => undefined;
    const held = new Promise<void>((resolve) => (letGo = resolve));
    const slow: ReceiverOptions['store'] = {
      check: store.check,
      append: async (...events) => {
        await held;
        order.push('stored');
        return store.append(...events);
      },
    };
    const { url } = await start(slow);
    const answered = post(url, event).then(() => order.push('answered'));
    await post(url, event, { 'X-Acmepay-Signature': 'f'.repeat(64) });
    order.push('another was refused meanwhile');
    letGo();
    await answered;
    expect(order).toEqual(['another was refused meanwhile', 'stored', 'answered']);
  });

  test('marks an event that arrives twice as a duplicate', async ({ store }) => {
    const { url } = await start(store);
    for (const _ of [1, 2]) await post(url, event);
    expect(await store.read(2)).toMatchObject({ duplicateOf: 1 });
  });

  test('stores a signed body even if the body is not a specified payload', async ({ store }) => {
    const { url } = await start(store);
    expect((await post(url, '[1]')).status).toBe(200);
    expect(await store.read(1)).toMatchObject({ txnId: null, txnState: null });
  });

  test.for([
    ['with another secret', { 'X-Acmepay-Signature': signBody(Buffer.from(event), 'other') }],
    ['in an invalid format', { 'X-Acmepay-Signature': 'nonsense' }],
    [
      'in upper case',
      { 'X-Acmepay-Signature': signBody(Buffer.from(event), secret).toUpperCase() },
    ],
    [
      'in another header',
      { 'X-Acmepay-Signature': '', 'X-Servicepay-Signature': signBody(Buffer.from(event), secret) },
    ],
  ] as const)(
    'answers 401 to a signature %s and counts the request',
    async ([, headers], { store }) => {
      const remotes: string[] = [];
      const { url, counts } = await start(store, {
        onWrongSignature: (remote) => remotes.push(remote),
      });
      expect((await post(url, event, headers)).status).toBe(401);
      expect([counts.wrongSignatures, counts.received, await store.read(1)]).toEqual([
        1,
        0,
        undefined,
      ]);
      expect(remotes).toEqual(['127.0.0.1']);
    },
  );

  test('answers 405 to a GET request for an unknown page', async ({ store }) => {
    const { url } = await start(store);
    expect((await fetch(url)).status).toBe(405);
  });

  test('reports readiness only while the store accepts events', async ({ store }) => {
    let now = 0;
    let checks = 0;
    let isWritable = true;
    const check = (): Promise<void> => (
      (checks += 1),
      isWritable ? store.check() : Promise.reject(new Error('read-only'))
    );
    const { url } = await start({ append: store.append, check }, { elapsed: () => now });
    const statusOf = async (path: string): Promise<number> => (await fetch(`${url}${path}`)).status;
    expect([
      await statusOf('/healthz'),
      await statusOf('/readyz?verbose'),
      await statusOf('/'),
    ]).toEqual([200, 200, 405]);
    isWritable = false;
    expect([await statusOf('/readyz'), checks]).toEqual([200, 1]);
    now += 1_000;
    expect([await statusOf('/readyz'), await statusOf('/healthz'), checks]).toEqual([503, 200, 2]);
  });

  test('answers 503, so that the service retries, if the event cannot be stored', async () => {
    const errors: unknown[] = [];
    const full = {
      append: () => Promise.reject(new Error('disk full')),
      check: () => Promise.reject(new Error('disk full')),
    };
    const { url, counts } = await start(full, { onUnwritten: (error) => errors.push(error) });
    const answer = await post(url, event);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
    expect(counts).toMatchObject({ received: 0, unwritten: 1 });
    expect(errors).toHaveLength(1);
  });

  test('is not ready after a failed store, until an event of the same size can be stored', async ({
    store,
  }) => {
    const checked: (number | undefined)[] = [];
    let isFull = true;
    const full = {
      append: () => Promise.reject(new Error('disk full')),
      check: async (bytes?: number) => {
        checked.push(bytes);
        if (isFull && bytes !== undefined) throw new Error('disk full');
        await store.check(bytes);
      },
    };
    let now = 0;
    const { url } = await start(full, { elapsed: () => (now += 1_000) });
    const ready = async () => (await fetch(`${url}/readyz`)).status;
    expect(await ready()).toBe(200);
    expect((await post(url, event)).status).toBe(503);
    expect([await ready(), await ready()]).toEqual([503, 503]);
    isFull = false;
    expect([await ready(), await ready()]).toEqual([200, 200]);
    const size = Buffer.byteLength(event);
    expect(checked).toEqual([undefined, size, size, size, undefined]);
  });

  test('refuses a request whose Content-Length is too large', async ({ store }) => {
    const { url } = await start(store);
    const answer = await speak(
      url,
      `POST / HTTP/1.1\r\nHost: h\r\n${anySignature}\r\nContent-Length: 65537\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1.1 413 /);
  });

  test('answers 413 to a body of ten megabytes before it closes the connection', async ({
    store,
  }) => {
    const { url } = await start(store);
    expect((await post(url, Buffer.alloc(10_000_000))).status).toBe(413);
  });

  test('stops reading a body of unknown length at the size limit', async ({ store }) => {
    const { url, counts } = await start(store);
    let sent = 0;
    const chunk = Buffer.from(`10000\r\n${'x'.repeat(65_536)}\r\n`);
    await speak(
      url,
      `POST / HTTP/1.1\r\nHost: h\r\n${anySignature}\r\nTransfer-Encoding: chunked\r\n\r\n`,
      (socket) => {
        const pour = (error?: Error | null): void => {
          if (error != null || socket.destroyed || sent >= 2_000) return;
          sent += 1;
          socket.write(chunk, pour);
        };
        pour();
      },
    );
    expect(counts.refused).toBe(1);
    expect(sent).toBeLessThan(2_000);
  });

  test.for([
    ['sends no data', ''],
    ['never ends its headers', 'POST / HTTP/1.1\r\nHost: h\r\nX-A'],
    [
      'never ends its body',
      `POST / HTTP/1.1\r\nHost: h\r\n${anySignature}\r\nContent-Length: 50\r\n\r\n{`,
    ],
  ] as const)('disconnects a sender that %s', async ([, text], { store }) => {
    const { url } = await start(store, { limits: quick });
    const answer = await speak(url, text);
    expect(answer === '' || answer.startsWith('HTTP/1.1 408')).toBe(true);
    expect((await post(url, event)).status).toBe(200);
  });

  test('receives events again after unknown parties have held all connections', async ({
    store,
  }) => {
    const { url } = await start(store, { limits: { ...quick, connections: 8 } });
    await Promise.all(Array.from({ length: 20 }, () => speak(url, 'POST / HTTP/1.1\r\n')));
    expect((await post(url, event)).status).toBe(200);
  });

  test('stops even if a sender is in the middle of a body', async ({ store }) => {
    const receiver = await start(store);
    const cut = speak(
      receiver.url,
      `POST / HTTP/1.1\r\nHost: h\r\n${anySignature}\r\nContent-Length: 50\r\n\r\n{`,
    );
    await post(receiver.url, event);
    await receiver.stop();
    expect(await cut).toBe('');
  });
});
