// Delivers events from the backlog to one consumer, each at least once. svcpay delivers the events
// of one transaction in order, and serves many transactions at once. Workers retry an event until
// it is delivered or undeliverable, and then remove it from the backlog.
import { setMaxListeners } from 'node:events';
import { policies, pauseAfter, type Policy } from '../formats/poll.js';
import {
  eventLeaseMs,
  type EventStore,
  type Lease,
  type StoredEvent,
} from '../store/events/event-store.js';

export type Verdict =
  | { readonly kind: 'delivered' }
  /** The verdict that the event is undeliverable, which removes the event from the backlog. */
  | { readonly kind: 'failed'; readonly reason: string }
  /**
   * The verdict that a worker must deliver the event again later. The scope is `consumer` if the
   * consumer is down. The scope is `transaction` if the consumer refuses only this event, so that
   * only the events of one transaction wait.
   */
  | { readonly kind: 'retry'; readonly scope: 'consumer' | 'transaction'; readonly reason: string };

export type Deliver = (event: StoredEvent, signal: AbortSignal) => Promise<Verdict>;

export interface DispatchOptions {
  readonly consumer: string;
  /**
   * The name of the worker, which is unique among all workers on a backlog, including workers on
   * other machines.
   */
  readonly worker: string;
  /** The largest number of events that are delivered at once. */
  readonly workers: number;
  /** Returns monotonic milliseconds, so that deliveries continue if someone sets the clock back. */
  readonly elapsed: () => number;
  readonly store: Pick<EventStore, 'lease' | 'read'>;
  readonly deliver: Deliver;
  readonly random: () => number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly every: (ms: number, action: () => void) => () => void;
  readonly onFailed: (event: StoredEvent, reason: string) => void;
  /** Reports the reason why the consumer is down, or `undefined` once the consumer is up again. */
  readonly onTrouble: (reason: string | undefined) => void;
}

export type Dispatcher = ReturnType<typeof startDispatcher>;

/**
 * The maximum number of event ids that the dispatcher keeps in memory. The other event ids of the
 * backlog stay on disk.
 */
const mostHeld = 20_000;
/**
 * The number of delivered events that svcpay removes from the backlog together. After `settleMs`,
 * svcpay removes the delivered events even if they are fewer than `settledAtOnce`.
 */
const settledAtOnce = 200;
const settleMs = 50;
/**
 * The interval at which the dispatcher looks for events that other receivers stored or dead workers
 * left in the backlog.
 */
const checkEveryMs = 1_000;
const extendEveryMs = eventLeaseMs / 4;
/**
 * The longest time that a consumer may take to answer. When a dispatcher stops, it waits for
 * deliveries in flight for at most `longestAnswerMs`.
 */
export const longestAnswerMs = 15_000;

