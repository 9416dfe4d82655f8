// Tests which failed requests ServiceClient repeats, and how long it pauses between attempts.
import { describe, expect, test } from 'vitest';
import { Failure } from '../../src/formats/failure.js';
import type { ServiceClient } from '../../src/api/client.js';
import { NetworkError, type HttpResponse } from '../../src/api/errors.js';
import { answer } from '../support/fake-transport.js';
import { lost, refused, start, transaction, world } from './support/client.js';

const path = '/api/v2/transaction/t1';
const good = answer(200, transaction());
const html = answer(200, '<html><title>Sign in to Wi-Fi</title></html>', {
  'content-type': 'text/html',
});
const busy = (retryAfter: string): HttpResponse =>
  answer(429, { error: 'rate limited' }, { 'retry-after': retryAfter });
const inSeconds = (seconds: number): string => new Date(start + seconds * 1000).toUTCString();

describe('ServiceClient retries of a read', () => {
  const passing = [
    ['a refused connection', refused()],
    ['a lost answer', lost()],
    ['status 500', answer(500, { error: 'internal' })],
    ['status 502 with HTML', answer(502, '<h1>Bad Gateway</h1>')],
    ['status 503', answer(503, '')],
    ['status 429', answer(429, { error: 'rate limited' })],
    ['HTML instead of JSON', html],
    ['truncated JSON', answer(200, '{"txnId":"t1","txnSta')],
    ['an empty answer', answer(200, '')],
  ] as const;
  test.for(passing)('repeats a read after %s', async ([, trouble]) => {
    const { client, service } = world();
    service.on('GET', path, trouble, good);
    expect(await client.transaction('t1')).toMatchObject({ txnId: 't1' });
  });

  test.for([
    [0, [125, 250, 500]],
    [0.5, [188, 375, 750]],
    [0.999, [250, 500, 1000]],
  ] as const)(
    'derives the pauses between attempts from the random value %f (%j ms)',
    async ([chance, expected]) => {
      const { client, service, pauses } = world({ random: () => chance });
      service.on('GET', path, refused(), refused(), refused(), refused());
      await expect(client.transaction('t1')).rejects.toMatchObject({
        name: 'NoAnswer',
        kind: 'temporary',
        exitCode: 75,
      });
      expect(pauses).toEqual(expected);
    },
  );

  test.for([
    ['a number of seconds', busy('7'), [7000]],
    ['a date', busy(inSeconds(5)), [5000]],
    ['a date in the past', busy(inSeconds(-60)), [188]],
    ['zero', busy('0'), [188]],
    ['unreadable', busy('soon'), [188]],
    ['missing', answer(429, ''), [188]],
  ] as const)(
    'pauses before it repeats a read if Retry-After is %s',
    async ([, trouble, expected]) => {
      const { client, service, pauses } = world();
      service.on('GET', path, trouble, good);
      await client.transaction('t1');
      expect(pauses).toEqual(expected);
    },
  );

  test('compares a Retry-After date with the clock of the service', async () => {
    const { client, service, pauses } = world();
    const headers = { 'retry-after': inSeconds(3605), date: inSeconds(3600) };
    service.on('GET', path, answer(503, '', headers), good);
    await client.transaction('t1');
    expect(pauses).toEqual([5000]);
  });

  test('reports a Retry-After beyond the time limit of a read instead of waiting', async () => {
    const { client, service, pauses } = world({ timeoutMs: 30_000 });
    service.on('GET', path, busy('31'));
    await expect(client.transaction('t1')).rejects.toMatchObject({
      kind: 'temporary',
      status: 429,
      retryAfterMs: 31_000,
      hint: 'Try again in 31 s.',
    });
    expect(pauses).toEqual([]);
  });

  test('starts no attempt after the time limit of a read', async () => {
    const { client, service, pauses } = world({ timeoutMs: 500 });
    service.on('GET', path, refused(), refused());
    await expect(client.transaction('t1')).rejects.toMatchObject({ kind: 'temporary' });
    expect(pauses).toEqual([188]);
    expect(service.requests().map(({ timeoutMs }) => timeoutMs)).toEqual([500, 312]);
  });

  test.for([400, 403, 404, 405, 409, 422])(
    'sends a read only once if the service answers with %i',
    async (status) => {
      const { client, service, pauses } = world();
      service.on('GET', path, answer(status, { error: 'no' }));
      await expect(client.transaction('t1')).rejects.toMatchObject({ status });
      expect(pauses).toEqual([]);
    },
  );

  test('stops a read if an interrupt arrives during a pause', async () => {
    const interruption = new AbortController();
    const { client, service } = world({
      signal: interruption.signal,
      sleep: (_ms, signal) => {
        interruption.abort();
        return Promise.reject(signal?.reason);
      },
    });
    service.on('GET', path, refused());
    await expect(client.transaction('t1')).rejects.toMatchObject({
      kind: 'interrupted',
      exitCode: 130,
    });
  });

  test('logs each attempt of a read with its duration', async () => {
    const { client, service, log } = world();
    service.on('GET', path, refused(), good);
    await client.transaction('t1');
    expect(log).toEqual([
      `GET ${path} ECONNREFUSED 0 ms`,
      'retry 1 of 3 in 188 ms',
      `GET ${path} 200 0 ms`,
    ]);
  });
});

