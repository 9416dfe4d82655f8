// Manages the part of a backlog that one worker has leased: keeps a queue for each transaction, and
// tracks the end of the lease.
import { eventLeaseMs, type EventStore } from '../store/events/event-store.js';

const takenAtOnce = 500;
/** The last part of the lease, in which the worker starts no delivery. */
const marginMs = eventLeaseMs / 4;

/**
 * The waiting events of one transaction. At any time, only the first event of a queue can be in
 * delivery.
 */
export interface Queue {
  readonly txnId: string;
  readonly ids: number[];
  failures: number;
  /**
   * Whether the worker lost the lease, in which case another worker delivers the events of the
   * queue.
   */
  isForgotten: boolean;
}

/**
 * Keeps the queues of waiting events in memory, and tracks the queues whose first event svcpay can
 * deliver now.
 */
export function createQueues() {
  const queues = new Map<string, Queue>();
  const ready = new Set<Queue>();
  let held = 0;

  return {
    add(txnId: string, eventId: number): void {
      const queue = queues.get(txnId) ?? { txnId, ids: [], failures: 0, isForgotten: false };
      if (queue.ids.length === 0) {
        queues.set(txnId, queue);
        ready.add(queue);
      }
      queue.ids.push(eventId);
      held += 1;
    },
    held: (): number => held,
    ready: (): number => ready.size,
    forget(): void {
      for (const queue of queues.values()) queue.isForgotten = true;
      queues.clear();
      ready.clear();
      held = 0;
    },
    take(): Queue | undefined {
      const [queue] = ready;
      if (queue !== undefined) ready.delete(queue);
      return queue;
    },
    putBack: (queue: Queue): void => void (queue.isForgotten || ready.add(queue)),
    /** Removes the first event of the queue after its delivery. */
    advance(queue: Queue): void {
      queue.ids.shift();
      queue.failures = 0;
      held -= 1;
      if (queue.ids.length > 0) ready.add(queue);
      else queues.delete(queue.txnId);
    },
  };
}

export interface LeaseOptions {
  readonly consumer: string;
  /**
   * The name of the worker, which is unique among all workers on a backlog, including workers on
   * other machines.
   */
  readonly worker: string;
  readonly store: { readonly leases: EventStore['leases'] };
  /** Returns monotonic milliseconds, so that deliveries continue if someone sets the clock back. */
  readonly elapsed: () => number;
}

/**
 * Takes, extends and releases the leases of this worker, and tracks how long the leases are valid.
 */
export function createLease(
  { consumer, worker, store, elapsed }: LeaseOptions,
  queues: ReturnType<typeof createQueues>,
) {
  let leaseUntil = 0;
  const release = (): Promise<void> =>
    store.leases.release(consumer, worker).catch(() => undefined);
  return {
    isSafe: (): boolean => elapsed() < leaseUntil - marginMs,
    release,
    /**
     * Leases more events. Resolves with true if the backlog may have more events. If the store
     * fails, the next call of `take` tries again.
     */
    async take(): Promise<boolean> {
      const startedAt = elapsed();
      const taken = await store.leases.take(consumer, worker, takenAtOnce).catch(() => []);
      // If the worker holds no events when it calls `take`, all its leases begin at the time of the
      // call.
      if (queues.held() === 0) leaseUntil = startedAt + eventLeaseMs;
      for (const { txnId, eventId } of taken) queues.add(txnId, eventId);
      return taken.length === takenAtOnce;
    },
    /**
     * Extends the worker's leases. If another worker has taken one of the leases, this worker
     * releases all its leases.
     */
    async extend(): Promise<void> {
      const startedAt = elapsed();
      const isKept = await store.leases.extend(consumer, worker).catch(() => undefined);
      if (isKept === undefined) return;
      leaseUntil = startedAt + eventLeaseMs;
      if (isKept) return;
      queues.forget();
      await release();
    },
  };
}
