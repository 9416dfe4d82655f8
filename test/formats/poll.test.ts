// Tests the poll loop, and how the pauses of its policies grow with the time waited.
import { describe, expect, test } from 'vitest';
import {
  policies,
  pauseAfter,
  poll,
  type PollNext,
  type Policy,
  type PollTurn,
} from '../../src/formats/poll.js';
import type { Pace } from '../../src/formats/rails.js';

const pauseMs = (waitedMs: number, pace: Pace): number =>
  pauseAfter(policies[pace], { number: 1, waitedMs }) ?? Number.NaN;

/** Returns the times of all reads in the first `ms` milliseconds, if each read takes no time. */
function readsWithin(ms: number, pace: Pace): number[] {
  const reads: number[] = [];
  for (let at = pauseMs(0, pace); at <= ms; at += pauseMs(at, pace)) reads.push(at);
  return reads;
}

const [minute, hour] = [60_000, 3_600_000];

describe('the pace of the poll loop', () => {
  test('starts with pauses of 100, 200 and 280 ms for Lightning, then lengthens each pause by a third', () => {
    const reads = readsWithin(minute, 'quick');
    expect(reads.slice(0, 3)).toEqual([100, 300, 580]);
    const pauses = reads.slice(3).map((at, n) => at - (reads[n + 2] ?? 0));
    for (const [n, pause] of pauses.slice(1).entries())
      expect(pause / (pauses[n] ?? 0)).toBeCloseTo(4 / 3, 2);
  });

  test.for(['quick', 'steady', 'blocks'] as const)(
    'after the first 3 s at the %s pace, limits each pause to a third of the elapsed time',
    (pace) => {
      for (let waited = 3_000; waited < hour; waited += 1_999)
        expect(pauseMs(waited, pace)).toBeLessThanOrEqual(waited / 3);
    },
  );

  test('limits a Lightning payment to 25 requests in its first minute, 6 of which do not read the state', () => {
    expect(readsWithin(minute, 'quick').length + 6).toBeLessThanOrEqual(25);
  });

  test('limits an on-chain payment to 60 requests in its first hour, 6 of which do not read the state', () => {
    expect(readsWithin(hour, 'blocks').length + 6).toBeLessThanOrEqual(60);
    expect(readsWithin(24 * hour, 'blocks').length).toBeLessThanOrEqual(24 * 40);
  });

  test('reads the state of a Lightning payment at least every 15 s', () => {
    expect(pauseMs(10 * hour, 'quick')).toBe(15_000);
  });
});

describe('the poll loop', () => {
  const world = () => {
    let now = 0;
    const interruption = new AbortController();
    const sleep = async (ms: number): Promise<void> => void (now += ms);
    const run = async (policy: Policy, doneAt: number, atMostMs?: number) => {
      const at: number[] = [];
      const step = async ({ number, waitedMs }: PollTurn): Promise<PollNext<number>> => {
        at.push(waitedMs);
        return number === doneAt ? { done: number } : {};
      };
      const deps = { sleep, now: () => now, signal: interruption.signal };
      return { end: await poll(policy, step, deps, atMostMs), at };
    };
    return { run, interruption, jump: (ms: number) => void (now += ms) };
  };

  test('ends with the result of the first step that returns a result', async () => {
    expect(await world().run(policies.takeOver, 3)).toEqual({
      end: { done: 3 },
      at: [0, 150, 300],
    });
  });

  test('ends after the last pause of a policy that lists its pauses', async () => {
    const { end, at } = await world().run(policies.staleRead, 9);
    expect(end).toEqual({ over: 'exhausted' });
    expect(at).toEqual([0, 500, 1_500, 3_500, 8_000]);
  });

  test('ends after the last step of a policy that limits the number of steps', async () => {
    const { at } = await world().run(policies.createRequest, 9);
    expect(at).toEqual([0, 250, 750, 1_750]);
  });

  test('takes its last step at the end of the time limit', async () => {
    const { end, at } = await world().run(policies.quick, 99, 1_000);
    expect(end).toEqual({ over: 'exhausted' });
    expect(at.at(-1)).toBe(1_000);
  });

  test('ends after the first step if the signal is aborted', async () => {
    const { run, interruption } = world();
    interruption.abort();
    expect(await run(policies.quick, 9)).toEqual({ end: { over: 'interrupted' }, at: [0] });
  });

  test('waits for the pause that a step requests', async () => {
    let now = 0;
    const deps = { now: () => now, sleep: async (ms: number) => void (now += ms) };
    const end = await poll(
      policies.createRequest,
      async ({ waitedMs }) => (waitedMs === 7_000 ? { done: true } : { afterMs: 7_000 }),
      deps,
    );
    expect(end).toEqual({ done: true });
  });

  test('counts a forward clock jump as a minute at most, and ignores a backward clock jump', async () => {
    const jumps = [3_600_000_000, -3_600_000_000, 0, 0];
    let now = 0;
    const at: number[] = [];
    await poll(
      policies.staleRead,
      async ({ waitedMs }) => {
        at.push(waitedMs);
        return {};
      },
      { now: () => now, sleep: async (ms) => void (now += ms + (jumps.shift() ?? 0)) },
    );
    expect(at).toEqual([0, 60_500, 61_500, 63_500, 68_000]);
  });
});
