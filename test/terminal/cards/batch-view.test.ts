// Tests the screen of a batch: the content of its line, and what a narrow window omits first.
import { Big } from 'big.js';
import { Chalk } from 'chalk';
import { describe, expect, test } from 'vitest';
import {
  batchView,
  progressLine,
  rowLine,
  batchCard,
  type BatchLine,
  type BatchSummary,
} from '../../../src/terminal/cards/batch-view.js';

const canvas = (columns: number) => ({
  style: new Chalk({ level: 0 }),
  columns,
  rows: 24,
  blocks: 'half' as const,
});

describe('progressLine', () => {
  const progress = { done: 16, rows: 40, failed: 1, elapsedMs: 6_000, skipped: 4, stopping: false };
  test.for([
    [
      'a bar, counts and the time left in 80 columns',
      80,
      {},
      '━━━━━━━━────────────  16 of 40  1 failed  about 12 seconds left',
    ],
    ['a bar and counts in 46 columns', 46, {}, '━━━━━━━━────────────  16 of 40  1 failed'],
    ['only counts in 30 columns', 30, {}, '16 of 40  1 failed'],
    [
      'neither failures nor the time left at the beginning',
      80,
      { failed: 0, done: 4 },
      '━━──────────────────  4 of 40',
    ],
    [
      'that a batch is stopping in 80 columns',
      80,
      { stopping: true },
      '━━━━━━━━────────────  16 of 40  1 failed  finishing rows in flight',
    ],
    [
      'that a batch is stopping, without a bar, in 60 columns',
      60,
      { stopping: true },
      '16 of 40  1 failed  finishing rows in flight',
    ],
    [
      'only that a batch is stopping in 34 columns',
      34,
      { stopping: true },
      'finishing rows in flight',
    ],
  ] as const)('shows %s', ([, columns, change, expected]) => {
    expect(progressLine({ ...progress, ...change }, canvas(columns))).toBe(expected);
  });
});

const summary: BatchSummary = {
  file: 'pay.csv',
  dryRun: false,
  run: '2026-11-21T08:00:00.000Z pay.csv',
  cost: null,
  lastRun: null,
  remarks: [],
  earlier: [],
  rows: 40,
  paidBefore: 3,
  paid: 30,
  inFlight: 2,
  unknown: 0,
  failed: 1,
  notBegun: 7,
  spent: [{ ccy: 'BTC', amount: new Big('0.0003') }],
  totals: [
    { from: 'BTC', ccy: 'BTC', rows: 3, amount: new Big('0.5'), available: new Big('1') },
    { from: 'BTC', ccy: 'VND', rows: 1, amount: new Big('500000'), available: new Big('1') },
    { from: 'XOF', ccy: 'XOF', rows: 1, amount: new Big('5'), available: null },
  ],
  result: 'pay.csv.result.csv',
};

const failure: BatchLine = {
  line: 7,
  ref: 'order-7',
  to: 'a@b.example',
  amount: '1000sat',
  outcome: 'failed',
  txnId: null,
  txnState: null,
  paid: null,
  paidCcy: null,
  error: 'refused',
  message: 'Nothing moved: \u001B[31mno such address.',
  at: '2026-01-01T00:00:00.000Z',
  payee: null,
  bank: null,
  from: 'BTC',
  method: 'lightning',
  cost: null,
  fees: null,
  before: false,
  next: null,
  settled: null,
};

test('batchCard shows the total and the balance of each wallet', () => {
  const text = batchCard(summary, { refused: [], short: [] }, canvas(100)).join('\n');
  expect(text).toContain('pay.csv · 7 rows to pay');
  expect(text).toMatch(/From BTC\s+0\.50000000 BTC in 3 rows\s+you have 1\.00000000 BTC/);
  expect(text).toMatch(
    /500.000 VND in 1 row\s+converted at the current rate; you have 1\.00000000 BTC/,
  );
  expect(text).toMatch(/5 XOF in 1 row\s+no XOF wallet/);
});

test('batchView shows the counts first, then each unpaid row with its reason', () => {
  const lines = batchView(summary, [failure]).screen(canvas(100), summary);
  expect(lines[0]).toContain(
    '30 of 40 rows paid · 2 in flight · 1 not paid · 7 not started (3 by an earlier run)',
  );
  expect(lines.join('\n')).toMatch(/✗ Line 7\s+order-7: Nothing moved: .*no such address/);
  expect(lines.join('')).not.toContain('\u001B');
});

test('rowLine shows a row as one log line', () => {
  const paid: BatchLine = {
    ...failure,
    outcome: 'paid',
    txnId: 'c1d2',
    paid: new Big('0.00001003'),
    paidCcy: 'BTC',
    message: null,
  };
  expect(rowLine(paid, 12, 40)).toBe('12/40  paid  order-7  0.00001003 BTC  c1d2');
});
