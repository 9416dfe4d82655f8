// wireJson writes JSON like JSON.stringify, but writes numbers without an exponent.
import Big from 'big.js';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { wireJson } from '../../src/api/wire.js';

test('wireJson preserves any JSON value', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(JSON.parse(wireJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

test('wireJson writes any number without an exponent and without loss', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
      const text = wireJson(number);
      expect(text).toMatch(/^-?\d+(\.\d+)?$/);
      expect(Number(text) === number).toBe(true);
    }),
  );
});

test('wireJson keeps every digit of a decimal', () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 0n, max: 10n ** 30n }),
      fc.integer({ min: 0, max: 18 }),
      (digits, scale) => {
        const decimal = new Big(`${digits}e-${scale}`);
        const text = wireJson({ amtRequested: decimal });
        expect(text).toMatch(/^\{"amtRequested":\d+(\.\d*[1-9])?\}$/);
        expect(new Big(text.slice(16, -1)).eq(decimal)).toBe(true);
      },
    ),
  );
});

test('wireJson omits undefined fields', () => {
  expect(wireJson({ a: undefined, b: null, c: [{ d: undefined }] })).toBe('{"b":null,"c":[{}]}');
});

test.for([
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['a bigint', 1n],
  ['a function', () => 1],
  ['a symbol', Symbol('s')],
  ['undefined in a list', [undefined]],
] as const)('wireJson refuses %s because JSON cannot represent the value', ([, value]) => {
  expect(() => wireJson(value)).toThrow();
});
