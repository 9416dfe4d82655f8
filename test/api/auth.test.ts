// ServiceClient signs in, renews its token before the expiry, and signs in again after a 401
// response.
import { createHmac } from 'node:crypto';
import { describe, expect, test, vi } from 'vitest';
import type { HttpRequest, Transport } from '../../src/api/errors.js';
import type { Token } from '../../src/api/types.js';
import { answer, type FakeAnswer } from '../support/fake-transport.js';
import {
  credentials,
  kept,
  lost,
  refused,
  start,
  tokenAnswer,
  tokenPath,
  transaction,
  world,
} from './support/client.js';

const walletPath = '/api/v2/account/ne01-7f3a/wallet/';
const wallets = answer(200, { data: [] });

function expectSigned({ headers, body }: HttpRequest): void {
  const text = `${credentials.apiKey}&payload=${body}`;
  expect(headers).toMatchObject({
    'content-type': 'application/json',
    'x-api-key': credentials.apiKey,
    'x-api-signature': createHmac('sha256', credentials.apiSecret)
      .update(text, 'utf8')
      .digest('hex'),
  });
  expect(headers['x-api-signature']).toMatch(/^[0-9a-f]{64}$/);
  expect(JSON.parse(body ?? '')).toBeTypeOf('object');
}

describe('ServiceClient token request', () => {
  test('does not warn of many listeners if many calls wait for the same token', async () => {
    const { client, service } = world({ token: null });
    service.on('POST', tokenPath, tokenAnswer('fresh'));
    using warn = vi.spyOn(process, 'emitWarning').mockReturnValue();
    const shared = client.until(new AbortController().signal);
    await Promise.all(Array.from({ length: 20 }, () => shared.authenticate()));
    expect(warn).not.toHaveBeenCalled();
  });

  test('signs exactly the sent bytes and keeps the secret out of the token request', async () => {
    const { client, service } = world({ token: null });
    service.on('POST', tokenPath, tokenAnswer('fresh'));
    await client.authenticate();
    const [request] = service.requests();
    expectSigned(request!);
    expect(JSON.stringify(request)).not.toContain(credentials.apiSecret);
    expect(request!.headers).not.toHaveProperty('authorization');
  });

  test('computes the same signature as openssl for a fixed request', async () => {
    // The signature below is the output of `openssl dgst -sha256 -hmac secret-1` for
    // `key-1&payload=` followed by the body below.
    const { client, service } = world({ token: null });
    service.on('POST', tokenPath, tokenAnswer('fresh'));
    await client.authenticate();
    const [request] = service.requests();
    expect(request!.body).toBe('{"time":1736942400000,"nonce":"8000000080000000-1"}');
    expect(request!.headers['x-api-signature']).toBe(
      'ad19473e914169bae4b98fe7081793562d5a9a48130b0420d62eab0f36b2fbd3',
    );
  });

  test('never repeats the body of a token request even with a stopped clock and a constant random source', async () => {
    const { client, service } = world();
    service.on(
      'POST',
      tokenPath,
      ...Array.from({ length: 5 }, (_, index) => tokenAnswer(`fresh-${index}`)),
    );
    for (let count = 0; count < 5; count += 1) await client.authenticate();
    expect(new Set(service.requests().map(({ body }) => body)).size).toBe(5);
    service.requests().forEach(expectSigned);
  });

  const shapes = [
    [
      'is in the field expiredAt',
      { accessToken: 'a.b.c', expiredAt: 1_736_946_000_000, accountId: 'ne01-1' },
    ],
    [
      'is in the field expiresAt',
      { accessToken: 'a.b.c', expiresAt: 1_736_946_000_000, accountId: 'ne01-1' },
    ],
    [
      'is in expiredAt inside data',
      { data: { accessToken: 'a.b.c', expiredAt: 1_736_946_000_000, accountId: 'ne01-1' } },
    ],
    [
      'is in expiresAt inside data',
      { data: { accessToken: 'a.b.c', expiresAt: 1_736_946_000_000, accountId: 'ne01-1' } },
    ],
    [
      'is an ISO 8601 time',
      { accessToken: 'a.b.c', expiredAt: '2025-01-15T13:00:00Z', accountId: 'ne01-1' },
    ],
    [
      'is an ISO 8601 time without a time zone',
      { accessToken: 'a.b.c', expiredAt: '2025-01-15 13:00:00', accountId: 'ne01-1' },
    ],
    [
      'is in epoch seconds',
      { accessToken: 'a.b.c', expiredAt: 1_736_946_000, accountId: 'ne01-1' },
    ],
    [
      'is a number as text',
      { accessToken: 'a.b.c', expiredAt: '1736946000000', accountId: 'ne01-1' },
    ],
    ['is missing, and uses the token for an hour', { accessToken: 'a.b.c', accountId: 'ne01-1' }],
    [
      'is unreadable, and uses the token for an hour',
      { accessToken: 'a.b.c', expiredAt: 'soon', accountId: 'ne01-1' },
    ],
  ] as const;
  test.for(shapes)('accepts a token whose expiry %s', async ([, body]) => {
    const { client, service, tokens } = world({ token: null });
    service.on('POST', tokenPath, answer(200, body));
    const token = { accessToken: 'a.b.c', expiresAt: 1_736_946_000_000, accountId: 'ne01-1' };
    expect(await client.authenticate()).toEqual(token);
    expect(tokens.token).toEqual(token);
  });

  test('reads the expiry from the token if the answer omits the expiry', async () => {
    const { client, service } = world({ token: null });
    const claims = Buffer.from(JSON.stringify({ exp: 1_736_942_460 })).toString('base64url');
    service.on(
      'POST',
      tokenPath,
      answer(200, { accessToken: `a.${claims}.c`, accountId: 'ne01-1' }),
    );
    expect(await client.authenticate()).toMatchObject({ expiresAt: 1_736_942_460_000 });
  });

  test.for([
    ['a missing account', { accessToken: 'a.b.c', expiredAt: 1 }],
    [
      'a token that is invalid in a header',
      { accessToken: 'a\r\nb', expiredAt: 1, accountId: 'ne01-1' },
    ],
  ] as const)('refuses a token answer with %s without showing the token', async ([, body]) => {
    const { client, service, tokens } = world({ token: null });
    service.on('POST', tokenPath, answer(200, body));
    const failure = await client.authenticate().catch((error: unknown) => error);
    expect(failure).toMatchObject({
      kind: 'unexpected',
      message: expect.not.stringMatching(/a\.b\.c|a\r\nb/),
    });
    expect(tokens.token).toBeUndefined();
  });

  test('repeats the token request with a new signature after a temporary failure', async () => {
    const { client, service, pauses } = world({ token: null });
    const failing = [answer(500, { error: 'internal' }), lost(), answer(200, '<html>')];
    service.on('POST', tokenPath, ...failing, tokenAnswer('fresh'));
    expect(await client.authenticate()).toMatchObject({ accessToken: 'fresh' });
    expect(pauses).toHaveLength(3);
    expect(new Set(service.requests().map(({ headers }) => headers['x-api-signature'])).size).toBe(
      4,
    );
    service.requests().forEach(expectSigned);
  });

  test('deletes the stored token and suggests a new sign-in if the token request gets a 401', async () => {
    const { client, service, tokens } = world();
    service.on('POST', tokenPath, answer(401, { error: 'invalid API key or signature' }));
    await expect(client.authenticate()).rejects.toMatchObject({
      kind: 'authentication',
      exitCode: 4,
      status: 401,
      reason: 'invalid API key or signature',
      next: { do: 'sign-in' },
    });
    expect(tokens.token).toMatchObject({ accessToken: '', expiresAt: 0 });
    service.on('POST', tokenPath, lost(), lost(), lost(), lost());
    expect(await client.ownAccountId()).toBe('ne01-7f3a');
  });

  test('suggests checking the base URL if the token request gets a 404', async () => {
    const { client, service } = world();
    service.on(
      'POST',
      tokenPath,
      answer(404, '<h1>Not Found</h1>', { 'content-type': 'text/html' }),
    );
    await expect(client.authenticate()).rejects.toMatchObject({
      kind: 'not-found',
      hint: expect.stringContaining('base URL'),
    });
  });
});

