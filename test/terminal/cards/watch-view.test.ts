// Tests the lines of the live screen: the parts that a narrow window omits, and the sparkline.
import Big from 'big.js';
import { Chalk } from 'chalk';
import { expect, test } from 'vitest';
import { money } from '../../../src/formats/amount.js';
import {
  openable,
  sparkline,
  watchLines,
  type WatchModel,
} from '../../../src/terminal/cards/watch-view.js';
import { widthOf } from '../../../src/terminal/text.js';

const now = Date.UTC(2026, 2, 1, 14, 2, 11);

const model: WatchModel = {
  home: {
    profile: 'acme',
    service: 'production',
    accountId: 'ne01-7f3a',
    unfinished: [],
    asOf: now,
    wallets: [
      { ccy: 'BTC', amount: 1.5, availableBalance: 1.06085965 },
      { ccy: 'USDT', amount: 9410.65, availableBalance: 9410.65 },
    ],
    pending: [
      {
        txnId: 'chain',
        txnState: 'destsent',
        createdAt: now - 240_000,
        sourceReq: { method: 'servicepay', ccy: 'BTC', amtRequested: 0.003 },
        destReq: {
          method: 'on-chain',
          ccy: 'BTC',
          amtRequested: 0.003,
          reqDetails: {
            address: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
            confirmations: 2,
            requiredConfirmations: 6,
          },
        },
      },
    ],
    recent: [
      {
        txnId: 'in',
        txnState: 'completed',
        createdAt: now - 60_000,
        sourceReq: { method: 'lightning', ccy: 'BTC', amtSettled: 0.00018 },
        destReq: { method: 'servicepay', ccy: 'BTC', amtSettled: 0.00018 },
      },
    ],
  },
  more: {
    open: [],
    morePending: 0,
    notAsked: undefined,
    notReached: undefined,
    worth: () => money('USD', 106_085),
    known: () => undefined,
  },
  past: new Map([['BTC', [1, 2, 3, 4].map((value) => new Big(value))]]),
  events: [{ txnId: 'other-id', txnState: 'srccreated', at: now - 1_000 }],
  chosen: 1,
  problem: undefined,
  now,
};

const drawn = (columns: number, rows: number, changes: Partial<WatchModel> = {}): string[] =>
  watchLines(
    { ...model, ...changes },
    { style: new Chalk({ level: 0 }), columns, rows, blocks: false },
    true,
  );

test('watchLines fills the window at every width, and keeps amounts whole', () => {
  for (let columns = 40; columns < 150; columns += 1) {
    const lines = drawn(columns, 20);
    expect(lines).toHaveLength(20);
    expect(Math.max(...lines.map(widthOf))).toBeLessThan(columns);
    expect(lines.join('\n')).toMatch(/1\.06085965[^]*9 410\.65[^]*−300 000 sat[^]*18 000 sat/);
  }
  expect(drawn(80, 24).join('\n')).toMatch(
    /↑ On-chain +−300 000 sat +bc1q…f3t4 +● sent +2 of 6 +4 min/,
  );
});

test('watchLines marks the chosen row among open payments, events and movements', () => {
  expect(openable(model)).toEqual(['chain', 'other-id', 'in']);
  expect(drawn(80, 24).find((line) => line.includes('❯'))).toMatch(/event other-id: in flight/);
  expect(drawn(80, 24, { chosen: 2 }).find((line) => line.includes('❯'))).toContain('18 000 sat');
});

test('watchLines aligns the party of a payment with the received amount of a swap', () => {
  const [received] = model.home.recent;
  const swap = {
    txnId: 'swap',
    txnState: 'completed',
    createdAt: now - 90_000,
    sourceReq: { method: 'servicepay', ccy: 'USDT', amtSettled: 120 },
    destReq: { method: 'servicepay', ccy: 'BTC', amtSettled: 0.0012 },
  };
  const recent =
    received === undefined ? [] : [{ ...received, note: 'Coffee House, order 118' }, swap];
  const lines = drawn(100, 24, { home: { ...model.home, recent }, events: [] });
  const [note, arrived] = ['Coffee House', '→ 120 000 sat'].map((text) =>
    lines.find((line) => line.includes(text))?.indexOf(text),
  );
  expect(note).toBeGreaterThan(0);
  expect(arrived).toBe(note);
});

test('watchLines shows the age of its data, and why the last update failed', () => {
  expect(drawn(80, 24)[0]).toMatch(/as of \d\d:\d\d:\d\d · just now$/);
  const failed = drawn(80, 24, { problem: 'No answer.', now: now + 40_000 });
  expect(failed[0]).toMatch(/as of \d\d:\d\d:\d\d · 40 seconds ago$/);
  expect(failed[1]).toBe('  No answer.');
});

test('watchLines keeps the chosen row in view among 30 payments', () => {
  const pending = Array.from({ length: 30 }, (_, i) =>
    model.home.pending.map((txn) => ({ ...txn, txnId: `t${i}` })),
  ).flat();
  for (let chosen = 0; chosen < 32; chosen += 1) {
    const lines = drawn(60, 20, { home: { ...model.home, pending }, chosen });
    expect(lines).toHaveLength(20);
    expect(lines.filter((line) => line.includes('❯'))).toHaveLength(1);
  }
});

test('sparkline rises from its lowest to its highest value', () => {
  expect(sparkline([2, 1, 2, 3, 4, 4.5, 5].map((value) => new Big(value)))).toBe('▃▃▆█');
  expect(sparkline([5, 5].map((value) => new Big(value)))).toBe('▅');
  expect(sparkline([])).toBe('');
});
