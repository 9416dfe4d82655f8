// lazily() computes a value on first use, and caches the value but not a failure.
import { expect, test } from 'vitest';
import { lazily } from '../../src/cli/stores.js';

test('lazily() computes its value only once', async () => {
  let times = 0;
  const made = lazily(async () => (times += 1));
  expect([await made(), await made()]).toEqual([1, 1]);
});

test.each(
  [
    {
      how: 'throws',
      fail: (): Promise<number> => {
        throw new Error('away');
      },
    },
    { how: 'rejects', fail: (): Promise<number> => Promise.reject(new Error('away')) },
  ].map((each) => [each.how, each] as const),
)('lazily() computes its value again if the first attempt %s', async (_how, { fail }) => {
  let times = 0;
  const made = lazily(() => ((times += 1) === 1 ? fail() : Promise.resolve(times)));
  await expect((async () => made())()).rejects.toThrow('away');
  expect([await made(), await made()]).toEqual([2, 2]);
});
