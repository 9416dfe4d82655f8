// rereadWhileStale repeats reads that may be stale.
import { describe, expect, test } from 'vitest';
import { rereadWhileStale } from '../../../src/wallet/transaction/read.js';

describe('rereadWhileStale', () => {
  const world = (answers: readonly string[]) => {
    let [now, reads] = [0, 0];
    const interruption = new AbortController();
    const sleep = async (ms: number): Promise<void> => void (now += ms);
    const read = async (): Promise<string> => answers[Math.min(reads++, answers.length - 1)] ?? '';
    const run = (latest: string) =>
      rereadWhileStale(latest, read, (state) => state === 'quoted', {
        sleep,
        now: () => now,
        signal: interruption.signal,
      });
    return { run, interruption, now: () => now, reads: () => reads };
  };

  test('sends no read if the first result cannot be stale', async () => {
    const { run, reads } = world(['completed']);
    expect(await run('destsent')).toBe('destsent');
    expect(reads()).toBe(0);
  });

  test('stops reading at the first result that cannot be stale', async () => {
    const { run, reads } = world(['quoted', 'destsent', 'completed']);
    expect(await run('quoted')).toBe('destsent');
    expect(reads()).toBe(2);
  });

  test('reads for 8 s before it accepts an unchanged result', async () => {
    const { run, now, reads } = world(['quoted']);
    expect(await run('quoted')).toBe('quoted');
    expect(now()).toBe(8_000);
    expect(reads()).toBe(4);
  });

  test('sends no read after an interruption', async () => {
    const { run, interruption, reads } = world(['quoted']);
    interruption.abort();
    expect(await run('quoted')).toBe('quoted');
    expect(reads()).toBe(0);
  });
});
