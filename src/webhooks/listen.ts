// Receives and stores webhook events, adds the current transaction to each event, and delivers the
// events in order to target URLs and commands.
import type { Transaction } from '../api/types.js';
import type { EventStore, StoredEvent, EarlierTransaction } from '../store/events/event-store.js';
import { type Dispatcher, type DispatchOptions, startDispatcher } from './dispatch.js';
import { gapsOf, type ReadEvent, readPayload } from './events.js';
import { runFor, forwardTo, nameOf, openForwarder } from './targets.js';
import { type Receiver, type ReceiverOptions, startReceiver } from './receive.js';
import { finalStates } from '../formats/states.js';

/** The reports that a listener sends while it runs. */
interface ListenReports
  extends
    Pick<ReceiverOptions, 'onWrongSignature' | 'onUnwritten'>,
    Pick<RetentionOptions, 'onUnpruned' | 'onForgotten'> {
  /**
   * Reports the reason why a consumer accepts no events, or `undefined` once the consumer accepts
   * events again.
   */
  readonly onTrouble: (consumer: string, reason: string | undefined) => void;
  readonly onFailed: (consumer: string, event: StoredEvent, reason: string) => void;
  /** Reports the response of a target URL to a forwarded event. */
  readonly onAnswer: (answer: Answer) => Promise<void>;
  readonly onOutput: (chunk: Buffer) => void;
}

export interface Answer {
  readonly event: StoredEvent;
  readonly target: string;
  readonly status: number;
  readonly ms: number;
}

interface ListenOptions
  extends
    Omit<ReceiverOptions, 'consumers' | `on${string}`>,
    Pick<DispatchOptions, 'worker' | 'random' | 'sleep'>,
    Pick<RetentionOptions, 'every'> {
  /** The signal that stops the listener, because a person or the system stops svcpay. */
  readonly signal: AbortSignal;
  readonly store: EventStore;
  readonly forwardTo: readonly URL[];
  /**
   * The names of the consumers: first the name of each target, then the name of the command. The
   * default name of a target is its URL.
   */
  readonly consumer: readonly string[];
  /** The command line that svcpay runs for each event, if there is one. */
  readonly exec: string | undefined;
  /** Reads from the service the transaction that svcpay adds to an event. */
  readonly lookUp: LookUp | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly reports: ListenReports;
}

export type Listener = Awaited<ReturnType<typeof startListener>>;

const forwardsAtOnce = 32;
const commandsAtOnce = 4;
/**
 * The largest number of transactions that svcpay checks for missing states when the listener stops.
 * svcpay checks only `mostGaps` transactions, because at a service that never reports certain
 * states, every transaction has missing states.
 */
const mostGaps = 100;

/** Starts the listener. Rejects with the system's error if the port is taken. */
export async function startListener(options: ListenOptions) {
  const { store, reports } = options;
  const tail = createTail(store, options.lookUp);
  const tally: Tally = { duplicates: 0, outOfOrder: 0, gapped: new Set(), exits: new Map() };
  const outlets = outletsOf(options, tally);
  const dispatchers: Dispatcher[] = [];
  const consumers = outlets.map(({ consumer }) => consumer);
  const receiver = await startReceiver({
    ...options,
    ...reports,
    consumers,
    onStored: (events) => {
      count(events, tally);
      tail.push(events);
      for (const each of dispatchers) each.checkForEvents();
    },
  });
  for (const outlet of outlets) dispatchers.push(dispatch(outlet, options));
  const retention = startRetention({ ...options, ...reports, consumers });
  const stopAll = async () => {
    const dispatched = dispatchers.map((each) => each.stop());
    await receiver.stop();
    tail.close();
    await Promise.all([retention.stop(), ...dispatched]);
    for (const { close } of outlets) close?.();
    return summaryOf(totalsOf(receiver, dispatchers, tally), store, tally);
  };
  let stopped: ReturnType<typeof stopAll> | undefined;
  /**
   * Stops the receiver, finishes the deliveries in flight, and resolves with the listener's totals.
   */
  const stop = (): ReturnType<typeof stopAll> => (stopped ??= stopAll());
  // Ignores errors here, because they reach the caller of `stop`.
  const begin = (): void => void stop().catch(() => undefined);
  options.signal.addEventListener('abort', begin);
  if (options.signal.aborted) begin();
  return {
    url: receiver.url,
    probes: receiver.probes,
    /** The stream of future events in the order of arrival, which a caller can read only once. */
    events: tail.events(),
    totals: () => totalsOf(receiver, dispatchers, tally),
    stop,
  };
}

