// toJson writes the same data as JSON.stringify, but without exponents, and escapes characters that
// could control a terminal.
import { Big } from 'big.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fieldAt, picked } from '../../../src/terminal/rows/view.js';
import { toJson } from '../../../src/terminal/rows/json.js';

test.each(
  [
    { what: '7e-8', value: 0.00000007, json: '0.00000007' },
    { what: '1e-8', value: 1e-8, json: '0.00000001' },
    { what: '1.5e21', value: 1.5e21, json: '1500000000000000000000' },
    { what: '-0', value: -0, json: '0' },
    { what: '20999999.9769', value: 20_999_999.9769, json: '20999999.9769' },
    { what: 'NaN', value: NaN, json: 'null' },
    { what: 'undefined', value: undefined, json: 'null' },
    { what: 'a Big of 1e-8', value: new Big('1e-8'), json: '0.00000001' },
    { what: 'a Big of -0', value: new Big('-0'), json: '0' },
    {
      what: 'a Big of 21000000.00000001',
      value: new Big('21000000.00000001'),
      json: '21000000.00000001',
    },
    { what: 'a bigint', value: 12345678901234567890n, json: '12345678901234567890' },
    {
      what: 'an object with undefined fields and functions',
      value: { a: undefined, b: [undefined], c: () => 1 },
      json: '{"b":[null]}',
    },
    {
      what: 'a text that looks like a marked number',
      value: '\u0000number:-.-',
      json: '"number:-.-"',
    },
    { what: 'a date', value: new Date(0), json: '"1970-01-01T00:00:00.000Z"' },
    { what: 'an object with an empty key', value: { '': {}, b: [] }, json: '{"":{},"b":[]}' },
  ].map((each) => [each.what, each.json, each] as const),
)('toJson writes %s as %s', (_what, _json, { value, json }) => {
  expect(toJson(value)).toBe(json);
});

test('toJson indents like JSON.stringify', () => {
  const value = { txnId: 'a', sourceReq: { ccy: 'BTC', tags: [1, { deep: true }] }, none: [] };
  expect(toJson(value, { indent: 2 })).toBe(JSON.stringify(value, null, 2));
});

test('toJson writes a document that parses back to the same data, with and without indentation', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(0, 2), (value, indent) => {
      expect(JSON.parse(toJson(value, { indent }))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

test('toJson writes null instead of what is nested too deeply for JSON.stringify', () => {
  const value: unknown = JSON.parse(
    `{"paid":0.5,"deep":${'['.repeat(20_000)}${']'.repeat(20_000)}}`,
  );
  expect(JSON.parse(toJson(value))).toHaveProperty('paid', 0.5);
});

test('toJson writes no number with an exponent', () => {
  fc.assert(fc.property(fc.double(), (value) => !toJson(value).includes('e')));
});

test('toJson escapes control characters without changing the data', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const json = toJson({ [text]: text });
      expect(json).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u);
      expect(JSON.parse(json)).toEqual({ [text]: text });
    }),
  );
});

describe('picked', () => {
  const txn = { txnId: 'a', sourceReq: { ccy: 'BTC', amtSettled: null }, list: [{ x: 1 }] };

  test('selects fields by path in the requested order', () => {
    expect(Object.entries(picked(txn, ['sourceReq.ccy', 'txnId']))).toEqual([
      ['sourceReq.ccy', 'BTC'],
      ['txnId', 'a'],
    ]);
  });

  test('returns null for missing fields, so that each row has all fields', () => {
    expect(
      picked(txn, ['note', 'sourceReq.amtSettled', 'txnId.x', 'sourceReq.ccy.length']),
    ).toEqual({
      note: null,
      'sourceReq.amtSettled': null,
      'txnId.x': null,
      'sourceReq.ccy.length': null,
    });
  });

  test('selects a list item by its index in the path "list.0.x"', () => {
    expect(fieldAt(txn, 'list.0.x')).toBe(1);
  });

  test('selects no inherited properties of a row', () => {
    expect(picked(txn, ['constructor', '__proto__.toString'])).toEqual({
      constructor: null,
      '__proto__.toString': null,
    });
  });
});
