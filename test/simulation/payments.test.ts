// The 4,000 schedules of a test run, half of them with one or two homes, half with several machines, over one database or each
// with a journal of its own.
import { expect, test } from 'vitest';
import { simulate } from './in-test.js';

const kinds = [
  { who: 'one or two homes', from: ['--seed', '1'] },
  { who: 'several machines', from: ['--seed', '10001', '--machines'] },
];

test.concurrent.for(kinds)(
  '$who pay at most once and tell the truth in 2,000 schedules',
  { timeout: 900_000 },
  async ({ from }) => {
    expect(await simulate([...from, '--runs', '2000'], 4)).toEqual({ exitCode: 0, complaints: '' });
  },
);
