// Ids, of the form and as random as those of a service.
import { expect, test } from 'vitest';
import { pooledRandom, randomId } from '../../../src/sandbox/world/context.js';

const uuid4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test('ids have their form and are each its own, also where randomness is fetched for many at a time', () => {
  const random = pooledRandom();
  const ids = Array.from({ length: 1_000 }, () => randomId(random));
  expect(ids.every((id) => uuid4.test(id))).toBe(true);
  expect(new Set(ids.map((id) => id.slice(0, 13))).size).toBe(1_000);
});
