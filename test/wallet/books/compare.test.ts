// The reconciliation finds every kind of difference between the service and another source, and
// finds none if all sources agree.
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ListedTransaction } from '../../../src/api/types.js';
import { Failure } from '../../../src/formats/failure.js';
import {
  openComparison,
  type KnownEvent,
  type LocalPayment,
} from '../../../src/wallet/books/compare.js';
import { received, start, transaction } from './support.js';

interface World {
  readonly listed?: readonly ListedTransaction[];
  /** Transactions that the service has, but that its list omits. */
  readonly hidden?: readonly ListedTransaction[];
  readonly journal?: readonly LocalPayment[];
  readonly inbox?: readonly KnownEvent[];
  readonly since?: number;
}

async function* each<T>(all: readonly T[]): AsyncGenerator<T> {
  yield* all;
}

async function found({
  listed = [],
  hidden = [],
  journal = [],
  inbox,
  since = 0,
}: World): Promise<string[]> {
  const comparison = openComparison();
  onTestFinished(comparison.close);
  const read = (txnId: string): Promise<ListedTransaction> => {
    const txn = [...listed, ...hidden].find((one) => one.txnId === txnId);
    return txn === undefined
      ? Promise.reject(new Failure('not-found', 'not found'))
      : Promise.resolve(txn);
  };
  comparison.list(listed);
  await comparison.compare({
    journal: each(journal),
    inbox: inbox && each(inbox),
    accepted: [],
    read,
    period: { first: since, end: Infinity },
  });
  return [...comparison.differences()].map(
    ({ difference, source, txnId }) => `${difference}: ${txnId} (${source})`,
  );
}

const sent: LocalPayment = {
  txnId: 'sent',
  reference: null,
  outcome: 'paid',
  state: 'paid',
  ccy: 'BTC',
  total: '0.00100007',
  receivesCcy: 'BTC',
  receives: '0.001',
  destination: null,
};
const event = (txnId: string, txnState = 'completed', at = start): KnownEvent => ({
  txnId,
  txnState,
  updatedAt: at,
});

