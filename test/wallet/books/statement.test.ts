// A statement adds its rows to the opening balance and ends at the closing balance. If the sum of
// the rows differs from the balance, the statement names transactions that may explain the
// difference.
import Big from 'big.js';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  booked,
  openBookRows,
  withoutTransaction,
  type Candidate,
  type Movement,
} from '../../../src/wallet/books/movement.js';
import { changeOf } from '../../../src/formats/statement-row.js';
import { balanceAfter, explanations, statementRows } from '../../../src/wallet/books/statement.js';
import { fees, received, start, swapped, transaction } from './support.js';

const now = start + 86_400_000;
const changes = (txn: Parameters<typeof booked>[0]): string[] =>
  booked(txn, now).movements.map((each) => `${changeOf(each).toFixed()} ${each.wallet}`);
const reasons = (txn: Parameters<typeof booked>[0]): string[] =>
  booked(txn, now).candidates.map(
    ({ reason, ccy, effect }) => `${reason}: ${effect?.toFixed() ?? '?'} ${ccy}`,
  );

describe('bookkeeping of a transaction', () => {
  test.for([
    ['debits the amount and the fees of a send', transaction(), ['-0.00100007 BTC']],
    ['credits the amount of a receive', received(), ['0.002 BTC']],
    [
      'debits one wallet and credits the other for a swap',
      swapped(),
      ['-25.0625 USDT', '0.00025 BTC'],
    ],
    [
      'debits only the amount of a send if the fees are deducted from this amount',
      transaction({
        destReq: { ccy: 'BTC', method: 'on-chain', amtRequested: 0.001, amtSettled: 0.00099993 },
      }),
      ['-0.001 BTC'],
    ],
    ['creates no movement for a failed send', transaction({ txnState: 'failed' }), []],
    ['creates no movement for an expired quote', transaction({ txnState: 'quoted' }), []],
    ['creates no movement for a send in flight', transaction({ txnState: 'destsent' }), []],
  ] as const)('booked() %s', ([, txn, expected]) => {
    expect(changes(txn)).toEqual(expected);
  });

  test.for([
    [
      'counts a transaction in flight as a possible cause',
      transaction({ txnState: 'destsent' }),
      ['in flight: -0.00100007 BTC'],
    ],
    [
      'counts a transaction in an unrecognized state as a possible cause',
      transaction({ txnState: 'srcsent' }),
      ['in flight: -0.00100007 BTC'],
    ],
    [
      'counts a quote that has not expired as a possible cause',
      transaction({ txnState: 'quoted', createdAt: now - 60_000 }),
      ['reserved: -0.00100007 BTC'],
    ],
    [
      'counts a transaction in the state `error` as a possible cause',
      transaction({ txnState: 'error' }),
      ['ended as error: -0.00100007 BTC'],
    ],
    [
      'counts a completed transaction without amounts as a possible cause',
      transaction({
        sourceReq: { ccy: 'BTC', method: 'servicepay' },
        destReq: { ccy: 'VND', method: 'vnd-instant' },
      }),
      ['amount not reported: ? BTC'],
    ],
    [
      'counts a request that was paid with less than the requested amount as a possible cause',
      received({
        destReq: { ccy: 'BTC', method: 'servicepay', amtRequested: 0.002, amtSettled: 0.0015 },
      }),
      ['settled another amount than requested: 0.0005 BTC'],
    ],
    ['does not count a rejected transaction as a cause', transaction({ txnState: 'rejected' }), []],
  ] as const)(
    'bookkeeping %s of a difference between movements and balance',
    ([, txn, expected]) => {
      expect(reasons(txn)).toEqual(expected);
    },
  );

  test('openBookRows restores a stored movement exactly', () => {
    const tiny = transaction({
      sourceReq: { ccy: 'BTC', method: 'servicepay', amtSettled: 0.00000001, ...fees },
      destReq: { ccy: 'BTC', method: 'lightning', amtSettled: 0.00000001 },
    });
    const { movements } = booked(tiny, now);
    const rows = openBookRows();
    onTestFinished(rows.close);
    rows.replace(['tiny'], movements);
    expect([...rows.movements('BTC')]).toEqual(movements);
  });
});

