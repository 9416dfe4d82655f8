// compareRuns compares the rows of a batch with earlier runs and with each other.
import Big from 'big.js';
import { expect, test } from 'vitest';
import { parseAmount } from '../../../src/formats/amount.js';
import { compareRuns, needsAcceptance } from '../../../src/wallet/batch/compare.js';
import type { PastRun, PaidRow, Row } from '../../../src/wallet/batch/row.js';
import { lnurlOrder } from '../../support/orders.js';
import { batchRow } from '../support/rows.js';

const paid = (
  name: string | null,
  account: string | null,
  amount: string,
  change: Partial<PaidRow> = {},
): PaidRow => ({
  line: 2,
  ref: `earlier ${name} ${account} ${amount}`,
  from: 'BTC',
  name,
  account: account ?? 'an invoice',
  keys: [account === null ? 'node:03aa' : `bank:VN/vnd-instant/970436:${account}`],
  holder: name,
  country: 'VN',
  institution: '970436',
  institutionName: 'Vietcombank',
  ccy: 'VND',
  amount,
  ...change,
});

/** The same row to another account, with its destination key. */
const at = (row: PaidRow, change: Partial<PaidRow>): PaidRow => {
  const next = { ...row, ...change };
  return { ...next, keys: [`bank:VN/vnd-instant/${next.institution}:${next.account}`] };
};

const order = lnurlOrder('a@b.example', parseAmount('1000sat'));

/** The rows of a batch file, which begin on line 2. */
const rows = (...given: readonly (PaidRow & Partial<Row>)[]): Row[] =>
  given.map((row, i) =>
    batchRow(i + 2, order, {
      content: `${row.name} ${row.account} ${row.amount}`,
      ...row,
      ref: `p${i + 1}`,
      line: i + 2,
    }),
  );

const run = (month: string, ...of: readonly PaidRow[]): PastRun => ({
  run: `2026-${month}-22T08:00:00.000Z pay.csv`,
  rows: of,
});

const ann = paid('Ann Lee', '111', '500000');
const bob = paid('Bob Tran', '222', '700000');
const october = run('10', ann, bob);
const now = Date.parse('2026-11-22T08:00:00.000Z');

const compared = (rowsNow: readonly Row[], runs: readonly PastRun[], factor = '1.5', name = '') =>
  compareRuns(rowsNow, runs, { factor: new Big(factor), name, now });

/** The remarks about single rows and payees. */
const remarks = (...given: Parameters<typeof compared>) =>
  compared(...given)
    .remarks.filter(({ kind }) => kind !== 'run-again')
    .map(({ kind, line, payee, before, now, note }) =>
      [kind, line, payee, before, now, note].filter((part) => part !== null),
    );