export function startDispatcher(options: DispatchOptions) {
  const { consumer, store, elapsed, every } = options;
  const queues = createQueues();
  const own = store.lease(consumer, options.worker);
  const lease = createLease(own, options, queues, proceed);
  const trouble = createTrouble(options);
  const settler = createSettler(own, lease.checkForEvents);
  const counts = { delivered: 0, failed: 0, retried: 0 };
  const running = new Set<Promise<void>>();
  /** The dispatcher aborts `stopping` when it stops, so that no new delivery starts. */
  const stopping = new AbortController();
  /** The dispatcher aborts `cutOff` to end the deliveries in flight. */
  const cutOff = new AbortController();
  // All pauses and deliveries listen to the same signals, so svcpay turns off Node's warning about
  // many listeners.
  setMaxListeners(0, stopping.signal, cutOff.signal);
  const later = createRetries(options, queues, trouble, stopping.signal, proceed);

  /** Starts the deliveries that are possible now, and leases more events if few are left. */
  function proceed(): void {
    while (mayStart()) {
      const queue = queues.take();
      if (queue === undefined) break;
      const delivery = deliver(queue).finally(() => {
        running.delete(delivery);
        proceed();
      });
      running.add(delivery);
    }
    if (!stopping.signal.aborted) lease.refill();
  }

  /** While the consumer is down, the dispatcher makes only one delivery at a time to probe it. */
  const mayStart = (): boolean =>
    running.size < (trouble.exists() ? 1 : options.workers) &&
    !trouble.isPausing() &&
    lease.isSafe() &&
    !stopping.signal.aborted;

  async function deliver(queue: Queue): Promise<void> {
    const startedAt = elapsed();
    const [id = 0] = queue.ids;
    const event = await store.read(id).catch(() => 'unread' as const);
    const verdict = await verdictOn(event, options, cutOff.signal);
    if (queue.isForgotten) return;
    counts[verdict.kind === 'retry' ? 'retried' : verdict.kind] += 1;
    if (verdict.kind === 'retry') return later(queue, verdict, startedAt);
    trouble.end();
    if (verdict.kind === 'failed' && typeof event === 'object')
      options.onFailed(event, verdict.reason);
    settler.add(id);
    queues.advance(queue);
  }

  const stopChecking = every(checkEveryMs, lease.checkForEvents);
  const stopExtending = every(extendEveryMs, () => void lease.extend().then(lease.checkForEvents));
  proceed();
  return {
    consumer,
    counts,
    checkForEvents: lease.checkForEvents,
    /**
     * Stops the dispatcher: starts no new delivery, waits up to `longestAnswerMs` for deliveries in
     * flight, and records their outcome. All undelivered events stay in the backlog.
     */
    async stop(): Promise<void> {
      stopping.abort();
      stopChecking();
      // The lease outlasts the deliveries in flight, so that no other worker takes the events in
      // delivery.
      await endWithin(longestAnswerMs, [...running, lease.leasing()], cutOff, options);
      stopExtending();
      await settler.flush();
      await lease.release();
    },
  };
}

/**
 * Returns a function that lets the first event of a queue wait before the next delivery, or until
 * the dispatcher stops.
 */
function createRetries(
  { random, sleep }: DispatchOptions,
  queues: ReturnType<typeof createQueues>,
  trouble: ReturnType<typeof createTrouble>,
  stopping: AbortSignal,
  proceed: () => void,
) {
  const after = (ms: number, action: () => void): void =>
    void sleep(ms, stopping)
      .catch(() => undefined)
      .then(action);
  return (
    queue: Queue,
    { scope, reason }: Verdict & { kind: 'retry' },
    startedAt: number,
  ): void => {
    if (scope === 'consumer') {
      queues.putBack(queue);
      const pause = trouble.note(reason, startedAt);
      if (pause !== undefined) after(pause, proceed);
      return;
    }
    trouble.end();
    queue.failures += 1;
    after(pauseOf(policies.refusedEvent, queue.failures, random), () => {
      queues.putBack(queue);
      proceed();
    });
  };
}

/** Waits for deliveries in flight, and aborts them after a time limit. */
async function endWithin(
  ms: number,
  work: readonly (Promise<void> | undefined)[],
  cutOff: AbortController,
  { sleep }: Pick<DispatchOptions, 'sleep'>,
): Promise<void> {
  const ended = new AbortController();
  const isLate = sleep(ms, ended.signal).then(
    () => cutOff.abort(),
    () => undefined,
  );
  await Promise.all(work);
  ended.abort();
  await isLate;
}

const pauseOf = (policy: Policy, number: number, random: () => number): number =>
  pauseAfter(policy, { number, waitedMs: 0 }, random()) ?? 0;

async function verdictOn(
  event: StoredEvent | 'unread' | undefined,
  { deliver }: DispatchOptions,
  signal: AbortSignal,
): Promise<Verdict> {
  if (event === 'unread')
    return { kind: 'retry', scope: 'consumer', reason: 'the event store cannot be read' };
  if (event === undefined) return { kind: 'delivered' };
  return deliver(event, signal).catch((error: unknown) => ({
    kind: 'failed',
    reason: String(error),
  }));
}

