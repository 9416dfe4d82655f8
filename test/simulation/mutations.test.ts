// The simulation is only worth what it notices: mistakes put into the source, and the same seed twice.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { mutations } from './mutations.mjs';
import { simulate } from './in-test.js';
import { runSchedule } from './schedule.js';

/** Those that the schedules notice at once; the others are tried by hand, see `mutate.mjs`. */
const mistakes = Object.entries(mutations).flatMap(([name, { machines, seed = 1, mistake }]) => {
  const from = [...(machines === true ? ['--machines'] : []), ...(mistake === undefined ? [] : ['--mistake', mistake]), '--seed', `${seed}`];
  return mutations[name]?.seed === undefined && mistake === undefined ? [] : [{ name, from }];
});

test.concurrent.for(mistakes)('the simulation notices: $name', { timeout: 120_000 }, async ({ name, from }) => {
  const { exitCode, complaints } = await simulate([...from, '--runs', '3000'], 5, name);
  expect(exitCode).toBe(1);
  expect(complaints).toMatch(/^Seed \d+ fails:\n/);
});

test('every mistake has its place in the source, those that are put in by hand too', () => {
  const edits = Object.entries(mutations).flatMap(([name, mutation]) => mutation.edits.map(([file, from]) => ({ name, file, from })));
  expect(edits.filter(({ file, from }) => !readFileSync(file, 'utf8').includes(from))).toEqual([]);
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
