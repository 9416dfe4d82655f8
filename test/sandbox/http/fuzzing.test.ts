// The sandbox gives a specified answer to random requests to every endpoint, and moves no money.
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { controls } from '../../../src/sandbox/control.js';
import { endpoints } from '../../../src/sandbox/endpoints.js';
import { maxBodyLength } from '../../../src/sandbox/unspecified.js';
import { openService, type Service } from '../../../src/sandbox/service.js';
import { webRoutes } from '../../../src/sandbox/web.js';
import { openApiCheck, type Check } from '../../support/openapi.js';
import { countOf } from '../../support/part.js';
import { clientOf, lightningReceive, lightningSend, swap, type Client } from '../support.js';

let service: Service;
let client: Client;
let check: Check;
let token: string;
let ids: string[];
const errors: unknown[] = [];

beforeAll(async () => {
  const onError = (error: unknown): void => void errors.push(error);
  service = openService({ autoPay: 'off', onError }, () => 'http://sandbox.localhost');
  client = await clientOf(service);
  await client.control('POST', 'clock/freeze');
  check = openApiCheck((await client.root('/openapi.json')).text);
  const log = (await client.control('GET', 'log')).body.data;
  token = JSON.parse(log[0].responseBody).accessToken;
  const receive = (await client.create(lightningReceive(0.001))).body.txnId;
  ids = [
    receive,
    client.accountId,
    'KE',
    '',
    '%',
    '%00',
    '../status',
    "' OR 1=1 --",
    '𝒳'.repeat(300),
  ];
});
afterAll(() => service.close());

/** Whether the request presses the button of the payment page, which moves money. */
const isPayNow = ({ path }: { path: string }): boolean => path.endsWith('/pay');
const served = [...endpoints, ...webRoutes];
const paths = served.filter((route) => !isPayNow(route)).map(({ path }) => path);

interface Sent {
  readonly method: string;
  readonly target: string;
  readonly headers: Record<string, string>;
  readonly body: Uint8Array;
}

async function send({ method, target, headers, body }: Sent) {
  const outgoing = await service.handle({ method, target, headers, body });
  expect(errors).toEqual([]);
  return outgoing;
}

/** The wallets of all accounts. */
async function money(): Promise<unknown> {
  const { accounts } = (await client.control('GET', 'status')).body;
  return accounts.map((account: { wallets: unknown }) => account.wallets);
}

const bytes = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value) ?? '');

/** Valid JSON with values that a service must refuse. */
const oddJson = fc.constantFrom(
  '['.repeat(5000) + ']'.repeat(5000),
  '{"a":'.repeat(100) + '1' + '}'.repeat(100),
  '1e999',
  '-0',
  '9'.repeat(400),
  '"\\ud800"',
  'null',
  '[]',
  '{"__proto__":{"ccy":"BTC"}}',
  '{"sourceReq":null,"sourceReq":{}}',
  '\uFEFF{}',
  '{}{}',
  '',
);

const templates = fc.constantFrom<object>(
  lightningReceive(0.001, { note: 'n', extRefId: 'r' }),
  swap(1, 'USDT', 'USD', { deductNetworkFeesFromDest: false }),
  lightningSend('lntb1', { sourceOfFunds: { purpose: 1, source: 1, relationship: 1 } }),
  {
    ...swap(1, 'USDT', 'VND'),
    destReq: { ccy: 'VND', method: 'vnd-instant', reqDetails: { institutionCode: 'x' } },
  },
  {
    sourceReq: { ccy: 'BTC', method: 'servicepay' },
    destReq: { ccy: 'BTC', method: 'on-chain', amtRequested: 1 },
  },
  { callback: 'https://a.example/', secret: 's' },
);

const strange = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.double(),
  fc.bigInt().map(String),
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    1e21,
    -1,
    1e-9,
    0,
    21e6,
    'BTC',
    'servicepay',
    'lightning',
    [],
    {},
    null,
    'x'.repeat(5000),
  ),
);

/** A valid body with one field replaced, added or removed at any depth. */
const mutated = fc
  .tuple(templates, fc.nat(), fc.oneof(strange, fc.constant(undefined)), fc.string())
  .map(([template, at, value, name]) => {
    const copy: unknown = structuredClone(template);
    const places: [Record<string, unknown>, string][] = [];
    const visit = (node: unknown): void => {
      if (typeof node !== 'object' || node === null) return;
      const record = Object.assign(node);
      for (const key of Object.keys(node)) {
        places.push([record, key]);
        visit(record[key]);
      }
      places.push([record, name]);
    };
    visit(copy);
    const [record, key] = places[at % places.length] ?? [{}, ''];
    record[key] = value;
    return bytes(copy);
  });

const body = fc.oneof(
  { arbitrary: mutated, weight: 4 },
  fc.jsonValue().map(bytes),
  oddJson.map((text) => Buffer.from(text)),
  fc.uint8Array({ maxLength: 64 }),
  fc.constant(new Uint8Array(maxBodyLength + 1)),
);