describe('ServiceClient retries of a write', () => {
  const sides = {
    sourceReq: { ccy: 'BTC', method: 'servicepay' },
    destReq: { ccy: 'USDT', method: 'servicepay' },
  };
  const changes: [string, string, (client: ServiceClient) => Promise<unknown>][] = [
    ['POST', '/api/v2/transaction', (client) => client.createTransaction(sides)],
    ['PUT', '/api/v2/transaction/t1/confirm', (client) => client.confirmTransaction('t1')],
    ['PUT', '/api/v2/transaction/t1/cancel', (client) => client.cancelTransaction('t1')],
    [
      'POST',
      '/api/v2/webhook',
      (client) => client.createWebhook({ callback: 'https://x.example', secret: 's' }),
    ],
    ['PUT', '/api/v2/webhook/w1', (client) => client.updateWebhook('w1', { secret: 's' })],
    ['DELETE', '/api/v2/webhook/w1', (client) => client.removeWebhook('w1')],
  ];
  const troubles = [
    refused(),
    lost(),
    answer(500, ''),
    answer(503, ''),
    answer(429, '', { 'retry-after': '1' }),
    html,
  ];

  test.for(changes)(
    'sends %s %s only once even after a failure',
    async ([method, where, change]) => {
      for (const trouble of troubles) {
        const { client, service, pauses } = world();
        service.on(method, where, trouble);
        await expect(change(client)).rejects.toBeInstanceOf(Failure);
        expect(service.requests()).toHaveLength(1);
        expect(pauses).toEqual([]);
      }
    },
  );

  test('repeats a write after a closed connection unless the write creates or confirms a transaction', async () => {
    const closed = new NetworkError('the connection closed', {
      requestSent: true,
      code: 'ECONNRESET',
      wasClosed: true,
    });
    for (const [method, where, change] of changes) {
      const isSetting = where !== '/api/v2/transaction' && !where.endsWith('/confirm');
      const { client, service } = world();
      service.on(method, where, closed, ...(isSetting ? [lost()] : []));
      await expect(change(client)).rejects.toMatchObject({ name: 'NoAnswer' });
      expect(service.requests()).toHaveLength(isSetting ? 2 : 1);
    }
  });

  test('sends a raw POST request only once even after a failure', async () => {
    const { client, service } = world();
    service.on('POST', '/api/v2/anything', answer(503, 'busy'));
    expect(await client.request('post', '/api/v2/anything', '{}', { retry: true })).toMatchObject({
      status: 503,
    });
  });
});

describe('ServiceClient retries of a raw GET', () => {
  test('repeats a raw GET request after a failure', async () => {
    const { client, service } = world();
    service.on('GET', '/api/v2/anything', answer(503, ''), answer(200, 'plain'));
    expect(await client.request('get', '/api/v2/anything')).toMatchObject({
      status: 200,
      body: 'plain',
    });
  });

  test('sends a raw GET request only once with `retry: false`', async () => {
    const { client, service } = world();
    service.on('GET', '/api/v2/anything', answer(503, 'busy'));
    expect(
      await client.request('GET', '/api/v2/anything', undefined, { retry: false }),
    ).toMatchObject({ status: 503 });
  });
});
