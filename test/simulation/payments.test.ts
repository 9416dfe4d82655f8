// The 20,000 schedules of each kind of a test run: with one or two homes, and with several machines, over one database or
// each with a journal of its own.
import { expect, test } from 'vitest';
import { simulate } from './in-test.js';

const kinds = [
  { who: 'one or two homes', mode: [] },
  { who: 'several machines', mode: ['--machines'] },
];

test.concurrent.for(kinds)('$who pay at most once and tell the truth in 20,000 schedules', { timeout: 600_000 }, async ({ mode }) => {
  expect(await simulate([...mode, '--runs', '20000'])).toEqual({ exitCode: 0, complaints: '' });
});
