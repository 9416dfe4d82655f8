// Each source against the service: the four kinds of difference, and nothing where all agree.
import { describe, expect, onTestFinished, test } from 'vitest';
import Big from 'big.js';
import type { ListedTransaction } from '../../../src/api/types.js';
import { Failure } from '../../../src/formats/failure.js';
import { openSortedRows } from '../../../src/store/files/sorted-rows.js';
import { differences, type Known, type KnownEvent } from '../../../src/wallet/books/compare.js';
import { received, start, transaction } from './support.js';

interface World {
  readonly listed?: readonly ListedTransaction[];
  /** What the service has although the list leaves it out. */
  readonly hidden?: readonly ListedTransaction[];
  readonly journal?: readonly Known[];
  readonly inbox?: readonly KnownEvent[];
  readonly file?: readonly Known[];
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
  file,
  since = 0,
}: World): Promise<string[]> {
  const rows = openSortedRows();
  onTestFinished(rows.close);
  const read = (txnId: string): Promise<ListedTransaction> => {
    const txn = [...listed, ...hidden].find((one) => one.txnId === txnId);
    return txn === undefined
      ? Promise.reject(new Failure('not-found', 'not found'))
      : Promise.resolve(txn);
  };
  const sources = {
    listed: each([listed]),
    journal,
    inbox: inbox && each(inbox),
    files: file === undefined ? [] : [{ name: 'pay.csv', rows: each(file) }],
  };
  const all: string[] = [];
  for await (const { difference, source, txnId } of differences(sources, {
    rows,
    read,
    since,
    onRead: () => undefined,
  }))
    all.push(`${difference}: ${txnId} (${source})`);
  return all;
}

const sent: Known = { txnId: 'sent', reference: 'R', ccy: 'BTC', total: new Big('0.00100007') };
const event = (txnId: string, txnState = 'completed', at = start): KnownEvent => ({
  txnId,
  txnState,
  at,
});

describe('a reconciliation', () => {
  test.for<[string, World, string[]]>([
    [
      'finds nothing where all agree',
      {
        listed: [transaction(), received()],
        journal: [sent],
        inbox: [event('sent'), event('received')],
        file: [sent],
      },
      [],
    ],
    [
      'finds nothing in what moved nothing, or is only quoted',
      {
        listed: [
          transaction({ txnState: 'failed' }),
          transaction({ txnId: 'q', txnState: 'quoted' }),
        ],
      },
      [],
    ],
    [
      'finds a payment that the journal does not have',
      { listed: [transaction()] },
      ['unknown here: sent (journal)'],
    ],
    [
      'finds it in flight too',
      { listed: [transaction({ txnState: 'destsent' })] },
      ['unknown here: sent (journal)'],
    ],
    ['does not look for received money in the journal', { listed: [received()] }, []],
    [
      'finds a payment that the service does not have',
      { journal: [sent] },
      ['unknown there: sent (journal)'],
    ],
    [
      'finds a payment that only the list leaves out',
      { journal: [sent], hidden: [transaction()] },
      ['unknown there: sent (journal)'],
    ],
    [
      'finds an event about a transaction that the service does not have',
      { inbox: [event('other')] },
      ['unknown there: other (inbox)'],
    ],
    [
      'finds an amount other than agreed',
      { listed: [transaction()], journal: [{ ...sent, total: new Big('0.00100006') }] },
      ['amount differs: sent (journal)'],
    ],
    [
      'compares no amounts of different currencies',
      { listed: [transaction()], journal: [{ ...sent, ccy: 'USDT' }] },
      [],
    ],
    [
      'finds an amount other than in a batch result',
      { listed: [transaction()], journal: [sent], file: [{ ...sent, total: new Big(1) }] },
      ['amount differs: sent (pay.csv)'],
    ],
    [
      'finds a row of a batch result that the journal does not have',
      { listed: [transaction({ txnState: 'failed' })], file: [sent] },
      ['unknown here: sent (pay.csv)'],
    ],
    [
      'finds an event that never came',
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
      'finds an event of an earlier state only',
      { listed: [received()], inbox: [event('received', 'srccreated')] },
      ['event never came: received (inbox)'],
    ],
    [
      'expects no events from before the first one',
      {
        listed: [received({ createdAt: start - 1 })],
        inbox: [event('x', 'completed', start)],
        hidden: [received({ txnId: 'x' })],
      },
      ['unknown there: x (inbox)'],
    ],
    [
      'leaves out what was created before',
      { listed: [transaction(), received()], inbox: [event('received')], since: start + 1 },
      [],
    ],
    [
      'does not miss in the list what was created before',
      { journal: [sent], hidden: [transaction()], since: start + 1 },
      [],
    ],
  ])('%s', async ([, world, expected]) => {
    expect(await found(world)).toEqual(expected);
  });
});