test.for<[string, readonly Row[], readonly PastRun[], unknown[]]>([
  ['returns no remark if the batch equals the run of last month', rows(ann, bob), [october], []],
  ['returns no remark for the first run', rows(ann, bob), [], []],
  [
    'ignores letter case and spaces in the name of a payee',
    rows({ ...ann, name: ' ANN  lee' }, bob),
    [october],
    [],
  ],
  [
    'reports a new payee',
    rows(ann, bob, paid('Mai Pham', '333', '1')),
    [october],
    [['new-payee', 4, 'Mai Pham']],
  ],
  [
    'reports a changed account of a known payee',
    rows(at(ann, { account: '999' }), bob),
    [october],
    [['account-changed', 2, 'Ann Lee', '111', '999']],
  ],
  [
    'shows both banks if the changed account is at another bank',
    rows(at(ann, { account: '999', institution: '970415', institutionName: null }), bob),
    [october],
    [['account-changed', 2, 'Ann Lee', '111 · Vietcombank (970436)', '999 · 970415']],
  ],
  [
    'reports an unchanged account number at another bank',
    rows(at(ann, { institution: '970415', institutionName: 'VietinBank' }), bob),
    [october],
    [['institution-changed', 2, 'Ann Lee', 'Vietcombank (970436)', 'VietinBank (970415)']],
  ],
  [
    'reports a changed name of an account instead of a missing payee',
    rows({ ...ann, name: 'Anne Lee-Smith' }, bob),
    [october],
    [['name-changed', 2, 'Anne Lee-Smith', 'Ann Lee', 'Anne Lee-Smith']],
  ],
  [
    'reports an amount ten times as high as last month',
    rows({ ...ann, amount: '5000000' }, bob),
    [october],
    [['amount-changed', 2, 'Ann Lee', '500 000 VND', '5 000 000 VND', '10 times as much']],
  ],
  [
    'reports an amount of a third of last month',
    rows(ann, { ...bob, amount: '233333' }),
    [october],
    [['amount-changed', 3, 'Bob Tran', '700 000 VND', '233 333 VND', 'only 33 % as much']],
  ],
  [
    'accepts an amount that rose by exactly the given factor',
    rows({ ...ann, amount: '750000' }, bob),
    [october],
    [],
  ],
  [
    'reports an amount in a different currency from last month',
    rows({ ...ann, ccy: 'USD', amount: '20' }, bob),
    [october],
    [['amount-changed', 2, 'Ann Lee', '500 000 VND', '20.00 USD', 'in another currency']],
  ],
  [
    'reports a new name with a Cyrillic letter that resembles a missing payee',
    rows(ann, paid('Bоb Tran', '999', '700000')),
    [october],
    [
      [
        'look-alike',
        3,
        'Bоb Tran',
        '222 · Vietcombank (970436)',
        '999 · Vietcombank (970436)',
        'resembles Bob Tran: letter 2 is "о" (U+043E), not "o"',
      ],
      ['payee-missing', 'Bob Tran', '700 000 VND'],
    ],
  ],
  [
    'reports a new name that adds one letter to the name of a missing payee',
    rows(ann, paid('Bob Trann', '999', '700000')),
    [october],
    [
      [
        'look-alike',
        3,
        'Bob Trann',
        '222 · Vietcombank (970436)',
        '999 · Vietcombank (970436)',
        'resembles Bob Tran: letter 9 is "n", not missing',
      ],
      ['payee-missing', 'Bob Tran', '700 000 VND'],
    ],
  ],
  [
    'reports a name with letters of two scripts in the first run',
    rows(paid('Аnn Lee', '111', '5'), paid('Анна', '112', '5')),
    [],
    [['look-alike', 2, 'Аnn Lee', '"А" (U+0410) looks like "a"']],
  ],
  [
    'reports another holder of the same account, another country and another paying wallet',
    rows({ ...ann, holder: 'Bo Lee', country: 'LA', from: 'USDT' }, bob),
    [october],
    [
      ['holder-changed', 2, 'Ann Lee', 'Ann Lee', 'Bo Lee'],
      ['country-changed', 2, 'Ann Lee', 'VN', 'LA'],
      ['wallet-changed', 2, 'Ann Lee', 'BTC', 'USDT'],
    ],
  ],
  [
    'ignores the rows that an earlier run paid under the same references',
    rows(ann, bob),
    [run('11', { ...ann, ref: 'p1', amount: '1' }), october],
    [],
  ],
  [
    'accepts two payments to one payee if last month had both',
    rows(ann, { ...ann, amount: '90000' }),
    [run('10', ann, { ...ann, amount: '90000' })],
    [],
  ],
  [
    'reports a payee of last month who is missing in the batch',
    rows(ann),
    [october],
    [['payee-missing', 'Bob Tran', '700 000 VND']],
  ],
  [
    'omits an invoice of last month, because an invoice can be paid only once',
    rows(ann),
    [run('10', ann, paid(null, null, '5'))],
    [],
  ],
  [
    'recognizes a payee whom only an older run paid',
    rows(ann, bob, at(paid('Chi Do', '444', '900'), { account: '445' })),
    [october, run('09', ann, paid('Chi Do', '444', '900'))],
    [['account-changed', 4, 'Chi Do', '444', '445']],
  ],
  [
    'returns no remark if the batch and the last run share no payee',
    rows(paid('Supplier', '777', '5'), paid('Mill', '778', '5')),
    [october],
    [],
  ],
  [
    'reports one account under two names',
    rows(ann, bob, { ...paid('Carl Vo', '111', '5') }),
    [october],
    [
      ['two-names', 4, 'Carl Vo', 'Ann Lee on line 2', '111 · Vietcombank (970436)'],
      ['name-changed', 4, 'Carl Vo', 'Ann Lee', 'Carl Vo'],
      ['amount-changed', 4, 'Carl Vo', '500 000 VND', '5 VND', 'only 0.001 % as much'],
    ],
  ],
  [
    'reports two rows that differ only in their reference',
    rows(ann, bob, ann),
    [october],
    [['row-twice', 4, 'Ann Lee', 'line 2 (p1)', 'p3', 'the rows differ only in the reference']],
  ],
  [
    'identifies a payee without a name by the account',
    rows(
      paid(null, 'a@b.example', '5', { institution: null }),
      paid(null, 'c@d.example', '90', { institution: null }),
    ),
    [
      run(
        '10',
        paid(null, 'a@b.example', '5', { institution: null }),
        paid(null, 'c@d.example', '5', { institution: null }),
      ),
    ],
    [['amount-changed', 3, 'c@d.example', '5 VND', '90 VND', '18 times as much']],
  ],
  [
    'reports a payee who is now paid at a node instead of an account',
    rows(
      { ...ann, account: '03aa', keys: ['node:03aa'], institution: null, institutionName: null },
      bob,
    ),
    [october],
    [['account-changed', 2, 'Ann Lee', '111 · Vietcombank (970436)', '03aa']],
  ],
  [
    'reports a node that a URI adds to the known address of a payee',
    rows({ ...ann, keys: [...ann.keys, 'node:03aa'] }, bob),
    [october],
    [['account-changed', 2, 'Ann Lee', '111', 'node:03aa']],
  ],
  [
    'accepts a payee who is paid at the same node with another invoice',
    rows(paid('Ann Lee', null, '500000'), bob),
    [run('10', paid('Ann Lee', null, '500000'), bob)],
    [],
  ],
  [
    'reports a row that --retry pays again although it may have been paid',
    rows({ ...ann, standing: 'unknown' }, bob),
    [october],
    [['may-be-paid', 2, 'Ann Lee']],
  ],
  [
    'skips invoices without a payee name',
    rows(paid(null, null, '5'), paid(null, null, '5')),
    [run('10', paid(null, null, '900'))],
    [],
  ],
  [
    'ignores a changed amount in a row that is already paid',
    rows({ ...ann, amount: '5000000', standing: 'settled' }, bob),
    [october],
    [],
  ],
])('compareRuns %s', ([, now, runs, expected]) => {
  expect(remarks(now, runs)).toEqual(expected);
});

