// Adds the current transaction to each event, because events can be late or out of order. svcpay
// reads each transaction from the service.
import type { Transaction } from '../api/types.js';
import type { EarlierTransaction, EventStore } from '../store/events/event-store.js';
import type { ReadEvent } from './events.js';
import { finalStates } from '../formats/states.js';

export interface EnrichedEvent extends ReadEvent {
  /**
   * The current transaction of the event, or undefined if the event is a duplicate or the read
   * failed.
   */
  readonly transaction?: Transaction | undefined;
}

type LookUp = (txnId: string) => Promise<Transaction>;
type OnFailed = (txnId: string, error: unknown) => void;

/** The largest number of read requests in flight. */
const readsAtOnce = 8;

/**
 * Adds the current transaction to each event, except to a duplicate event, and keeps the order of
 * the events.
 */
export async function* enriched(
  events: AsyncIterable<ReadEvent>,
  lookUp: LookUp,
  onFailed: OnFailed,
): AsyncGenerator<EnrichedEvent> {
  const ask = async (read: ReadEvent): Promise<EnrichedEvent> => {
    const { txnId, duplicateOf } = read.event;
    if (txnId === null || duplicateOf !== null) return read;
    return { ...read, transaction: await answered(txnId, lookUp, onFailed) };
  };
  yield* ahead(events, ask, readsAtOnce);
}

async function answered(
  txnId: string,
  lookUp: LookUp,
  onFailed: OnFailed,
): Promise<Transaction | undefined> {
  try {
    return await lookUp(txnId);
  } catch (error) {
    onFailed(txnId, error);
    return undefined;
  }
}

/** Processes several items at once, and yields the results in the order of the items. */
async function* ahead<T, R>(
  items: AsyncIterable<T>,
  work: (item: T) => Promise<R>,
  most: number,
): AsyncGenerator<R> {
  const source = items[Symbol.asyncIterator]();
  const under: Promise<R>[] = [];
  let next: Promise<IteratorResult<T>> | undefined = source.next();
  try {
    while (next !== undefined || under.length > 0) {
      const [first] = under;
      const coming = under.length < most ? next : undefined;
      const step: { item: IteratorResult<T> } | { result: R } = await Promise.race([
        ...(first === undefined ? [] : [first.then((result) => ({ result }))]),
        ...(coming === undefined ? [] : [coming.then((item) => ({ item }))]),
      ]);
      if ('result' in step) {
        under.shift();
        yield step.result;
      } else if (step.item.done === true) next = undefined;
      else {
        under.push(work(step.item.value));
        next = source.next();
      }
    }
  } finally {
    // Does not wait until the source of events has ended, because the source may wait for an event
    // forever.
    void source.return?.();
  }
}

export interface MissedTransaction extends EarlierTransaction {
  readonly transaction: Transaction;
}

const mostChecked = 100;
const lookBackMs = 7 * 86_400_000;

/**
 * Finds transactions whose state changed after their last stored event, while no receiver was
 * running.
 */
export async function missedSince(
  store: Pick<EventStore, 'unfinished'>,
  now: number,
  lookUp: LookUp,
  onFailed: OnFailed,
): Promise<MissedTransaction[]> {
  const missed: MissedTransaction[] = [];
  for (const earlier of await store.unfinished(now - lookBackMs, finalStates, mostChecked)) {
    const transaction = await answered(earlier.txnId, lookUp, onFailed);
    if (transaction !== undefined && transaction.txnState !== earlier.txnState)
      missed.push({ ...earlier, transaction });
  }
  return missed;
}