const units = fc
  .bigInt({ min: 0n, max: 2_100_000_000_000_000n })
  .map((sats) => new Big(String(sats)).times('1e-8'));
const movement = fc
  .record({ at: fc.integer({ min: 1, max: 1_000 }), in: units, out: units, fee: units })
  .map((amounts): Movement => ({
    ...withoutTransaction,
    ...amounts,
    wallet: 'BTC',
    kind: 'send',
    txnId: 'any',
    counterparty: 'lightning',
  }));
const history = fc
  .array(movement, { maxLength: 40 })
  .map((all) => all.toSorted((a, b) => a.at - b.at));
const period = fc
  .tuple(fc.integer({ min: 0, max: 1_100 }), fc.integer({ min: 1, max: 600 }))
  .map(([first, length]) => ({ first, end: first + length }));

describe('statementRows', () => {
  test('adds the rows to the opening balance and ends at the closing balance in any period', () => {
    fc.assert(
      fc.property(history, period, (all, span) => {
        const rows = [...statementRows('BTC', all, { period: span, now: 5_000, day: String })];
        expect([rows[0]?.kind, rows.at(-1)?.kind]).toEqual(['opening', 'closing']);
        const inside = rows.slice(1, -1);
        expect(inside).toHaveLength(
          all.filter(({ at }) => at >= span.first && at < span.end).length,
        );
        let balance = rows[0]?.balance ?? new Big(NaN);
        for (const row of inside) {
          balance = balance.plus(changeOf(row));
          expect(row.balance.eq(balance)).toBe(true);
        }
        expect(rows.at(-1)?.balance.eq(balance)).toBe(true);
        expect(rows[0]?.balance.eq(balanceAfter(all, span.first))).toBe(true);
        expect(balance.eq(balanceAfter(all, span.end))).toBe(true);
        const { totals } = rows.at(-1) ?? {};
        const net = totals?.in.minus(totals.out).minus(totals.fee);
        expect(rows[0]?.balance.plus(net ?? NaN).eq(balance)).toBe(true);
      }),
    );
  });

  test('splits a period into statements with the same rows and continuous balances', () => {
    fc.assert(
      fc.property(history, fc.integer({ min: 1, max: 1_000 }), (all, middle) => {
        const of = (first: number, end: number) => [
          ...statementRows('BTC', all, { period: { first, end }, now: 5_000, day: String }),
        ];
        const [one, next, whole] = [of(0, middle), of(middle, 2_000), of(0, 2_000)];
        expect(next[0]?.balance.eq(one.at(-1)?.balance ?? -1)).toBe(true);
        expect([...one.slice(1, -1), ...next.slice(1, -1)]).toEqual(whole.slice(1, -1));
      }),
    );
  });
});

describe('explanations', () => {
  const candidate = (
    txnId: string,
    effect: string | null,
    reason: Candidate['reason'] = 'in flight',
  ): Candidate => ({
    ccy: 'BTC',
    at: 1,
    txnId,
    reason,
    txnState: 'destsent',
    effect: effect === null ? null : new Big(effect),
  });
  const exactly = (difference: string, candidates: Candidate[]): string[] =>
    explanations(new Big(difference), candidates)
      .filter(({ isExact }) => isExact)
      .map(({ txnId }) => txnId);

  test.for([
    [
      'explains a difference by the only transaction with its amount',
      '-0.2',
      [candidate('a', '-0.1'), candidate('b', '-0.2'), candidate('c', '-0.3')],
      ['b'],
    ],
    [
      'explains a difference by all transactions with the same reason if they add up to the difference',
      '-0.3',
      [candidate('a', '-0.1'), candidate('b', '-0.2'), candidate('c', '-0.5', 'ended as error')],
      ['a', 'b'],
    ],
    [
      'finds no exact explanation if an amount is unknown',
      '-0.3',
      [candidate('a', '-0.1'), candidate('b', null)],
      [],
    ],
    [
      'finds no exact explanation if no amount fits the difference',
      '0.3',
      [candidate('a', '-0.1')],
      [],
    ],
  ] as const)('the statement %s', ([, difference, candidates, expected]) => {
    expect(exactly(difference, [...candidates])).toEqual(expected);
  });
});
