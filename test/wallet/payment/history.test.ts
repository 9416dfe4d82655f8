// What is known of references: found wherever the service's list shows them, whatever it says of itself, and read once.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ListedTransaction, TransactionFilter, TransactionPage } from '../../../src/api/types.js';
import { openHistory, type History } from '../../../src/wallet/payment/history.js';
import { emptyStore, memoryJournal } from '../../simulation/memory-journal.js';

const start = Date.UTC(2025, 0, 15);

interface Traits {
  readonly order: 'oldest first' | 'newest first';
  /** The most rows on a page, whatever is asked for. */
  readonly cap: number;
  /** What `pagination` says of the rows there are. */
  readonly total: 'all' | 'those of the page' | 'nothing' | 'all of a while ago';
}

/** A service with nothing but a list, and how often it was asked. */
function service({ order, cap, total }: Traits) {
  const rows: ListedTransaction[] = [];
  let [asked, counted] = [0, 0];
  const transactions = async ({ startTime, limit = 20, page = 1 }: TransactionFilter): Promise<TransactionPage> => {
    asked += 1;
    const since = Date.parse(startTime ?? '');
    const within = rows.filter(({ createdAt }) => (createdAt ?? 0) >= since);
    const sorted = order === 'oldest first' ? within : within.toReversed();
    const size = Math.min(limit, cap);
    const data = sorted.slice((page - 1) * size, page * size);
    const totals = { all: within.length, 'those of the page': data.length, 'all of a while ago': within.filter((row) => rows.indexOf(row) < counted).length };
    const pagination = { page, limit, total: total === 'nothing' ? 0 : totals[total] };
    return total === 'nothing' ? { data } : { data, pagination };
  };
  return {
    rows,
    asked: () => asked,
    count: (): void => void (counted = rows.length),
    create: (extRefId: string, at: number): void => {
      rows.push({ txnId: `t${rows.length}`, txnState: 'quoted', extRefId, createdAt: at, sourceReq: {}, destReq: {} });
    },
    client: {
      transactions,
      async *eachTransaction(filter: TransactionFilter) {
        for (let page = 1; ; page += 1) {
          const { data } = await transactions({ ...filter, page });
          if (data.length === 0) return;
          yield* data;
        }
      },
    },
  };
}

/** @param now the clock of the machine, which knows the service's only from its answers, if at all. */
function historyOf({ client }: ReturnType<typeof service>, store = emptyStore(), now = start): History {
  const { references } = memoryJournal(store, () => false, () => now);
  return openHistory({ service: { ...client, serviceNow: () => now }, references, scope: 'scope', onRead: () => undefined });
}

const traits = fc.record({
  order: fc.constantFrom<Traits['order']>('oldest first', 'newest first'),
  cap: fc.constantFrom(12, 20, 100),
  total: fc.constantFrom<Traits['total']>('all', 'those of the page', 'nothing', 'all of a while ago'),
});

describe('what is known of the list', () => {
  test('is all that it shows, however it is sorted, cut into pages and counted, and whatever the clock here says', async () => {
    const steps = fc.array(fc.tuple(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 0, max: 500_000 })), { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(traits, steps, fc.integer({ min: -400_000_000, max: 400_000_000 }), async (given, rounds, skew) => {
        const made = service(given);
        const store = emptyStore();
        let at = start;
        for (const [count, pause] of rounds) {
          for (let n = 0; n < count; n += 1) made.create(`R${made.rows.length}`, (at += 10));
          at += pause;
          if (pause % 2 === 0) made.count();
          await historyOf(made, store, at + skew).update(0);
        }
        const history = historyOf(made, store, at + skew);
        for (const { txnId, extRefId } of made.rows) {
          expect((await history.attempts(extRefId ?? '')).map((each) => each.txnId)).toEqual([txnId]);
        }
      }),
      { numRuns: 60 },
    );
  });

  test('costs the same after 5,000 transactions of the last minute as after none', async () => {
    for (const order of ['oldest first', 'newest first'] as const) {
      const made = service({ order, cap: 100, total: 'all' });
      const store = emptyStore();
      for (let n = 0; n < 5_000; n += 1) made.create(`R${n}`, start + n);
      await historyOf(made, store).update(0);
      const before = made.asked();
      made.create('mine', start + 6_000);
      const history = historyOf(made, store);
      await history.update(0);
      expect(made.asked() - before).toBeLessThanOrEqual(2);
      expect(await history.attempts('mine')).toHaveLength(1);
    }
  });

  test('is seen where it comes up to two minutes after its creation', async () => {
    const made = service({ order: 'newest first', cap: 100, total: 'all' });
    const store = emptyStore();
    made.create('later', start + 119_000);
    await historyOf(made, store).update(0);
    made.create('late', start);
    const history = historyOf(made, store);
    await history.update(0);
    expect(await history.attempts('late')).toHaveLength(1);
  });

  test('is not passed over because of a row that is dated ahead of all others', async () => {
    const made = service({ order: 'newest first', cap: 100, total: 'all' });
    const store = emptyStore();
    made.create('ahead', start + 3_600_000);
    await historyOf(made, store).update(0);
    made.create('later', start + 600_000);
    const history = historyOf(made, store, start + 900_000);
    await history.update(0);
    expect(await history.attempts('later')).toHaveLength(1);
  });

  test('is not passed over because the clock of the service was set back', async () => {
    const made = service({ order: 'newest first', cap: 100, total: 'all' });
    const store = emptyStore();
    made.create('before', start + 3_600_000);
    await historyOf(made, store, start + 3_600_000).update(0);
    made.create('after', start + 600_000);
    const history = historyOf(made, store, start + 900_000);
    await history.update(0);
    expect(await history.attempts('after')).toHaveLength(1);
  });

  test('is read once for all that ask at the same time', async () => {
    const made = service({ order: 'newest first', cap: 100, total: 'all' });
    const history = historyOf(made);
    await Promise.all(Array.from({ length: 20 }, () => history.update(0)));
    expect(made.asked()).toBeLessThanOrEqual(2);
  });

  test('has the attempts of a payment in their order, and no others', async () => {
    const made = service({ order: 'newest first', cap: 100, total: 'all' });
    for (const ref of ['R~2', 'R', 'R~10', 'R~x', 'R2', 'R~02', 'R~2']) made.create(ref, start + made.rows.length);
    const history = historyOf(made);
    await history.update(0);
    expect((await history.attempts('R')).map(({ number, txnId }) => [number, txnId])).toEqual([[1, 't1'], [2, 't0'], [2, 't6'], [10, 't2']]);
  });
});
