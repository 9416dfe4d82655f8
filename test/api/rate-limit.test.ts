// ServiceClient uses the whole request quota of a service, and reports each wait for a new quota.
import { describe, expect, test } from 'vitest';
import { trackRateLimit } from '../../src/api/service.js';
import type { HttpRequest, HttpResponse } from '../../src/api/errors.js';
import { answer } from '../support/fake-transport.js';
import { start, transaction, world } from './support/client.js';

const path = '/api/v2/transaction/t1';
const good = answer(200, transaction());
const full = (reset: string | number, more: Record<string, string> = {}) =>
  answer(
    429,
    { error: 'rate limited' },
    { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(reset), ...more },
  );

describe('ServiceClient after a 429 answer', () => {
  test.for([
    ['a number of seconds', full(12)],
    ['an instant in seconds', full(start / 1000 + 12)],
    ['an instant in milliseconds', full(start + 12_000)],
    ['an instant in ISO 8601', full(new Date(start + 12_000).toISOString())],
    ['an HTTP date', full(new Date(start + 12_000).toUTCString())],
    ['a Retry-After header, which overrides the reset header', full(50, { 'retry-after': '12' })],
  ] as const)('waits after a 429 until the reset time given as %s', async ([, busy]) => {
    const waits: number[] = [];
    const { client, service, pauses } = world({ onWait: (ms) => waits.push(ms) });
    service.on('GET', path, busy, good);
    await client.transaction('t1');
    expect(pauses).toEqual([12_000]);
    expect(waits).toEqual([12_000]);
  });

  test('repeats a request after each 429 until it succeeds or the time limit is reached', async () => {
    const { client, service, pauses } = world({ timeoutMs: 5_000, rateLimitWaitMs: 120_000 });
    service.on('GET', path, full(50), full(50), good);
    await client.transaction('t1');
    expect(pauses).toEqual([50_000, 50_000]);
    service.on('GET', path, full(50), full(50), full(50));
    await expect(client.transaction('t1')).rejects.toMatchObject({
      exitCode: 75,
      hint: 'Try again in 50 s.',
    });
  });

  test('repeats a request at growing intervals if a 429 has no reset time', async () => {
    const { client, service, pauses } = world({ rateLimitWaitMs: 120_000 });
    service.on('GET', path, ...Array<HttpResponse>(6).fill(answer(429, '')), good);
    await client.transaction('t1');
    expect(pauses).toEqual([188, 375, 750, 1_500, 3_000, 6_000]);
  });

  test('reports the time to wait if a confirmation gets a 429, but does not repeat the confirmation', async () => {
    const { client, service, pauses } = world({ rateLimitWaitMs: 120_000 });
    service.on('PUT', `${path}/confirm`, full(7));
    await expect(client.confirmTransaction('t1')).rejects.toMatchObject({
      status: 429,
      retryAfterMs: 7_000,
    });
    expect(pauses).toEqual([]);
  });
});

/**
 * Simulates a service that accepts `perMinute` requests a minute and counts the excess requests.
 */
function countedService(perMinute: number, clock: () => number) {
  let [windowStart, count] = [clock(), 0];
  let tooMany = 0;
  const transport = async (_request: HttpRequest): Promise<HttpResponse> => {
    if (clock() - windowStart >= 60_000) [windowStart, count] = [clock(), 0];
    count += 1;
    const reset = String(Math.ceil((windowStart + 60_000 - clock()) / 1000));
    if (count > perMinute) {
      tooMany += 1;
      return full(reset);
    }
    return {
      ...good,
      headers: {
        ...good.headers,
        'x-ratelimit-remaining': String(perMinute - count),
        'x-ratelimit-reset': reset,
      },
    };
  };
  return { transport, tooMany: () => tooMany };
}

test('ServiceClient sends requests at full speed until the quota is used up', async () => {
  const time = { now: start };
  const { transport, tooMany } = countedService(60, () => time.now);
  const { client } = world({
    transport,
    rateLimitWaitMs: 120_000,
    clock: () => time.now,
    sleep: async (ms) => void (time.now += ms),
  });
  for (let index = 0; index < 150; index += 1) await client.transaction('t1');
  expect(tooMany()).toBe(0);
  // The 150 requests use up two quotas of 60 requests, so the client waits twice for the next
  // minute.
  expect(time.now - start).toBe(120_000);
});

test('trackRateLimit counts requests in flight against the quota', () => {
  const rateLimit = trackRateLimit();
  rateLimit.sent();
  rateLimit.sent();
  rateLimit.observe(
    answer(200, {}, { 'x-ratelimit-remaining': '1', 'x-ratelimit-reset': '30' }),
    start,
  );
  // The answer reports one remaining request, but the second request is already in flight and uses
  // up the quota.
  expect(rateLimit.before(start)).toBe(30_000);
  expect(rateLimit.before(start + 30_000)).toBeGreaterThan(0);
  rateLimit.observe(
    answer(200, {}, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '30' }),
    start,
  );
  expect(rateLimit.before(start + 30_000)).toBe(0);
  // After the reset of the quota, only one request may be sent until an answer reports the new
  // quota.
  expect(rateLimit.before(start + 30_000)).toBeGreaterThan(0);
});

test('ServiceClient sends a request despite a used-up rate limit if the limit resets only a day later', async () => {
  const { client, service, pauses } = world();
  const closed = answer(200, transaction(), {
    'x-ratelimit-remaining': '0',
    'x-ratelimit-reset': '86400',
  });
  service.on('GET', path, closed, closed);
  await client.transaction('t1');
  await client.transaction('t1');
  expect(pauses).toEqual([]);
});

test('trackRateLimit applies the Retry-After time of one answer to parallel requests', async () => {
  const limit = trackRateLimit();
  limit.observe({ status: 429, headers: { 'retry-after': '7' } }, start);
  limit.observe({ status: 200, headers: {} }, start + 1);
  expect(limit.before(start + 1_000)).toBe(6_000);
  expect(limit.before(start + 7_000)).toBe(0);
});
