// Carries events from the backlog to one consumer: in order per transaction, many transactions at once, until delivered.
import { setMaxListeners } from 'node:events';
import type { EventStore, StoredEvent } from '../store/events/event-store.js';

/** How one delivery ended. */
export type Verdict =
  | { readonly kind: 'delivered' }
  /** It will never be taken: off the backlog. */
  | { readonly kind: 'given-up'; readonly reason: string }
  /** To be tried again: nothing gets through now, or this one event alone was refused. */
  | { readonly kind: 'again'; readonly scope: 'consumer' | 'transaction'; readonly reason: string };

export type Deliver = (event: StoredEvent, signal: AbortSignal) => Promise<Verdict>;

export interface DispatchOptions {
  readonly consumer: string;
  readonly store: Pick<EventStore, 'waiting' | 'settle' | 'read'>;
  readonly deliver: Deliver;
  /** Transactions at once. */
  readonly concurrency: number;
  readonly now: () => number;
  readonly random: () => number;
  readonly onGivenUp: (event: StoredEvent, reason: string) => void;
  /** Nothing gets through since now, or it does again (`undefined`). */
  readonly onTrouble: (reason: string | undefined) => void;
}

export interface DispatchCounts {
  readonly delivered: number;
  readonly givenUp: number;
}

export interface Dispatcher {
  readonly consumer: string;
  readonly counts: DispatchCounts;
  /** There may be something new in the backlog. */
  wake(): void;
  /** Delivers on for as long as it gets through and the time allows, then ends; what is left stays in the backlog. */
  drain(ms: number): Promise<void>;
}

/** Held in memory at most, as ids; the rest waits on disk. */
const mostHeld = 20_000;
const loadedAtOnce = 500;
/** Taken off the backlog together: written once for many. */
const settledAtOnce = 200;
const settleMs = 50;

const firstPauseMs = 200;
/** A consumer that is down costs one attempt in this time. */
const longestPauseMs = 5_000;
const longestLanePauseMs = 60_000;

const pauseMs = (failures: number, longest: number, random: () => number): number =>
  Math.min(longest, firstPauseMs * 2 ** (failures - 1)) * (0.5 + random() / 2);

export function startDispatcher(options: DispatchOptions): Dispatcher {
  const { consumer, store, now, random } = options;
  const counts = { delivered: 0, givenUp: 0 };
  const lanes = createLanes(consumer, store);
  const trouble = createTrouble(options);
  const settler = createSettler(consumer, store);
  const timers = new Set<NodeJS.Timeout>();
  const running = new Set<Promise<void>>();
  const stopping = new AbortController();
  // As many deliveries as are under way may wait on one signal.
  setMaxListeners(0, stopping.signal);
  /** Nothing more can be done for now: all is delivered, or nothing gets through. */
  let whenStuck = (): void => undefined;

  const later = (ms: number, action: () => void): void => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      action();
    }, ms);
    timers.add(timer);
  };

  function pump(): void {
    if (stopping.signal.aborted) return;
    lanes.fill(options.concurrency);
    // While nothing gets through, one delivery tries for all.
    const most = trouble.exists() ? 1 : options.concurrency;
    while (running.size < most && !trouble.isPausing()) {
      const lane = lanes.take();
      if (lane === undefined) break;
      const attempted = attempt(lane).finally(() => {
        running.delete(attempted);
        pump();
      });
      running.add(attempted);
    }
    if (running.size === 0 && lanes.isEmpty()) whenStuck();
  }

  async function attempt(lane: Lane): Promise<void> {
    const startedAt = now();
    const [id = 0] = lane.ids;
    const event = store.read(id);
    const verdict: Verdict = event === undefined ? { kind: 'delivered' } : await options.deliver(event, stopping.signal);
    if (verdict.kind === 'again') return tryLater(lane, verdict, startedAt);
    trouble.end();
    if (verdict.kind === 'delivered') counts.delivered += 1;
    else counts.givenUp += 1;
    if (verdict.kind === 'given-up' && event !== undefined) options.onGivenUp(event, verdict.reason);
    settler.add(id);
    lanes.advance(lane);
  }

  function tryLater(lane: Lane, { scope, reason }: Verdict & { kind: 'again' }, startedAt: number): void {
    if (stopping.signal.aborted) return;
    if (scope === 'consumer') {
      lanes.putBack(lane);
      const pause = trouble.note(reason, startedAt);
      if (pause !== undefined) later(pause, pump);
      whenStuck();
      return;
    }
    trouble.end();
    lane.failures += 1;
    later(pauseMs(lane.failures, longestLanePauseMs, random), () => {
      lanes.putBack(lane);
      pump();
    });
  }

  pump();
  return {
    consumer,
    counts,
    wake: pump,
    async drain(ms) {
      await new Promise<void>((resolve) => {
        whenStuck = resolve;
        later(ms, resolve);
        if (trouble.exists()) resolve();
        else pump();
      });
      stopping.abort();
      timers.forEach((timer) => clearTimeout(timer));
      await Promise.all(running);
      settler.flush();
    },
  };
}

