// gather reads the books of a large account once, in order and in constant memory. gather can be
// interrupted, and reads the list again if the list lags.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, onTestFinished, test } from 'vitest';
import Big from 'big.js';
import type { ListedTransaction, Wallet } from '../../../src/api/types.js';
import {
  openBookRows,
  adjustmentOf,
  type Candidate,
  type Movement,
} from '../../../src/wallet/books/movement.js';
import { gather, type Books, type BooksService } from '../../../src/wallet/books/gather.js';
import { statementRows } from '../../../src/wallet/books/statement.js';
import { received, start, transaction } from './support.js';
import { countOf } from '../../support/part.js';

const now = start + 200_000_000;

interface World {
  readonly rounds: readonly Iterable<readonly ListedTransaction[]>[];
  /** The amounts that successive reads of the BTC wallet return; the last amount repeats. */
  readonly totals: readonly (number | null)[];
  readonly updatedAt?: string;
  readonly signal?: AbortSignal;
  readonly onPage?: (page: readonly ListedTransaction[]) => void;
  readonly recorded?: readonly Movement[];
  /** The time at which the movements of the BTC wallet last added up to its balance. */
  readonly tied?: number;
  readonly submitted?: readonly Candidate[];
  readonly edges?: readonly number[];
  /** The time of settlement that the webhook inbox reports, by transaction id. */
  readonly settled?: Readonly<Record<string, number>>;
  readonly byId?: Readonly<Record<string, ListedTransaction>>;
}

interface Gathered {
  readonly books: Books;
  readonly pauses: number[];
  readonly since: string[];
  /** The ids of the transactions that `gather` requested individually, by id. */
  readonly read: string[];
}

async function booksOf({
  rounds,
  totals,
  updatedAt,
  signal = new AbortController().signal,
  onPage = () => undefined,
  recorded = [],
  tied,
  submitted = [],
  edges = [],
  settled = {},
  byId = {},
}: World): Promise<Gathered> {
  const [pauses, since, read]: [number[], string[], string[]] = [[], [], []];
  let asked = 0;
  const service: BooksService = {
    wallets: () => {
      const amount = totals[Math.min(asked++, totals.length - 1)];
      const wallet: Wallet = { ccy: 'BTC', amount, ...(updatedAt !== undefined && { updatedAt }) };
      return Promise.resolve([wallet]);
    },
    transaction: (id) => {
      read.push(id);
      const txn = byId[id];
      return txn === undefined
        ? Promise.reject(new Error(`asked for ${id}`))
        : Promise.resolve(txn);
    },
    async *eachTransactionPage({ startTime = '' }) {
      since.push(startTime);
      for (const page of rounds[Math.min(since.length - 1, rounds.length - 1)] ?? []) {
        signal.throwIfAborted();
        yield page;
      }
    },
    serviceNow: () => now,
  };
  const rows = openBookRows();
  onTestFinished(rows.close);
  const books = await gather({
    service,
    rows,
    recorded,
    edges,
    sealed: [],
    stored: { of: () => Promise.resolve(new Map()), keep: () => Promise.resolve() },
    settled: (txnId) => Promise.resolve(settled[txnId]),
    ties: new Map(tied === undefined ? [] : [['BTC', tied]]),
    submitted: () => Promise.resolve(submitted),
    sleep: async (ms) => void pauses.push(ms),
    now: () => now,
    signal,
    onPage,
  });
  return { books, pauses, since, read };
}

