// The Prometheus metrics of a receiver: requests, deliveries, backlog, and unfinished payments in
// the journal.
import { setTimeout as delay } from 'node:timers/promises';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { Failure } from '../formats/failure.js';
import { isFormer, type Backlog, type EventStore } from '../store/events/event-store.js';
import { unfinishedStatuses, type UnfinishedPayments } from '../store/journal/journal.js';
import type { Totals } from './listen.js';
import type { Page } from './receive.js';

export interface StoredSources {
  readonly backlog: () => Promise<readonly Backlog[]>;
  readonly unfinished: () => Promise<readonly UnfinishedPayments[]>;
  readonly mayPay: () => Promise<void>;
}

export interface MetricSources extends StoredSources {
  readonly totals: () => Totals;
}

export type Metrics = ReturnType<typeof createMetrics>;

/**
 * The timeout for reading the figures from the stores, in ms, because Prometheus waits only 10 s
 * for a page.
 */
const collectMs = 5_000;
const seconds = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30];

function definers() {
  const registry = new Registry();
  const shared = { registers: [registry] };
  return {
    registry,
    counter: <L extends string>(name: string, help: string, ...labelNames: L[]) =>
      new Counter({ name: `svcpay_${name}`, help, labelNames, ...shared }),
    gauge: <L extends string>(name: string, help: string, ...labelNames: L[]) =>
      new Gauge({ name: `svcpay_${name}`, help, labelNames, ...shared }),
    duration: <L extends string>(name: string, help: string, ...labelNames: L[]) =>
      new Histogram({ name: `svcpay_${name}`, help, labelNames, buckets: seconds, ...shared }),
  };
}

/** Defines the metrics of a receiver since its start. */
function defineCounts() {
  const { registry, counter, duration } = definers();
  return {
    registry,
    requests: counter('webhook_requests_total', 'Requests received, by result', 'result'),
    duplicates: counter(
      'webhook_duplicates_total',
      'Duplicate events, which are stored but not delivered',
    ),
    deliveries: counter(
      'webhook_deliveries_total',
      'Attempts to deliver an event, by target and result',
      'consumer',
      'result',
    ),
    exits: counter(
      'exec_exits_total',
      'Commands that svcpay ran for events, by exit code or signal',
      'code',
    ),
    service: duration('service_seconds', 'Duration of a request to the service'),
    database: duration('database_seconds', 'Duration of a call to the webhook inbox', 'call'),
  };
}

/** Defines the metrics of the stores. */
function defineStored() {
  const { registry, gauge } = definers();
  return {
    registry,
    waiting: gauge('webhook_backlog', 'Events waiting for delivery', 'consumer'),
    oldestEvent: gauge(
      'webhook_backlog_oldest_seconds',
      'Age of the oldest event waiting for delivery',
      'consumer',
    ),
    payments: gauge(
      'payments',
      'Unfinished payments in the journal, by status and age',
      'status',
      'age',
    ),
    oldestPayment: gauge(
      'payments_oldest_seconds',
      'Age of the oldest unfinished payment',
      'status',
    ),
    databaseUp: gauge(
      'database_up',
      '1 if svcpay could read the inbox and the journal, otherwise 0',
    ),
    refused: gauge(
      'payments_refused',
      '1 if svcpay pays nothing, because the database was restored or is another database',
    ),
  };
}

export function createMetrics() {
  const [counts, stored] = [defineCounts(), defineStored()];
  const { service, database, registry } = counts;
  return {
    timedLookUp: <A extends unknown[], R>(lookUp: (...args: A) => Promise<R>) =>
      timed(lookUp, () => service.startTimer()),
    timedStore: (store: EventStore): EventStore => ({
      ...store,
      append: timed(store.append, () => database.startTimer({ call: 'append' })),
      read: timed(store.read, () => database.startTimer({ call: 'read' })),
    }),
    async page(sources: MetricSources): Promise<Page> {
      setCounts(counts, sources.totals());
      const inTime = Promise.race([
        setStored(stored, sources).then(() => 1),
        delay(collectMs, 0, { ref: false }),
      ]);
      stored.databaseUp.set(await inTime.catch(() => 0));
      const body = (await registry.metrics()) + (await stored.registry.metrics());
      return { status: 200, type: registry.contentType, body };
    },
  };
}

/** Returns a page with only the figures from the stores, for the textfile collector. */
export async function storedPage(sources: StoredSources): Promise<string> {
  const stored = defineStored();
  await setStored(stored, sources);
  stored.databaseUp.set(1);
  return (await stored.registry.metrics()).trimEnd();
}

/** Wraps a function to measure the duration of its calls. */
const timed =
  <A extends unknown[], R>(call: (...args: A) => Promise<R>, start: () => () => void) =>
  async (...args: A): Promise<R> => {
    const end = start();
    try {
      return await call(...args);
    } finally {
      end();
    }
  };

/**
 * Sets the figures from the stores: the backlog and the unfinished payments. If svcpay cannot read
 * the stores, the page keeps the last figures, so that an alert about an unfinished payment stays
 * active while the database is unavailable.
 */
async function setStored(
  stored: ReturnType<typeof defineStored>,
  { backlog, unfinished, mayPay }: StoredSources,
): Promise<void> {
  const { waiting, oldestEvent, payments: counts, oldestPayment, refused } = stored;
  const [events, payments] = await Promise.all([backlog(), unfinished()]).finally(() =>
    mayPay().then(
      () => refused.set(0),
      (error: unknown) => {
        if (error instanceof Failure && error.kind === 'usage') refused.set(1);
      },
    ),
  );
  for (const each of [waiting, oldestEvent, counts, oldestPayment]) each.reset();
  const ages = new Map<string, number>();
  for (const { consumer, count, oldestSeconds } of events.filter((each) => !isFormer(each))) {
    const label = labelOf(consumer);
    waiting.inc({ consumer: label }, count);
    ages.set(label, Math.max(ages.get(label) ?? 0, oldestSeconds));
  }
  for (const [consumer, seconds] of ages) oldestEvent.set({ consumer }, seconds);
  for (const { status, age, count } of payments) counts.inc({ status, age }, count);
  for (const status of unfinishedStatuses) {
    const own = payments.filter((each) => each.status === status);
    oldestPayment.set({ status }, Math.max(0, ...own.map((each) => each.oldestSeconds)));
  }
}

/** Sets each counter to the number that the receiver has counted since the receiver started. */
function setCounts(
  { requests, duplicates, deliveries, exits }: ReturnType<typeof defineCounts>,
  {
    received,
    wrongSignatures,
    refused,
    unwritten,
    duplicates: repeated,
    consumers,
    exits: ended,
  }: Totals,
): void {
  for (const each of [requests, duplicates, deliveries, exits]) each.reset();
  for (const [result, count] of Object.entries({
    stored: received,
    wrong_signature: wrongSignatures,
    refused,
    not_stored: unwritten,
  })) {
    requests.inc({ result }, count);
  }
  duplicates.inc(repeated);
  for (const { name, delivered, failed, retried } of consumers) {
    for (const [result, count] of Object.entries({ delivered, failed, retried }))
      deliveries.inc({ consumer: labelOf(name), result }, count);
  }
  for (const [code, count] of ended) exits.inc({ code }, count);
}

/**
 * Returns the label of a consumer, without the path of a URL and the arguments of a command,
 * because these may contain secrets.
 */
const labelOf = (consumer: string): string =>
  consumer.startsWith('exec ')
    ? 'exec'
    : URL.canParse(consumer)
      ? new URL(consumer).origin
      : consumer;
