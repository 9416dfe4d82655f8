// What of a backlog is in the hands of one worker: the events of each transaction in order, and how long nobody else has them.
import { laneLeaseMs, type EventStore } from '../store/events/event-store.js';

const loadedAtOnce = 500;
/** Nothing is begun that close to the end of a lease. */
const marginMs = laneLeaseMs / 4;

/** The events of one transaction that wait; only the first is ever under way. */
export interface Lane {
  readonly name: string;
  readonly ids: number[];
  failures: number;
  /** Another worker has it now. */
  isForgotten: boolean;
}

/** What of the backlog is in memory: per transaction in order, and which of them may go next. */
export function createLanes() {
  const lanes = new Map<string, Lane>();
  const ready = new Set<Lane>();
  let held = 0;

  function put(name: string, eventId: number): void {
    const lane = lanes.get(name) ?? { name, ids: [], failures: 0, isForgotten: false };
    if (lane.ids.length === 0) {
      lanes.set(name, lane);
      ready.add(lane);
    }
    lane.ids.push(eventId);
    held += 1;
  }

  return {
    put,
    held: (): number => held,
    ready: (): number => ready.size,
    forget(): void {
      for (const lane of lanes.values()) lane.isForgotten = true;
      lanes.clear();
      ready.clear();
      held = 0;
    },
    take(): Lane | undefined {
      const [lane] = ready;
      if (lane !== undefined) ready.delete(lane);
      return lane;
    },
    putBack: (lane: Lane): void => void (lane.isForgotten || ready.add(lane)),
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

export interface HoldOptions {
  readonly consumer: string;
  /** Tells this one from others at work on the same backlog, here or on other machines. */
  readonly worker: string;
  readonly store: { readonly lanes: EventStore['lanes'] };
  /** Milliseconds that only grow: a clock set back must not stall a delivery. */
  readonly elapsed: () => number;
}

/** What this worker has of the backlog, and how long nobody else has it. */
export function createHold({ consumer, worker, store, elapsed }: HoldOptions, lanes: ReturnType<typeof createLanes>) {
  let leaseUntil = 0;
  const release = (): Promise<void> => store.lanes.release(consumer, worker).catch(() => undefined);
  return {
    isSure: (): boolean => elapsed() < leaseUntil - marginMs,
    release,
    /** Resolves with whether there may be more. A store that does not answer is asked again a little later. */
    async take(): Promise<boolean> {
      const startedAt = elapsed();
      const taken = await store.lanes.take(consumer, worker, loadedAtOnce).catch(() => []);
      // Nothing was held, so that what came now is all that the lease is for.
      if (lanes.held() === 0) leaseUntil = startedAt + laneLeaseMs;
      for (const { lane, eventId } of taken) lanes.put(lane, eventId);
      return taken.length === loadedAtOnce;
    },
    /** Where something was lost to another worker, all is forgotten and taken anew. */
    async renew(): Promise<void> {
      const startedAt = elapsed();
      const isKept = await store.lanes.renew(consumer, worker).catch(() => undefined);
      if (isKept === undefined) return;
      leaseUntil = startedAt + laneLeaseMs;
      if (isKept) return;
      lanes.forget();
      await release();
    },
  };
}
