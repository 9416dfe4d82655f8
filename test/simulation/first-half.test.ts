// The first half of the 20,000 schedules of a test run; the halves run side by side.
import { expect, test } from 'vitest';
import { firstFailure } from './range.js';

test('pays at most once and tells the truth in the first 10,000 schedules', async () => {
  expect(await firstFailure(1, 10_000)).toBeUndefined();
}, 120_000);
