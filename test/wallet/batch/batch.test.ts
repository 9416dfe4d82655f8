// Tests how svcpay reads a batch file into rows, and the references, totals and outcome of a batch.
import { instructionOfOrder } from '../../../src/wallet/instruction/order.js';
import { describe, expect, test } from 'vitest';
import Big from 'big.js';
import { parseAmount } from '../../../src/formats/amount.js';
import type { FailureKind } from '../../../src/formats/failure.js';
import { shortOf } from '../../../src/wallet/batch/check.js';
import { derivedRef } from '../../../src/wallet/batch/row.js';
import { isProblem, readRows } from '../../../src/wallet/batch/file.js';
import { failureOf, type EndedRow } from '../../../src/wallet/batch/run.js';
import type { Order } from '../../../src/wallet/order/orders.js';
import { lnurlOrder, onchainOrder } from '../../support/orders.js';

const columns = {
  names: new Set(['ref', 'to', 'amount', 'note', 'acct_num']),
  ofResult: new Set(['line', 'ref', 'to', 'amount', 'outcome', 'txnid']),
  ignoreOthers: false,
};

const read = (text: string | Buffer, ignoreOthers = false): (readonly [number, unknown])[] =>
  readRows(Buffer.from(text), { ...columns, ignoreOthers }).map((row) => [
    row.line,
    isProblem(row) ? row.message : row.cells,
  ]);

describe('batch file', () => {
  test.for([
    [
      'accepts column names in any order and letter case after a byte order mark',
      '\uFEFFAmount, TO\n1sat,a@b.c\n',
      [[2, { amount: '1sat', to: 'a@b.c' }]],
    ],
    [
      'skips empty lines and omits empty cells',
      'to,note\n\n,\na,\n\nb,x',
      [
        [4, { to: 'a' }],
        [6, { to: 'b', note: 'x' }],
      ],
    ],
    [
      'numbers a row that spans several lines by its first line',
      'to,note\r\na,"x\r\ny, ""z"""\r\nb,\r\n',
      [
        [2, { to: 'a', note: 'x\r\ny, "z"' }],
        [4, { to: 'b' }],
      ],
    ],
    [
      'reports a row with more cells than the header',
      'to,note\na,b,c\nd,e\n',
      [
        [2, expect.stringContaining('3 cells')],
        [3, { to: 'd', note: 'e' }],
      ],
    ],
    [
      'reports an unknown column',
      'to,fee\na,1\n',
      [[1, expect.stringContaining('no column "fee"')]],
    ],
    [
      'reports a column that the header contains twice',
      'to,to\na,1\n',
      [[1, expect.stringContaining('occurs twice')]],
    ],
    [
      'reports a header without the column "to"',
      'ref,note\na,1\n',
      [[1, expect.stringContaining('"to" is missing')]],
    ],
    ['reads cells separated by semicolons', 'to;note\na;"1;2"\n', [[2, { to: 'a', note: '1;2' }]]],
    ['reads cells separated by tabs', 'to\tnote\na\t1,5\n', [[2, { to: 'a', note: '1,5' }]]],
    [
      'accepts a first line that declares the separator, e.g. "sep=;"',
      'sep=;\r\nto;note\r\na;1\r\n',
      [[3, { to: 'a', note: '1' }]],
    ],
    [
      'reports an unsupported separator such as "|"',
      'to|note\na|1\n',
      [[1, expect.stringContaining('separated by "|"')]],
    ],
    [
      'accepts extra commas at the ends of lines',
      'to,note,\na,b,\nc,d\ne,f,,\n',
      [
        [2, { to: 'a', note: 'b' }],
        [3, { to: 'c', note: 'd' }],
        [4, { to: 'e', note: 'f' }],
      ],
    ],
    [
      'reports text in a column without a name',
      'to,note,\na,b,c\n',
      [[2, expect.stringContaining('3 cells, but the header has 2')]],
    ],
    ['ignores a column whose name begins with "#"', 'to,#Dept\na,Sales\n', [[2, { to: 'a' }]]],
    [
      'suggests the right name for a misspelled column',
      'to,amuont\na,1\n',
      [
        [
          1,
          expect.stringMatching(
            /no column "amuont". Did you mean "amount"\? The columns are: ref, to/,
          ),
        ],
      ],
    ],
    [
      'reads the result file of a send batch as new rows',
      "line,ref,to,amount,outcome,txnid,note\n2,'=x,a,1sat,paid,t1,'+n\n",
      [[2, { ref: '=x', to: 'a', amount: '1sat', note: '+n' }]],
    ],
    [
      'reads the result file of a payout batch as new rows',
      'line,ref,to,acct_num,outcome,txnid\n2,p1,0123,0123,paid,t1\n',
      [[2, { ref: 'p1', acct_num: '0123' }]],
    ],
    ['reports an empty file', '', [[1, expect.stringContaining('empty')]]],
    [
      'reports a quoted cell that is never closed',
      'to,note\na,b\n"c,d\n',
      [[3, expect.stringContaining('is never closed')]],
    ],
    [
      'reports a quote in the middle of a cell',
      'to\na"b\n',
      [[2, expect.stringContaining('middle of a cell')]],
    ],
  ] as const)('readRows %s', ([, text, expected]) => {
    expect(read(text)).toEqual(expected);
  });

  test.for([
    ['ignores a column with an unknown name', 'to,Dept\na,Sales\n', [[2, { to: 'a' }]]],
    [
      'reports a column named "Reference" instead of "ref"',
      'to,Reference\na,1\n',
      [[1, expect.stringContaining('mean "ref"')]],
    ],
    [
      'reports a column named "notes" instead of "note"',
      'to,notes\na,1\n',
      [[1, expect.stringContaining('mean "note"')]],
    ],
  ] as const)('readRows with --ignore-columns %s', ([, text, expected]) => {
    expect(read(text, true)).toEqual(expected);
  });

  test('reports a cell that is not UTF-8 text', () => {
    expect(read(Buffer.concat([Buffer.from('to,note\na,'), Buffer.from([0xe9, 0x0a])]))).toEqual([
      [2, 'note is not UTF-8 text.'],
    ]);
  });
});

