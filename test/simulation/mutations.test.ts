// The simulation is only worth what it notices: mistakes put into the payment machine, and the same seed twice.
import { describe, expect, test } from 'vitest';
import { excused, leftOut } from './known-open.js';
import { mutations } from './mutations.js';
import { firstFailure } from './range.js';
import { runSchedule } from './schedule.js';

describe('the simulation', () => {
  test.each(Object.entries(mutations))('notices %s', async (_name, mutate) => {
    expect(await firstFailure(1, 2_000, { mutate, without: leftOut, excused })).toMatchObject({ violations: expect.arrayContaining([expect.any(String)]) });
  }, 60_000);

  test('plays a seed again event by event', async () => {
    const play = async (seed: number): Promise<string[]> => {
      const lines: string[] = [];
      await runSchedule(seed, { trace: (line) => void lines.push(line) });
      return lines;
    };
    for (const seed of [7, 77, 777]) {
      const lines = await play(seed);
      expect(lines.length).toBeGreaterThan(5);
      expect(await play(seed)).toEqual(lines);
    }
  });
});
