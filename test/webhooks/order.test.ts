// How an event relates to the others of its transaction.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { EarlierEvent, ReceivedEvent } from '../../src/store/events/event-store.js';
import { gapsOf, placeOf, statesBetween } from '../../src/webhooks/order.js';

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

describe('the place of an event', () => {
  test.for([
    ['the first of its transaction', [], ['destsent', 5], {}],
    ['the next state', [['srccreated', 1]], ['destsent', 2], {}],
    [
      'the same again',
      [
        ['srccreated', 1],
        ['destsent', 2],
      ],
      ['srccreated', 1],
      { duplicateOf: 1 },
    ],
    ['overtaken', [['completed', 9]], ['destsent', 5], { outOfOrder: true }],
    [
      'overtaken, by a clock that went back',
      [['completed', 3]],
      ['destsent', 5],
      { outOfOrder: true },
    ],
    [
      'overtaken within one millisecond',
      [['destsent', 5]],
      ['srccreated', 5],
      { outOfOrder: true },
    ],
    ['ahead of one that never came', [['quoted', 1]], ['destsent', 3], { missing: ['srccreated'] }],
    [
      'ahead of two',
      [
        ['srcintent', 1],
        ['quoted', 0],
      ],
      ['completed', 3],
      { missing: ['srccreated'] },
    ],
    ['a failure, which comes from every state', [['quoted', 1]], ['failed', 2], {}],
    ['a receive, which is not sent', [['srccreated', 1]], ['completed', 2], {}],
    ['a swap', [['quoted', 1]], ['completed', 2], {}],
    ['a state of another time', [['shipped', 1]], ['delivered', 2], {}],
    ['a state of another time, overtaken', [['shipped', 3]], ['packed', 2], { outOfOrder: true }],
  ] as const)('is compared with earlier ones: %s', ([, before, [state, at], place]) => {
    const plain = { duplicateOf: null, outOfOrder: false, missing: [] };
    expect(placeOf(event(state, at), earlier(...before))).toEqual({ ...plain, ...place });
  });

  test('is not reported for a body that is not a payload', () => {
    const unreadable = { ...event('', 0), txnId: null, txnState: null, updatedAt: null };
    expect(placeOf(unreadable, [])).toEqual({ duplicateOf: null, outOfOrder: false, missing: [] });
  });
});

describe('gaps', () => {
  const course = [
    ['quoted', 1],
    ['srccreated', 2],
    ['destsent', 3],
    ['completed', 4],
  ] as const;

  test('close when the missing events come late, in any order', () => {
    const moments = course.map(([txnState, updatedAt]) => ({ txnState, updatedAt }));
    fc.assert(
      fc.property(fc.shuffledSubarray(moments, { minLength: moments.length }), (shuffled) => {
        expect(gapsOf(shuffled)).toEqual([]);
      }),
    );
  });

  test('stay when they never come', () => {
    expect(
      gapsOf([
        { txnState: 'destsent', updatedAt: 3 },
        { txnState: 'quoted', updatedAt: 1 },
      ]),
    ).toEqual(['srccreated']);
  });

  test('are not reported between states without a path', () => {
    expect(statesBetween('completed', 'quoted')).toEqual([]);
    expect(statesBetween('shipped', 'completed')).toEqual([]);
  });
});