describe('reference derived from an order', () => {
  const address = 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq';
  const order = onchainOrder(address, parseAmount('1000sat'), 'BTC');

  test.for([
    [
      'stays the same if the amount is written in another unit',
      onchainOrder(address, parseAmount('0.00001btc'), 'BTC'),
      '',
      true,
    ],
    [
      'stays the same if another wallet pays',
      onchainOrder(address, parseAmount('1000sat'), 'USDT'),
      '',
      true,
    ],
    [
      'stays the same if the order gets a note',
      { ...order, body: { ...order.body, note: 'again' } },
      '',
      true,
    ],
    ['changes with the amount', onchainOrder(address, parseAmount('1001sat'), 'BTC'), '', false],
    ['changes with the payee', lnurlOrder('a@b.example', parseAmount('1000sat')), '', false],
    ['changes with the name of the batch', order, 'december', false],
  ] as const)('derivedRef returns a reference that %s', ([, other, name, same]) => {
    const refOf = (each: Order, of: string): string =>
      derivedRef(instructionOfOrder(each, false), of);
    expect(refOf(other, name) === refOf(order, '')).toBe(same);
  });
});

describe('funds of a batch', () => {
  const total = (from: string, ccy: string, amount: string) => ({
    from,
    ccy,
    rows: 1,
    amount: new Big(amount),
  });
  test.for([
    [
      'returns an empty list if every wallet covers its total',
      [total('BTC', 'BTC', '0.5'), total('BTC', 'VND', '1000000')],
      [],
    ],
    [
      'reports a wallet that holds less than its total',
      [total('BTC', 'BTC', '1.1')],
      [expect.stringContaining('1.10000000 BTC and fees')],
    ],
    [
      'reports an empty wallet even if the needed amount is unknown',
      [total('USDT', 'VND', '5')],
      [expect.stringContaining('takes money from the USDT wallet')],
    ],
    [
      'reports a currency for which the account has no wallet',
      [total('XOF', 'BTC', '1')],
      [expect.stringContaining('no XOF wallet')],
    ],
  ] as const)('shortOf %s', ([, totals, expected]) => {
    const have: Record<string, string> = { BTC: '1', USDT: '0' };
    const available = (ccy: string) =>
      have[ccy] === undefined ? null : { ccy, value: new Big(have[ccy]) };
    expect(shortOf(totals, available)).toEqual(expected);
  });
});

describe('outcome of a batch', () => {
  const outcome = (
    state: EndedRow['outcome'],
    error: FailureKind | null = null,
    before = false,
  ): EndedRow => ({ outcome: state, error, before });
  const [paid, before, unknown] = [
    outcome('paid'),
    outcome('paid', null, true),
    outcome('unknown', 'pending'),
  ];
  const failed = (kind: FailureKind): EndedRow => outcome('failed', kind);

  test.for([
    [
      'returns no failure if every row was paid or is in flight',
      [paid, outcome('in-flight')],
      true,
      false,
      undefined,
    ],
    [
      'returns `pending` if the outcome of one row is unknown',
      [paid, unknown, failed('limit')],
      true,
      false,
      'pending',
    ],
    [
      'returns `interrupted` if the interrupt came before any payment',
      [],
      false,
      true,
      'interrupted',
    ],
    [
      'returns `interrupted` if only an earlier run paid rows',
      [before],
      false,
      true,
      'interrupted',
    ],
    [
      'returns `pending` if the interrupt came after some rows were paid',
      [paid],
      false,
      true,
      'pending',
    ],
    [
      'returns `pending` if the interrupt stopped the last row',
      [paid, failed('interrupted')],
      true,
      true,
      'pending',
    ],
    [
      'returns no failure if every row was paid before the interrupt',
      [paid, paid],
      true,
      true,
      undefined,
    ],
    [
      'returns `limit` if all failed rows exceeded a limit',
      [paid, failed('limit'), failed('limit')],
      true,
      false,
      'limit',
    ],
    [
      'returns `payment-failed` if rows failed for different reasons',
      [failed('limit'), failed('refused')],
      true,
      false,
      'payment-failed',
    ],
    [
      'returns `pending` if one row was paid and another failed temporarily',
      [paid, failed('temporary')],
      true,
      false,
      'pending',
    ],
    [
      'returns `temporary` if every failure was temporary',
      [failed('temporary')],
      true,
      false,
      'temporary',
    ],
    [
      'returns `usage` if a row is invalid and this run paid none',
      [before, failed('usage')],
      true,
      false,
      'usage',
    ],
    [
      'returns `pending` if the journal refuses a row whose earlier payment is unknown',
      [before, outcome('unknown', 'usage')],
      true,
      false,
      'pending',
    ],
    [
      'returns `payment-failed` if one row is invalid and another row was paid',
      [paid, failed('usage')],
      true,
      false,
      'payment-failed',
    ],
    [
      'returns `payment-failed` if another payment pays the invoice of one row, and a row was paid',
      [paid, failed('already-paid')],
      true,
      false,
      'payment-failed',
    ],
  ] as const)('failureOf %s', ([, outcomes, complete, interrupted, kind]) => {
    const rows = outcomes.length + (complete ? 0 : 1);
    expect(failureOf(outcomes, rows, interrupted)?.kind).toBe(kind);
  });
});
