// svcpay respects rate limits, and reports correct outcomes even if some answers are unreadable.
import { describe, expect } from 'vitest';
import type { Meeting } from '../conformance/strict-temper.js';
import type { Time } from '../support/in-process.js';
import { shop, test, type Strict } from '../support/strict.js';

/**
 * Returns a clock that records and skips pauses of a second or more, and counts concurrent pauses
 * as one pause; shorter pauses take real time.
 */
function patient(): Time & { readonly pauses: number[] } {
  const pauses: number[] = [];
  let skipped = 0;
  const now = (): number => Date.now() + skipped;
  return {
    pauses,
    now,
    elapsed: () => performance.now() + skipped,
    async sleep(ms) {
      if (ms < 1_000) return void (await new Promise((resolve) => setTimeout(resolve, ms)));
      pauses.push(ms);
      const end = now() + ms;
      await new Promise(setImmediate);
      skipped += Math.max(0, end - now());
    },
  };
}

const meeting = (
  exchange: Meeting['exchange'],
  status: number,
  body: string,
  times: number,
  headers = {},
): Meeting => ({ exchange, status, body, effect: 'none', times, headers });

const reads = ({ service }: Strict): number =>
  service.requests.filter(
    ({ method, path }) => method === 'GET' && /\/transaction\/[^/]+$/.test(path),
  ).length;

describe('svcpay send with unreadable states', { concurrent: true }, () => {
  const nonsense = [
    '{"data":{"of":"no use"}}',
    '{"txnId":"another","txnState":"completed"}',
    '"completed"',
    '{"txnState":{}}',
  ];
  test.for(nonsense)(
    'exits 8 after three unreadable state responses (%s), and tx resume reports the outcome',
    async (body, { strict }) => {
      strict.service.temper.meetings.push(meeting('read', 200, body, 3));
      const end = await strict.run(shop);
      expect(end).toMatchObject({ exitCode: 8, stdout: '' });
      expect(end.error()).toMatchObject({
        kind: 'pending',
        hint: expect.stringMatching(/^svcpay tx resume /),
      });
      expect(end.error().message).toMatch(
        /the transaction's state cannot be read now: .*(txnId is missing|returned transaction another|an object was expected)/,
      );
      expect(reads(strict)).toBe(3);
      expect(await strict.run('tx resume --json')).toMatchObject({ exitCode: 0 });
      expect(strict.service.moved()).toHaveLength(1);
    },
  );

  test('keeps waiting after two unreadable state responses', async ({ strict }) => {
    strict.service.temper.meetings.push(meeting('read', 200, '{}', 2));
    expect(await strict.run(shop)).toMatchObject({ exitCode: 0 });
    expect(reads(strict)).toBeGreaterThan(2);
  });
});

const seconds = 7;
const inSeconds = (): number => Date.now() + seconds * 1_000;
const asked: readonly (readonly [string, () => Record<string, string>])[] = [
  ['a Retry-After header with a number of seconds', () => ({ 'retry-after': `${seconds}` })],
  [
    'a Retry-After header with a date',
    () => ({ 'retry-after': new Date(inSeconds()).toUTCString() }),
  ],
  [
    'an X-RateLimit-Reset header with a number of seconds',
    () => ({ 'x-ratelimit-reset': `${seconds}` }),
  ],
  [
    'an X-RateLimit-Reset header with a Unix time in seconds',
    () => ({ 'x-ratelimit-reset': `${Math.round(inSeconds() / 1_000)}` }),
  ],
  [
    'an X-RateLimit-Reset header with a Unix time in milliseconds',
    () => ({ 'x-ratelimit-reset': `${inSeconds()}` }),
  ],
  [
    'an X-RateLimit-Reset header with an ISO 8601 time',
    () => ({ 'x-ratelimit-reset': new Date(inSeconds()).toISOString() }),
  ],
];

describe('svcpay under a rate limit', { concurrent: true }, () => {
  test.for(asked)(
    'obeys %s in a 429 response, and shows how long it waits',
    async ([, headers], { strict }) => {
      const time = patient();
      strict.service.temper.meetings.push(
        meeting('list', 429, '{"error":"too many"}', 1, headers()),
      );
      const run = await strict.run('tx list --json', 'home', time);
      expect(run).toMatchObject({ exitCode: 0, stdout: '[]\n' });
      expect(time.pauses).toHaveLength(1);
      expect(time.pauses[0]).toBeGreaterThan((seconds - 2) * 1_000);
      expect(time.pauses[0]).toBeLessThanOrEqual((seconds + 1) * 1_000);
      expect(run.stderr).toMatch(/Waiting [5-8] seconds, because the service limits requests/);
    },
  );

  test('exits 75 and names the retry time if a rate limit lasts longer than --timeout', async ({
    strict,
  }) => {
    strict.service.temper.meetings.push(
      meeting('list', 429, '{"error":"too many"}', 9, { 'retry-after': '7' }),
    );
    const run = await strict.run('tx list --json --timeout 3s');
    expect(run).toMatchObject({ exitCode: 75, stdout: '' });
    expect(run.error().hint).toContain('7 s');
  });

  test.for(['create request', 'confirmation'] as const)(
    'pays once, after the Retry-After time, if the service answers the %s with 429',
    async (exchange, { strict }) => {
      const time = patient();
      strict.service.temper.meetings.push(
        meeting(exchange, 429, '{"error":"too many"}', 2, { 'retry-after': '2' }),
      );
      expect(await strict.run(shop, 'home', time)).toMatchObject({ exitCode: 0 });
      // Each pause is slightly shorter than Retry-After, because svcpay subtracts the time since
      // the answer.
      for (const pause of time.pauses.slice(0, 2))
        expect(Math.abs(pause - 2_000)).toBeLessThan(100);
      expect(strict.service.moved()).toHaveLength(1);
    },
  );

  test('pays once if the service carries out a confirmation but answers 429', async ({
    strict,
  }) => {
    strict.service.temper.meetings.push({
      ...meeting('confirmation', 429, '', 1, { 'retry-after': '2' }),
      effect: 'at once',
    });
    expect(await strict.run(shop, 'home', patient())).toMatchObject({ exitCode: 0 });
    expect(strict.service.moved()).toHaveLength(1);
  });
});

describe('svcpay tx list', () => {
  test.override({ dialect: { pageSize: 10 } });

  test('sends no request above the quota that X-RateLimit-Remaining reports', async ({
    strict,
  }) => {
    const { service, run } = strict;
    const body = {
      sourceReq: { ccy: 'USDT', method: 'servicepay', amtRequested: 1 },
      destReq: { ccy: 'BTC', method: 'servicepay' },
    };
    for (let index = 0; index < 95; index += 1) service.add({ ...body, extRefId: `old-${index}` });
    const time = patient();
    // The service accepts five requests every six seconds, of which other programs have already
    // used two.
    let [left, endsAt, tooMany] = [3, time.now() + 6_000, 0];
    service.temper.headers = () => {
      if (time.now() >= endsAt) [left, endsAt] = [5, time.now() + 6_000];
      if (left === 0) tooMany += 1;
      left = Math.max(left - 1, 0);
      return {
        'x-ratelimit-remaining': `${left}`,
        'x-ratelimit-reset': `${Math.ceil((endsAt - time.now()) / 1_000)}`,
      };
    };
    const end = await run('tx list --all --json', 'home', time);
    expect(JSON.parse(end.stdout)).toHaveLength(95);
    expect(tooMany).toBe(0);
    expect(time.pauses.length).toBeGreaterThanOrEqual(2);
    expect(end.stderr).toMatch(/because the service limits requests/);
  });
});
