// The Prometheus metrics of a receiver: requests, deliveries, backlog, and unfinished payments in
// the journal.
import { setTimeout as delay } from 'node:timers/promises';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { Failure } from '../formats/failure.js';
import { grouped } from '../formats/text.js';
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

/** A metric, with its values by label. Equal labels of a metric add up. */
interface Figure<T> {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
  readonly values: (source: T) => readonly Value[];
}
type Value = readonly [labels: Readonly<Record<string, string>>, value: number];

/** The figures of a receiver since its start. */
const countFigures: readonly Figure<Totals>[] = [
  {
    name: 'webhook_requests_total',
    help: 'Requests received, by result',
    labels: ['result'],
    values: ({ received, wrongSignatures, refused, unwritten }) => [
      [{ result: 'stored' }, received],
      [{ result: 'wrong_signature' }, wrongSignatures],
      [{ result: 'refused' }, refused],
      [{ result: 'not_stored' }, unwritten],
    ],
  },
  {
    name: 'webhook_duplicates_total',
    help: 'Duplicate events, which are stored but not delivered',
    values: ({ duplicates }) => [[{}, duplicates]],
  },
  {
    name: 'webhook_deliveries_total',
    help: 'Attempts to deliver an event, by target and result',
    labels: ['consumer', 'result'],
    values: ({ consumers }) =>
      consumers.flatMap(({ name, delivered, failed, retried }) =>
        Object.entries({ delivered, failed, retried }).map(([result, count]): Value => [
          { consumer: labelOf(name), result },
          count,
        ]),
      ),
  },
  {
    name: 'exec_exits_total',
    help: 'Commands that svcpay ran for events, by exit code or signal',
    labels: ['code'],
    values: ({ exits }) => [...exits].map(([code, count]): Value => [{ code }, count]),
  },
];

interface Stored {
  /** The backlogs of the consumers that a receiver serves. */
  readonly events: readonly Backlog[];
  readonly payments: readonly UnfinishedPayments[];
}

/** The figures from the stores. */
const storedFigures: readonly Figure<Stored>[] = [
  {
    name: 'webhook_backlog',
    help: 'Events waiting for delivery',
    labels: ['consumer'],
    values: ({ events }) =>
      events.map(({ consumer, count }): Value => [{ consumer: labelOf(consumer) }, count]),
  },
  {
    name: 'webhook_backlog_oldest_seconds',
    help: 'Age of the oldest event waiting for delivery',
    labels: ['consumer'],
    values: ({ events }) =>
      [...grouped(events, ({ consumer }) => labelOf(consumer))].map(([consumer, same]): Value => [
        { consumer },
        oldestOf(same),
      ]),
  },
  {
    name: 'payments',
    help: 'Unfinished payments in the journal, by status and age',
    labels: ['status', 'age'],
    values: ({ payments }) =>
      payments.map(({ status, age, count }): Value => [{ status, age }, count]),
  },
  {
    name: 'payments_oldest_seconds',
    help: 'Age of the oldest unfinished payment',
    labels: ['status'],
    values: ({ payments }) =>
      unfinishedStatuses.map((status): Value => [
        { status },
        oldestOf(payments.filter((each) => each.status === status)),
      ]),
  },
];

const oldestOf = (all: readonly { readonly oldestSeconds: number }[]): number =>
  Math.max(0, ...all.map(({ oldestSeconds }) => oldestSeconds));

/** Defines the metrics of figures, and returns the function that sets them. */
function defined<T>(
  Metric: typeof Counter | typeof Gauge,
  figures: readonly Figure<T>[],
  registry: Registry,
): (source: T) => void {
  const metrics = figures.map(({ name, help, labels = [], values }) => ({
    values,
    metric: new Metric({
      name: `svcpay_${name}`,
      help,
      labelNames: [...labels],
      registers: [registry],
    }),
  }));
  return (source) => {
    for (const { metric, values } of metrics) {
      metric.reset();
      for (const [labels, value] of values(source)) metric.inc(labels, value);
    }
  };
}

