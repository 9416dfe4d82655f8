// The keys of the live screen: which row they choose, and when they open, close and leave.
import { expect, test } from 'vitest';
import { pressed } from '../../../src/cli/overview/watch.js';
import type { WatchModel } from '../../../src/terminal/cards/watch-view.js';

const recent = ['a', 'b', 'c'].map((txnId) => ({
  txnId,
  txnState: 'completed',
  sourceReq: {},
  destReq: {},
}));
const model: WatchModel = {
  home: {
    profile: 'p',
    service: 's',
    accountId: 'a',
    wallets: [],
    pending: [],
    unfinished: [],
    recent,
    asOf: 0,
  },
  more: {
    open: [],
    morePending: 0,
    notAsked: undefined,
    notReached: undefined,
    worth: () => undefined,
    known: () => undefined,
  },
  past: new Map(),
  events: [],
  chosen: 0,
  problem: undefined,
  now: 0,
};

test.each([
  { keys: [{ name: 'down' }], chosen: 1 },
  { keys: [{ sequence: 'j' }, { sequence: 'j' }, { sequence: 'k' }], chosen: 1 },
  { keys: [{ name: 'up' }], chosen: 0 },
  { keys: Array.from({ length: 9 }, () => ({ name: 'down' })), chosen: 2 },
])('after $keys row $chosen is chosen', ({ keys, chosen }) => {
  let view: Parameters<typeof pressed>[1] = { model, opened: undefined };
  for (const key of keys) [view] = pressed(key, view);
  expect(view.model.chosen).toBe(chosen);
});

test.each([
  { key: { sequence: 'q' }, wish: 'leave' },
  { key: { name: 'escape' }, wish: 'leave' },
  { key: { name: 'c', ctrl: true }, wish: 'leave' },
  { key: { name: 'return' }, wish: 'open' },
])('$key is a wish to $wish', ({ key, wish }) => {
  expect(pressed(key, { model, opened: undefined })[1]).toBe(wish);
});

test('any key closes a receipt, except Ctrl-C, which leaves', () => {
  const view = { model, opened: 'reading' } as const;
  expect(pressed({ sequence: 'q' }, view)).toEqual([{ model, opened: undefined }, undefined]);
  expect(pressed({ name: 'c', ctrl: true }, view)[1]).toBe('leave');
});
