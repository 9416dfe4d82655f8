// The second 10,000 schedules with one or two homes of a test run; the parts run side by side.
import { expect, test } from 'vitest';
import { failureIn } from './range.js';

test('pays at most once and tells the truth in the second 10,000 schedules with one or two homes', async () => {
  expect(await failureIn(10_001, 20_000, false)).toBeUndefined();
}, 180_000);
