// The 20,000 schedules with several machines of a test run: over one database, or each with a journal of its own.
import { expect, test } from 'vitest';
import { simulate } from './in-test.js';

test('several machines pay at most once and tell the truth in 20,000 schedules', async () => {
  expect(await simulate('--machines', '--runs', '20000')).toEqual({ exitCode: 0, complaints: '' });
}, 240_000);
