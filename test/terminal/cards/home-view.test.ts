// Tests the overview at several widths: balances with their values, latest movements, and payments
// in flight.
import { Chalk } from 'chalk';
import { describe, expect, test } from 'vitest';
import type { ListedTransaction, Transaction } from '../../../src/api/types.js';
import { Failure } from '../../../src/formats/failure.js';
import { money } from '../../../src/formats/amount.js';
import { homeLines, type Home, type HomeMore } from '../../../src/terminal/cards/home-view.js';
import { openLines, type PendingPayment } from '../../../src/terminal/views/transaction-view.js';
import type { Canvas } from '../../../src/terminal/terminal.js';
import { widthOf } from '../../../src/terminal/text.js';
import { clockTime } from '../../../src/terminal/time.js';

const now = Date.UTC(2026, 2, 1, 14, 2, 11);
const plain = (columns: number): Canvas => ({
  style: new Chalk({ level: 0 }),
  columns,
  rows: 24,
  blocks: false,
});

function movement(
  minutes: number,
  from: [string, string, number],
  to: [string, string, number?],
): ListedTransaction {
  return {
    txnId: `${minutes}-5e07-4094`,
    txnState: 'completed',
    createdAt: now - minutes * 60_000,
    sourceReq: { method: from[0], ccy: from[1], amtSettled: from[2] },
    destReq: { method: to[0], ccy: to[1], amtSettled: to[2] },
  };
}

const onItsWay: ListedTransaction = {
  ...movement(1, ['servicepay', 'BTC', 0.003], ['on-chain', 'BTC', 0.003]),
  txnId: 'chain',
  txnState: 'destsent',
};
onItsWay.destReq.reqDetails = { confirmations: 2, requiredConfirmations: 6 };

const taken: Transaction = {
  txnId: 'c1d2',
  txnState: 'destsent',
  sourceReq: { method: 'servicepay', ccy: 'BTC' },
  destReq: {
    method: 'on-chain',
    ccy: 'BTC',
    reqDetails: { confirmations: 2, requiredConfirmations: 6 },
  },
};

const home: Home = {
  profile: 'acme',
  service: 'production',
  accountId: 'ne01-7f3a',
  wallets: [
    { ccy: 'BTC', amount: 2, availableBalance: 1.06085965 },
    { ccy: 'USDT', amount: 9410.65, availableBalance: 9410.65 },
    { ccy: 'VND', amount: 50000000, availableBalance: 50000000 },
    { ccy: 'CAD', amount: 0, availableBalance: 0 },
  ],
  pending: [onItsWay],
  unfinished: [],
  recent: [
    movement(2, ['servicepay', 'BTC', 0.000025], ['lightning', 'BTC', 0.000025]),
    movement(60, ['lightning', 'BTC', 0.0005], ['servicepay', 'BTC', 0.0005]),
    movement(180, ['servicepay', 'USDT', 25], ['servicepay', 'BTC', 0.00025]),
  ],
  asOf: now,
};

const more: HomeMore = {
  open: [],
  morePending: 0,
  notAsked: undefined,
  notReached: undefined,
  worth: ({ ccy, value }) => (ccy === 'BTC' ? money('USD', value.times(70000)) : undefined),
  known: (txnId) =>
    txnId === 'chain' ? 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4' : 'Coffee House',
};

const clock = clockTime(now);

