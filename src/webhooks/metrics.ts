// Prometheus metrics of a receiver: requests, deliveries, backlog, and the journal's unfinished payments.
import { setTimeout as delay } from 'node:timers/promises';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Backlog, EventStore } from '../store/events/event-store.js';
import type { UnfinishedPayments } from '../store/journal/figures.js';
import type { Totals } from './listen.js';
import type { Page } from './monitoring.js';

export interface MetricSources {
  readonly totals: () => Totals;
  readonly backlog: () => Promise<readonly Backlog[]>;
  readonly unfinished: () => Promise<readonly UnfinishedPayments[]>;
  /** Epoch ms. */
  readonly now: () => number;
}

export type Metrics = ReturnType<typeof createMetrics>;

/** Prometheus waits for 10 s. */
const collectMs = 5_000;
const seconds = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30];

export function createMetrics() {
  const registry = new Registry();
  const shared = { registers: [registry] };
  const counter = <L extends string>(name: string, help: string, ...labelNames: L[]) =>
    new Counter({ name: `svcpay_${name}`, help, labelNames, ...shared });
  const gauge = <L extends string>(name: string, help: string, ...labelNames: L[]) =>
    new Gauge({ name: `svcpay_${name}`, help, labelNames, ...shared });
  const requests = counter(
    'webhook_requests_total',
    'Requests received, by what became of them',
    'result',
  );
  const duplicates = counter(
    'webhook_duplicates_total',
    'Events that had been received before; they are stored and not delivered',
  );
  const deliveries = counter(
    'webhook_deliveries_total',
    'Attempts to deliver an event, by target and result',
    'consumer',
    'result',
  );
  const exits = counter(
    'exec_exits_total',
    'Commands run for events, by exit code or signal',
    'code',
  );
  const waiting = gauge('webhook_backlog', 'Events that wait to be delivered', 'consumer');
  const oldestEvent = gauge(
    'webhook_backlog_oldest_seconds',
    'Age of the oldest event that waits',
    'consumer',
  );
  const payments = gauge(
    'payments',
    'Unfinished payments of the journal, by status and age',
    'status',
    'age',
  );
  const oldestPayment = gauge(
    'payments_oldest_seconds',
    'Age of the oldest unfinished payment',
    'status',
  );
  const databaseUp = gauge(
    'database_up',
    'Whether the figures of the inbox and of the journal could be read',
  );
  const service = new Histogram({
    name: 'svcpay_service_seconds',
    help: 'Time of a request to the service',
    buckets: seconds,
    ...shared,
  });
  const database = new Histogram({
    name: 'svcpay_database_seconds',
    help: 'Time of a call of the inbox',
    labelNames: ['call'],
    buckets: seconds,
    ...shared,
  });

  /** Wraps a function to measure its calls. */
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

  const forgetStored = (): void =>
    [waiting, oldestEvent, payments, oldestPayment].forEach((each) => each.reset());

  async function collectStored({ backlog, unfinished, now }: MetricSources): Promise<void> {
    const [events, unfinishedPayments] = await Promise.all([backlog(), unfinished()]);
    forgetStored();
    for (const { consumer, count, oldest } of events) {
      waiting.inc({ consumer: labelOf(consumer) }, count);
      oldestEvent.set({ consumer: labelOf(consumer) }, ageOf(oldest, now()));
    }
    for (const { status, age, count } of unfinishedPayments) payments.inc({ status, age }, count);
    for (const status of new Set(unfinishedPayments.map((each) => each.status))) {
      const oldest = Math.min(
        ...unfinishedPayments.filter((each) => each.status === status).map((each) => each.oldest),
      );
      oldestPayment.set({ status }, ageOf(oldest, now()));
    }
  }

  function collectCounts({
    received,
    wrongSignatures,
    refused,
    unwritten,
    duplicates: repeated,
    consumers,
    exits: ended,
  }: Totals): void {
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

  return {
    timedLookUp: <A extends unknown[], R>(lookUp: (...args: A) => Promise<R>) =>
      timed(lookUp, () => service.startTimer()),
    timedStore: (store: EventStore): EventStore => ({
      ...store,
      append: timed(store.append, () => database.startTimer({ call: 'append' })),
      read: timed(store.read, () => database.startTimer({ call: 'read' })),
    }),
    async page(sources: MetricSources): Promise<Page> {
      collectCounts(sources.totals());
      const inTime = Promise.race([
        collectStored(sources).then(() => 1),
        delay(collectMs, 0, { ref: false }),
      ]);
      const isUp = await inTime.catch(() => 0);
      databaseUp.set(isUp);
      if (isUp === 0) forgetStored();
      return { status: 200, type: registry.contentType, body: await registry.metrics() };
    },
  };
}

/** Omits possible secrets: the query of an address, and the words of a command. */
const labelOf = (consumer: string): string =>
  consumer.startsWith('exec ') ? 'exec' : consumer.replace(/\?.*/s, '');

const ageOf = (since: number, now: number): number => Math.max(0, (now - since) / 1_000);
