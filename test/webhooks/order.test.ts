// placeOf finds the place of an event among the other events of its transaction.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { EarlierEvent, ReceivedEvent } from '../../src/store/events/event-store.js';
import { gapsOf, placeOf, statesBetween } from '../../src/webhooks/events.js';

const event = (txnState: string, updatedAt: number): ReceivedEvent => ({
  receivedAt: 0,
  body: Buffer.alloc(0),
  signature: '',
  txnId: 't',
  txnState,
  updatedAt,
});
const earlier = (...states: readonly (readonly [string, number])[]): EarlierEvent[] =>
  states.map(([txnState, updatedAt], index) => ({ id: index + 1, txnState, updatedAt }));

describe('place of a webhook event', () => {
  test.for([
    ['accepts the first event of a transaction', [], ['destsent', 5], {}],
    ['accepts an event with the next state', [['srccreated', 1]], ['destsent', 2], {}],
    [
      'marks a repeated event as a duplicate',
      [
        ['srccreated', 1],
        ['destsent', 2],
      ],
      ['srccreated', 1],
      { duplicateOf: 1 },
    ],
    [
      'marks an event as out of order if a later state arrived before',
      [['completed', 9]],
      ['destsent', 5],
      { outOfOrder: true },
    ],
    [
      'marks an event as out of order even if the clock of the service went back',
      [['completed', 3]],
      ['destsent', 5],
      { outOfOrder: true },
    ],
    [
      'marks an event as out of order even within one millisecond',
      [['destsent', 5]],
      ['srccreated', 5],
      { outOfOrder: true },
    ],
    [
      'reports the missing state between two events',
      [['quoted', 1]],
      ['destsent', 3],
      { missing: ['srccreated'] },
    ],
    [
      'reports only `srccreated` as missing before the end of an on-chain receive',
      [
        ['srcintent', 1],
        ['quoted', 0],
      ],
      ['completed', 3],
      { missing: ['srccreated'] },
    ],
    ['accepts `failed` after any state', [['quoted', 1]], ['failed', 2], {}],
    [
      'accepts `completed` after `srccreated` because a receive has no `destsent`',
      [['srccreated', 1]],
      ['completed', 2],
      {},
    ],
    [
      'accepts `completed` after `quoted` because a swap completes at once',
      [['quoted', 1]],
      ['completed', 2],
      {},
    ],
    ['accepts an unrecognized state with a later time', [['shipped', 1]], ['delivered', 2], {}],
    [
      'marks an unrecognized state with an earlier time as out of order',
      [['shipped', 3]],
      ['packed', 2],
      { outOfOrder: true },
    ],
  ] as const)(
    'placeOf compares an event with earlier events of its transaction: it %s',
    ([, before, [state, at], place]) => {
      const plain = { duplicateOf: null, outOfOrder: false, missing: [] };
      expect(placeOf(event(state, at), earlier(...before))).toEqual({ ...plain, ...place });
    },
  );

  test('placeOf ignores a body that is not a webhook payload', () => {
    const unreadable = { ...event('', 0), txnId: null, txnState: null, updatedAt: null };
    expect(placeOf(unreadable, [])).toEqual({ duplicateOf: null, outOfOrder: false, missing: [] });
  });
});

describe('gaps between webhook events', () => {
  const course = [
    ['quoted', 1],
    ['srccreated', 2],
    ['destsent', 3],
    ['completed', 4],
  ] as const;

  test('gapsOf reports no missing state if every event arrived, whatever the order of arrival', () => {
    const moments = course.map(([txnState, updatedAt]) => ({ txnState, updatedAt }));
    fc.assert(
      fc.property(fc.shuffledSubarray(moments, { minLength: moments.length }), (shuffled) => {
        expect(gapsOf(shuffled)).toEqual([]);
      }),
    );
  });

  test('gapsOf reports the state whose event never arrived', () => {
    expect(
      gapsOf([
        { txnState: 'destsent', updatedAt: 3 },
        { txnState: 'quoted', updatedAt: 1 },
      ]),
    ).toEqual(['srccreated']);
  });

  test('statesBetween returns no states if no path connects the two states', () => {
    expect(statesBetween('completed', 'quoted')).toEqual([]);
    expect(statesBetween('shipped', 'completed')).toEqual([]);
  });
});
