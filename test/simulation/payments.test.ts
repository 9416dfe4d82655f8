// The schedules of a test run, half of them with one or two homes, half with several machines, over
// one database or each with a journal of its own.
import { expect, test } from 'vitest';
import { countOf, firstSeed } from '../support/part.js';
import { simulate } from './in-test.js';

const kinds = [
  { who: 'one or two homes', from: ['--seed', String(firstSeed)] },
  { who: 'several machines', from: ['--seed', String(firstSeed + 10_000), '--machines'] },
];
const runs = String(countOf({ part: 400, all: 2_000 }));

test.concurrent.for(kinds)(
  `$who pay at most once and tell the truth in ${runs} schedules`,
  { timeout: 900_000 },
  async ({ from }) => {
    expect(await simulate([...from, '--runs', runs], 4)).toEqual({ exitCode: 0, complaints: '' });
  },
);
