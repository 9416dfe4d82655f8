// Tests which changes keep the seal of a batch valid, and which changes break it.
import { expect, test } from 'vitest';
import { parseAmount } from '../../../src/formats/amount.js';
import type { Row } from '../../../src/wallet/batch/row.js';
import { sealedOf, sealOf, unsealed } from '../../../src/wallet/batch/seal.js';
import { lnurlOrder } from '../../../src/wallet/order/orders.js';
import { batchRow } from '../support/rows.js';

const order = lnurlOrder('a@b.example', parseAmount('1000sat'));
const row = (line: number, change: Partial<Row> = {}): Row =>
  batchRow(line, order, {
    ref: `p${line}`,
    content: `content ${line}`,
    ccy: 'VND',
    amount: '5',
    ...change,
  });

const terms = { account: 'ne01', fee: '1%' };
const before = sealedOf([row(2), row(3)], terms);

test.for([
  [
    'stays valid if the rows are reordered',
    [row(2, { line: 3 }), row(3, { line: 2 })].toReversed(),
    terms,
    [],
  ],
  [
    'stays valid if a row has been paid since',
    [row(2, { standing: 'settled' }), row(3)],
    terms,
    [],
  ],
  [
    'breaks if the content of a row changes',
    [row(2), row(3, { content: 'x' })],
    terms,
    ['line 3 (p3) differs from the sealed row'],
  ],
  [
    'breaks if the reference of a row changes',
    [row(2), row(3, { ref: 'P3' })],
    terms,
    ['line 3 (P3) was not sealed', 'line 3 of the sealed file (p3) is missing'],
  ],
  ['breaks if a row is added', [row(2), row(3), row(4)], terms, ['line 4 (p4) was not sealed']],
  ['breaks if a row is removed', [row(2)], terms, ['line 3 of the sealed file (p3) is missing']],
  [
    'breaks if the fee limit changes',
    [row(2), row(3)],
    { ...terms, fee: '2%' },
    ['fee: 1% was sealed, not 2%'],
  ],
  [
    'breaks if another account pays',
    [row(2), row(3)],
    { ...terms, account: 'x' },
    ['account: ne01 was sealed, not x'],
  ],
] as const)('the seal of a batch %s', ([, rows, given, differences]) => {
  const now = sealedOf(rows, given);
  expect(unsealed(now, before)).toEqual(differences);
  expect(sealOf(now) === sealOf(before)).toBe(differences.length === 0);
});

test('comparison with a seal returns no row differences if the sealed rows are unknown', () => {
  expect(unsealed(before, undefined)).toEqual([]);
});
