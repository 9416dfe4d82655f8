// The sandbox creates random ids.
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { randomId } from '../../../src/sandbox/world.js';

const uuid4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test('randomId returns distinct UUIDs of version 4', () => {
  const ids = Array.from({ length: 1_000 }, () => randomId(randomBytes));
  expect(ids.every((id) => uuid4.test(id))).toBe(true);
  expect(new Set(ids.map((id) => id.slice(0, 13))).size).toBe(1_000);
});
