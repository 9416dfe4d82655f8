// Delivers events from the backlog to one consumer: in order per transaction, many transactions at once, at least once.
import { setMaxListeners } from 'node:events';
import { eventLeaseMs, type EventStore, type StoredEvent } from '../store/events/event-store.js';
import { createLease, createQueues, type LeaseOptions, type Queue } from './queues.js';

export type Verdict =
  | { readonly kind: 'delivered' }
  /** Undeliverable; removed from the backlog. */
  | { readonly kind: 'failed'; readonly reason: string }
  /** Retried: the consumer is down, or refuses only this event. */
  | { readonly kind: 'retry'; readonly scope: 'consumer' | 'transaction'; readonly reason: string };

export type Deliver = (event: StoredEvent, signal: AbortSignal) => Promise<Verdict>;

export interface DispatchOptions extends LeaseOptions {
  readonly store: Pick<EventStore, 'leases' | 'read'>;
  readonly deliver: Deliver;
  readonly concurrency: number;
  readonly random: () => number;
  readonly onFailed: (event: StoredEvent, reason: string) => void;
  /** The consumer is down for this reason, or up again (`undefined`). */
  readonly onTrouble: (reason: string | undefined) => void;
}

export type Dispatcher = ReturnType<typeof startDispatcher>;

/** Most ids in memory; the rest stay on disk. */
const mostHeld = 20_000;
/** Delivered events are removed from the backlog in groups of this size, or after this pause. */
const settledAtOnce = 200;
const settleMs = 50;
/** Interval of checks for events of other receivers or dead workers. */
const lookMs = 1_000;
const renewMs = eventLeaseMs / 4;

const firstPauseMs = 200;
/** Pauses between attempts while a consumer is down, and while it refuses the events of one transaction. */
const longestPauseMs = 5_000;
const longestQueuePauseMs = 60_000;
/** Time for deliveries in flight at the end; after it they are aborted and delivered again later. */
const lastDeliveriesMs = 2_000;

const pauseMs = (failures: number, longest: number, random: () => number): number =>
  Math.min(longest, firstPauseMs * 2 ** (failures - 1)) * (0.5 + random() / 2);

export function startDispatcher(options: DispatchOptions) {
  const { consumer, store, elapsed, random } = options;
  const counts = { delivered: 0, failed: 0, retried: 0 };
  const queues = createQueues();
  const lease = createLease(options, queues);
  const trouble = createTrouble(options);
  const settler = createSettler(options, () => wake());
  const timers = new Set<NodeJS.Timeout>();
  const running = new Set<Promise<void>>();
  const stopping = new AbortController();
  // Every delivery in flight listens to this signal.
  setMaxListeners(0, stopping.signal);
  let isStopping = false;
  /** Called when everything is delivered or the consumer is down. */
  let whenStuck = (): void => undefined;
  let mayHaveMore = true;
  let filling: Promise<void> | undefined;

  const later = (ms: number, action: () => void): void => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      action();
    }, ms);
    timers.add(timer);
  };

  function pump(): void {
    if (isStopping) return;
    if (mayHaveMore && queues.ready() < options.concurrency && queues.held() < mostHeld)
      filling ??= fill();
    // While the consumer is down, one delivery at a time probes it.
    const most = trouble.exists() ? 1 : options.concurrency;
    while (running.size < most && !trouble.isPausing() && lease.isSafe()) {
      const queue = queues.take();
      if (queue === undefined) break;
      const attempted = attempt(queue).finally(() => {
        running.delete(attempted);
        pump();
      });
      running.add(attempted);
    }
    if (running.size === 0 && queues.held() === 0 && filling === undefined) whenStuck();
  }

  async function fill(): Promise<void> {
    mayHaveMore = false;
    if (await lease.take()) mayHaveMore = true;
    filling = undefined;
    pump();
  }

  function wake(): void {
    mayHaveMore = true;
    pump();
  }

  function every(ms: number, action: () => void): void {
    later(ms, () => {
      action();
      every(ms, action);
    });
  }

  async function attempt(queue: Queue): Promise<void> {
    const startedAt = elapsed();
    const [id = 0] = queue.ids;
    const event = await store.read(id).catch(() => 'unread' as const);
    const verdict = await verdictOn(event, options, stopping.signal);
    if (queue.isForgotten) return;
    if (verdict.kind === 'retry') return tryLater(queue, verdict, startedAt);
    trouble.end();
    if (verdict.kind === 'delivered') counts.delivered += 1;
    else counts.failed += 1;
    if (verdict.kind === 'failed' && typeof event === 'object')
      options.onFailed(event, verdict.reason);
    settler.add(id);
    queues.advance(queue);
  }

  function tryLater(
    queue: Queue,
    { scope, reason }: Verdict & { kind: 'retry' },
    startedAt: number,
  ): void {
    counts.retried += 1;
    if (isStopping) return;
    if (scope === 'consumer') {
      queues.putBack(queue);
      const pause = trouble.note(reason, startedAt);
      if (pause !== undefined) later(pause, pump);
      whenStuck();
      return;
    }
    trouble.end();
    queue.failures += 1;
    later(pauseMs(queue.failures, longestQueuePauseMs, random), () => {
      queues.putBack(queue);
      pump();
    });
  }

  every(lookMs, wake);
  every(renewMs, () => void lease.renew().then(wake));
  pump();
  return {
    consumer,
    counts,
    wake,
    /** Delivers waiting events while the consumer is up and the time lasts; the rest stay in the backlog. */
    async drain(ms: number): Promise<void> {
      await new Promise<void>((resolve) => {
        whenStuck = resolve;
        later(ms, resolve);
        if (trouble.exists()) resolve();
        else wake();
      });
      isStopping = true;
      timers.forEach((timer) => clearTimeout(timer));
      const cutOff = setTimeout(() => stopping.abort(), trouble.exists() ? 0 : lastDeliveriesMs);
      await Promise.all([...running, filling]);
      clearTimeout(cutOff);
      await settler.flush();
      await lease.release();
    },
  };
}

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

/** Backs off from a consumer that is down. */
function createTrouble({ elapsed, random, onTrouble }: DispatchOptions) {
  let failures = 0;
  let lastFailure = 0;
  let pausedUntil = 0;
  return {
    exists: (): boolean => failures > 0,
    isPausing: (): boolean => elapsed() < pausedUntil,
    /** The pause from now; undefined if a later failure is already recorded. */
    note(reason: string, startedAt: number): number | undefined {
      if (failures > 0 && startedAt <= lastFailure) return undefined;
      if (failures === 0) onTrouble(reason);
      failures += 1;
      lastFailure = elapsed();
      const pause = Math.ceil(pauseMs(failures, longestPauseMs, random));
      pausedUntil = lastFailure + pause;
      // A timer may fire slightly early.
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

/** Removes delivered events from the backlog in groups; after a crash, unremoved events are delivered again. */
function createSettler({ consumer, worker, store }: DispatchOptions, onMore: () => void) {
  let ids: number[] = [];
  let timer: NodeJS.Timeout | undefined;
  let last: Promise<void> = Promise.resolve();

  async function settle(): Promise<void> {
    const settled = ids;
    ids = [];
    if (settled.length === 0) return;
    try {
      if (await store.leases.settle(consumer, worker, settled)) onMore();
    } catch {
      // Retried with the next ones. If it never succeeds, they are delivered again.
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
