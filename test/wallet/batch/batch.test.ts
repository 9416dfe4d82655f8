// A batch file as rows, its references, its totals and how it ends: tables of inputs and outputs.
import { describe, expect, test } from 'vitest';
import Big from 'big.js';
import { parseAmount } from '../../../src/formats/amount.js';
import { Failure, type FailureKind } from '../../../src/formats/failure.js';
import { shortOf } from '../../../src/wallet/batch/check.js';
import { derivedRef } from '../../../src/wallet/batch/plan.js';
import { isProblem, readRows } from '../../../src/wallet/batch/rows.js';
import type { RowResult, RowOutcome } from '../../../src/wallet/batch/run.js';
import { emptyTally, failureOf, tallied } from '../../../src/wallet/batch/tally.js';
import { lnurlOrder, onchainOrder } from '../../../src/wallet/order/orders.js';

const columns = {
  names: new Set(['ref', 'to', 'amount', 'note', 'acct_num']),
  ofResult: new Set(['line', 'ref', 'to', 'amount', 'outcome', 'txnid']),
  ignoreOthers: false,
};

async function read(
  text: string | readonly Buffer[],
  ignoreOthers = false,
): Promise<(readonly [number, unknown])[]> {
  async function* source(): AsyncGenerator<Buffer> {
    yield* typeof text === 'string' ? [Buffer.from(text)] : text;
  }
  const rows: (readonly [number, unknown])[] = [];
  for await (const row of readRows(source(), { ...columns, ignoreOthers }))
    rows.push([row.line, isProblem(row) ? row.message : row.cells]);
  return rows;
}

describe('readRows', () => {
  test.for([
    [
      'names in any order and case, with a mark of byte order',
      '\uFEFFAmount, TO\n1sat,a@b.c\n',
      [[2, { amount: '1sat', to: 'a@b.c' }]],
    ],
    [
      'empty lines and empty cells left out',
      'to,note\n\n,\na,\n\nb,x',
      [
        [4, { to: 'a' }],
        [6, { to: 'b', note: 'x' }],
      ],
    ],
    [
      'a row over several lines by its first',
      'to,note\r\na,"x\r\ny, ""z"""\r\nb,\r\n',
      [
        [2, { to: 'a', note: 'x\r\ny, "z"' }],
        [4, { to: 'b' }],
      ],
    ],
    [
      'too many cells',
      'to,note\na,b,c\nd,e\n',
      [
        [2, expect.stringContaining('3 cells')],
        [3, { to: 'd', note: 'e' }],
      ],
    ],
    ['an unknown column', 'to,fee\na,1\n', [[1, expect.stringContaining('no column "fee"')]]],
    ['a column twice', 'to,to\na,1\n', [[1, expect.stringContaining('there twice')]]],
    ['no destination', 'ref,note\na,1\n', [[1, expect.stringContaining('"to" is missing')]]],
    ['semicolons', 'to;note\na;"1;2"\n', [[2, { to: 'a', note: '1;2' }]]],
    ['tabs', 'to\tnote\na\t1,5\n', [[2, { to: 'a', note: '1,5' }]]],
    [
      'a line that names the separator',
      'sep=;\r\nto;note\r\na;1\r\n',
      [[3, { to: 'a', note: '1' }]],
    ],
    ['another separator', 'to|note\na|1\n', [[1, expect.stringContaining('separated by "|"')]]],
    [
      'commas at the ends of lines',
      'to,note,\na,b,\nc,d\ne,f,,\n',
      [
        [2, { to: 'a', note: 'b' }],
        [3, { to: 'c', note: 'd' }],
        [4, { to: 'e', note: 'f' }],
      ],
    ],
    [
      'a text in a column without a name',
      'to,note,\na,b,c\n',
      [[2, expect.stringContaining('3 cells, and the header has 2')]],
    ],
    ['columns that begin with #', 'to,#Dept\na,Sales\n', [[2, { to: 'a' }]]],
    [
      'a misspelled column',
      'to,amuont\na,1\n',
      [
        [
          1,
          expect.stringMatching(/no column "amuont". Did you mean "amount"\? There are: ref, to/),
        ],
      ],
    ],
    [
      'a result file',
      "line,ref,to,amount,outcome,txnid,note\n2,'=x,a,1sat,paid,t1,'+n\n",
      [[2, { ref: '=x', to: 'a', amount: '1sat', note: '+n' }]],
    ],
    [
      'a result file of payouts',
      'line,ref,to,acct_num,outcome,txnid\n2,p1,0123,0123,paid,t1\n',
      [[2, { ref: 'p1', acct_num: '0123' }]],
    ],
    ['nothing at all', '', [[1, expect.stringContaining('empty')]]],
    [
      'a quote that is not closed',
      'to,note\na,b\n"c,d\n',
      [[3, expect.stringContaining('never closed')]],
    ],
    ['a quote within a cell', 'to\na"b\n', [[2, expect.stringContaining('middle of a cell')]]],
  ] as const)('reads %s', async ([, text, expected]) => {
    expect(await read(text)).toEqual(expected);
  });

  test.for([
    ['others', 'to,Dept\na,Sales\n', [[2, { to: 'a' }]]],
    [
      'no other name of a column',
      'to,Reference\na,1\n',
      [[1, expect.stringContaining('mean "ref"')]],
    ],
    ['nor one letter too many', 'to,notes\na,1\n', [[1, expect.stringContaining('mean "note"')]]],
  ] as const)('with --ignore-columns ignores %s', async ([, text, expected]) => {
    expect(await read(text, true)).toEqual(expected);
  });

  test('reports a cell that is not UTF-8', async () => {
    expect(await read([Buffer.from('to,note\na,'), Buffer.from([0xe9, 0x0a])])).toEqual([
      [2, 'note is not UTF-8 text.'],
    ]);
  });

  test('joins chunks, even if a character is split', async () => {
    const bytes = Buffer.from('to,note\na,Lê Văn\n');
    expect(await read([...bytes].map((byte) => Buffer.from([byte])))).toEqual([
      [2, { to: 'a', note: 'Lê Văn' }],
    ]);
  });
});

