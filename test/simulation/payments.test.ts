// The schedules of a test run: with one or two homes, with several machines that share a database or
// have separate journals, and with people who type whole command lines.
import { expect, test } from 'vitest';
import { countOf, firstSeed } from '../support/part.js';
import { breaks } from './breaks.js';
import { simulate } from './in-test.js';

const schedules = countOf({ part: 80, all: 2_000 });
const kinds = [
  ['one or two homes', 0, schedules, []],
  ['several machines', 10_000, schedules, ['--machines']],
  ['typed command lines', 20_000, countOf({ part: 8, all: 200 }), ['--typed']],
] as const;

test.concurrent.for(kinds)(
  'simulation of %s pays at most once and reports true outcomes',
  { timeout: 900_000 },
  async ([, from, runs, options]) => {
    const seed = String(firstSeed + from);
    expect(await simulate(['--seed', seed, '--runs', String(runs), ...options], 4)).toEqual({
      exitCode: 0,
      complaints: '',
    });
  },
);

test.for(breaks)('the audit of typed command lines finds that $name', async (broken) => {
  const found = await simulate(
    ['--typed', '--seed', String(broken.seed), '--runs', '1'],
    4,
    broken,
  );
  expect(found).toMatchObject({ exitCode: 1, complaints: expect.stringMatching(broken.finds) });
});
