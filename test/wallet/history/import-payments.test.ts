// importMissing compares a restored journal with the service, and adds the payments and spent amounts
// that the journal lacks, no matter when the backup was made.
import { describe, expect, test } from 'vitest';
import type { ListedTransaction, Transaction, TransactionFilter } from '../../../src/api/types.js';
import { importMissing, type Imported } from '../../../src/wallet/history/import-payments.js';
import type { Spend } from '../../../src/store/journal/journal.js';
import { emptyStore, type JournalStore } from '../../simulation/memory-journal.js';
import { bench, otherOrder, type Bench } from '../support/machine.js';

type Answer = (txn: Transaction) => Transaction;
const asItIs: Answer = (txn) => txn;

/**
 * Runs importMissing against a service whose list rows are changed by `listed`, and whose reads by id
 * are changed by `read`.
 */
const compare = (
  { deps }: Bench,
  { listed = asItIs, read = asItIs }: { listed?: Answer; read?: Answer } = {},
): Promise<Imported> => {
  const { service } = deps;
  async function* eachTransactionPage(
    filter: TransactionFilter,
  ): AsyncGenerator<readonly ListedTransaction[]> {
    for await (const row of service.eachTransaction(filter)) yield [listed({ ...row })];
  }
  const listing = {
    eachTransactionPage,
    transaction: async (txnId: string) => read(await service.transaction(txnId)),
    serviceNow: () => service.serviceNow(),
    datedNow: () => service.datedNow(),
  };
  return importMissing(0, { ...deps, service: listing, onRead: () => undefined });
};

const spentOf = async (one: Bench): Promise<readonly Spend[]> =>
  (await one.deps.journal.spent('account', undefined)).toSorted((a, b) =>
    a.total < b.total ? -1 : 1,
  );

const copyOf = ({ rows, clocks, limitTimes }: JournalStore): JournalStore => ({
  rows: structuredClone(rows),
  clocks: structuredClone(clocks),
  limitTimes: structuredClone(limitTimes),
  turn: Promise.resolve(),
});

/** Makes two payments, and copies the journal before the second payment enters the given state. */
async function backedUp(state: string): Promise<{ whole: Bench; old: Bench; copy: JournalStore }> {
  const whole = bench();
  await whole.pay({ ref: 'before' });
  let copy = copyOf(whole.store);
  whole.journalFails = ({ attempt }) => {
    if (attempt?.state === state) copy = copyOf(whole.store);
    return false;
  };
  await whole.pay({ order: otherOrder });
  return { whole, copy, old: bench(copy, whole.transactions) };
}

describe.each([
  ['the state `quoted`', 'quoted'],
  ['the state `submitting`', 'submitting'],
  ['the state `in-flight`', 'in-flight'],
  ['the state `paid`', 'paid'],
  ['the payment', 'none'],
])('importMissing with a journal backup from before %s', (_name, state) => {
  test('restores the spent amount from the service and prevents a second payment', async () => {
    const { whole, old } = await backedUp(state);
    await compare(old);
    expect(await spentOf(old)).toEqual(await spentOf(whole));
    expect((await compare(old)).entered).toBe(0);
    expect((await old.pay({ order: otherOrder })).txnState).toBe('completed');
    expect(await old.pay({ ref: 'before' })).toMatchObject({ extRefId: 'before' });
    await expect(old.pay()).rejects.toThrow('different payment');
    expect(whole.transactions).toHaveLength(2);
  });
});

test('importMissing completes an interrupted import in the next run, and reads only the rest', async () => {
  const whole = bench();
  for (const ref of ['one', 'two', 'three']) await whole.pay({ ref });
  for (let allowed = 0; allowed < 3; allowed += 1) {
    const old = bench(emptyStore(), whole.transactions);
    let left = allowed;
    const enter: typeof old.deps.journal.enter = (...args) =>
      (left -= 1) < 0 ? Promise.reject(new Error('interrupted')) : old.deps.journal.enter(...args);
    await expect(
      compare({ ...old, deps: { ...old.deps, journal: { ...old.deps.journal, enter } } }),
    ).rejects.toThrow('interrupted');
    let reads = 0;
    const counted: Answer = (txn) => {
      reads += 1;
      return txn;
    };
    expect((await compare(old, { read: counted })).entered).toBe(3 - allowed);
    expect(reads).toBe(3 - allowed);
    expect(await spentOf(old)).toEqual(await spentOf(whole));
  }
});