describe('derivedRef is equal for', () => {
  const address = 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq';
  const order = onchainOrder(address, parseAmount('1000sat'), 'BTC');

  test.for([
    [
      'another spelling of the amount',
      onchainOrder(address, parseAmount('0.00001btc'), 'BTC'),
      '',
      true,
    ],
    ['another wallet', onchainOrder(address, parseAmount('1000sat'), 'USDT'), '', true],
    ['a note', { ...order, body: { ...order.body, note: 'again' } }, '', true],
    ['another amount', onchainOrder(address, parseAmount('1001sat'), 'BTC'), '', false],
    ['another kind', lnurlOrder(address, parseAmount('1000sat')), '', false],
    ['another name of the batch', order, 'december', false],
  ] as const)('$0', ([, other, name, same]) => {
    expect(derivedRef(other, name) === derivedRef(order, '')).toBe(same);
  });
});

describe('shortOf', () => {
  const total = (from: string, ccy: string, amount: string) => ({
    from,
    ccy,
    rows: 1,
    amount: new Big(amount),
  });
  test.for([
    ['enough', [total('BTC', 'BTC', '0.5'), total('BTC', 'VND', '1000000')], []],
    [
      'too little',
      [total('BTC', 'BTC', '1.1')],
      [expect.stringContaining('1.10000000 BTC and the fees')],
    ],
    [
      'an empty wallet for what is not known',
      [total('USDT', 'VND', '5')],
      [expect.stringContaining('Something is needed')],
    ],
    ['no wallet', [total('XOF', 'BTC', '1')], [expect.stringContaining('no XOF wallet')]],
  ] as const)('%s', ([, totals, expected]) => {
    const have: Record<string, string> = { BTC: '1', USDT: '0' };
    const available = (ccy: string) =>
      have[ccy] === undefined ? undefined : { ccy, value: new Big(have[ccy]) };
    expect(shortOf(totals, available)).toEqual(expected);
  });
});

describe('failureOf', () => {
  const row = {
    line: 2,
    ref: 'a',
    named: true,
    order: lnurlOrder('a@b.example', parseAmount('1000sat')),
    to: 'a@b.example',
    amount: '1000sat',
    expiresAt: undefined,
    slow: false,
  };
  const outcome = (result: RowResult, kind?: FailureKind, before = false): RowOutcome => ({
    row,
    result,
    before,
    txnId: null,
    txnState: null,
    settledAt: null,
    total: undefined,
    failure: kind === undefined ? undefined : new Failure(kind, 'Why.'),
  });
  const [paid, before, unknown] = [
    outcome('paid'),
    outcome('paid', undefined, true),
    outcome('unknown', 'pending'),
  ];
  const failed = (kind: FailureKind): RowOutcome => outcome('failed', kind);

  test.for([
    ['all paid', [paid, outcome('sent')], true, false, undefined],
    ['one unknown among failed', [paid, unknown, failed('limit')], true, false, 'pending'],
    ['interrupted before anything', [], false, true, 'interrupted'],
    ['interrupted, and only earlier runs have paid', [before], false, true, 'interrupted'],
    ['interrupted halfway', [paid], false, true, 'pending'],
    ['interrupted in the last row', [paid, failed('interrupted')], true, true, 'pending'],
    ['interrupted when all was done', [paid, paid], true, true, undefined],
    ['one reason', [paid, failed('limit'), failed('limit')], true, false, 'limit'],
    ['several reasons', [failed('limit'), failed('refused')], true, false, 'payment-failed'],
    [
      'passing trouble after something was paid',
      [paid, failed('temporary')],
      true,
      false,
      'pending',
    ],
    ['passing trouble alone', [failed('temporary')], true, false, 'temporary'],
    ['bad input, nothing sent', [before, failed('usage')], true, false, 'usage'],
    ['bad input, and others sent', [paid, failed('usage')], true, false, 'payment-failed'],
  ] as const)('%s', ([, outcomes, complete, interrupted, kind]) => {
    const tally = outcomes.reduce(tallied, emptyTally);
    expect(failureOf(tally, 3, complete, interrupted)?.kind).toBe(kind);
  });
});