export function createMetrics() {
  const registry = new Registry();
  const setCounts = defined(Counter, countFigures, registry);
  const duration = (name: string, help: string, labelNames: readonly string[] = []) =>
    new Histogram({
      name: `svcpay_${name}`,
      help,
      labelNames: [...labelNames],
      buckets: seconds,
      registers: [registry],
    });
  const service = duration('service_seconds', 'Duration of a request to the service');
  const database = duration('database_seconds', 'Duration of a call to the webhook inbox', [
    'call',
  ]);
  const stored = storedMetrics(registry);
  return {
    timedLookUp: <A extends unknown[], R>(lookUp: (...args: A) => Promise<R>) =>
      timed(lookUp, () => service.startTimer()),
    timedStore: (store: EventStore): EventStore => ({
      ...store,
      append: timed(store.append, () => database.startTimer({ call: 'append' })),
      read: timed(store.read, () => database.startTimer({ call: 'read' })),
    }),
    async page(sources: MetricSources): Promise<Page> {
      setCounts(sources.totals());
      const inTime = Promise.race([
        stored.read(sources).then(() => true),
        delay(collectMs, false, { ref: false }),
      ]);
      stored.isUp(await inTime.catch(() => false));
      return { status: 200, type: registry.contentType, body: await registry.metrics() };
    },
  };
}

/** Returns a page with only the figures from the stores, for the textfile collector. */
export async function storedPage(sources: StoredSources): Promise<string> {
  const registry = new Registry();
  const stored = storedMetrics(registry);
  await stored.read(sources);
  stored.isUp(true);
  return (await registry.metrics()).trimEnd();
}

const verifiedFigures: readonly Figure<VerifiedSource>[] = [
  {
    name: 'verified_payments',
    help: 'Payments whose trail the last verification replayed.',
    values: ({ payments }) => [[{}, payments]],
  },
  {
    name: 'verify_differences',
    help: 'Payments whose trail leads to another state.',
    values: ({ differing }) => [[{}, differing]],
  },
  {
    name: 'verify_time_seconds',
    help: 'The time of the last verification.',
    values: ({ now }) => [[{}, Math.floor(now / 1_000)]],
  },
];

interface VerifiedSource {
  readonly payments: number;
  readonly differing: number;
  /** The machine's clock in epoch ms. */
  readonly now: number;
}

/** Returns a page with the figures of `db verify`, for the textfile collector. */
export async function verifiedPage(source: VerifiedSource): Promise<string> {
  const registry = new Registry();
  defined(Gauge, verifiedFigures, registry)(source);
  return (await registry.metrics()).trimEnd();
}

/** The metrics of the stores. */
function storedMetrics(registry: Registry) {
  const setStored = defined(Gauge, storedFigures, registry);
  const gauge = (name: string, help: string): Gauge =>
    new Gauge({ name: `svcpay_${name}`, help, registers: [registry] });
  const up = gauge('database_up', '1 if svcpay could read the inbox and the journal, otherwise 0');
  const refused = gauge(
    'payments_refused',
    '1 if svcpay pays nothing, because the database was restored or is another database',
  );
  return {
    isUp: (isUp: boolean): void => up.set(Number(isUp)),
    /**
     * Sets the figures from the stores. If svcpay cannot read the stores, the page keeps the last
     * figures, so that an alert about an unfinished payment stays active while the database is
     * unavailable.
     */
    async read({ backlog, unfinished, mayPay }: StoredSources): Promise<void> {
      const [events, payments] = await Promise.all([backlog(), unfinished()]).finally(() =>
        mayPay().then(
          () => refused.set(0),
          (error: unknown) => {
            if (error instanceof Failure && error.kind === 'usage') refused.set(1);
          },
        ),
      );
      setStored({ events: events.filter((each) => !isFormer(each)), payments });
    },
  };
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
 * Returns the label of a consumer, without the path of a URL and the arguments of a command,
 * because these may contain secrets.
 */
const labelOf = (consumer: string): string =>
  consumer.startsWith('exec ')
    ? 'exec'
    : URL.canParse(consumer)
      ? new URL(consumer).origin
      : consumer;