/** A consumer that gets events from this listener. */
interface Outlet extends Pick<DispatchOptions, 'consumer' | 'deliver' | 'workers'> {
  readonly close?: () => void;
}

function outletsOf(options: ListenOptions, { exits }: Tally): Outlet[] {
  const { consumer: names, signatureHeader, exec, env, signal, elapsed, reports } = options;
  const forwards = options.forwardTo.map((target, index): Outlet => {
    const forwarder = openForwarder({ target, signatureHeader });
    const name = nameOf(target);
    return {
      consumer: names[index] ?? name,
      deliver: forwardTo(
        forwarder,
        elapsed,
        (event, status, ms) => void reports.onAnswer({ event, target: name, status, ms }),
      ),
      workers: forwardsAtOnce,
      close: forwarder.close,
    };
  });
  if (exec === undefined) return forwards;
  const onExit = (code: string): void => void exits.set(code, (exits.get(code) ?? 0) + 1);
  const { onOutput } = reports;
  const deliver = runFor({ command: exec, env, stopping: signal, onOutput, onExit });
  const consumer = names[forwards.length] ?? `exec ${exec}`;
  return [...forwards, { consumer, deliver, workers: commandsAtOnce }];
}

function dispatch(outlet: Outlet, options: ListenOptions): Dispatcher {
  const { reports } = options;
  return startDispatcher({
    ...options,
    ...outlet,
    onTrouble: (reason) => reports.onTrouble(outlet.consumer, reason),
    onFailed: (event, reason) => reports.onFailed(outlet.consumer, event, reason),
  });
}

interface Tally {
  duplicates: number;
  outOfOrder: number;
  /** The number of finished commands by exit code. */
  readonly exits: Map<string, number>;
  readonly gapped: Set<string>;
}

function count(events: readonly ReadEvent[], tally: Tally): void {
  for (const { event } of events) {
    if (event.duplicateOf !== null) tally.duplicates += 1;
    if (event.outOfOrder) tally.outOfOrder += 1;
    if (event.missing.length > 0 && event.txnId !== null && tally.gapped.size < mostGaps)
      tally.gapped.add(event.txnId);
  }
}

export type Totals = ReturnType<typeof totalsOf>;

const totalsOf = (
  { counts }: Receiver,
  dispatchers: readonly Dispatcher[],
  { duplicates, outOfOrder, exits }: Tally,
) => ({
  ...counts,
  duplicates,
  outOfOrder,
  exits,
  consumers: dispatchers.map(({ consumer, counts: own }) => ({ name: consumer, ...own })),
});

async function summaryOf(totals: Totals, store: EventStore, { gapped }: Tally) {
  const backlog = new Map((await store.backlog()).map(({ consumer, count }) => [consumer, count]));
  // Reads the transaction's events again, because a late event may have closed the gap between its
  // states.
  const gaps = await Promise.all(
    [...gapped].map(async (txnId) => ({
      txnId,
      missing: gapsOf(momentsOf(await store.ofTransaction(txnId))),
    })),
  );
  return {
    ...totals,
    /** The transactions whose events skip states. */
    gaps: gaps.filter(({ missing }) => missing.length > 0),
    consumers: totals.consumers.map((each) => ({ ...each, waiting: backlog.get(each.name) ?? 0 })),
  };
}

function momentsOf(events: readonly StoredEvent[]): { txnState: string; updatedAt: number }[] {
  return events.flatMap(({ txnState, updatedAt, duplicateOf }) =>
    txnState === null || updatedAt === null || duplicateOf !== null
      ? []
      : [{ txnState, updatedAt }],
  );
}

/**
 * The largest number of events that the stream keeps in memory. For events beyond `mostHeld`, the
 * stream keeps only the ids, and reads each event from the store before it yields the event.
 */
const mostHeld = 1_000;

/** The largest number of events whose transactions the stream reads at the same time. */
const readsAtOnce = 8;

