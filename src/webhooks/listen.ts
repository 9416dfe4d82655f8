// Receives and stores webhook events, and delivers them in order to other addresses and commands.
import type { Transaction } from '../api/types.js';
import type { EventStore, StoredEvent } from '../store/events/event-store.js';
import { startDispatcher, type DispatchOptions, type Dispatcher } from './dispatch.js';
import { enriched, type Enriched } from './enrich.js';
import type { ReadEvent } from './events.js';
import { runFor } from './exec.js';
import { forwardTo, nameOf, openForwarder } from './forward.js';
import { gapsOf } from './order.js';
import { startReceiver, type Receiver, type ReceiverOptions } from './receive.js';
import { startRetention, type RetentionOptions } from './retention.js';
import { createTail } from './tail.js';

/** Reports while listening. */
export interface ListenReports
  extends
    Pick<ReceiverOptions, 'onWrongSignature' | 'onUnwritten'>,
    Pick<RetentionOptions, 'onUnpruned'> {
  /** A consumer takes nothing from now on, for this reason, or takes events again (`undefined`). */
  readonly onTrouble: (consumer: string, reason: string | undefined) => void;
  readonly onFailed: (consumer: string, event: StoredEvent, reason: string) => void;
  readonly onOutput: (chunk: Buffer) => void;
  readonly onLookUpFailed: (txnId: string, error: unknown) => void;
}

export interface ListenOptions
  extends
    Omit<ReceiverOptions, 'consumers' | `on${string}`>,
    Pick<DispatchOptions, 'worker' | 'random'>,
    Pick<RetentionOptions, 'every'> {
  readonly store: EventStore;
  readonly forwardTo: readonly URL[];
  /** A command line to run for each event. */
  readonly exec: string | undefined;
  /** Reads a transaction from the service, to add it to each event. */
  readonly lookUp: ((txnId: string) => Promise<Transaction>) | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly reports: ListenReports;
}

export type Listener = Awaited<ReturnType<typeof startListener>>;

const forwardsAtOnce = 32;
const commandsAtOnce = 4;
const drainMs = 5_000;
/** Most transactions checked for gaps at the end, because some services never report certain states. */
const mostGaps = 100;

/** Rejects with the system's error if the port is taken. */
export async function startListener(options: ListenOptions) {
  const { store, reports } = options;
  const tail = createTail(store);
  const tally: Tally = { duplicates: 0, outOfOrder: 0, gapped: new Set(), exits: new Map() };
  const outlets = outletsOf(options, tally);
  const dispatchers: Dispatcher[] = [];
  const receiver = await startReceiver({
    ...options,
    ...reports,
    consumers: outlets.map(({ consumer }) => consumer),
    onStored: (events) => {
      count(events, tally);
      tail.push(events);
      for (const each of dispatchers) each.wake();
    },
  });
  for (const outlet of outlets) dispatchers.push(dispatch(outlet, options));
  const retention = startRetention({ ...options, ...reports });
  /** Every event from now on, in the order of arrival. Can be read once. */
  const events: AsyncIterable<Enriched> =
    options.lookUp === undefined
      ? tail.events()
      : enriched(tail.events(), options.lookUp, reports.onLookUpFailed);
  return {
    url: receiver.url,
    probes: receiver.probes,
    events,
    totals: () => totalsOf(receiver, dispatchers, tally),
    /** Stops receiving, delivers as much as possible, and resolves with the totals. */
    stop: async () => {
      await receiver.stop();
      tail.close();
      await Promise.all([retention.stop(), ...dispatchers.map((each) => each.drain(drainMs))]);
      for (const { close } of outlets) close?.();
      return summaryOf(totalsOf(receiver, dispatchers, tally), store, tally);
    },
  };
}

/** Where events are delivered. */
interface Outlet extends Pick<DispatchOptions, 'consumer' | 'deliver' | 'concurrency'> {
  readonly close?: () => void;
}

function outletsOf(
  { forwardTo: targets, signatureHeader, exec, env, reports }: ListenOptions,
  { exits }: Tally,
): Outlet[] {
  const forwards = targets.map((target): Outlet => {
    const forwarder = openForwarder({ target, signatureHeader, connections: forwardsAtOnce });
    return {
      consumer: nameOf(target),
      deliver: forwardTo(forwarder),
      concurrency: forwardsAtOnce,
      close: forwarder.close,
    };
  });
  if (exec === undefined) return forwards;
  const onExit = (code: string): void => void exits.set(code, (exits.get(code) ?? 0) + 1);
  const deliver = runFor({ command: exec, env, onOutput: reports.onOutput, onExit });
  return [...forwards, { consumer: `exec ${exec}`, deliver, concurrency: commandsAtOnce }];
}

function dispatch(
  outlet: Outlet,
  { worker, store, elapsed, random, reports }: ListenOptions,
): Dispatcher {
  return startDispatcher({
    ...outlet,
    worker,
    store,
    elapsed,
    random,
    onTrouble: (reason) => reports.onTrouble(outlet.consumer, reason),
    onFailed: (event, reason) => reports.onFailed(outlet.consumer, event, reason),
  });
}

interface Tally {
  duplicates: number;
  outOfOrder: number;
  /** Commands by exit code. */
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
  // An event that came late may have closed the gap.
  const gaps = await Promise.all(
    [...gapped].map(async (txnId) => ({
      txnId,
      missing: gapsOf(momentsOf(await store.ofTransaction(txnId))),
    })),
  );
  return {
    ...totals,
    /** Transactions with missing events. */
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