describe('ServiceClient access token', () => {
  test('uses a stored token without signing in', async () => {
    const { client, service } = world();
    service.on('GET', walletPath, wallets);
    await client.wallets();
    expect(service.requests()).toHaveLength(1);
    expect(service.requests()[0]!.headers['authorization']).toBe('Bearer kept-token');
  });

  test('requests and stores a token if the store is empty', async () => {
    const { client, service, tokens } = world({ token: null });
    service.on('POST', tokenPath, tokenAnswer('fresh'));
    service.on('GET', walletPath, wallets, wallets);
    await client.wallets();
    await client.wallets();
    expect(tokens.token).toMatchObject({ accessToken: 'fresh', accountId: 'ne01-7f3a' });
    for (const { headers } of service.requests('GET'))
      expect(headers['authorization']).toBe('Bearer fresh');
  });

  test.for([
    ['renews', -1, 1],
    ['renews', 9_000, 1],
    ['keeps', 11_000, 0],
  ] as const)(
    'renews a token shortly before its expiry: it %s a token that expires in %i ms',
    async ([, left, renewals]) => {
      const { client, service } = world({ token: { ...kept, expiresAt: start + left } });
      if (renewals > 0) service.on('POST', tokenPath, tokenAnswer('fresh'));
      service.on('GET', walletPath, wallets);
      await client.wallets();
      expect(service.requests('POST')).toHaveLength(renewals);
    },
  );

  test('compares the expiry of a token with the clock of the service', async () => {
    const { client, service } = world();
    const anHourAhead = { date: new Date(start + 3_595_000).toUTCString() };
    service.on('GET', walletPath, answer(200, { data: [] }, anHourAhead), wallets);
    service.on('POST', tokenPath, tokenAnswer('fresh', start + 7_200_000));
    await client.wallets();
    await client.wallets();
    expect(service.requests('GET').map(({ headers }) => headers['authorization'])).toEqual([
      'Bearer kept-token',
      'Bearer fresh',
    ]);
  });

  const claims = (life: object): string =>
    `a.${Buffer.from(JSON.stringify(life)).toString('base64url')}.c`;
  test.for([
    [
      'later than the expiry',
      { date: new Date(start + 7_200_000).toUTCString() },
      'opaque',
      3_600_000,
    ],
    [
      'later than the expiry and the token states its lifetime',
      { date: new Date(start + 7_200_000).toUTCString() },
      claims({ iat: 1, exp: 1801 }),
      1_800_000,
    ],
  ] as const)(
    'keeps a new token for its lifetime if the Date header of the answer is %s',
    async ([, headers, accessToken, life]) => {
      const { client, service, tokens } = world({ token: null });
      service.on(
        'POST',
        tokenPath,
        answer(200, { accessToken, expiredAt: start + 3_600_000, accountId: 'ne01-7f3a' }, headers),
      );
      service.on('GET', walletPath, wallets, wallets);
      await client.wallets();
      await client.wallets();
      expect(service.requests('POST')).toHaveLength(1);
      expect(tokens.token?.expiresAt).toBe(start + 7_200_000 + life);
    },
  );

  test('keeps using a new token if another server of the service has a clock that is 2 h ahead', async () => {
    const { client, service } = world({ token: null });
    const ahead = answer(200, { data: [] }, { date: new Date(start + 7_200_000).toUTCString() });
    service.on('POST', tokenPath, tokenAnswer('fresh'));
    service.on('GET', walletPath, ahead, ahead, ahead);
    for (let count = 0; count < 3; count += 1) await client.wallets();
    expect(service.requests('POST')).toHaveLength(1);
  });

  test('renews a token with a lifetime of 5 s after half of that time', async () => {
    const { client, service, time } = world({ token: null });
    service.on(
      'POST',
      tokenPath,
      tokenAnswer('first', start + 5_000),
      tokenAnswer('second', start + 8_000),
    );
    service.on('GET', walletPath, wallets, wallets, wallets);
    await client.wallets();
    time.now += 2_400;
    await client.wallets();
    time.now += 200;
    await client.wallets();
    expect(service.requests('GET').map(({ headers }) => headers['authorization'])).toEqual([
      'Bearer first',
      'Bearer first',
      'Bearer second',
    ]);
  });

  test('requests one token for concurrent requests', async () => {
    const { client, service } = world({ token: null });
    service.on('POST', tokenPath, tokenAnswer('fresh'));
    service.on('GET', walletPath, ...Array(5).fill(wallets));
    await Promise.all(Array.from({ length: 5 }, () => client.wallets({ accountId: 'ne01-7f3a' })));
    expect(service.requests('POST')).toHaveLength(1);
  });

  test('uses a new token even if storing the token failed', async () => {
    const save = (): Promise<void> => Promise.reject(new Error('disk full'));
    const { client, service, log } = world({ tokens: { load: async () => undefined, save } });
    service.on('POST', tokenPath, tokenAnswer('fresh'));
    service.on('GET', walletPath, wallets);
    await client.wallets();
    expect(log).toContain('the token could not be stored');
  });
});

