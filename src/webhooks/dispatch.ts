// Carries events from the backlog to one consumer: in order per transaction, many transactions at once, until delivered.
import { setMaxListeners } from 'node:events';
import { laneLeaseMs, type EventStore, type StoredEvent } from '../store/events/event-store.js';
import { createHold, createLanes, type HoldOptions, type Lane } from './lanes.js';

export type Verdict =
  | { readonly kind: 'delivered' }
  /** It will never be taken: off the backlog. */
  | { readonly kind: 'given-up'; readonly reason: string }
  /** To be tried again: nothing gets through now, or this one event alone was refused. */
  | { readonly kind: 'again'; readonly scope: 'consumer' | 'transaction'; readonly reason: string };

export type Deliver = (event: StoredEvent, signal: AbortSignal) => Promise<Verdict>;

export interface DispatchOptions extends HoldOptions {
  readonly store: Pick<EventStore, 'lanes' | 'read'>;
  readonly deliver: Deliver;
  readonly concurrency: number;
  readonly random: () => number;
  readonly onGivenUp: (event: StoredEvent, reason: string) => void;
  /** Nothing gets through since now, or it does again (`undefined`). */
  readonly onTrouble: (reason: string | undefined) => void;
}

export type Dispatcher = ReturnType<typeof startDispatcher>;

/** Held in memory at most, as ids; the rest waits on disk. */
const mostHeld = 20_000;
/** Taken off the backlog together: written once for many. */
const settledAtOnce = 200;
const settleMs = 50;
/** How often a worker looks for what others stored or left behind. */
const lookMs = 1_000;
const renewMs = laneLeaseMs / 4;

const firstPauseMs = 200;
/** A consumer that is down costs one attempt in this time. */
const longestPauseMs = 5_000;
const longestLanePauseMs = 60_000;

const pauseMs = (failures: number, longest: number, random: () => number): number =>
  Math.min(longest, firstPauseMs * 2 ** (failures - 1)) * (0.5 + random() / 2);

export function startDispatcher(options: DispatchOptions) {
  const { consumer, store, elapsed, random } = options;
  const counts = { delivered: 0, givenUp: 0 };
  const lanes = createLanes();
  const hold = createHold(options, lanes);
  const trouble = createTrouble(options);
  const settler = createSettler(options, () => wake());
  const timers = new Set<NodeJS.Timeout>();
  const running = new Set<Promise<void>>();
  const stopping = new AbortController();
  // As many deliveries as are under way may wait on one signal.
  setMaxListeners(0, stopping.signal);
  /** Nothing more can be done for now: all is delivered, or nothing gets through. */
  let whenStuck = (): void => undefined;
  /** Something may wait that was not taken yet. */
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
    if (stopping.signal.aborted) return;
    if (mayHaveMore && lanes.ready() < options.concurrency && lanes.held() < mostHeld) filling ??= fill();
    // While nothing gets through, one delivery tries for all.
    const most = trouble.exists() ? 1 : options.concurrency;
    while (running.size < most && !trouble.isPausing() && hold.isSure()) {
      const lane = lanes.take();
      if (lane === undefined) break;
      const attempted = attempt(lane).finally(() => {
        running.delete(attempted);
        pump();
      });
      running.add(attempted);
    }
    if (running.size === 0 && lanes.held() === 0 && filling === undefined) whenStuck();
  }

  async function fill(): Promise<void> {
    mayHaveMore = false;
    if (await hold.take()) mayHaveMore = true;
    filling = undefined;
    pump();
  }

  /** There may be something new in the backlog. */
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

  async function attempt(lane: Lane): Promise<void> {
    const startedAt = elapsed();
    const [id = 0] = lane.ids;
    const event = await store.read(id).catch(() => 'unread' as const);
    const verdict = await verdictOn(event);
    if (lane.isForgotten) return;
    if (verdict.kind === 'again') return tryLater(lane, verdict, startedAt);
    trouble.end();
    if (verdict.kind === 'delivered') counts.delivered += 1;
    else counts.givenUp += 1;
    if (verdict.kind === 'given-up' && typeof event === 'object') options.onGivenUp(event, verdict.reason);
    settler.add(id);
    lanes.advance(lane);
  }

  async function verdictOn(event: StoredEvent | 'unread' | undefined): Promise<Verdict> {
    if (event === 'unread') return { kind: 'again', scope: 'consumer', reason: 'the event store does not answer' };
    if (event === undefined) return { kind: 'delivered' };
    return options.deliver(event, stopping.signal).catch((error: unknown) => ({ kind: 'given-up', reason: String(error) }));
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

  every(lookMs, wake);
  every(renewMs, () => void hold.renew().then(wake));
  pump();
  return {
    consumer,
    counts,
    wake,
    /** Delivers on for as long as it gets through and the time allows, then ends; what is left stays in the backlog. */
    async drain(ms: number): Promise<void> {
      await new Promise<void>((resolve) => {
        whenStuck = resolve;
        later(ms, resolve);
        if (trouble.exists()) resolve();
        else wake();
      });
      stopping.abort();
      timers.forEach((timer) => clearTimeout(timer));
      await Promise.all([...running, filling]);
      await settler.flush();
      await hold.release();
    },
  };
}

/** A consumer that takes nothing is left alone for a while, ever longer up to a limit. */
function createTrouble({ elapsed, random, onTrouble }: DispatchOptions) {
  let failures = 0;
  let lastFailure = 0;
  let pausedUntil = 0;
  return {
    exists: (): boolean => failures > 0,
    isPausing: (): boolean => elapsed() < pausedUntil,
    /** How long to wait from now; undefined for a failure that tells nothing new. */
    note(reason: string, startedAt: number): number | undefined {
      // Others were under way when the first one failed.
      if (failures > 0 && startedAt <= lastFailure) return undefined;
      if (failures === 0) onTrouble(reason);
      failures += 1;
      lastFailure = elapsed();
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
function createSettler({ consumer, worker, store }: DispatchOptions, onMore: () => void) {
  let ids: number[] = [];
  let timer: NodeJS.Timeout | undefined;
  let last: Promise<void> = Promise.resolve();

  async function settle(): Promise<void> {
    const settled = ids;
    ids = [];
    if (settled.length === 0) return;
    try {
      if (await store.lanes.settle(consumer, worker, settled)) onMore();
    } catch {
      // Tried again with the next ones; in the end it is delivered once more.
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
