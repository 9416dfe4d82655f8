// readJson and writeJson keep numbers exact.
import Big from 'big.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readJson, writeJson } from '../../../src/sandbox/wire.js';

/** Numbers between 1e-18 and 1e18, because readJson refuses far smaller and far larger numbers. */
const number = fc
  .double({ min: -1e18, max: 1e18, noNaN: true })
  .filter((n) => n === 0 || Math.abs(n) > 1e-18);
const documents = fc
  .object({
    maxDepth: 8,
    withNullPrototype: false,
    key: fc.string({ unit: 'binary' }),
    values: [
      number,
      fc.maxSafeInteger(),
      fc.string({ unit: 'binary' }),
      fc.boolean(),
      fc.constant(null),
    ],
  })
  .map((value) => JSON.stringify(value));

describe('readJson', () => {
  test('agrees with JSON.parse on every document, except for numbers', () => {
    fc.assert(
      fc.property(documents, (text) => {
        expect(withNumbers(readJson(text))).toEqual(JSON.parse(text));
      }),
    );
  });

  test.for(['0.1', '0.100000000000000000001', '1e-8', '9007199254740993', '-0.00000001', '2E3'])(
    'reads the JSON number %s with every digit',
    (literal) => {
      expect(readJson(`{"a":[${literal}]}`)).toEqual({ a: [new Big(literal)] });
    },
  );

  test.for([
    '',
    '{',
    '{"a":01}',
    '[1,]',
    '"\u0001"',
    'NaN',
    '"\\ud800"',
    '{"\\udc00":1}',
    '1e41',
    '[1e-41]',
    '9'.repeat(65),
    '['.repeat(40) + ']'.repeat(40),
  ])('refuses the invalid JSON text %j', (text) => {
    expect(() => readJson(text)).toThrow(SyntaxError);
  });

  test('reads a JSON key of any name as a plain field', () => {
    const read = readJson('{"__proto__":{"a":1},"a":"\\u0000\\"}{"}');
    expect(Object.keys(Object(read))).toEqual(['__proto__', 'a']);
    expect({}).not.toHaveProperty('a');
  });
});

describe('writeJson', () => {
  test.for(
    [
      { literal: '1e-8', text: '0.00000001' },
      { literal: '1e21', text: '1000000000000000000000' },
      { literal: '-0', text: '0' },
      { literal: '10.500', text: '10.5' },
    ].map((each) => [each.literal, each.text, each] as const),
  )('writes the decimal %s as %s', ([, , { literal, text }]) => {
    expect(writeJson({ amount: new Big(literal) })).toBe(`{"amount":${text}}`);
  });

  test('preserves the data of every document that readJson reads', () => {
    fc.assert(
      fc.property(documents, (text) => {
        const expected: unknown = JSON.parse(text, (_, value: unknown) =>
          Object.is(value, -0) ? 0 : value,
        );
        expect(JSON.parse(writeJson(readJson(text)))).toEqual(expected);
      }),
    );
  });
});

function withNumbers(value: unknown): unknown {
  if (value instanceof Big)
    return Number(value.toString()) * (value.s === -1 && value.eq(0) ? -0 : 1);
  if (Array.isArray(value)) return value.map(withNumbers);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, withNumbers(field)]));
}
