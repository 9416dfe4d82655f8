// Tests the guarantees of the inbox in SQLite and in PostgreSQL: the log of events and its backlog.
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { postgresDatabase } from '../../../src/store/database/postgres.js';
import { prepareTables } from '../../support/prepared-database.js';
import {
  eventLeaseMs,
  type EventStore,
  type Lease,
  type ReceivedEvent,
  type StoredEvent,
} from '../../../src/store/events/event-store.js';
import { inboxPart, openPostgresEvents } from '../../../src/store/events/postgres-events.js';
import { openEventStore } from '../../../src/store/events/sqlite-events.js';
import { placeOf } from '../../../src/webhooks/events.js';
import { withClock } from '../../support/sql-clock.js';
import { hasPgBouncer, hasPostgres, type Databases } from '../../support/postgres.js';
import { sharedPostgres } from '../../support/shared-postgres.js';
import { runsAll } from '../../support/part.js';
import { nowhere, payload, received } from '../../webhooks/support.js';

const plain = (): typeof nowhere => nowhere;

const leases = new WeakMap<EventStore, Map<string, Lease>>();

/** The lease of a worker, which stays the same object, as in a receiver. */
function lease(store: EventStore, consumer: string, worker: string): Lease {
  const own = leases.get(store) ?? new Map<string, Lease>();
  leases.set(store, own);
  const found = own.get(`${consumer} ${worker}`) ?? store.lease(consumer, worker);
  own.set(`${consumer} ${worker}`, found);
  return found;
}

async function all(events: AsyncIterable<StoredEvent>): Promise<StoredEvent[]> {
  const found: StoredEvent[] = [];
  for await (const event of events) found.push(event);
  return found;
}

const append = (
  store: EventStore,
  ids: readonly string[],
  consumers: readonly string[] = ['x'],
): Promise<StoredEvent[]> =>
  store.append(
    ids.map((id, at) => received(payload(id, 'quoted', at))),
    consumers,
    plain,
  );

/** Opens another store on the same file or database on each call. */
type Open = (now?: () => number) => Promise<EventStore>;

async function inFile(): Promise<Open> {
  const folder = mkdtempSync(join(tmpdir(), 'svcpay-events-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return async (now = Date.now) => closed(openEventStore(join(folder, 'events.db'), now));
}

let server: Databases | undefined;
let [url, pooled] = ['', ''];
beforeAll(async () => {
  if (!hasPostgres) return;
  server = await sharedPostgres();
  url = server.database();
  if (hasPgBouncer) pooled = (await server.pooler()).through(url);
}, 60_000);
afterAll(() => server?.stop());

async function inPostgres(address: string): Promise<Open> {
  const connect = () =>
    postgresDatabase({ url: address, source: 'the test', clock: () => performance.now() });
  const first = connect();
  await prepareTables(first, inboxPart);
  await first.transaction((sql) =>
    sql.run('TRUNCATE events, backlog, leases, consumers RESTART IDENTITY'),
  );
  await first.close();
  return async (now = Date.now) => {
    return closed(openPostgresEvents(withClock(connect(), now)));
  };
}

function closed(store: EventStore): EventStore {
  onTestFinished(() => store.close());
  return store;
}

test('openEventStore creates a file that is readable only by its owner', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svcpay-events-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  await append(closed(openEventStore(join(folder, 'events.db'), Date.now)), ['a']);
  expect(statSync(join(folder, 'events.db')).mode & 0o777).toBe(0o600);
});

test('event store refuses every further event after its file was removed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svcpay-events-'));
  const store = closed(openEventStore(join(folder, 'events.db'), Date.now));
  await append(store, ['a']);
  rmSync(folder, { recursive: true });
  await expect(append(store, ['b'])).rejects.toThrow('was moved or deleted while it was in use');
});

const places: [string, () => Promise<Open>][] = [['SQLite', inFile]];
if (hasPostgres) places.push(['PostgreSQL', () => inPostgres(url)]);
if (runsAll && hasPgBouncer)
  places.push(['PostgreSQL through PgBouncer', () => inPostgres(pooled)]);

