// What the inbox promises: the log of events and its backlog.
import { statSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { laneLeaseMs, type EventStore, type ReceivedEvent, type StoredEvent } from '../../src/store/events/event-store.js';
import { openEventStore } from '../../src/store/events/sqlite-events.js';
import { placeOf } from '../../src/webhooks/order.js';
import { nowhere, payload, received, test } from '../webhooks/support.js';

const plain = (): typeof nowhere => nowhere;

async function all(events: AsyncIterable<StoredEvent>): Promise<StoredEvent[]> {
  const found: StoredEvent[] = [];
  for await (const event of events) found.push(event);
  return found;
}

const append = (store: EventStore, ids: readonly string[], consumers: readonly string[] = ['x']): Promise<StoredEvent[]> =>
  store.append(ids.map((id, at) => received(payload(id, 'quoted', at))), consumers, plain);

describe('the event store', () => {
  test('gives back the bytes as they came, also after a restart', async ({ store, file }) => {
    const odd: ReceivedEvent = {
      ...received(payload('a')), body: Buffer.from([0, 255, 10, 13]), txnId: null, txnState: null, updatedAt: null,
    };
    await store.append([odd], [], plain);
    const again = openEventStore(file, Date.now);
    expect(await all(again.since(0))).toEqual([{ ...odd, ...nowhere, id: 1, body: new Uint8Array(odd.body) }]);
    expect(Buffer.from((await again.read(1))?.body ?? [])).toEqual(odd.body);
    await again.close();
  });

  test('is readable by its owner alone', async ({ store, file }) => {
    await append(store, ['a']);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test('hands the earlier events of the same transaction to whoever places the next', async ({ store }) => {
    const events = [payload('a', 'quoted', 1), payload('b', 'quoted', 1), payload('a', 'quoted', 1), payload('a', 'destsent', 3)];
    const stored = await store.append(events.map((each) => received(each)), [], placeOf);
    expect(stored.map(({ duplicateOf, missing }) => ({ duplicateOf, missing }))).toEqual([
      { duplicateOf: null, missing: [] },
      { duplicateOf: null, missing: [] },
      { duplicateOf: 1, missing: [] },
      { duplicateOf: null, missing: ['srccreated'] },
    ]);
    expect(await all(store.since(0))).toMatchObject(stored.map(({ id, duplicateOf, missing }) => ({ id, duplicateOf, missing })));
  });

  test('hands on once what was delivered twice', async ({ store }) => {
    const event = received(payload('a', 'quoted', 1));
    await store.append([event], ['x'], placeOf);
    await store.append([event], ['x'], placeOf);
    expect(await store.lanes.take('x', 'one', 10)).toEqual([{ eventId: 1, lane: 'a' }]);
  });

  test('writes all of a group or nothing of it', async ({ store }) => {
    const broken = (): never => {
      throw new Error('no place');
    };
    await expect(store.append([received(payload('a'))], ['x'], broken)).rejects.toThrow('no place');
    expect([await all(store.since(0)), await store.backlog()]).toEqual([[], []]);
  });

  test('keeps what waits per consumer, in order, until it is settled', async ({ store }) => {
    await append(store, ['a', 'b', 'a'], ['x', 'y']);
    await store.lanes.settle('x', 'one', [1, 3]);
    expect(await store.lanes.take('x', 'one', 10)).toEqual([{ eventId: 2, lane: 'b' }]);
    const waiting = await store.lanes.take('y', 'one', 10);
    expect(waiting.toSorted((a, b) => a.eventId - b.eventId).map(({ lane }) => lane)).toEqual(['a', 'b', 'a']);
    expect(await store.lanes.take('y', 'one', 10)).toEqual([]);
    expect(await store.backlog()).toEqual([{ consumer: 'x', count: 1 }, { consumer: 'y', count: 3 }]);
  });

  test('gives a lane to one worker until it is given back or its lease is over', async ({ file }) => {
    let now = 1_000;
    const [one, two] = [openEventStore(file, () => now), openEventStore(file, () => now)];
    await append(one, ['a', 'a']);
    expect(await one.lanes.take('x', 'one', 10)).toHaveLength(2);
    expect(await two.lanes.take('x', 'two', 10)).toEqual([]);
    now += laneLeaseMs - 1;
    expect(await one.lanes.renew('x', 'one')).toBe(true);
    now += laneLeaseMs - 1;
    expect(await two.lanes.take('x', 'two', 10)).toEqual([]);
    now += 2;
    expect(await two.lanes.take('x', 'two', 10)).toHaveLength(2);
    expect(await one.lanes.renew('x', 'one')).toBe(false);
    await two.lanes.release('x', 'two');
    await one.lanes.release('x', 'one');
    expect(await one.lanes.take('x', 'one', 10)).toHaveLength(2);
    await Promise.all([one.close(), two.close()]);
  });

  test('drops what is old, but neither what waits nor its newest', async ({ store }) => {
    await store.append([received(payload('a'), 1)], ['x'], plain);
    await store.append([received(payload('b'), 1), received(payload('c'), 1)], [], plain);
    await store.prune(100);
    expect((await all(store.since(0))).map(({ txnId }) => txnId)).toEqual(['a', 'c']);
  });

  test('finds what came since a moment, page by page', async ({ store }) => {
    await store.append(Array.from({ length: 450 }, (_, n) => received(payload(`t${n}`), n)), [], plain);
    expect((await all(store.since(10))).map(({ id }) => id)).toEqual(Array.from({ length: 440 }, (_, n) => n + 11));
  });

  test('knows whose last event was not the end', async ({ store }) => {
    const events = [payload('a', 'quoted', 1), payload('b', 'quoted', 1), payload('a', 'completed', 2), payload('c', 'destsent', 1)];
    await store.append(events.map((each) => received(each, 50)), [], plain);
    expect(await store.unfinished(0, ['completed'], 10)).toEqual([
      { txnId: 'c', txnState: 'destsent' },
      { txnId: 'b', txnState: 'quoted' },
    ]);
    expect(await store.unfinished(51, ['completed'], 10)).toEqual([]);
  });
});