const expired = answer(401, { error: 'invalid token or token expired' });

/**
 * Simulates a service that invalidates the old token when it issues a new token. Each request takes
 * 80 ms of simulated time.
 */
function singleSession() {
  let [valid, signIns, now, draws] = ['', 0, start, 0];
  let timers: readonly { at: number; ring: () => void }[] = [];
  const ringNext = (): void => {
    const [next, ...later] = timers.toSorted((one, other) => one.at - other.at);
    timers = later;
    now = next!.at;
    next!.ring();
  };
  const sleep = (ms: number): Promise<void> =>
    new Promise((ring) => {
      timers = [...timers, { at: now + ms, ring }];
      setImmediate(ringNext);
    });
  const transport: Transport = async ({ method, headers }) => {
    await sleep(40);
    if (method === 'POST') valid = `fresh-${(signIns += 1)}`;
    const seen =
      method === 'POST'
        ? tokenAnswer(valid)
        : headers['authorization'] === `Bearer ${valid}`
          ? wallets
          : expired;
    await sleep(40);
    return seen;
  };
  return { transport, sleep, clock: () => now, random: () => ((draws += 1) * 0.618) % 1 };
}

describe('ServiceClient confirmation with a refused token', () => {
  const confirmPath = '/api/v2/transaction/t1/confirm';
  const page = { ...answer(200, '<h1>Welcome to our guest network</h1>') };
  const failedSignIns: readonly (readonly [string, readonly FakeAnswer[]])[] = [
    ['loses its connection', Array(4).fill(lost())],
    ['gets no connection', Array(4).fill(refused())],
    ['gets an HTML page with status 200', [page, page, page, page]],
    ['gets JSON without a token', [answer(200, { ok: true })]],
    ['gets a 503 answer', Array(4).fill(answer(503, 'try later'))],
    ['is refused', [answer(401, { error: 'invalid api signature' })]],
  ];
  const unanswered = {
    name: 'NoAnswer',
    kind: 'pending',
    exitCode: 8,
    mayHaveArrived: true,
    txnId: 't1',
  };

  test.for(failedSignIns)(
    'reports a confirmation as possibly sent if the confirmation gets a 401 and the next sign-in %s',
    async ([, answers]) => {
      const { client, service } = world();
      service.on('PUT', confirmPath, expired);
      service.on('POST', tokenPath, ...answers);
      await expect(client.confirmTransaction('t1')).rejects.toMatchObject(unanswered);
    },
  );

  test('reports a confirmation as possibly sent if the confirmation gets a 401 and the repeated confirmation cannot connect', async () => {
    const { client, service } = world();
    service.on('PUT', confirmPath, expired, refused());
    service.on('POST', tokenPath, tokenAnswer('fresh'));
    await expect(client.confirmTransaction('t1')).rejects.toMatchObject(unanswered);
  });

  test('reports a confirmation as possibly sent if the confirmation gets a 401 and an interrupt stops the next sign-in', async () => {
    const interruption = new AbortController();
    const sleep = async (): Promise<void> => interruption.abort();
    const { client, service } = world({ signal: interruption.signal, sleep });
    service.on('PUT', confirmPath, expired);
    service.on('POST', tokenPath, lost());
    await expect(client.confirmTransaction('t1')).rejects.toMatchObject(unanswered);
  });

  test('sends no confirmation if the sign-in before the confirmation fails', async () => {
    const { client, service } = world({ token: null });
    service.on('POST', tokenPath, answer(401, { error: 'invalid api signature' }));
    await expect(client.confirmTransaction('t1')).rejects.toMatchObject({ exitCode: 4 });
    expect(service.requests('PUT')).toEqual([]);
  });
});

