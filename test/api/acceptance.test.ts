// The quick check of answers never says yes where the schema that it stands in for would not hand the value on unchanged.
import fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { acceptance } from '../../src/api/acceptance.js';
import { transactionPageSchema, transactionSchema, walletsSchema } from '../../src/api/schemas.js';

const side = { ccy: 'BTC', method: 'lightning', amtRequested: 0.0005, reqStatus: '2', createAt: 1, reqDetails: { a: [1] } };
const transaction = { txnId: 't', txnState: 'completed', note: null, fxRate: 1, sourceReq: side, destReq: side, more: {} };
const examples = [
  { name: 'a transaction', schema: transactionSchema, value: transaction },
  {
    name: 'a page',
    schema: transactionPageSchema,
    value: { data: [transaction], pagination: { page: 1, limit: 100, total: 1 } },
  },
  { name: 'wallets', schema: walletsSchema, value: { data: [{ ccy: 'BTC', amount: 1, availableBalance: 1e-8 }] } },
];

const strange = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom('', '2', 0, -1, Number.NaN, Infinity, null, [], {}, JSON.parse('{"__proto__":1}'), { constructor: 1 }),
);

/** The value with something strange in one place, or without what was there. */
function changed(value: unknown, path: readonly number[], put: (parent: object, key: string) => void): unknown {
  const copy: unknown = structuredClone(value);
  let parent = copy;
  for (const step of path) {
    if (typeof parent !== 'object' || parent === null) break;
    const keys = Object.keys(parent);
    const key = keys[step % Math.max(1, keys.length)];
    if (key === undefined) break;
    const child: unknown = Reflect.get(parent, key);
    if (typeof child !== 'object' || child === null || step % 3 === 0) {
      put(parent, key);
      break;
    }
    parent = child;
  }
  return copy;
}

describe.each(examples)('$name', ({ schema, value }) => {
  const isAccepted = acceptance<unknown>(schema);

  test('as the service sends it is accepted at once', () => {
    expect(isAccepted(value)).toBe(true);
  });

  test('is accepted only where the schema hands it on unchanged', () => {
    const steps = fc.array(fc.nat(20), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(steps, fc.option(strange, { nil: undefined }), (path, other) => {
        const answer = changed(value, path, (parent, key) =>
          other === undefined ? Reflect.deleteProperty(parent, key) : Reflect.set(parent, key, other),
        );
        if (!isAccepted(answer)) return;
        const checked = v.safeParse(schema, answer);
        expect(checked.success).toBe(true);
        expect(checked.output).toEqual(answer);
      }),
      { numRuns: 2000 },
    );
  });
});

test.each([
  ['a default', v.looseObject({ a: v.nullish(v.string(), 'x') }), {}],
  ['a fallback', v.looseObject({ a: v.fallback(v.string(), 'x') }), { a: 'y' }],
  ['a change of the value', v.looseObject({ a: v.pipe(v.string(), v.transform(Number)) }), { a: '1' }],
])('leaves %s to the schema', (_, schema, value) => {
  expect(acceptance<unknown>(schema)(value)).toBe(false);
});
