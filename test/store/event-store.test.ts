// The log of events and its backlog.
import { statSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { openEventStore } from '../../src/store/events/event-store.js';
import { placeOf } from '../../src/webhooks/order.js';
import { nowhere, payload, received, test } from '../webhooks/support.js';

const plain = (): typeof nowhere => nowhere;

describe('the event store', () => {
  test('gives back the bytes as they came, also after a restart', async ({ store, file }) => {
    const odd = { ...received(payload('a')), body: Buffer.from([0, 255, 10, 13]), txnId: null, txnState: null, updatedAt: null };
    await store.append([odd], [], plain);
    const again = openEventStore(file);
    expect(Buffer.from(again.read(1)?.body ?? [])).toEqual(odd.body);
    expect(again.after(0, 10)).toEqual([{ ...odd, ...nowhere, id: 1, body: new Uint8Array(odd.body) }]);
    again.close();
  });

  test('is readable by its owner alone', async ({ store, file }) => {
    await store.append([received(payload('a'))], [], plain);
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
    expect(store.after(0, 10)).toMatchObject(stored.map(({ id, duplicateOf, missing }) => ({ id, duplicateOf, missing })));
  });

  test('writes all of a group or nothing of it', async ({ store }) => {
    const broken = (): never => {
      throw new Error('no place');
    };
    await expect(store.append([received(payload('a'))], ['x'], broken)).rejects.toThrow('no place');
    expect([store.lastId(), store.backlog()]).toEqual([0, []]);
  });

  test('keeps what waits per consumer, in order, until it is settled', async ({ store }) => {
    await store.append(['a', 'b', 'a'].map((id, at) => received(payload(id, 'quoted', at))), ['x', 'y'], plain);
    store.settle('x', [1, 3]);
    expect(store.waiting('x', 0, 10)).toEqual([{ eventId: 2, lane: 'b' }]);
    expect(store.waiting('y', 1, 1)).toEqual([{ eventId: 2, lane: 'b' }]);
    expect(store.backlog()).toEqual([{ consumer: 'x', count: 1 }, { consumer: 'y', count: 3 }]);
  });

  test('drops what is old, but neither what waits nor its newest', async ({ store }) => {
    await store.append([received(payload('a'), 1)], ['x'], plain);
    await store.append([received(payload('b'), 1), received(payload('c'), 1)], [], plain);
    store.prune(100);
    expect(store.after(0, 10).map(({ txnId }) => txnId)).toEqual(['a', 'c']);
  });

  test('finds what came since a moment, page by page', async ({ store }) => {
    await store.append(Array.from({ length: 450 }, (_, n) => received(payload(`t${n}`), n)), [], plain);
    expect([...store.since(10)].map(({ id }) => id)).toEqual(Array.from({ length: 440 }, (_, n) => n + 11));
  });

  test('knows whose last event was not the end', async ({ store }) => {
    const events = [payload('a', 'quoted', 1), payload('b', 'quoted', 1), payload('a', 'completed', 2), payload('c', 'destsent', 1)];
    await store.append(events.map((each) => received(each, 50)), [], plain);
    expect(store.unfinished(0, ['completed'], 10)).toEqual([
      { txnId: 'c', txnState: 'destsent' },
      { txnId: 'b', txnState: 'quoted' },
    ]);
    expect(store.unfinished(51, ['completed'], 10)).toEqual([]);
  });
});
