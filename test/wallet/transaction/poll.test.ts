// The pace of polling as a function of the time waited, and the repetition of reads that may be stale.
import { describe, expect, test } from 'vitest';
import type { Pace } from '../../../src/formats/rails.js';
import { pauseMs, rereadWhileStale } from '../../../src/wallet/transaction/poll.js';

/** The moments of all reads within `ms`, where a read takes no time. */
function readsWithin(ms: number, pace: Pace): number[] {
  const reads: number[] = [];
  for (let at = pauseMs(0, pace); at <= ms; at += pauseMs(at, pace)) reads.push(at);
  return reads;
}

const [minute, hour] = [60_000, 3_600_000];

describe('pauseMs', () => {
  test('starts with 100, 200 and 280 ms for Lightning, then grows by about a third', () => {
    const reads = readsWithin(minute, 'quick');
    expect(reads.slice(0, 3)).toEqual([100, 300, 580]);
    const pauses = reads.slice(3).map((at, n) => at - (reads[n + 2] ?? 0));
    for (const [n, pause] of pauses.slice(1).entries())
      expect(pause / (pauses[n] ?? 0)).toBeCloseTo(4 / 3, 2);
  });

  test.for(['quick', 'steady', 'blocks'] as const)(
    '%s: a settled payment is seen within a third of the time waited',
    (pace) => {
      for (let waited = 3_000; waited < hour; waited += 1_999)
        expect(pauseMs(waited, pace)).toBeLessThanOrEqual(waited / 3);
    },
  );

  test('limits a Lightning payment, with 6 other requests, to 25 requests in its first minute', () => {
    expect(readsWithin(minute, 'quick').length + 6).toBeLessThanOrEqual(25);
  });

  test('limits an on-chain payment, with 6 other requests, to 60 requests in its first hour', () => {
    expect(readsWithin(hour, 'blocks').length + 6).toBeLessThanOrEqual(60);
    expect(readsWithin(24 * hour, 'blocks').length).toBeLessThanOrEqual(24 * 40);
  });

  test('reads a Lightning payment at least every 15 s', () => {
    expect(pauseMs(10 * hour, 'quick')).toBe(15_000);
  });
});

describe('rereadWhileStale', () => {
  const world = (answers: readonly string[]) => {
    let [now, reads] = [0, 0];
    const interruption = new AbortController();
    const sleep = async (ms: number): Promise<void> => void (now += ms);
    const read = async (): Promise<string> => answers[Math.min(reads++, answers.length - 1)] ?? '';
    const run = (latest: string) =>
      rereadWhileStale(latest, read, (state) => state === 'quoted', {
        sleep,
        signal: interruption.signal,
      });
    return { run, interruption, now: () => now, reads: () => reads };
  };

  test('reads nothing if the first result cannot be stale', async () => {
    const { run, reads } = world(['completed']);
    expect(await run('destsent')).toBe('destsent');
    expect(reads()).toBe(0);
  });

  test('stops at the first result that differs', async () => {
    const { run, reads } = world(['quoted', 'destsent', 'completed']);
    expect(await run('quoted')).toBe('destsent');
    expect(reads()).toBe(2);
  });

  test('reads for 8 s before it accepts a constant result', async () => {
    const { run, now, reads } = world(['quoted']);
    expect(await run('quoted')).toBe('quoted');
    expect(now()).toBe(8_000);
    expect(reads()).toBe(4);
  });

  test('ends at once on interruption', async () => {
    const { run, interruption, reads } = world(['quoted']);
    interruption.abort();
    expect(await run('quoted')).toBe('quoted');
    expect(reads()).toBe(0);
  });
});