describe('ServiceClient after a 401 answer', () => {
  test('signs in once after a 401 and repeats the identical request', async () => {
    const { client, service, tokens } = world();
    const path = '/api/v2/transaction';
    service.on('POST', path, expired, answer(200, transaction()));
    service.on('POST', tokenPath, tokenAnswer('fresh'));
    await client.createTransaction({
      sourceReq: { ccy: 'BTC', method: 'servicepay' },
      destReq: { ccy: 'BTC', method: 'lightning', reqDetails: { paymentRequest: 'lnbc25u1' } },
      extRefId: 'order-118',
    });
    const [first, second] = service.requests('POST', path);
    expect(second!.body).toBe(first!.body);
    expect([first, second].map((request) => request!.headers['authorization'])).toEqual([
      'Bearer kept-token',
      'Bearer fresh',
    ]);
    expect(tokens.token?.accessToken).toBe('fresh');
  });

  test('fails after one new token if the service has not accepted any token yet', async () => {
    const { client, service } = world();
    service.on('GET', walletPath, expired, expired);
    service.on('POST', tokenPath, tokenAnswer('fresh'));
    await expect(client.wallets()).rejects.toMatchObject({
      exitCode: 4,
      reason: 'invalid token or token expired',
    });
    expect(service.requests()).toHaveLength(3);
  });

  test('gives up only after the service has refused four new tokens, if an earlier token worked', async () => {
    const { client, service, pauses } = world({ random: () => 0.999 });
    service.on('GET', walletPath, wallets, ...Array<typeof expired>(5).fill(expired));
    service.on(
      'POST',
      tokenPath,
      ...Array.from({ length: 4 }, (_, index) => tokenAnswer(`fresh-${index}`)),
    );
    await client.wallets();
    await expect(client.wallets()).rejects.toMatchObject({
      exitCode: 4,
      reason: 'invalid token or token expired',
    });
    expect(pauses).toEqual([1598, 3197, 3197]);
  });

  test('fails at once if the service refuses the sign-in after a 401', async () => {
    const { client, service, pauses } = world();
    service.on('GET', walletPath, expired);
    service.on('POST', tokenPath, answer(401, { error: 'invalid api signature' }));
    await expect(client.wallets()).rejects.toMatchObject({
      exitCode: 4,
      reason: 'invalid api signature',
    });
    expect(pauses).toEqual([]);
  });

  test('requests a new token only once if the service answers requests for another account with 401', async () => {
    const { client, service } = world();
    const other = answer(401, { error: 'you are not authorized to view this account' });
    service.on('GET', '/api/v2/account/ne01-other/wallet/', other, other);
    service.on('POST', tokenPath, tokenAnswer('fresh'));
    await expect(client.wallets({ accountId: 'ne01-other' })).rejects.toMatchObject({
      kind: 'authentication',
      message: expect.stringContaining('you are not authorized to view this account'),
    });
    expect(service.requests()).toHaveLength(3);
  });

  test('signs in once if several requests get a 401 together', async () => {
    const { client, service } = world();
    service.on('GET', walletPath, expired, expired, expired, wallets, wallets, wallets);
    service.on('POST', tokenPath, tokenAnswer('fresh'));
    await Promise.all([client.wallets(), client.wallets(), client.wallets()]);
    expect(service.requests('POST')).toHaveLength(1);
  });

  test("completes all requests even if processes that share a store invalidate each other's tokens", async () => {
    let valid = '';
    let signIns = 0;
    let refusals = 0;
    const transport: Transport = async ({ method, headers }) => {
      await new Promise(setImmediate);
      if (method === 'POST') {
        valid = `fresh-${(signIns += 1)}`;
        return tokenAnswer(valid);
      }
      if (headers['authorization'] === `Bearer ${valid}`) return wallets;
      refusals += 1;
      return expired;
    };
    let token: Token | undefined;
    const tokens = { load: async () => token, save: async (saved: Token) => void (token = saved) };
    const sleep = (): Promise<void> => new Promise(setImmediate);
    const clients = Array.from({ length: 5 }, () => world({ transport, tokens, sleep }).client);
    await Promise.all(clients.map((client) => client.wallets({ accountId: 'ne01-7f3a' })));
    expect(refusals).toBeGreaterThan(0);
    expect(signIns).toBeLessThanOrEqual(10);
  });

  test("completes all requests even if processes without a shared store invalidate each other's tokens", async () => {
    const { transport, clock, sleep, random } = singleSession();
    const homes = Array.from(
      { length: 3 },
      () => world({ token: null, transport, clock, sleep, random }).client,
    );
    const all = await Promise.all(
      homes.map(async (client) => [
        await client.wallets(),
        await client.transactions(),
        await client.wallets(),
      ]),
    );
    expect(all).toHaveLength(3);
  });
});
