// JSON for scripts: equivalent to JSON.stringify, with plain numbers, and safe on a terminal.
import { Big } from 'big.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fromWireNames } from '../../../src/api/wire.js';
import { fieldAt, pickFields } from '../../../src/terminal/rows/cell.js';
import { parsedToLines, toJson } from '../../../src/terminal/rows/json.js';

test.each([
  { value: 0.00000007, json: '0.00000007' },
  { value: 1e-8, json: '0.00000001' },
  { value: 1.5e21, json: '1500000000000000000000' },
  { value: -0, json: '0' },
  { value: 20_999_999.9769, json: '20999999.9769' },
  { value: NaN, json: 'null' },
  { value: undefined, json: 'null' },
  { value: new Big('1e-8'), json: '0.00000001' },
  { value: new Big('-0'), json: '0' },
  { value: new Big('21000000.00000001'), json: '21000000.00000001' },
  { value: 12345678901234567890n, json: '12345678901234567890' },
  { value: { a: undefined, b: [undefined], c: () => 1 }, json: '{"b":[null]}' },
  { value: new Date(0), json: '"1970-01-01T00:00:00.000Z"' },
  { value: { '': {}, b: [] }, json: '{"":{},"b":[]}' },
])('$value is written as $json', ({ value, json }) => {
  expect(toJson(value)).toBe(json);
});

test('indented output is identical to JSON.stringify', () => {
  const value = { txnId: 'a', sourceReq: { ccy: 'BTC', tags: [1, { deep: true }] }, none: [] };
  expect(toJson(value, { indent: 2 })).toBe(JSON.stringify(value, null, 2));
});

test('data nested deeper than the call stack is written', () => {
  const json = '{"a":['.repeat(50_000) + ']}'.repeat(50_000);
  expect(toJson(fromWireNames(JSON.parse(json), 'acme'))).toBe(json);
  expect(parsedToLines([JSON.parse(json), [1e-8]])).toBe(`${json}\n[0.00000001]\n`);
});

test('a document reads back as the same data, whatever the indent', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(0, 2), (value, indent) => {
      expect(JSON.parse(toJson(value, { indent }))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

test('no number has an exponent', () => {
  fc.assert(fc.property(fc.double(), (value) => !toJson(value).includes('e')));
});

test('received JSON is written unchanged by the fast path, whatever its texts and names', () => {
  const lookalikes = fc.constantFrom(
    ':1e-7,',
    '":1e-7,',
    'a":1e-7}',
    '[2e-8]',
    '\\',
    '\\":3e+21,',
    'e-7}',
    'é',
  );
  const small = fc.double({ min: -1e-5, max: 1e-5, noNaN: true });
  const scalar = fc.oneof(
    fc.string(),
    lookalikes,
    fc.double(),
    small,
    fc.integer(),
    fc.constant(null),
    fc.constant(-1.5e22),
  );
  const { tree } = fc.letrec<{ tree: unknown; value: unknown }>((tie) => ({
    value: fc.oneof({ depthSize: 'small' }, scalar, tie('tree')),
    tree: fc.oneof(
      fc.array(tie('value')),
      fc.dictionary(fc.oneof(fc.string(), lookalikes, fc.constant('fee')), tie('value')),
    ),
  }));
  fc.assert(
    fc.property(fc.array(tree, { maxLength: 3 }), (values) => {
      const parsed = values.map((value) => JSON.parse(JSON.stringify(value)) as object);
      expect(parsedToLines(parsed)).toBe(parsed.map((each) => `${toJson(each)}\n`).join(''));
    }),
    { numRuns: 300 },
  );
});

test('control characters are escaped, and the data stays equal', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const json = toJson({ [text]: text });
      expect(json).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u);
      expect(JSON.parse(json)).toEqual({ [text]: text });
    }),
  );
});

describe('fields', () => {
  const txn = { txnId: 'a', sourceReq: { ccy: 'BTC', amtSettled: null }, list: [{ x: 1 }] };

  test('are selected by path, in the requested order', () => {
    expect(Object.entries(pickFields(txn, ['sourceReq.ccy', 'txnId']))).toEqual([
      ['sourceReq.ccy', 'BTC'],
      ['txnId', 'a'],
    ]);
  });

  test('that are missing are null, so that every row has all fields', () => {
    expect(
      pickFields(txn, ['note', 'sourceReq.amtSettled', 'txnId.x', 'sourceReq.ccy.length']),
    ).toEqual({
      note: null,
      'sourceReq.amtSettled': null,
      'txnId.x': null,
      'sourceReq.ccy.length': null,
    });
  });

  test('select list items by index', () => {
    expect(fieldAt(txn, 'list.0.x')).toBe(1);
  });

  test('are only own properties', () => {
    expect(pickFields(txn, ['constructor', '__proto__.toString'])).toEqual({
      constructor: null,
      '__proto__.toString': null,
    });
  });
});