const type = fc.constantFrom<Record<string, string>>(
  { 'content-type': 'application/json' },
  { 'content-type': 'application/json; charset=utf-8' },
  { 'content-type': 'text/plain' },
  {},
);
const method = fc.constantFrom(
  'GET',
  'POST',
  'PUT',
  'DELETE',
  'PATCH',
  'HEAD',
  'OPTIONS',
  'get',
  'BREW',
);
const names = [
  'time',
  'startTime',
  'txnStatuses',
  'srcMethods',
  'excludedDestMethods',
  'limit',
  'page',
  'amount',
];
const query = fc
  .dictionary(
    fc.constantFrom(...names, 'walletCcy', 'chainId'),
    fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('other', '0', '-1', '1e9', '2026-02-30', 'completed', 'USDT', 'TRON'),
    ),
    { maxKeys: 4 },
  )
  .map((fields) => new URLSearchParams(fields).toString());

describe('the sandbox under arbitrary requests', () => {
  test('gives a specified answer to any request, and moves no money', async () => {
    const before = await money();
    const access = fc.oneof(
      { arbitrary: fc.constant('valid'), weight: 6 },
      fc.constantFrom('', 'Bearer', 'Bearer a.b.c', 'Basic eDp5'),
    );
    const request = fc.tuple(method, fc.nat(), fc.nat(), query, access, type, body);
    await fc.assert(
      fc.asyncProperty(request, async ([method, path, id, query, access, type, body]) => {
        const place = (paths[path % paths.length] ?? '')
          .replace('/?', '/')
          .replace(/:\w+/, ids[id % ids.length] ?? '');
        const target = query === '' ? place : `${place}?${query}`;
        const headers = { ...type, authorization: access === 'valid' ? `Bearer ${token}` : access };
        const answer = await send({ method, target, headers, body });
        expect([200, 400, 401, 403, 404]).toContain(answer.status);
        const requestBody = body && Buffer.from(body).toString();
        if (method !== 'HEAD')
          check({ method, target, requestBody, status: answer.status, body: answer.body });
      }),
      { numRuns: countOf({ part: 500, all: 1_500 }) },
    );
    expect(await money()).toEqual(before);
  }, 120_000);

  test('accepts or refuses any create request as the OpenAPI description defines', async () => {
    const before = await money();
    const target = '/api/v2/transaction';
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
    await fc.assert(
      fc.asyncProperty(mutated, async (body) => {
        const answer = await send({ method: 'POST', target, headers, body });
        const requestBody = Buffer.from(body).toString();
        check({ method: 'POST', target, requestBody, status: answer.status, body: answer.body });
      }),
      { numRuns: countOf({ part: 500, all: 1_500 }) },
    );
    expect(await money()).toEqual(before);
  }, 120_000);

  test('answers 404 for any unknown path, even without a token', async () => {
    await fc.assert(
      fc.asyncProperty(fc.webPath(), method, body, async (path, method, body) => {
        const answer = await send({ method, target: `/elsewhere${path}`, headers: {}, body });
        expect([answer.status, answer.body]).toEqual([404, '{"error":"not found"}']);
      }),
      { numRuns: 200 },
    );
  });

  test('answers any control request without an internal error', async () => {
    const onError = (error: unknown): void => void errors.push(error);
    const own = openService({ autoPay: 'off', onError }, () => 'http://sandbox.localhost');
    const routes = [...controls, ...served.filter(isPayNow)];
    const fields = [
      'ccy',
      'amount',
      'accountId',
      'target',
      'by',
      'after',
      'displayName',
      'parentAccountId',
      'expiry',
    ];
    const odd = fc.oneof(strange, fc.constantFrom('1000sat', '2h', 'off', 'BTC', client.accountId));
    const controlBody = fc.oneof(fc.dictionary(fc.constantFrom(...fields), odd).map(bytes), body);
    await fc.assert(
      fc.asyncProperty(fc.nat(), type, query, controlBody, async (at, type, query, body) => {
        const { method, path } = routes[at % routes.length] ?? { method: 'GET', path: '/' };
        const target = `${path.replace(/:\w+/, 'some')}?${query}`;
        const { status } = await own.handle({ method, target, headers: type, body });
        expect(errors).toEqual([]);
        expect(status).toBeLessThan(500);
      }),
      { numRuns: countOf({ part: 300, all: 800 }) },
    );
    await own.close();
  }, 120_000);

  test('accepts a body up to the documented length', async () => {
    const padded = (length: number): Uint8Array => {
      const text = JSON.stringify(lightningReceive(0.001));
      return Buffer.from(text + ' '.repeat(length - text.length));
    };
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
    const post = { method: 'POST', target: '/api/v2/transaction', headers };
    expect((await send({ ...post, body: padded(maxBodyLength) })).status).toBe(200);
    expect((await send({ ...post, body: padded(maxBodyLength + 1) })).status).toBe(400);
  });
});