/** Tracks whether the consumer is down, and pauses deliveries to a consumer that is down. */
function createTrouble({ elapsed, random, onTrouble }: DispatchOptions) {
  let failures = 0;
  let lastFailure = 0;
  let pausedUntil = 0;
  return {
    exists: (): boolean => failures > 0,
    isPausing: (): boolean => elapsed() < pausedUntil,
    /**
     * Records a failed delivery, and returns the pause until the next delivery. If the delivery
     * started before the last recorded failure, records nothing and returns undefined.
     */
    note(reason: string, startedAt: number): number | undefined {
      if (failures > 0 && startedAt <= lastFailure) return undefined;
      if (failures === 0) onTrouble(reason);
      failures += 1;
      lastFailure = elapsed();
      const pause = pauseOf(policies.consumerDown, failures, random);
      pausedUntil = lastFailure + pause;
      // Adds a millisecond to the returned pause, because a timer may fire slightly early.
      return pause + 1;
    },
    end(): void {
      if (failures === 0) return;
      failures = 0;
      pausedUntil = 0;
      onTrouble(undefined);
    },
  };
}

/**
 * Removes delivered events from the backlog in groups. After a crash, svcpay redelivers the events
 * that it had not yet removed from the backlog.
 */
function createSettler(lease: Lease, onMore: () => void) {
  let ids: number[] = [];
  let timer: NodeJS.Timeout | undefined;
  let last: Promise<void> = Promise.resolve();

  async function settle(): Promise<void> {
    const settled = ids;
    ids = [];
    if (settled.length === 0) return;
    try {
      if (await lease.settle(settled)) onMore();
    } catch {
      // If delivered events cannot be removed from the backlog, removes them with the next group.
      // If svcpay stops before it removes delivered events, it later delivers these events again.
      ids = [...settled, ...ids];
    }
  }

  const flush = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    return (last = last.then(settle));
  };
  return {
    flush,
    add(id: number): void {
      ids.push(id);
      if (ids.length >= settledAtOnce) void flush();
      else timer ??= setTimeout(() => void flush(), settleMs);
    },
  };
}

const takenAtOnce = 500;
/** The last part of the lease, in which the worker starts no delivery. */
const marginMs = eventLeaseMs / 4;

/**
 * The waiting events of one transaction. At any time, only the first event of a queue can be in
 * delivery.
 */
interface Queue {
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
function createQueues() {
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

/**
 * Takes, extends and releases the leases of this worker, and tracks how long the leases are valid.
 * @param onTaken called after the worker has leased events
 */
function createLease(
  own: Lease,
  { workers, elapsed }: DispatchOptions,
  queues: ReturnType<typeof createQueues>,
  onTaken: () => void,
) {
  let leaseUntil = 0;
  let mayHaveMore = true;
  let leasing: Promise<void> | undefined;
  const release = (): Promise<void> => own.release().catch(() => undefined);
  /** Leases more events. If the store fails, a later call of `take` tries again. */
  async function take(): Promise<void> {
    const startedAt = elapsed();
    const taken = await own.take(takenAtOnce).catch(() => []);
    // If the worker holds no events when it calls `take`, all its leases begin at the time of the
    // call.
    if (queues.held() === 0) leaseUntil = startedAt + eventLeaseMs;
    for (const { txnId, eventId } of taken) queues.add(txnId, eventId);
    mayHaveMore ||= taken.length === takenAtOnce;
    leasing = undefined;
    onTaken();
  }
  return {
    isSafe: (): boolean => elapsed() < leaseUntil - marginMs,
    release,
    /** The request for more events that is under way, if any. */
    leasing: () => leasing,
    /** Leases more events if few deliverable events are left. */
    refill(): void {
      const isEnough = queues.ready() >= workers || queues.held() >= mostHeld;
      if (leasing !== undefined || !mayHaveMore || isEnough) return;
      mayHaveMore = false;
      leasing = take();
    },
    checkForEvents(): void {
      mayHaveMore = true;
      onTaken();
    },
    /**
     * Extends the worker's leases. If another worker has taken one of the leases, this worker
     * releases all its leases.
     */
    async extend(): Promise<void> {
      const startedAt = elapsed();
      const isKept = await own.extend().catch(() => undefined);
      if (isKept === undefined) return;
      leaseUntil = startedAt + eventLeaseMs;
      if (isKept) return;
      queues.forget();
      await release();
    },
  };
}