/** The events of one transaction that wait; only the first is ever under way. */
interface Lane {
  readonly name: string;
  readonly ids: number[];
  failures: number;
}

/** What of the backlog is in memory: per transaction in order, and which of them may go next. */
function createLanes(consumer: string, store: DispatchOptions['store']) {
  const lanes = new Map<string, Lane>();
  const ready = new Set<Lane>();
  let held = 0;
  let lastLoaded = 0;

  function put(name: string, eventId: number): void {
    const lane = lanes.get(name) ?? { name, ids: [], failures: 0 };
    if (lane.ids.length === 0) {
      lanes.set(name, lane);
      ready.add(lane);
    }
    lane.ids.push(eventId);
    lastLoaded = eventId;
    held += 1;
  }

  return {
    isEmpty: (): boolean => held === 0,
    /** Loads more when fewer than these may go. */
    fill(least: number): void {
      while (ready.size < least && held < mostHeld) {
        const rows = store.waiting(consumer, lastLoaded, loadedAtOnce);
        for (const { lane, eventId } of rows) put(lane, eventId);
        if (rows.length < loadedAtOnce) return;
      }
    },
    take(): Lane | undefined {
      const [lane] = ready;
      if (lane !== undefined) ready.delete(lane);
      return lane;
    },
    putBack: (lane: Lane): void => void ready.add(lane),
    /** The first event of the lane is done. */
    advance(lane: Lane): void {
      lane.ids.shift();
      lane.failures = 0;
      held -= 1;
      if (lane.ids.length > 0) ready.add(lane);
      else lanes.delete(lane.name);
    },
  };
}

/** A consumer that takes nothing is left alone for a while, ever longer up to a limit. */
function createTrouble({ now, random, onTrouble }: DispatchOptions) {
  let failures = 0;
  let lastFailure = 0;
  let pausedUntil = 0;
  return {
    exists: (): boolean => failures > 0,
    isPausing: (): boolean => now() < pausedUntil,
    /** How long to wait from now; undefined for a failure that tells nothing new. */
    note(reason: string, startedAt: number): number | undefined {
      // Others were under way when the first one failed.
      if (failures > 0 && startedAt <= lastFailure) return undefined;
      if (failures === 0) onTrouble(reason);
      failures += 1;
      lastFailure = now();
      const pause = Math.ceil(pauseMs(failures, longestPauseMs, random));
      pausedUntil = lastFailure + pause;
      // A timer may fire a little before the clock says so.
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

/** Takes delivered events off the backlog, many in one transaction: one that is lost in a crash is delivered again. */
function createSettler(consumer: string, store: DispatchOptions['store']) {
  let ids: number[] = [];
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    const settled = ids;
    ids = [];
    if (settled.length > 0) store.settle(consumer, settled);
  };
  return {
    flush,
    add(id: number): void {
      ids.push(id);
      if (ids.length >= settledAtOnce) flush();
      else timer ??= setTimeout(flush, settleMs);
    },
  };
}