export interface EnrichedEvent extends ReadEvent {
  /**
   * The current transaction of the event, or undefined if the event is a duplicate or the read
   * failed.
   */
  readonly transaction?: Transaction | undefined;
}

/**
 * Creates a stream that yields each event after the receiver has stored it. If the reader of the
 * stream is slow, events wait on disk instead of in memory.
 * @param lookUp reads the current transaction of each event, because events can be late or out of
 *   order
 */
export function createTail(store: Pick<EventStore, 'read'>, lookUp?: LookUp) {
  let waiting: (ReadEvent | number)[] = [];
  let isClosed = false;
  let wake = (): void => undefined;

  async function complete(waited: ReadEvent | number): Promise<EnrichedEvent[]> {
    const event = typeof waited === 'number' ? await store.read(waited) : waited.event;
    if (event === undefined) return [];
    const read = typeof waited === 'number' ? { event, payload: readPayload(event.body) } : waited;
    const { txnId, duplicateOf } = event;
    if (lookUp === undefined || txnId === null || duplicateOf !== null) return [read];
    return [{ ...read, transaction: await lookUp(txnId) }];
  }

  return {
    push(events: readonly ReadEvent[]): void {
      for (const each of events) waiting.push(waiting.length < mostHeld ? each : each.event.id);
      wake();
    },
    /** Ends the stream after all pushed events. */
    close(): void {
      isClosed = true;
      wake();
    },
    /** Yields all pushed events until `close`. A caller can read the stream only once. */
    async *events(): AsyncGenerator<EnrichedEvent> {
      for (;;) {
        const taken = waiting;
        waiting = [];
        for (let from = 0; from < taken.length; from += readsAtOnce) {
          const part = taken.slice(from, from + readsAtOnce);
          yield* (await Promise.all(part.map(complete))).flat();
        }
        if (taken.length > 0) continue;
        if (isClosed) return;
        await new Promise<void>((resolve) => (wake = resolve));
      }
    },
  };
}

const keptMs = 30 * 86_400_000;
const hourMs = 3_600_000;

interface RetentionOptions {
  readonly store: Pick<EventStore, 'prune' | 'consumers'>;
  /** The names of the consumers that this receiver serves. */
  readonly consumers: readonly string[];
  readonly now: () => number;
  readonly every: (ms: number, action: () => void) => () => void;
  /** Reports a failed deletion, which svcpay repeats an hour later. */
  readonly onUnpruned: (error: unknown) => void;
  /**
   * Reports a consumer whose backlog svcpay dropped, because no receiver has served the consumer
   * for the retention time of events.
   */
  readonly onForgotten: (consumer: string, events: number) => void;
}

/**
 * Deletes old events and the backlogs of former consumers, at the start and then every hour.
 * Deletes the events in groups, each in a small database transaction.
 */
function startRetention(options: RetentionOptions) {
  const { store, now, every } = options;
  const stopping = new AbortController();
  let running: Promise<void> | undefined;

  async function prune(): Promise<void> {
    await store.consumers.serve(options.consumers);
    for (const { consumer, servedSeconds } of await store.consumers.list())
      if ((servedSeconds ?? 0) * 1_000 > keptMs)
        options.onForgotten(consumer, await store.consumers.remove(consumer));
    const before = now() - keptMs;
    let after: number | undefined = 0;
    while (after !== undefined && !stopping.signal.aborted)
      after = await store.prune(before, after);
  }
  const start = (): void =>
    void (running ??= prune()
      .catch(options.onUnpruned)
      .finally(() => (running = undefined)));
  const stopHourly = every(hourMs, start);
  start();
  return {
    async stop(): Promise<void> {
      stopping.abort();
      stopHourly();
      await running;
    },
  };
}

/** Reads the transaction of an event, or resolves with undefined if the read fails. */
type LookUp = (txnId: string) => Promise<Transaction | undefined>;

interface MissedTransaction extends EarlierTransaction {
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
): Promise<MissedTransaction[]> {
  const missed: MissedTransaction[] = [];
  for (const earlier of await store.unfinished(now - lookBackMs, finalStates, mostChecked)) {
    const transaction = await lookUp(earlier.txnId);
    if (transaction !== undefined && transaction.txnState !== earlier.txnState)
      missed.push({ ...earlier, transaction });
  }
  return missed;
}
