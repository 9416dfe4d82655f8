// Ids: of one form, and those of transactions in the order of time.
import { expect, test } from 'vitest';
import { pooledRandom, randomId, timedId } from '../../../src/sandbox/world/context.js';

const uuid4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test('the id of a transaction has the form of any other, is its own, and sorts after those made before', () => {
  const random = pooledRandom();
  const at = (now: number): string => timedId({ now, random });
  const ids = [0, 1, 255, 256, 1_790_000_000_000, 1_790_000_000_001, 8e13].map(at);
  expect([randomId(random), ...ids].every((id) => uuid4.test(id))).toBe(true);
  expect(ids.toSorted()).toEqual(ids);
  expect(new Set(Array.from({ length: 1_000 }, () => at(1))).size).toBe(1_000);
});
