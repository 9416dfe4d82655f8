// svcpay delivers every event of the backlog in order per transaction, whatever fails in between.
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, onTestFinished, vi } from 'vitest';
import type { EventStore, StoredEvent } from '../../src/store/events/event-store.js';
import {
  startDispatcher,
  type Deliver,
  type Dispatcher,
  type DispatchOptions,
} from '../../src/webhooks/dispatch.js';
import { nowhere, payload, received, test } from './support.js';

const consumer = 'http://target/';

const append = (store: EventStore, ids: readonly string[]): Promise<StoredEvent[]> =>
  store.append(
    ids.map((id, at) => received(payload(id, 'quoted', at))),
    [consumer],
    () => nowhere,
  );

/** Pseudo-random, reproducible numbers. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

const start = (
  store: EventStore,
  deliver: Deliver,
  change: Partial<DispatchOptions> = {},
): Dispatcher =>
  startDispatcher({
    consumer,
    worker: 'one',
    store,
    deliver,
    workers: 8,
    elapsed: () => performance.now(),
    sleep: (ms, signal) => delay(ms, undefined, { signal }),
    every: (ms, action) => {
      const timer = setInterval(action, ms);
      return () => clearInterval(timer);
    },
    random: () => 0,
    onFailed: () => undefined,
    onTrouble: () => undefined,
    ...change,
  });

describe('webhook dispatcher', () => {
  test('delivers every event in order per transaction despite failures and restarts', async ({
    store,
  }) => {
    const ids = Array.from({ length: 300 }, (_, n) => `t${n % 40}`);
    await append(store, ids);
    const random = seeded(7);
    const arrived = new Map<string, number[]>();
    const deliver: Deliver = async ({ id, txnId }) => {
      await new Promise((resolve) => setImmediate(resolve));
      const chance = random();
      if (chance < 0.05) return { kind: 'retry', scope: 'consumer', reason: 'down' };
      if (chance < 0.1) return { kind: 'retry', scope: 'transaction', reason: 'not now' };
      arrived.set(txnId ?? '', [...(arrived.get(txnId ?? '') ?? []), id]);
      return { kind: 'delivered' };
    };
    while ((await store.backlog()).length > 0) {
      const dispatcher = start(store, deliver);
      await delay(200);
      await dispatcher.stop();
    }
    expect([...arrived.values()].flat().toSorted((a, b) => a - b)).toEqual(
      ids.map((_, n) => n + 1),
    );
    for (const each of arrived.values()) expect(each).toEqual(each.toSorted((a, b) => a - b));
  });

  test('retries a delivery on time even if the wall clock is set back', async ({ store }) => {
    await append(store, ['t1']);
    let attempts = 0;
    const done = new Promise<void>((resolve) => {
      const dispatcher = start(store, () => {
        attempts += 1;
        if (attempts > 1) void dispatcher.stop().then(resolve);
        else vi.spyOn(Date, 'now').mockReturnValue(Date.now() - 3_600_000);
        return Promise.resolve(
          attempts > 1
            ? { kind: 'delivered' }
            : { kind: 'retry', scope: 'consumer', reason: 'down' },
        );
      });
    });
    onTestFinished(() => void vi.restoreAllMocks());
    await done;
    expect(attempts).toBe(2);
  });

  test('continues after an error in a delivery or in the store', async ({ store }) => {
    await append(store, ['t1', 't1']);
    const failed: string[] = [];
    let reads = 0;
    const failing: DispatchOptions['store'] = {
      lease: store.lease,
      read: (id) =>
        (reads += 1) === 1 ? Promise.reject(new Error('the disk is gone')) : store.read(id),
    };
    const deliver: Deliver = ({ id }) =>
      id === 1 ? Promise.reject(new Error('no process')) : Promise.resolve({ kind: 'delivered' });
    const dispatcher = start(store, deliver, {
      store: failing,
      onFailed: (_event, reason) => void failed.push(reason),
    });
    await expect.poll(() => dispatcher.counts.delivered).toBe(1);
    await dispatcher.stop();
    expect(failed).toEqual(['Error: no process']);
    expect(await store.backlog()).toEqual([]);
  });

  test('delivers events of other transactions while a consumer refuses one transaction', async ({
    store,
  }) => {
    await append(store, ['bad', 'good', 'bad', 'better']);
    const arrived: string[] = [];
    const dispatcher = start(store, ({ txnId }) => {
      if (txnId === 'bad')
        return Promise.resolve({ kind: 'retry', scope: 'transaction', reason: '400' });
      arrived.push(txnId ?? '');
      return Promise.resolve({ kind: 'delivered' });
    });
    await expect.poll(() => arrived.length).toBe(2);
    await dispatcher.stop();
    expect(arrived).toEqual(['good', 'better']);
    expect(await store.backlog()).toMatchObject([{ consumer, count: 2 }]);
  });

  test('reports once that a consumer is down and once that the consumer is back', async ({
    store,
  }) => {
    await append(
      store,
      Array.from({ length: 50 }, (_, n) => `t${n}`),
    );
    let attempts = 0;
    const reasons: (string | undefined)[] = [];
    let back = (): void => undefined;
    const isBack = new Promise<void>((resolve) => (back = resolve));
    const deliver: Deliver = () => {
      attempts += 1;
      return Promise.resolve(
        attempts < 10
          ? { kind: 'retry', scope: 'consumer', reason: 'refused' }
          : { kind: 'delivered' },
      );
    };
    const dispatcher = start(store, deliver, {
      onTrouble: (reason) => {
        reasons.push(reason);
        if (reason === undefined) back();
      },
    });
    await isBack;
    await expect.poll(() => dispatcher.counts.delivered).toBe(50);
    await dispatcher.stop();
    expect(reasons).toEqual(['refused', undefined]);
    expect(await store.backlog()).toEqual([]);
    expect(attempts).toBe(50 + 9);
  });

  test('waits longer after each failure of a consumer that is down', async ({ store }) => {
    await append(store, ['t1', 't2', 't3']);
    let now = 0;
    const calls: number[] = [];
    const deliver: Deliver = async () => {
      calls.push(now);
      return calls.length < 5
        ? { kind: 'retry', scope: 'consumer', reason: 'refused' }
        : { kind: 'delivered' };
    };
    const dispatcher = start(store, deliver, {
      workers: 1,
      elapsed: () => now,
      sleep: async (ms) => {
        await new Promise((resolve) => setImmediate(resolve));
        now += ms;
      },
      random: () => 1,
    });
    await expect.poll(() => dispatcher.counts.delivered).toBe(3);
    await dispatcher.stop();
    const pauses = calls.slice(1, 5).map((at, n) => at - (calls[n] ?? 0));
    expect(pauses).toEqual([...new Set(pauses)].toSorted((a, b) => a - b));
    expect(pauses[0]).toBeGreaterThan(0);
  });

  test('removes a failed event from the backlog and reports the failure', async ({ store }) => {
    await append(store, ['a']);
    const failures: string[] = [];
    const dispatcher = start(
      store,
      () => Promise.resolve({ kind: 'failed', reason: 'exit code 1' }),
      {
        onFailed: ({ id }, reason) => failures.push(`${id} ${reason}`),
      },
    );
    await expect.poll(() => dispatcher.counts.failed).toBe(1);
    await dispatcher.stop();
    expect([failures, dispatcher.counts, await store.backlog()]).toEqual([
      ['1 exit code 1'],
      { delivered: 0, failed: 1, retried: 0 },
      [],
    ]);
  });

  test('delivers events that arrive while the dispatcher is idle', async ({ store }) => {
    const arrived: number[] = [];
    const dispatcher = start(store, ({ id }) => {
      arrived.push(id);
      return Promise.resolve({ kind: 'delivered' });
    });
    await append(store, ['a', 'b']);
    dispatcher.checkForEvents();
    await expect.poll(() => dispatcher.counts.delivered).toBe(2);
    await dispatcher.stop();
    expect(arrived).toEqual([1, 2]);
  });

  test('finishes deliveries in flight after a stop and starts no new delivery', async ({
    store,
  }) => {
    const ids = Array.from({ length: 20 }, (_, n) => `t${n}`);
    await append(store, ids);
    const begun: number[] = [];
    let answer = (): void => undefined;
    const answered = new Promise<void>((resolve) => (answer = resolve));
    const slow: Deliver = async ({ id }, signal) => {
      begun.push(id);
      await answered;
      return signal.aborted
        ? { kind: 'retry', scope: 'consumer', reason: 'aborted' }
        : { kind: 'delivered' };
    };
    const quickly: DispatchOptions['every'] = (ms, action) => {
      const timer = setInterval(action, ms / 100);
      return () => clearInterval(timer);
    };
    const stopped = start(store, slow, { every: quickly });
    await expect.poll(() => begun.length).toBe(8);
    const stop = stopped.stop();
    const elsewhere: number[] = [];
    const other = start(
      store,
      ({ id }) => (elsewhere.push(id), Promise.resolve({ kind: 'delivered' })),
      { worker: 'two', every: quickly },
    );
    // The clock advances 15 s in steps of 3 s. The lease would end after 10 s if the dispatcher did
    // not extend it.
    const { now } = Date;
    onTestFinished(() => void vi.restoreAllMocks());
    for (let passed = 3_000; passed <= 15_000; passed += 3_000) {
      vi.spyOn(Date, 'now').mockImplementation(() => now() + passed);
      await delay(60);
    }
    expect([begun.length, elsewhere]).toEqual([8, []]);
    answer();
    await stop;
    await expect.poll(async () => (await store.backlog()).length, { timeout: 3_000 }).toBe(0);
    await other.stop();
    expect([...begun, ...elsewhere].toSorted((a, b) => a - b)).toEqual(ids.map((_, n) => n + 1));
  });

  test('aborts a delivery in flight 15 s after a stop', async ({ store }) => {
    await append(store, ['t1']);
    const waits: number[] = [];
    const dispatcher = start(
      store,
      (_event, signal) =>
        new Promise((resolve) =>
          signal.addEventListener('abort', () =>
            resolve({ kind: 'retry', scope: 'consumer', reason: 'aborted' }),
          ),
        ),
      { sleep: (ms) => (waits.push(ms), Promise.resolve()) },
    );
    await delay(20);
    await dispatcher.stop();
    expect(waits).toContain(15_000);
    expect(await store.backlog()).toMatchObject([{ count: 1 }]);
  });
});