describe.each(places)('event store in %s', (_name, place) => {
  test('returns the received bytes of an event even after a restart', async () => {
    const open = await place();
    const store = await open();
    const odd: ReceivedEvent = {
      ...received(payload('a')),
      body: Buffer.from([0, 255, 10, 13]),
      txnId: null,
      txnState: null,
      updatedAt: null,
    };
    await store.append([odd], [], plain);
    const again = await open();
    expect(await all(again.since(0))).toEqual([
      { ...odd, ...nowhere, id: 1, body: new Uint8Array(odd.body) },
    ]);
    expect(Buffer.from((await again.read(1))?.body ?? [])).toEqual(odd.body);
  });

  test('compares an event with the earlier events of its transaction', async () => {
    const store = await (await place())();
    const events = [
      payload('a', 'quoted', 1),
      payload('b', 'quoted', 1),
      payload('a', 'quoted', 1),
      payload('a', 'destsent', 3),
    ];
    const stored = await store.append(
      events.map((each) => received(each)),
      [],
      placeOf,
    );
    expect(stored.map(({ duplicateOf, missing }) => ({ duplicateOf, missing }))).toEqual([
      { duplicateOf: null, missing: [] },
      { duplicateOf: null, missing: [] },
      { duplicateOf: 1, missing: [] },
      { duplicateOf: null, missing: ['srccreated'] },
    ]);
    expect(await all(store.since(0))).toMatchObject(
      stored.map(({ id, duplicateOf, missing }) => ({ id, duplicateOf, missing })),
    );
  });

  test('numbers a large group of events in order of arrival', async () => {
    const store = await (await place())();
    const names = Array.from({ length: 90 }, (_, at) => `t${at % 70}`);
    const stored = await store.append(
      names.map((name) => received(payload(name, 'quoted', 1))),
      [],
      placeOf,
    );
    const expected = names.map((txnId, at) => ({
      id: at + 1,
      txnId,
      duplicateOf: at < 70 ? null : at - 69,
    }));
    expect(stored).toMatchObject(expected);
    expect(await all(store.since(0))).toMatchObject(expected);
  });

  test('queues an event once if the event is received twice', async () => {
    const store = await (await place())();
    const event = received(payload('a', 'quoted', 1));
    await store.append([event], ['x'], placeOf);
    await store.append([event], ['x'], placeOf);
    expect(await lease(store, 'x', 'one').take(10)).toEqual([{ eventId: 1, txnId: 'a' }]);
  });

  test('writes no event of a group if one event fails', async () => {
    const store = await (await place())();
    const broken = (): never => {
      throw new Error('no place');
    };
    await expect(store.append([received(payload('a'))], ['x'], broken)).rejects.toThrow('no place');
    expect([await all(store.since(0)), await store.backlog()]).toEqual([[], []]);
  });

  test('keeps events in the backlog of each consumer until they are settled', async () => {
    const store = await (await place())();
    await append(store, ['a', 'b', 'a'], ['x', 'y']);
    await lease(store, 'x', 'one').settle([1, 3]);
    expect(await lease(store, 'x', 'one').take(10)).toEqual([{ eventId: 2, txnId: 'b' }]);
    const waiting = await lease(store, 'y', 'one').take(10);
    expect(waiting.toSorted((a, b) => a.eventId - b.eventId).map(({ txnId }) => txnId)).toEqual([
      'a',
      'b',
      'a',
    ]);
    expect(await lease(store, 'y', 'one').take(10)).toEqual([]);
    expect(await store.backlog()).toMatchObject([
      { consumer: 'x', count: 1 },
      { consumer: 'y', count: 3 },
    ]);
  });

  test('leases a transaction to one worker until its release or the end of the lease', async () => {
    let now = 1_000;
    const open = await place();
    const [one, two] = [await open(() => now), await open(() => now)];
    await append(one, ['a', 'a']);
    expect(await lease(one, 'x', 'one').take(10)).toHaveLength(2);
    expect(await lease(two, 'x', 'two').take(10)).toEqual([]);
    now += eventLeaseMs - 1;
    expect(await lease(one, 'x', 'one').extend()).toBe(true);
    now += eventLeaseMs - 1;
    expect(await lease(two, 'x', 'two').take(10)).toEqual([]);
    now += 2;
    expect(await lease(two, 'x', 'two').take(10)).toHaveLength(2);
    expect(await lease(one, 'x', 'one').extend()).toBe(false);
    await lease(two, 'x', 'two').release();
    await lease(one, 'x', 'one').release();
    expect(await lease(one, 'x', 'one').take(10)).toHaveLength(2);
  });

  test('deletes old events except the backlog and the newest event', async () => {
    const store = await (await place())();
    await store.append([received(payload('a'), 1)], ['x'], plain);
    await store.append([received(payload('b'), 1), received(payload('c'), 1)], [], plain);
    expect(await store.prune(100, 0)).toBe(3);
    expect(await store.prune(100, 3)).toBeUndefined();
    expect((await all(store.since(0))).map(({ txnId }) => txnId)).toEqual(['a', 'c']);
  });

  test('finds all events since an instant even if the events fill several pages', async () => {
    const store = await (await place())();
    await store.append(
      Array.from({ length: 450 }, (_, n) => received(payload(`t${n}`), n)),
      [],
      plain,
    );
    expect((await all(store.since(10))).map(({ id }) => id)).toEqual(
      Array.from({ length: 440 }, (_, n) => n + 11),
    );
  });

  test('finds the transactions whose last event has no final state', async () => {
    const store = await (await place())();
    const events = [
      payload('a', 'quoted', 1),
      payload('b', 'quoted', 1),
      payload('a', 'completed', 2),
      payload('c', 'destsent', 1),
    ];
    await store.append(
      events.map((each) => received(each, 50)),
      [],
      plain,
    );
    expect(await store.unfinished(0, ['completed'], 10)).toEqual([
      { txnId: 'c', txnState: 'destsent' },
      { txnId: 'b', txnState: 'quoted' },
    ]);
    expect(await store.unfinished(51, ['completed'], 10)).toEqual([]);
  });

  test('recognizes a duplicate event that two receivers get at once', async () => {
    const open = await place();
    const [one, two] = [await open(), await open()];
    const event = received(payload('a', 'quoted', 1));
    const stored = await Promise.all(
      [one, two].map((store) => store.append([event], ['x'], placeOf)),
    );
    expect(stored.flat().filter(({ duplicateOf }) => duplicateOf === null)).toHaveLength(1);
    expect(await one.backlog()).toMatchObject([{ consumer: 'x', count: 1 }]);
  });

  test('reports a lease as lost only if another worker has the lease', async () => {
    const store = await (await place())();
    const extended: boolean[] = [];
    for (let turn = 0; turn < 40; turn += 1) {
      await append(store, [`a${turn}`, `b${turn}`]);
      const before = lease(store, 'x', 'one').take(1);
      const [taken] = await Promise.all([
        before,
        lease(store, 'x', 'one')
          .extend()
          .then((kept) => extended.push(kept)),
      ]);
      const settled = lease(store, 'x', 'one').settle(taken.map(({ eventId }) => eventId));
      await Promise.all([
        lease(store, 'x', 'one').take(1),
        settled,
        lease(store, 'x', 'one')
          .extend()
          .then((kept) => extended.push(kept)),
      ]);
    }
    expect(extended.filter((kept) => !kept)).toEqual([]);
  });

  test('keeps every event that arrives at the end of a lease', async () => {
    const open = await place();
    const [one, two] = [await open(), await open()];
    const handed: number[] = [];
    for (let turn = 0; turn < 20; turn += 1) {
      const added = append(two, [`t${turn % 3}`]);
      const taken = (await lease(one, 'x', 'one').take(10)).map(({ eventId }) => eventId);
      handed.push(...taken);
      await Promise.all([added, lease(one, 'x', 'one').settle(taken)]);
    }
    const rest = (await lease(one, 'x', 'one').take(100)).map(({ eventId }) => eventId);
    await lease(one, 'x', 'one').settle(rest);
    expect([...handed, ...rest].toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 20 }, (_, n) => n + 1),
    );
    expect(await one.backlog()).toEqual([]);
  });

  test('lists consumers with their backlog, and renames and removes consumers', async () => {
    const open = await place();
    let now = 1_000_000;
    const store = await open(() => now);
    await store.consumers.serve(['app', 'idle']);
    await append(store, ['a', 'b', 'c'], ['app', 'former']);
    now += 5_000;
    await store.consumers.serve(['idle']);
    const waiting = { count: 3, oldest: 1_000_000, oldestSeconds: 5 };
    expect(await store.consumers.list()).toEqual([
      { consumer: 'app', ...waiting, servedSeconds: 5 },
      { consumer: 'former', ...waiting, servedSeconds: 0 },
      { consumer: 'idle', count: 0, oldest: null, oldestSeconds: null, servedSeconds: 0 },
    ]);
    expect((await store.backlog()).map(({ consumer }) => consumer)).toEqual(['app', 'former']);

    await expect(store.consumers.rename('app', 'idle')).rejects.toMatchObject({ kind: 'usage' });
    await lease(store, 'app', 'worker').take(10);
    await expect(store.consumers.rename('app', 'shop')).rejects.toMatchObject({
      kind: 'temporary',
    });
    await expect(store.consumers.remove('app')).rejects.toMatchObject({ kind: 'temporary' });
    await lease(store, 'app', 'worker').release();
    await store.consumers.rename('app', 'shop');
    expect((await lease(store, 'shop', 'worker').take(10)).map(({ eventId }) => eventId)).toEqual([
      1, 2, 3,
    ]);
    expect(await store.consumers.remove('former')).toBe(3);
    expect((await store.consumers.list()).map(({ consumer }) => consumer)).toEqual([
      'idle',
      'shop',
    ]);
  });
});
