// Tests the OpenAPI description that the sandbox serves, and the check of each answer in other
// tests.
import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import * as v from 'valibot';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { endpoints } from '../../../src/sandbox/endpoints.js';
import { openApiCheck, type Exchange } from '../../support/openapi.js';
import { fresh, lightningReceive, swap, type Fresh } from '../support.js';

let sandbox: Fresh;
let text: string;
beforeAll(async () => {
  sandbox = await fresh();
  text = (await sandbox.root('/openapi.json')).text;
});
afterAll(() => sandbox.close());

const paths = (document: string): string[] => Object.keys(JSON.parse(document).paths);

describe('the OpenAPI description of the sandbox', () => {
  test('describes every endpoint of the service', () => {
    const described = paths(text);
    const served = endpoints.flatMap(({ path }) => {
      const plain = path.replace(/:(\w+)/g, '{$1}');
      return plain.endsWith('/?') ? [plain.slice(0, -2), plain.slice(0, -1)] : [plain];
    });
    expect(served.filter((path) => !described.includes(path))).toEqual([]);
  });

  test('gives every operation a unique name', () => {
    const document = v.parse(
      v.object({
        paths: v.record(v.string(), v.record(v.string(), v.object({ operationId: v.string() }))),
      }),
      JSON.parse(text),
    );
    const ids = Object.values(document.paths).flatMap((path) =>
      Object.values(path).map((each) => each.operationId),
    );
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBeGreaterThan(18);
  });

  test('contains no broken references', () => {
    const { components } = JSON.parse(text);
    const names = [...text.matchAll(/#\/components\/schemas\/(\w+)/g)].map(([, name = '']) => name);
    expect(names.filter((name) => !(name in components.schemas))).toEqual([]);
    expect(Object.keys(components.schemas).filter((name) => !names.includes(name))).toEqual([]);
  });

  test('defines the properties of every OpenAPI object, so that a generated client can use it', () => {
    const bare: string[] = [];
    JSON.parse(text, (key, value: unknown) => {
      const isBare =
        typeof value === 'object' &&
        value !== null &&
        'type' in value &&
        value.type === 'object' &&
        !('properties' in value) &&
        !('additionalProperties' in value);
      if (isBare) bare.push(key);
      return value;
    });
    expect(bare).toEqual([]);
    const { components, paths: described } = JSON.parse(text);
    const { SourceReq, CreateTransaction } = components.schemas;
    expect(SourceReq.properties.reqDetails).toEqual({ $ref: '#/components/schemas/SourceDetails' });
    expect(components.schemas.SourceDetails.properties).toHaveProperty('paymentRequest');
    expect(CreateTransaction.properties.destReq.properties.reqDetails).toEqual({
      $ref: '#/components/schemas/DestDetails',
    });
    const statuses = described['/api/v2/transaction'].get.parameters.find(
      ({ name }: { name: string }) => name === 'txnStatuses',
    );
    expect(statuses).toMatchObject({ schema: { type: 'array' }, explode: false });
  });

  test('uses the configured name of the service', async () => {
    const acme = await fresh({ maker: 'acme' });
    const document = (await acme.root('/openapi.json')).text;
    expect(document).toContain('acmepayFees');
    expect(document).toContain('X-Acmepay-Signature');
    expect(document).not.toMatch(/servicepay/i);
    await acme.close();
  });
});

describe('the OpenAPI check of answers', () => {
  const exchangeOf = (target: string, body: unknown, more: Partial<Exchange> = {}): Exchange => ({
    method: 'GET',
    target,
    status: 200,
    body: JSON.stringify(body),
    ...more,
  });
  const transaction = '/api/v2/transaction/some-id';

  test('accepts an answer of the sandbox', async () => {
    const { body } = await sandbox.create(lightningReceive(0.001));
    expect(() => openApiCheck(text)(exchangeOf(transaction, body))).not.toThrow();
  });

  test('reports every missing field and every wrong type of an answer', async () => {
    const check = openApiCheck(text);
    const { body } = await sandbox.create(swap(1, 'USDT', 'USD', { extRefId: 'openapi' }));
    for (const side of [body, body.sourceReq, body.destReq]) {
      for (const name of Object.keys(side).filter((each) => each !== 'extRefId')) {
        const { [name]: value } = side;
        delete side[name];
        expect(() => check(exchangeOf(transaction, body)), `without ${name}`).toThrow(
          'required property',
        );
        side[name] = [value];
        expect(() => check(exchangeOf(transaction, body)), `another ${name}`).toThrow('must be');
        side[name] = value;
      }
    }
    expect(() => check(exchangeOf(transaction, body))).not.toThrow();
  });

  test.for<[string, Exchange]>([
    ['with an unspecified field', exchangeOf('/api/v2/webhook', { data: [], total: 0 })],
    [
      'with an unspecified status',
      exchangeOf('/api/v2/webhook', { error: 'not found' }, { status: 404 }),
    ],
    [
      'with an unspecified error text',
      exchangeOf('/api/v2/webhook', { error: 'no' }, { status: 401 }),
    ],
    ['from an unspecified path', exchangeOf('/api/v2/secret', {})],
    [
      'to a body that the sandbox should have refused',
      exchangeOf(
        '/api/v2/webhook',
        { id: '1', callback: 'https://a.example', createdAt: 1 },
        { method: 'POST', requestBody: '{}' },
      ),
    ],
  ])('reports an answer %s', ([, exchange]) => {
    expect(() => openApiCheck(text)(exchange)).toThrow('answered');
  });

  test('runs in every test that starts a sandbox', () => {
    const folder = resolve(import.meta.dirname, '../..');
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
      file.endsWith('.ts'),
    );
    const starts = /\b(startSandbox|openSandbox|startServer)\(/;
    const starters = files.filter((file) =>
      starts.test(readFileSync(resolve(folder, file), 'utf8')),
    );
    expect(
      starters.toSorted(),
      'use startCheckedSandbox, or fresh and serve of the sandbox tests',
    ).toEqual(unchecked);
  });
});

/**
 * The only files that may start a sandbox without `startCheckedSandbox`, which compares the
 * sandbox's responses with the OpenAPI description.
 */
const unchecked = [
  // The example program of an integrator imports only the svcpay package, which does not contain
  // the comparison with the OpenAPI description.
  'e2e/fixtures/consumer/consumer.ts',
  // The OpenAPI description omits live response formats.
  'sandbox/live-shapes/live-shapes.test.ts',
  // By default, the clients that support.ts creates compare each response with the OpenAPI
  // description.
  'sandbox/support.ts',
  // swapper.ts uses a client of support.ts, which compares each response with the OpenAPI
  // description.
  'sandbox/swapper.ts',
  'support/openapi.ts',
];