/** Yields pages of a hundred receives, the newest first, without keeping a page in memory. */
function* receipts(count: number): Generator<ListedTransaction[]> {
  for (let page = 0; page < count / 100; page += 1) {
    yield Array.from({ length: 100 }, (_, n) =>
      received({ txnId: `r${page * 100 + n}`, createdAt: start + count - page * 100 - n }),
    );
  }
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Returns the bytes of memory in use after a garbage collection. */
function heapUsed(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

describe('the collector of statement rows', () => {
  test('reports no difference after a single read if the transactions of a wallet add up to its balance', async () => {
    const { books, pauses } = await booksOf({
      rounds: [[[transaction({ createdAt: start + 1 }), received()]]],
      totals: [0.00099993],
    });
    expect([books.differences, pauses]).toEqual([[], []]);
    expect([...books.movements('BTC')].map(({ txnId }) => txnId)).toEqual(['received', 'sent']);
  });

  test('reads the list again from the oldest payment in flight if a wallet balance changes', async () => {
    const flying = transaction({ txnState: 'destsent' });
    const { books, pauses, since } = await booksOf({
      rounds: [[[flying, received({ createdAt: start - 1 })]], [[transaction()]]],
      totals: [0.002, 0.00099993],
    });
    expect([books.differences, pauses]).toEqual([[], [2_000]]);
    expect(since.at(-1)).toBe(new Date(start).toISOString());
    expect([...books.candidates('BTC')]).toEqual([]);
  });

  test('reads the list again if the list lags behind a wallet balance', async () => {
    const { books, pauses } = await booksOf({
      rounds: [[], [], [[received()]]],
      totals: [0.002],
      updatedAt: new Date(now - 1_000).toISOString(),
    });
    expect([books.differences, pauses]).toEqual([[], [2_000, 6_000]]);
  });

  test('reports only the difference since the transactions last added up to the balance of the wallet', async () => {
    const tied = start - 86_400_000;
    const { books, pauses } = await booksOf({ rounds: [[[received()]]], totals: [0.003], tied });
    expect([pauses, books.openings, books.tied]).toEqual([[], [], []]);
    expect(books.differences).toMatchObject([
      {
        ccy: 'BTC',
        added: new Big('0.002'),
        reported: new Big('0.003'),
        difference: new Big('0.001'),
        lastTied: tied,
      },
    ]);
  });

  test('dates the opening balance just before the first transaction if the transactions never added up to the balance', async () => {
    const { books } = await booksOf({ rounds: [[[received()]]], totals: [0.003] });
    expect([books.differences, books.tied]).toEqual([[], []]);
    expect(books.openings).toEqual([{ ccy: 'BTC', value: new Big('0.001'), at: start }]);
    expect([...books.movements('BTC')].map(({ kind, at }) => [kind, at])).toEqual([
      ['adjustment', start - 1],
      ['receive', start],
    ]);
  });

  test('dates a transaction near the end of a period by its settlement', async () => {
    const day = 86_400_000;
    const edge = start + 60 * day;
    const row = (txnId: string, createdAt: number, method: string) =>
      received({
        txnId,
        createdAt,
        sourceReq: { ...received().sourceReq, method },
      });
    const late = row('late', edge - 3 * day, 'on-chain');
    const { books, read } = await booksOf({
      rounds: [
        [
          [
            row('early', edge - 32 * day, 'on-chain'),
            late,
            row('shop', edge - 3 * day, 'lightning'),
            row('eve', edge - 3_600_000, 'lightning'),
            row('sure', edge - 60_000, 'lightning'),
            transaction({ txnId: 'sent', createdAt: edge - 3 * 3_600_000 }),
          ],
        ],
      ],
      totals: [0.00899993],
      edges: [start, edge],
      settled: { eve: edge + 60_000 },
      byId: {
        late: { ...late, destReq: { ...late.destReq, updatedAt: edge + 3_600_000 } },
        sure: {
          ...row('sure', edge - 60_000, 'lightning'),
          sourceReq: { ...received().sourceReq, updatedAt: edge - 50_000 },
        },
      },
    });
    expect(read).toEqual(['late', 'sure']);
    const sides = [...books.movements('BTC')].map(({ txnId, at }) => [txnId, at < edge]);
    expect(sides).toEqual([
      ['early', true],
      ['shop', true],
      ['sent', true],
      ['sure', true],
      ['eve', false],
      ['late', false],
    ]);
    expect([...books.movements('BTC')].at(-1)).toMatchObject({
      at: edge + 3_600_000,
      created: new Date(edge - 3 * day).toISOString(),
    });
  });

  test('uses the current time as the date of the opening balance if a wallet has no transactions', async () => {
    const { books } = await booksOf({ rounds: [[]], totals: [1] });
    expect(books.openings).toMatchObject([{ at: now }]);
  });

  test('reports no difference if opening balance, transactions and adjustment add up to the balance', async () => {
    const { books } = await booksOf({
      rounds: [[[received()]]],
      totals: [0.0025],
      recorded: [
        adjustmentOf(
          { id: 'a', ccy: 'BTC', amount: '0.001', dated: '2026-09-30', note: null },
          'UTC',
        ),
        adjustmentOf(
          { id: 'b', ccy: 'BTC', amount: '-0.0005', dated: '2026-10-02', note: null },
          'UTC',
        ),
      ],
    });
    expect([books.differences, books.openings]).toEqual([[], []]);
    expect(books.tied).toMatchObject([{ ccy: 'BTC', balance: new Big('0.0025') }]);
    expect([...books.movements('BTC')].map(({ kind }) => kind)).toEqual([
      'adjustment',
      'receive',
      'adjustment',
    ]);
  });

  test.for([
    ['holds less than its transactions add up to', 0.001, []],
    ['differs by exactly one payment that the list omits', 0.003, [0.001]],
  ] as const)('records no opening balance if the wallet %s', async ([, total, hidden]) => {
    const { books } = await booksOf({
      rounds: [[[received()]]],
      totals: [total],
      submitted: hidden.map((effect) => ({
        ccy: 'BTC',
        at: start,
        txnId: 'hidden',
        reason: 'not in the list',
        txnState: 'completed',
        effect: new Big(effect),
      })),
    });
    expect(books.openings).toEqual([]);
    expect(books.differences).toHaveLength(1);
  });

  test('skips the check of a wallet without a reported total', async () => {
    const { books } = await booksOf({ rounds: [[[received()]]], totals: [null] });
    expect([books.differences, books.unreported]).toEqual([[], ['BTC']]);
  });

  test(
    'needs no more memory for a large account than for 20,000 transactions',
    { timeout: 60_000 },
    async () => {
      const count = countOf({ part: 40_000, all: 100_000 });
      const heap = new Map<number, number>();
      let read = 0;
      const onPage = (page: readonly ListedTransaction[]): void => {
        read += page.length;
        if (read % 20_000 === 0) heap.set(read, heapUsed());
      };
      const { books } = await booksOf({
        rounds: [receipts(count)],
        totals: [count * 0.002],
        onPage,
      });
      let rows = 0;
      for (const { kind } of statementRows('BTC', books.movements('BTC'), {
        period: { first: 0, end: now },
        now,
        day: () => '',
      }))
        rows += kind === 'receive' ? 1 : 0;
      expect([rows, books.differences]).toEqual([count, []]);
      expect((heap.get(count) ?? 0) - (heap.get(20_000) ?? 0)).toBeLessThan(2_000_000);
    },
  );

  test('stops reading the list at an interrupt', async () => {
    const interrupt = new AbortController();
    const reading = booksOf({
      rounds: [receipts(1_000)],
      totals: [2],
      signal: interrupt.signal,
      onPage: () => interrupt.abort(new Error('interrupted')),
    });
    await expect(reading).rejects.toThrow('interrupted');
  });
});
