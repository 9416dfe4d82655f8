// The schedules of a test run: half of them with one or two homes, half with several machines that
// share a database or have separate journals.
import { expect, test } from 'vitest';
import { countOf, firstSeed } from '../support/part.js';
import { simulate } from './in-test.js';

const kinds = [
  ['one or two homes', ['--seed', String(firstSeed)]],
  ['several machines', ['--seed', String(firstSeed + 10_000), '--machines']],
] as const;
const runs = String(countOf({ part: 160, all: 2_000 }));

test.concurrent.for(kinds)(
  `simulation of %s pays at most once and reports true outcomes in ${runs} schedules`,
  { timeout: 900_000 },
  async ([, from]) => {
    expect(await simulate([...from, '--runs', runs], 4)).toEqual({ exitCode: 0, complaints: '' });
  },
);