describe('homeLines', () => {
  test.each([
    {
      columns: 100,
      lines: [
        '',
        `  acme · production · ne01-7f3a                                 as of ${clock}`,
        '',
        '  BTC             1.06085965   ≈ 74 260 USD     Last   2 min   ↑ Coffee House    −2 500 sat',
        '  USDT        9 410.65                                   1 h   ↓ Coffee House   +50 000 sat',
        '  VND    50 000 000                                      3 h   ⇄ → 25 000 sat       −25.00 USDT',
        '',
        '  ↑ On-chain   −300 000 sat   bc1q…f3t4   ● sent   2 of 6   1 min',
        '',
      ],
    },
    {
      columns: 60,
      lines: [
        '',
        `  acme · production · ne01-7f3a             as of ${clock}`,
        '',
        '  BTC             1.06085965   ≈ 74 260 USD',
        '  USDT        9 410.65',
        '  VND    50 000 000',
        '',
        '  ↑ On-chain  −300 000 sat  bc1q…f3t4  ● sent  2 of 6  1 min',
        '',
      ],
    },
    {
      columns: 40,
      lines: [
        '',
        '  acme · production · ne01-7f3a',
        `  as of ${clock}`,
        '',
        '  BTC             1.06085965',
        '  USDT        9 410.65',
        '  VND    50 000 000',
        '',
        '  −300 000 sat   bc1q…f3t4   ● sent',
        '',
      ],
    },
  ])(
    'omits the least important parts of the home screen first at $columns columns',
    ({ columns, lines }) => {
      expect(homeLines(home, more, plain(columns))).toEqual(lines);
    },
  );

  test('draws a home screen that never exceeds the window and wraps no amount', () => {
    const unrated = { ...more, worth: () => undefined };
    expect(homeLines(home, unrated, plain(80))[3]).toMatch(
      /^ {2}BTC +1\.06085965 +Last +2 min +↑ Coffee House +−2 500 sat$/,
    );
    for (let columns = 20; columns < 150; columns += 1) {
      expect(
        Math.max(...homeLines(home, unrated, plain(columns)).map(widthOf)),
      ).toBeLessThanOrEqual(columns);
      expect(Math.max(...homeLines(home, more, plain(columns)).map(widthOf))).toBeLessThanOrEqual(
        columns,
      );
      expect(
        homeLines(home, more, plain(columns)).filter((line) => /1\.06085965|50 000 000/.test(line)),
      ).toHaveLength(2);
    }
  });

  test.each([140, 80, 60, 20])(
    'shows local data at %i columns if the service is unreachable',
    (columns) => {
      const notReached = new Failure(
        'temporary',
        'No answer from https://pay.example: the connection was refused.',
      );
      const known = {
        ...more,
        notReached,
        notAsked: 'last checked 2026-03-01 14:01:11',
        open: [payment],
      };
      const lines = homeLines({ ...home, wallets: [], pending: [] }, known, plain(columns));
      const text = lines.join(' ').replace(/\s+/g, ' ');
      expect(Math.max(...lines.map(widthOf))).toBeLessThanOrEqual(columns);
      expect(text).toMatch(/service not reached No answer from .*The balances are unavailable/);
      expect(text).toMatch(/−2 500 sat Coffee House ● last seen confirmed .*last checked/);
      expect(text).not.toContain('wallets are empty');
    },
  );

  test('shows age, direction and payee of a movement at 80 columns, and never cuts an amount', () => {
    expect(homeLines(home, more, plain(80))[3]).toMatch(/ 2 min +↑ Coffee House +−2 500 sat$/);
    const dear = {
      ...home,
      recent: [
        movement(2, ['servicepay', 'USDT', 25000.5], ['servicepay', 'BTC', 0.0012]),
        ...home.recent,
      ],
    };
    for (let columns = 36; columns < 150; columns += 1)
      expect(homeLines(dear, more, plain(columns)).join('\n')).not.toMatch(/\d ?…/);
  });

  test('reports that all wallets are empty even if exchange rates are missing', () => {
    const empty = { ...home, wallets: [], pending: [], recent: [] };
    expect(homeLines(empty, { ...more, worth: () => undefined }, plain(80))[3]).toBe(
      '  all wallets are empty',
    );
  });
});

const payment: PendingPayment = {
  ref: 'order-118',
  kind: 'send lightning',
  destination: '03e7',
  with: 'Coffee House',
  ccy: 'BTC',
  amount: money('BTC', '0.000025').value,
  step: 'in-flight',
  agreed: true,
  txnId: 'c1d2',
  txnState: 'srccreated',
  attempt: 1,
  openedAt: now - 60_000,
  updatedAt: now - 60_000,
  asOf: now - 60_000,
  transaction: undefined,
};

describe('homeLines with an open payment', () => {
  test.each([
    [
      'a payment that was read just now',
      { ...payment, transaction: taken },
      '↑ Lightning   −2 500 sat   Coffee House   ● sent   2 of 6   1 min',
    ],
    [
      'a payment that was not checked',
      payment,
      '↑ Lightning   −2 500 sat   Coffee House   ● last seen confirmed   not checked   1 min',
    ],
    [
      'a submitted payment with an unknown outcome',
      { ...payment, step: 'submitting' as const },
      '↑ Lightning   −2 500 sat   Coffee House   ● outcome unknown   not checked   1 min',
    ],
    [
      'a quoted payment',
      { ...payment, step: 'quoted' as const },
      '↑ Lightning   −2 500 sat   Coffee House   ● quoted   nothing moved yet   1 min',
    ],
  ])('shows only what svcpay knows about the state of %s', (_what, open, line) => {
    const lines = homeLines({ ...home, pending: [] }, { ...more, open: [open] }, plain(100));
    expect(lines).toContain(`  ${line}`);
  });

  test('shows the number of further open payments that were not checked with the service', () => {
    const open = [...Array.from({ length: 9 }, () => payment), { ...payment, transaction: taken }];
    const lines = homeLines(
      { ...home, pending: [] },
      { ...more, open, notAsked: 'last checked 14:01' },
      plain(100),
    );
    const words = lines
      .slice(-7, -1)
      .map((line) => /sent|not checked|last checked/.exec(line)?.[0]);
    expect(words).toEqual(['sent', ...Array(4).fill('not checked'), 'last checked']);
    expect(lines).toContain('  and 6 more, not checked: svcpay tx pending');
  });

  test('describes the progress of a payment by the last state that the service reported', () => {
    const progress = (changes: Partial<PendingPayment>) =>
      openLines([], [{ ...payment, ...changes }], () => undefined, now).map(
        (line) => `${line.progress}, ${line.detail}`,
      );
    expect(progress({})).toEqual(['last seen confirmed, not checked']);
    expect(progress({ transaction: taken })).toEqual(['sent, 2 of 6']);
    expect(progress({ step: 'quoted', agreed: false, txnState: 'quoted' })).toEqual([
      'quoted, not approved yet, nothing moved yet',
    ]);
  });
});