test('compareRuns reports an amount that rose by more than the given factor', () => {
  expect(remarks(rows({ ...ann, amount: '750000' }, bob), [october], '1.4')).toHaveLength(1);
});

test('compareRuns compares with the latest run that has at least half of its payees in the batch', () => {
  const other = run('11', paid('Supplier', '777', '5'), ann, paid('Mill', '778', '5'));
  expect(compared(rows(ann, bob), [other, october]).last).toEqual(october);
  expect(compared(rows(paid('X', '9', '1')), [other, october]).last).toBeUndefined();
});

const again = (rowsNow: readonly Row[], runs: readonly PastRun[], name = '') =>
  compared(rowsNow, runs, '1.5', name)
    .remarks.filter(({ kind }) => kind === 'run-again')
    .map(({ payee, note }) => `${payee} ${note}`);

test('compareRuns reports a file whose rows have payee and amount of an earlier run', () => {
  expect(again(rows(ann, bob), [october])).toEqual(['2 of 2 rows the run of 22 Oct']);
  expect(again(rows(ann, { ...bob, amount: '1' }), [october])).toEqual([]);
  expect(again(rows(ann, bob), [october], '2026-11'), 'a named run').toEqual([]);
  const today = { ...october, run: new Date(now - 3_600_000).toISOString() + ' pay.csv' };
  expect(again(rows(ann, bob), [today], '2026-11')).toEqual(['2 of 2 rows the run of today']);
});

test('needsAcceptance selects a new payee, a changed account and a duplicate row', () => {
  const { remarks: found } = compared(
    rows(
      at(ann, { account: '9' }),
      { ...bob, amount: '900000000' },
      bob,
      bob,
      paid('New', '5', '1'),
    ),
    [october],
  );
  expect(found.filter(needsAcceptance).map(({ kind }) => kind)).toEqual([
    'account-changed',
    'row-twice',
    'new-payee',
  ]);
});