describe('differences between the books and the service', () => {
  test('a payment in flight here and completed at the service is progress, unless its amount differs', async () => {
    const moving = { ...sent, outcome: 'in flight', state: 'in-flight' } as const;
    expect(await found({ listed: [transaction()], journal: [moving] })).toEqual([]);
    expect(await found({ listed: [transaction()], journal: [{ ...moving, total: '1' }] })).toEqual([
      'amount differs: sent (journal)',
    ]);
  });

  test.for<[string, World, string[]]>([
    [
      'finds no difference if all sources agree with the service',
      {
        listed: [transaction(), received()],
        journal: [sent],
        inbox: [event('sent'), event('received')],
      },
      [],
    ],
    [
      'ignores a failed or quoted transaction that the journal lacks',
      {
        listed: [
          transaction({ txnState: 'failed' }),
          transaction({ txnId: 'q', txnState: 'quoted' }),
        ],
      },
      [],
    ],
    [
      'finds a completed payment that the journal lacks',
      { listed: [transaction()] },
      ['unknown here: sent (journal)'],
    ],
    [
      'finds a payment in flight that the journal lacks',
      { listed: [transaction({ txnState: 'destsent' })] },
      ['unknown here: sent (journal)'],
    ],
    ['accepts received money that the journal lacks', { listed: [received()] }, []],
    [
      'finds a journal payment that the service lacks',
      { journal: [sent] },
      ['unknown there: sent (journal)'],
    ],
    [
      'finds a payment that the list of the service omits',
      { journal: [sent], hidden: [transaction()] },
      ['unknown there: sent (journal)'],
    ],
    [
      'finds an event about a transaction that the service lacks',
      { inbox: [event('other')] },
      ['unknown there: other (inbox)'],
    ],
    [
      'finds a total that differs from the journal',
      { listed: [transaction()], journal: [{ ...sent, total: '0.00100006' }] },
      ['amount differs: sent (journal)'],
    ],
    [
      'reports only the currency if currency and amount differ',
      { listed: [transaction()], journal: [{ ...sent, ccy: 'USDT', total: '1' }] },
      ['currency differs: sent (journal)'],
    ],
    ...(['failed', 'rejected', 'error', 'destsent', 'quoted', 'expired'] as const).map(
      (txnState): [string, World, string[]] => [
        `finds a payment that the journal shows as paid and the service as "${txnState}"`,
        { listed: [transaction({ txnState })], journal: [sent] },
        ['state differs: sent (journal)'],
      ],
    ),
    ...(
      [
        ['nothing moved', 'completed'],
        ['in flight', 'failed'],
        ['error', 'completed'],
        ['unknown', 'completed'],
        ['nothing moved', 'destsent'],
      ] as const
    ).map(([outcome, txnState]): [string, World, string[]] => [
      `finds a payment that the journal shows as "${outcome}" and the service as "${txnState}"`,
      {
        listed: [transaction({ txnState })],
        journal: [{ ...sent, outcome, total: null, receives: null }],
      },
      ['state differs: sent (journal)'],
    ]),
    ...(
      [
        ['unknown', 'expired'],
        ['nothing moved', 'quoted'],
        ['nothing moved', 'failed'],
        ['in flight', 'srccreated'],
        ['error', 'error'],
      ] as const
    ).map(([outcome, txnState]): [string, World, string[]] => [
      `accepts a payment that the journal shows as "${outcome}" and the service as "${txnState}"`,
      { listed: [transaction({ txnState })], journal: [{ ...sent, outcome }] },
      [],
    ]),
    [
      'accepts a lapsed payment that the service lacks',
      { journal: [{ ...sent, outcome: 'nothing moved', state: 'lapsed' }] },
      [],
    ],
    [
      'finds a received amount that differs from the journal',
      { listed: [transaction()], journal: [{ ...sent, receives: '0.00099' }] },
      ['arrived differs: sent (journal)'],
    ],
    [
      'finds a received currency that differs from the journal',
      { listed: [transaction()], journal: [{ ...sent, receivesCcy: 'VND' }] },
      ['currency differs: sent (journal)'],
    ],
    [
      'finds a reference that differs from the journal',
      { listed: [transaction({ extRefId: 'S' })], journal: [{ ...sent, reference: 'R' }] },
      ['reference differs: sent (journal)'],
    ],
    [
      'finds a destination that differs from the journal',
      {
        listed: [
          transaction({
            destReq: { ...transaction().destReq, reqDetails: { address: 'tb1qother' } },
          }),
        ],
        journal: [{ ...sent, destination: 'tb1qmine' }],
      },
      ['destination differs: sent (journal)'],
    ],
    [
      'accepts the transaction id as the reference of an imported payment',
      { listed: [transaction()], journal: [{ ...sent, reference: 'sent' }] },
      [],
    ],
    [
      'finds a received amount that differs from the request by more than fees',
      {
        listed: [
          received({
            destReq: { ccy: 'BTC', method: 'servicepay', amtRequested: 0.002, amtSettled: 0.0019 },
            sourceReq: { ccy: 'BTC', method: 'on-chain', amtSettled: 0.0019 },
          }),
          received({
            txnId: 'net',
            destReq: { ccy: 'BTC', method: 'servicepay', amtRequested: 0.002, amtSettled: 0.0019 },
            sourceReq: {
              ccy: 'BTC',
              method: 'on-chain',
              amtSettled: 0.002,
              servicepayFees: 0.0001,
              networkFees: 0,
            },
          }),
        ],
      },
      ['arrived differs: received (request)'],
    ],
    [
      'finds a source amount that contradicts the received amount and the fees',
      {
        listed: [
          transaction({
            sourceReq: { ...transaction().sourceReq, amtSettled: 0.0012 },
          }),
          transaction({
            txnId: 'whole',
            sourceReq: { ...transaction().sourceReq, amtSettled: 0.00100007 },
          }),
        ],
        journal: [sent, { ...sent, txnId: 'whole' }],
      },
      ['contradicts itself: sent (service)'],
    ],
    [
      'reports a payment as not comparable if either side lacks the amount',
      {
        listed: [
          transaction({
            sourceReq: { ccy: 'BTC', method: 'servicepay' },
            destReq: { ccy: 'VND', method: 'vnd-instant' },
          }),
          transaction({ txnId: 'bare' }),
        ],
        journal: [sent, { ...sent, txnId: 'bare', total: null }],
      },
      ['not comparable: bare (journal)', 'not comparable: sent (service)'],
    ],
    [
      'accepts an earlier event after the `completed` event',
      { listed: [received()], inbox: [event('received'), event('received', 'destsent')] },
      [],
    ],
    [
      'finds events with contradictory final states',
      {
        listed: [received({ txnState: 'failed' })],
        inbox: [event('received'), event('received', 'failed')],
      },
      ['events contradict: received (inbox)', 'state differs: received (inbox)'],
    ],
    [
      'finds a received payment whose event never came',
      {
        listed: [received()],
        inbox: [event('sent', 'srccreated')],
        journal: [sent],
        hidden: [transaction()],
      },
      [
        'unknown there: sent (journal)',
        'event never came: received (inbox)',
        'unknown there: sent (inbox)',
      ],
    ],
    [
      'finds a completed payment whose only event has an earlier state',
      { listed: [received()], inbox: [event('received', 'srccreated')] },
      ['event never came: received (inbox)'],
    ],
    [
      'accepts missing events from before the first stored event',
      {
        listed: [received({ createdAt: start - 1 })],
        inbox: [event('x', 'completed', start)],
        hidden: [received({ txnId: 'x' })],
      },
      ['unknown there: x (inbox)'],
    ],
    [
      'skips transactions created before the start of the period',
      { listed: [transaction(), received()], inbox: [event('received')], since: start + 1 },
      [],
    ],
    [
      'accepts a payment outside the list if it was created before the period',
      { journal: [sent], hidden: [transaction()], since: start + 1 },
      [],
    ],
  ])('reconciliation %s', async ([, world, expected]) => {
    expect(await found(world)).toEqual(expected);
  });
});
