// Tests that every page of a long list contains the right transactions, for every filter.
import fc from 'fast-check';
import * as v from 'valibot';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Store } from '../../../src/sandbox/database.js';
import { openService, type Service } from '../../../src/sandbox/service.js';
import { clientOf, lightningReceive, swap, type Client } from '../support.js';

const rows = 10_007;
/** The number of receives that fund a new sandbox. */
const initial = 5;
const rareState = 'rejected';
const pool = ['completed', 'completed', 'completed', 'expired', 'failed', 'quoted', 'usercanceled'];

let service: Service;
let client: Client;
/** The transactions of the account, oldest first. */
let all: { id: string; state: string; source: string; dest: string; at: number }[];

beforeAll(async () => {
  service = openService({ autoPay: 'off' }, () => 'http://sandbox.localhost');
  client = await clientOf(service);
  await client.control('POST', 'clock/freeze');
  await client.create(swap(1, 'USDT', 'USD'));
  await client.create(lightningReceive(0.001));
  await service.store.write(() => multiply(service.store));
  all = service.store.all(
    v.object({
      id: v.string(),
      state: v.string(),
      source: v.string(),
      dest: v.string(),
      at: v.number(),
    }),
    `SELECT id, state, source_method AS source, dest_method AS dest, created_at AS at FROM txn WHERE number > ${initial} ORDER BY number`,
  );
});
afterAll(() => service.close());

/**
 * Copies the only two transactions of the account many times, a second apart, in states of all
 * kinds.
 */
function multiply(store: Store): void {
  const changed: Record<string, string> = {
    id: `id || '-' || n`,
    number: `${initial} + 2 + n`,
    created_at: 'created_at + 1000 * n',
    state: `CASE WHEN n % 1777 = 0 THEN '${rareState}' ELSE json_extract('${JSON.stringify(pool)}',
      '$[' || (n * 7919 % 1000 * n % ${pool.length}) || ']') END`,
  };
  changed['document'] =
    `json_set(document, '$.id', ${changed['id']}, '$.state', ${changed['state']}, ` +
    `'$.createdAt', ${changed['created_at']})`;
  const columns = store
    .all(v.object({ name: v.string() }), 'PRAGMA table_info(txn)')
    .map(({ name }) => name);
  // The two original transactions get earlier creation times than their copies.
  store.run(
    `UPDATE txn SET created_at = created_at - ?1,
       document = json_set(document, '$.createdAt', created_at - ?1) WHERE number > ?2`,
    1000 * rows,
    initial,
  );
  store.run(
    `WITH RECURSIVE series (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM series WHERE n < ?)
     INSERT INTO txn (${columns.join(', ')})
     SELECT ${columns.map((name) => changed[name] ?? name).join(', ')}
     FROM series JOIN txn ON number = ${initial} + 1 + (n % 3 = 0)`,
    rows,
  );
}

const list = async (query: Record<string, string>) =>
  (await client.call('GET', `/transaction?${new URLSearchParams(query).toString()}`)).body;

const some = <T>(...values: T[]) => fc.uniqueArray(fc.constantFrom(...values), { maxLength: 3 });
const asked = fc.record({
  txnStatuses: some(...pool, rareState, 'srccreated'),
  srcMethods: some('lightning', 'servicepay', 'tron'),
  excludedSrcMethods: some('lightning', 'on-chain'),
  from: fc.integer({ min: -10, max: rows + 10 }),
  length: fc.oneof(fc.nat(200), fc.nat(rows)),
  limit: fc.integer({ min: 1, max: 100 }),
  page: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 1000 })),
});

describe('the sandbox list of many thousands of transactions', () => {
  test('returns exactly the transactions that match the filters, page by page', async () => {
    const at = (index: number): number => (all[0]?.at ?? 0) + 1000 * index;
    await fc.assert(
      fc.asyncProperty(asked, async ({ from, length, limit, page, ...filters }) => {
        const [start, end] = [at(from), at(from + length)];
        const { txnStatuses, srcMethods, excludedSrcMethods } = filters;
        const expected = all
          .filter(
            (txn) =>
              txn.at >= start &&
              txn.at <= end &&
              (txnStatuses.length === 0 || txnStatuses.includes(txn.state)) &&
              (srcMethods.length === 0 || srcMethods.includes(txn.source)) &&
              !excludedSrcMethods.some((method) => method === txn.source),
          )
          .toReversed();
        const { data, pagination } = await list({
          time: 'other',
          startTime: new Date(start).toISOString(),
          endTime: new Date(end).toISOString(),
          limit: String(limit),
          page: String(page),
          ...Object.fromEntries(
            Object.entries(filters).map(([name, values]) => [name, values.join(',')]),
          ),
        });
        expect(pagination).toEqual({ page, limit, total: expected.length });
        expect(data.map(({ txnId }: { txnId: string }) => txnId)).toEqual(
          expected.slice((page - 1) * limit, page * limit).map(({ id }) => id),
        );
      }),
      { numRuns: 60 },
    );
  }, 60_000);

  test('counts each transaction once after a change of its state', async () => {
    const { txnId } = (await client.create(swap(1, 'USDT', 'USD'))).body;
    await client.cancel(txnId);
    const { pagination } = await list({ time: '1d', txnStatuses: 'usercanceled' });
    expect(pagination.total).toBe(all.filter(({ state }) => state === 'usercanceled').length + 1);
    await client.control('POST', 'reset');
    expect((await list({ txnStatuses: 'usercanceled,completed' })).pagination.total).toBe(0);
  });
});