test('importMissing takes the outcome of a payment from the attempt that follows a failed attempt', async () => {
  const whole = bench();
  whole.confirms = () => 'failed';
  await whole.pay().catch(() => undefined);
  const old = bench(copyOf(whole.store), whole.transactions);
  whole.confirms = () => 'srccreated';
  await whole.pay({ retry: true });
  expect((await compare(old)).entered).toBe(1);
  expect(old.now()).toMatchObject({ number: 2, state: 'paid', txnState: 'completed' });
});

test('importMissing imports only outgoing payments that moved money and have a reference', async () => {
  const whole = bench();
  whole.confirms = () => 'failed';
  await whole.pay({ ref: 'failed' }).catch(() => undefined);
  await whole.pay({ ref: 'quoted', until: 'quoted' });
  whole.confirms = () => 'completed';
  await whole.pay({ ref: 'out' });
  const [, , paid] = whole.transactions;
  if (paid === undefined) throw new Error('nothing was paid');
  whole.transactions.push({
    ...paid,
    txnId: 'in',
    extRefId: 'in',
    sourceReq: { ...paid.sourceReq, method: 'lightning' },
  });
  whole.transactions.push({ ...paid, txnId: 'other', extRefId: null });
  const old = bench(emptyStore(), whole.transactions);
  expect(await compare(old)).toMatchObject({ read: 5, entered: 1 });
  expect(old.now('out')).toMatchObject({ state: 'paid', txnState: 'completed', spendCcy: 'BTC' });
});

test('pay refuses --retry for a failed payment that was imported from the service', async () => {
  const whole = bench();
  const paid = await whole.pay();
  const as = (txnState: string) => [{ ...paid, txnState }];
  const store = emptyStore();
  await compare(bench(store, as('srcsent')));
  const old = bench(store, as('failed'));
  await expect(old.pay()).rejects.toThrow('ended as failed');
  await expect(old.pay({ retry: true })).rejects.toThrow(
    'some of its details were missing when svcpay imported the payment',
  );
  expect(old.log).not.toContain('POST R~2');
});

describe('importMissing with abbreviated responses', () => {
  const abbreviated: Answer = ({ txnId, txnState }) => ({
    txnId,
    txnState,
    sourceReq: {},
    destReq: {},
  });

  test('reads a transaction by its id if the list row lacks the amounts', async () => {
    const { whole, old } = await backedUp('none');
    const imported = await compare(old, { listed: abbreviated });
    expect(imported).toMatchObject({ entered: 1, unclear: [] });
    expect(await spentOf(old)).toEqual(await spentOf(whole));
  });

  test.for<[string, Answer]>([
    [
      'the source method',
      (txn) => ({ ...txn, sourceReq: { ...txn.sourceReq, method: undefined } }),
    ],
    ['the destination method', (txn) => ({ ...txn, destReq: { ...txn.destReq, method: null } })],
    ['the source currency', (txn) => ({ ...txn, sourceReq: { ...txn.sourceReq, ccy: null } })],
  ])('reports a payment as unclear if the response lacks %s', async ([, read]) => {
    const { old } = await backedUp('none');
    const imported = await compare(old, { read });
    expect(imported).toMatchObject({ entered: 0, unclear: [expect.any(String)] });
  });

  test('skips a transaction of another account', async () => {
    const { old } = await backedUp('none');
    const foreign: Answer = (txn) => ({ ...txn, accountId: 'ne01-child' });
    expect(await compare(old, { read: foreign })).toMatchObject({ entered: 0, unclear: [] });
    expect(await compare(old, { listed: foreign })).toMatchObject({ entered: 0, unclear: [] });
  });
});
