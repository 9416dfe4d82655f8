// Everything that happens to webhook events here: received, written down, handed on in order, forwarded, run for.
import type { Transaction } from '../api/types.js';
import type { EventStore, StoredEvent } from '../store/events/event-store.js';
import { startDispatcher, type Deliver, type Dispatcher } from './dispatch.js';
import { enriched, type Enriched } from './enrich.js';
import type { ReadEvent } from './events.js';
import { runFor } from './exec.js';
import { forwardTo, nameOf, openForwarder, type Forwarder } from './forward.js';
import { gapsOf } from './order.js';
import { startReceiver, type Receiver, type ReceiverCounts } from './receive.js';
import type { ReceiverLimits } from './intake.js';
import { createTail, type Tail } from './tail.js';

/** What is worth telling while it happens. */
export interface ListenReports {
  readonly onWrongSignature: (remote: string) => void;
  readonly onUnwritten: (error: unknown) => void;
  /** Nothing gets through to a consumer, or it does again (`undefined`). */
  readonly onTrouble: (consumer: string, reason: string | undefined) => void;
  readonly onGivenUp: (consumer: string, event: StoredEvent, reason: string) => void;
  readonly onOutput: (chunk: Buffer) => void;
  readonly onLookUpFailed: (txnId: string, error: unknown) => void;
}

export interface ListenOptions {
  readonly host: string;
  /** 0 for any free one. */
  readonly port: number;
  readonly secret: string;
  readonly signatureHeader: string;
  readonly store: EventStore;
  /** Tells this listener from others on the same store. */
  readonly worker: string;
  readonly forwardTo: readonly URL[];
  /** A command line to run for each event. */
  readonly exec: string | undefined;
  /** Asks the service for a transaction; every event is then told with what holds now. */
  readonly lookUp: ((txnId: string) => Promise<Transaction>) | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly limits?: ReceiverLimits;
  readonly now: () => number;
  /** Milliseconds that only grow, whatever is done to the clock. */
  readonly elapsed: () => number;
  readonly random: () => number;
  readonly reports: ListenReports;
}

export interface Listener {
  readonly url: string;
  /** Every event from now on, in the order of arrival, until {@link Listener.stop}. To be read once. */
  readonly events: AsyncIterable<Enriched>;
  /** Takes no more, hands on what it has as far as that goes, and tells what became of all. */
  stop(): Promise<ListenSummary>;
}

export interface ListenSummary extends ReceiverCounts {
  duplicates: number;
  outOfOrder: number;
  /** Transactions of which an event must be missing. */
  gaps: { txnId: string; missing: string[] }[];
  consumers: { name: string; delivered: number; givenUp: number; waiting: number }[];
}

const forwardsAtOnce = 32;
const commandsAtOnce = 4;
const drainMs = 5_000;
/** Older events are dropped at the start, unless they still wait for somebody. */
const keptMs = 30 * 86_400_000;

/** Rejects with the system's error when the port is taken. */
export async function startListener(options: ListenOptions): Promise<Listener> {
  const { store, reports } = options;
  await store.prune(options.now() - keptMs);
  const tail = createTail(store);
  const forwarders = options.forwardTo.map((target) => ({
    name: nameOf(target),
    forwarder: openForwarder({ ...options, target, connections: forwardsAtOnce }),
  }));
  const consumers = [...forwarders.map(({ name }) => name), ...(options.exec === undefined ? [] : [`exec ${options.exec}`])];
  const dispatchers: Dispatcher[] = [];
  const tally: Tally = { duplicates: 0, outOfOrder: 0, gapped: new Set() };
  const receiver = await startReceiver({
    ...options,
    consumers,
    onStored: (events) => {
      count(events, tally);
      tail.push(events);
      for (const each of dispatchers) each.wake();
    },
    onWrongSignature: reports.onWrongSignature,
    onUnwritten: reports.onUnwritten,
  });
  dispatchers.push(...openDispatchers(options, forwarders));
  return {
    url: receiver.url,
    events: options.lookUp === undefined ? tail.events() : enriched(tail.events(), options.lookUp, reports.onLookUpFailed),
    stop: async () => {
      await stopAll(receiver, tail, dispatchers, forwarders.map(({ forwarder }) => forwarder));
      return summaryOf(receiver, store, dispatchers, tally);
    },
  };
}

function openDispatchers(
  options: ListenOptions,
  forwarders: readonly { name: string; forwarder: Forwarder }[],
): Dispatcher[] {
  const { worker, store, elapsed, random, reports, exec } = options;
  const open = (consumer: string, deliver: Deliver, concurrency: number): Dispatcher =>
    startDispatcher({
      consumer,
      worker,
      store,
      deliver,
      concurrency,
      elapsed,
      random,
      onTrouble: (reason) => reports.onTrouble(consumer, reason),
      onGivenUp: (event, reason) => reports.onGivenUp(consumer, event, reason),
    });
  return [
    ...forwarders.map(({ name, forwarder }) => open(name, forwardTo(forwarder), forwardsAtOnce)),
    ...(exec === undefined
      ? []
      : [open(`exec ${exec}`, runFor({ command: exec, env: options.env, onOutput: reports.onOutput }), commandsAtOnce)]),
  ];
}

interface Tally {
  duplicates: number;
  outOfOrder: number;
  readonly gapped: Set<string>;
}

function count(events: readonly ReadEvent[], tally: Tally): void {
  for (const { event } of events) {
    if (event.duplicateOf !== null) tally.duplicates += 1;
    if (event.outOfOrder) tally.outOfOrder += 1;
    if (event.missing.length > 0 && event.txnId !== null) tally.gapped.add(event.txnId);
  }
}

async function stopAll(
  receiver: Receiver,
  tail: Tail,
  dispatchers: readonly Dispatcher[],
  forwarders: readonly Forwarder[],
): Promise<void> {
  await receiver.stop();
  tail.close();
  await Promise.all(dispatchers.map((each) => each.drain(drainMs)));
  for (const forwarder of forwarders) forwarder.close();
}

async function summaryOf(
  { counts }: Receiver,
  store: EventStore,
  dispatchers: readonly Dispatcher[],
  { duplicates, outOfOrder, gapped }: Tally,
): Promise<ListenSummary> {
  const backlog = new Map((await store.backlog()).map(({ consumer, count }) => [consumer, count]));
  // An event that was overtaken may have closed the gap since.
  const gaps = await Promise.all(
    [...gapped].map(async (txnId) => ({ txnId, missing: gapsOf(momentsOf(await store.ofTransaction(txnId))) })),
  );
  return {
    ...counts,
    duplicates,
    outOfOrder,
    gaps: gaps.filter(({ missing }) => missing.length > 0),
    consumers: dispatchers.map(({ consumer, counts: { delivered, givenUp } }) => ({
      name: consumer,
      delivered,
      givenUp,
      waiting: backlog.get(consumer) ?? 0,
    })),
  };
}

function momentsOf(events: readonly StoredEvent[]): { txnState: string; updatedAt: number }[] {
  return events.flatMap(({ txnState, updatedAt, duplicateOf }) =>
    txnState === null || updatedAt === null || duplicateOf !== null ? [] : [{ txnState, updatedAt }],
  );
}
