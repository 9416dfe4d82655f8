// The 20,000 schedules with one or two homes of a test run.
import { expect, test } from 'vitest';
import { simulate } from './in-test.js';

test('one or two homes pay at most once and tell the truth in 20,000 schedules', async () => {
  expect(await simulate('--runs', '20000')).toEqual({ exitCode: 0, complaints: '' });
}, 240_000);
