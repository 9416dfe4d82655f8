// The books of a large account: read once, in order, in constant memory, interruptible; read again if the list lags.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, onTestFinished, test } from 'vitest';
import Big from 'big.js';
import type { ListedTransaction, Wallet } from '../../../src/api/types.js';
import { openSortedRows } from '../../../src/store/files/sorted-rows.js';
import { gather, type Books, type BooksService } from '../../../src/wallet/books/gather.js';
import { statementRows } from '../../../src/wallet/books/statement.js';
import { received, start, transaction } from './support.js';

const now = start + 200_000_000;

interface World {
  readonly rounds: readonly Iterable<readonly ListedTransaction[]>[];
  /** The BTC wallet at each reading; the last one stays. */
  readonly totals: readonly (number | null)[];
  readonly updatedAt?: string;
  readonly signal?: AbortSignal;
  readonly onRead?: (count: number) => void;
}

interface Gathered {
  readonly books: Books;
  readonly pauses: number[];
  readonly since: string[];
}

async function booksOf({
  rounds,
  totals,
  updatedAt,
  signal = new AbortController().signal,
  onRead = () => undefined,
}: World): Promise<Gathered> {
  const [pauses, since]: [number[], string[]] = [[], []];
  let asked = 0;
  const service: BooksService = {
    wallets: () => {
      const amount = totals[Math.min(asked++, totals.length - 1)];
      const wallet: Wallet = { ccy: 'BTC', amount, ...(updatedAt !== undefined && { updatedAt }) };
      return Promise.resolve([wallet]);
    },
    transaction: (id) => Promise.reject(new Error(`asked for ${id}`)),
    async *eachTransactionPage({ startTime = '' }) {
      since.push(startTime);
      for (const page of rounds[Math.min(since.length - 1, rounds.length - 1)] ?? []) {
        signal.throwIfAborted();
        yield page;
      }
    },
    serviceNow: () => now,
  };
  const rows = openSortedRows();
  onTestFinished(rows.close);
  const books = await gather({
    service,
    rows,
    before: new Map(),
    sleep: async (ms) => void pauses.push(ms),
    signal,
    onRead,
  });
  return { books, pauses, since };
}

/** Newest first, in pages of a hundred, none of which is held. */
function* receipts(count: number): Generator<ListedTransaction[]> {
  for (let page = 0; page < count / 100; page += 1) {
    yield Array.from({ length: 100 }, (_, n) =>
      received({ txnId: `r${page * 100 + n}`, createdAt: start + count - page * 100 - n }),
    );
  }
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** What is still in use. */
function heapUsed(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

describe('the books', () => {
  test('tie without a second read', async () => {
    const { books, pauses } = await booksOf({
      rounds: [[[transaction({ createdAt: start + 1 }), received()]]],
      totals: [0.00099993],
    });
    expect([books.differences, pauses]).toEqual([[], []]);
    expect([...books.movements('BTC')].map(({ txnId }) => txnId)).toEqual(['received', 'sent']);
  });

  test('are read again, from the oldest payment in flight on, if the wallets change', async () => {
    const flying = transaction({ txnState: 'destsent' });
    const { books, pauses, since } = await booksOf({
      rounds: [[[flying, received({ createdAt: start - 1 })]], [[transaction()]]],
      totals: [0.002, 0.00099993],
    });
    expect([books.differences, pauses]).toEqual([[], [2_000]]);
    expect(since.at(-1)).toBe(new Date(start).toISOString());
    expect([...books.candidates('BTC')]).toEqual([]);
  });

  test('are read again if the list lags behind a wallet', async () => {
    const { books, pauses } = await booksOf({
      rounds: [[], [], [[received()]]],
      totals: [0.002],
      updatedAt: new Date(now - 1_000).toISOString(),
    });
    expect([books.differences, pauses]).toEqual([[], [2_000, 6_000]]);
  });

  test('report remaining differences', async () => {
    const { books, pauses } = await booksOf({ rounds: [[[received()]]], totals: [0.003] });
    expect(pauses).toEqual([]);
    expect(books.differences).toMatchObject([
      {
        ccy: 'BTC',
        added: new Big('0.002'),
        reported: new Big('0.003'),
        difference: new Big('0.001'),
      },
    ]);
  });

  test('do not check a wallet without a total', async () => {
    const { books } = await booksOf({ rounds: [[[received()]]], totals: [null] });
    expect([books.differences, books.unreported]).toEqual([[], ['BTC']]);
  });

  test(
    'of 100,000 transactions need no more memory than those of 20,000',
    { timeout: 60_000 },
    async () => {
      const count = 100_000;
      const heap = new Map<number, number>();
      const onRead = (read: number): void =>
        void (read % 20_000 === 0 && heap.set(read, heapUsed()));
      const { books } = await booksOf({
        rounds: [receipts(count)],
        totals: [count * 0.002],
        onRead,
      });
      let rows = 0;
      for (const { kind } of statementRows(
        'BTC',
        books.movements('BTC'),
        { first: 0, end: now },
        now,
      ))
        rows += kind === 'receive' ? 1 : 0;
      expect([rows, books.differences]).toEqual([count, []]);
      expect((heap.get(count) ?? 0) - (heap.get(20_000) ?? 0)).toBeLessThan(2_000_000);
    },
  );

  test('end at an interruption', async () => {
    const interrupt = new AbortController();
    const reading = booksOf({
      rounds: [receipts(1_000)],
      totals: [2],
      signal: interrupt.signal,
      onRead: () => interrupt.abort(new Error('interrupted')),
    });
    await expect(reading).rejects.toThrow('interrupted');
  });
});
