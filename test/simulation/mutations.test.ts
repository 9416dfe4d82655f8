// The simulation is only worth what it notices: mistakes put into the source, and the same seed twice.
import { expect, test } from 'vitest';
import { mutations } from './mutations.mjs';
import { simulate } from './in-test.js';
import { runSchedule } from './schedule.js';

const mistakes = Object.entries(mutations).map(([name, { machines }]) => ({ name, mode: machines === true ? ['--machines'] : [] }));

test.concurrent.for(mistakes)('the simulation notices: $name', { timeout: 120_000 }, async ({ name, mode }) => {
  const { exitCode, complaints } = await simulate('--runs', '3000', ...mode, '--mutation', name);
  expect(exitCode).toBe(1);
  expect(complaints).toMatch(/^Seed \d+ fails:\n/);
});

test('a seed is played again event by event', async () => {
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
