// The seal of a batch: what it binds and what it does not.
import { expect, test } from 'vitest';
import type { PayeeRow } from '../../../src/wallet/batch/payee.js';
import { sealedOf, sealOf, unsealed } from '../../../src/wallet/batch/seal.js';

const row = (line: number, change: Partial<PayeeRow> = {}): PayeeRow => ({
  line,
  ref: `p${line}`,
  from: 'BTC',
  content: `content ${line}`,
  settled: false,
  name: null,
  account: `a${line}`,
  institution: null,
  institutionName: null,
  ccy: 'VND',
  amount: '5',
  ...change,
});

const terms = { account: 'ne01', fee: '1%' };
const before = sealedOf([row(2), row(3)], terms);

test.for([
  [
    'another order of rows and other lines',
    [row(2, { line: 3 }), row(3, { line: 2 })].toReversed(),
    terms,
    [],
  ],
  ['paid rows', [row(2, { settled: true }), row(3)], terms, []],
  [
    'a changed row',
    [row(2), row(3, { content: 'x' })],
    terms,
    ['line 3 (p3) differs from the sealed one'],
  ],
  [
    'another reference',
    [row(2), row(3, { ref: 'P3' })],
    terms,
    ['line 3 (P3) was not sealed', 'line 3 of the sealed file (p3) is missing'],
  ],
  ['a row more', [row(2), row(3), row(4)], terms, ['line 4 (p4) was not sealed']],
  ['a row less', [row(2)], terms, ['line 3 of the sealed file (p3) is missing']],
  [
    'another highest fee',
    [row(2), row(3)],
    { ...terms, fee: '2%' },
    ['fee: 1% was sealed, not 2%'],
  ],
  [
    'another account',
    [row(2), row(3)],
    { ...terms, account: 'x' },
    ['account: ne01 was sealed, not x'],
  ],
] as const)('a seal and %s', ([, rows, given, differences]) => {
  const now = sealedOf(rows, given);
  expect(unsealed(now, before)).toEqual(differences);
  expect(sealOf(now) === sealOf(before)).toBe(differences.length === 0);
});

test('a seal without its rows names no line', () => {
  expect(unsealed(before, undefined)).toEqual([]);
});
