// The first 10,000 schedules with several machines of a test run; the parts run side by side.
import { expect, test } from 'vitest';
import { failureIn } from './range.js';

test('pays at most once and tells the truth in the first 10,000 schedules with several machines', async () => {
  expect(await failureIn(1, 10_000, true)).toBeUndefined();
}, 180_000);
