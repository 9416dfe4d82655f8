// utcWriter formats instants as text in UTC.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { utcWriter } from '../../../src/wallet/history/export.js';

test('utcWriter formats any list of instants like toISOString', () => {
  const day = 86_400_000;
  const near = fc.integer({ min: -day * 2, max: day * 2 });
  const instant = fc.oneof(
    fc.date({ noInvalidDate: true }).map(Number),
    near,
    fc.constantFrom(0, day - 1, day, 0.5, -0),
  );
  fc.assert(
    fc.property(fc.array(instant), (instants) => {
      const write = utcWriter();
      expect(instants.map(write)).toEqual(instants.map((at) => new Date(at).toISOString()));
    }),
  );
});
