// Keys of the live screen choose a row, open its receipt, and leave the screen.
import { expect, test } from 'vitest';
import { pressed } from '../../../src/cli/watch/watch.js';
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

test.each(
  [
    { why: 'one key down', keys: [{ name: 'down' }], chosen: 1 },
    {
      why: 'j, j and k',
      keys: [{ sequence: 'j' }, { sequence: 'j' }, { sequence: 'k' }],
      chosen: 1,
    },
    { why: 'one key up', keys: [{ name: 'up' }], chosen: 0 },
    { why: 'nine keys down', keys: Array.from({ length: 9 }, () => ({ name: 'down' })), chosen: 2 },
  ].map((each) => [each.chosen, each.why, each] as const),
)('the watch screen chooses row %s after %s', (_chosen, _why, { keys, chosen }) => {
  let shown = model;
  for (const key of keys) [shown] = pressed(key, shown);
  expect(shown.chosen).toBe(chosen);
});

test.each(
  [
    { why: 'q', key: { sequence: 'q' }, wish: 'leave' },
    { why: 'Esc', key: { name: 'escape' }, wish: 'leave' },
    { why: 'Ctrl-C', key: { name: 'c', ctrl: true }, wish: 'leave' },
    { why: 'Enter', key: { name: 'return' }, wish: 'open' },
  ].map((each) => [each.why, each.wish, each] as const),
)('the watch screen reads %s as the key to %s', (_why, _wish, { key, wish }) => {
  expect(pressed(key, model)[1]).toBe(wish);
});
