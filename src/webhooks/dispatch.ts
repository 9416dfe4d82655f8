// Carries events from the backlog to one consumer: in order per transaction, many transactions at once, until delivered.
import { setMaxListeners } from 'node:events';
import type { EventStore, StoredEvent } from '../store/event-store.js';

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

/** The events of one transaction; only the first is ever under way. */
interface Lane {
  readonly ids: number[];
  failures: number;
}

export function startDispatcher(options: DispatchOptions): Dispatcher {
  const { consumer, store, now, random } = options;
  const counts = { delivered: 0, givenUp: 0 };
  const lanes = new Map<string, Lane>();
  const ready = new Set<string>();
  const timers = new Set<NodeJS.Timeout>();
  const running = new Set<Promise<void>>();
  const stopping = new AbortController();
  // As many deliveries as are under way may wait on one signal.
  setMaxListeners(0, stopping.signal);
  const settler = createSettler(consumer, store);
  let held = 0;
  let lastLoaded = 0;
  let failures = 0;
  let pausedUntil = 0;
  let troubleSince = 0;
  let idle = (): void => undefined;

  const later = (ms: number, action: () => void): void => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      action();
    }, ms);
    timers.add(timer);
  };

  function load(): void {
    while (ready.size < loadedAtOnce && held < mostHeld) {
      const rows = store.waiting(consumer, lastLoaded, loadedAtOnce);
      for (const { eventId, lane: name } of rows) {
        const lane = lanes.get(name) ?? { ids: [], failures: 0 };
        if (lane.ids.length === 0) ready.add(name);
        lane.ids.push(eventId);
        lanes.set(name, lane);
        lastLoaded = eventId;
      }
      held += rows.length;
      if (rows.length < loadedAtOnce) return;
    }
  }

  function pump(): void {
    if (stopping.signal.aborted) return;
    if (ready.size < options.concurrency) load();
    const most = failures > 0 ? 1 : options.concurrency;
    while (running.size < most && now() >= pausedUntil) {
      const [name] = ready;
      const lane = name === undefined ? undefined : lanes.get(name);
      if (name === undefined || lane === undefined) break;
      ready.delete(name);
      const attempted = attempt(name, lane).finally(() => {
        running.delete(attempted);
        pump();
      });
      running.add(attempted);
    }
    if (running.size === 0 && held === 0) idle();
  }

  async function attempt(name: string, lane: Lane): Promise<void> {
    const startedAt = now();
    const [id = 0] = lane.ids;
    const event = store.read(id);
    const verdict: Verdict =
      event === undefined ? { kind: 'delivered' } : await options.deliver(event, stopping.signal);
    if (verdict.kind === 'again') putBack(name, lane, verdict, startedAt);
    else {
      recover();
      if (verdict.kind === 'delivered') counts.delivered += 1;
      else counts.givenUp += 1;
      if (verdict.kind === 'given-up' && event !== undefined) options.onGivenUp(event, verdict.reason);
      settler.add(id);
      takeNext(name, lane);
    }
  }

  function takeNext(name: string, lane: Lane): void {
    lane.ids.shift();
    lane.failures = 0;
    held -= 1;
    if (lane.ids.length > 0) ready.add(name);
    else lanes.delete(name);
  }

  function putBack(name: string, lane: Lane, verdict: Verdict & { kind: 'again' }, startedAt: number): void {
    if (stopping.signal.aborted) return;
    if (verdict.scope === 'transaction') {
      lane.failures += 1;
      recover();
      return later(pauseMs(lane.failures, longestLanePauseMs, random), () => {
        ready.add(name);
        pump();
      });
    }
    ready.add(name);
    // Those that were under way when the first one failed tell nothing new.
    if (failures > 0 && startedAt < troubleSince) return;
    if (failures === 0) options.onTrouble(verdict.reason);
    failures += 1;
    troubleSince = now();
    const pause = pauseMs(failures, longestPauseMs, random);
    pausedUntil = troubleSince + pause;
    later(pause + 1, pump);
  }

  function recover(): void {
    if (failures === 0) return;
    failures = 0;
    pausedUntil = 0;
    options.onTrouble(undefined);
  }

  pump();
  return {
    consumer,
    counts,
    wake: pump,
    async drain(ms) {
      await new Promise<void>((resolve) => {
        idle = resolve;
        later(ms, resolve);
        if (failures > 0) resolve();
        else pump();
      });
      stopping.abort();
      timers.forEach((timer) => clearTimeout(timer));
      await Promise.all(running);
      settler.flush();
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
