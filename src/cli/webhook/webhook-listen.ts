// Receives webhook deliveries: verifies, stores, prints and forwards them, and runs a command for each.
import { rename, rm, writeFile } from 'node:fs/promises';
import { Failure } from '../../formats/failure.js';
import { codeOf } from '../../formats/unknown.js';
import { checkHeader } from '../../store/profile/settings.js';
import type { EventStore } from '../../store/events/event-store.js';
import { fieldColumns } from '../../terminal/rows/cell.js';
import {
  eventStream,
  totalLines,
  type EventRow,
  eventFields,
} from '../../terminal/views/event-view.js';
import { missedSince, type Enriched } from '../../webhooks/enrich.js';
import { nameOf, parseTarget } from '../../webhooks/forward.js';
import { startListener, type Listener } from '../../webhooks/listen.js';
import type { Metrics } from '../../webhooks/metrics.js';
import { startPages, type Pages } from '../../webhooks/monitoring.js';
import type { Context } from '../context.js';
import { defineCommand } from '../define.js';
import { eventRow, withTransaction, defaultListenPort, headerOf } from './receiving.js';
import { listenReports } from './listen-reports.js';
import { file, flag, text, whole, word, type ValuesOf } from '../values.js';
import { findWebhookSecret, secretFromStdin, secretToListenWith } from './webhook-secret.js';

const options = {
  port: whole(0, 65_535, 'PORT')
    .otherwise(defaultListenPort)
    .describe(`port to listen on, 0 for any free one (default ${defaultListenPort})`),
  host: text('ADDRESS')
    .otherwise('127.0.0.1')
    .describe(
      'address to listen on (default 127.0.0.1: this machine alone); up to 1,024 connections are held, each for 10 s until its headers are there',
    ),
  metrics: whole(0, 65_535, 'PORT')
    .optional()
    .describe('serve /metrics for Prometheus on this port of the same address, 0 for any free one'),
  forwardTo: word('URL', parseTarget)
    .repeated()
    .describe(
      'forward every event to this address, but not one that was received before (a replay: it is answered 200 and stored as a duplicate); may be repeated',
    ),
  exec: text('CMD')
    .optional()
    .describe('run this for every event, with the body on stdin and SVCPAY_* set'),
  readyFile: file().optional().describe('write this file, JSON with the url, when it listens'),
  enrich: flag().describe('read the current transaction of each event from the service'),
  signatureHeader: word('NAME', checkHeader)
    .optional()
    .describe(
      'header of the signature (default X-Servicepay-Signature, with the name of the maker)',
    ),
  printSecret: flag().describe('print the secret in use and exit'),
  ...secretFromStdin,
};

type Flags = ValuesOf<typeof options>;

export const listenWebhook = defineCommand({
  fields: eventFields,
  options,
  examples: [
    [
      'svcpay webhook listen --forward-to http://localhost:3000/hooks',
      'to an application under development',
    ],
    [
      'svcpay webhook listen --port 0 --ready-file ready.json -o jsonl',
      'for a script: one JSON object per event',
    ],
    [
      "svcpay webhook listen --exec 'jq -r .txnState' --enrich",
      'a command per event, and the current transaction of each',
    ],
  ],
  async run(flags, context) {
    const secret = await (flags.printSecret ? findWebhookSecret : secretToListenWith)(
      flags.secretStdin,
      context,
    );
    if (flags.printSecret) {
      const result = { secret };
      return context.out.record(result, {
        screen: () => [secret],
        columns: fieldColumns(['secret']),
        quiet: (row) => row.secret,
      });
    }
    await listen(secret, await context.events(), flags, context);
  },
});

async function listen(
  secret: string,
  store: EventStore,
  flags: Flags,
  context: Context,
): Promise<void> {
  const { out, signal } = context;
  const reports = listenReports(context);
  const client = flags.enrich ? (await context.account()).client : undefined;
  const metrics =
    flags.metrics === undefined
      ? undefined
      : (await import('../../webhooks/metrics.js')).createMetrics();
  const read = client && ((txnId: string) => client.transaction(txnId));
  const lookUp = read && (metrics?.timedLookUp(read) ?? read);
  const listener = await startListener({
    ...context,
    ...flags,
    secret,
    store: metrics?.timedStore(store) ?? store,
    worker: `${context.owner} ${context.newId()}`,
    lookUp,
    signatureHeader: flags.signatureHeader ?? headerOf(context.settings),
    reports,
  }).catch((error: unknown) => {
    throw portFailure(error, flags.host, flags.port, '--port');
  });
  let stopping: ReturnType<Listener['stop']> | undefined;
  const stop = (): ReturnType<Listener['stop']> => (stopping ??= listener.stop());
  // Errors are reported below, where the end is awaited.
  const begin = (): void => void stop().catch(() => undefined);
  signal.addEventListener('abort', begin);
  if (signal.aborted) begin();
  try {
    const metricsUrl = metrics && (await serveMetrics(metrics, listener, flags, context));
    const removeReadyFile = await greet({ url: listener.url, metricsUrl }, flags, context);
    context.onClose(removeReadyFile);
    if (lookUp !== undefined) {
      for (const { txnId, txnState, transaction } of await missedSince(
        store,
        context.now(),
        lookUp,
        reports.onLookUpFailed,
      ).catch(reports.onUnsearched)) {
        out.say(
          `Missed while no receiver ran: ${txnId} was ${txnState} and is ${transaction.txnState} now.`,
        );
      }
    }
    await out.stream(rows(listener.events), eventStream);
  } finally {
    reports.close();
    for (const line of totalLines(await stop())) out.say(line);
  }
}

/** Resolves with the address of the metrics. */
async function serveMetrics(
  metrics: Metrics,
  listener: Listener,
  flags: Flags,
  context: Context,
): Promise<string> {
  const store = await context.events();
  const sources = {
    totals: listener.totals,
    backlog: store.backlog,
    unfinished: async () => (await context.journal()).unfinished(),
    now: context.now,
  };
  const place = { host: flags.host, port: flags.metrics ?? 0 };
  const pages: Pages = async (path) =>
    path === '/metrics' ? metrics.page(sources) : listener.probes(path);
  const { url, stop } = await startPages(place, pages).catch((error: unknown) => {
    throw portFailure(error, place.host, place.port, '--metrics');
  });
  context.onClose(stop);
  return `${url}/metrics`;
}

async function* rows(events: AsyncIterable<Enriched>): AsyncGenerator<EventRow> {
  for await (const { event, payload, transaction } of events)
    yield withTransaction(eventRow(event, payload), transaction);
}

async function greet(
  urls: Pick<Ready, 'url' | 'metricsUrl'>,
  { readyFile, forwardTo }: Flags,
  { out, pid }: Context,
): Promise<() => Promise<void>> {
  const remove =
    readyFile === undefined
      ? () => Promise.resolve()
      : await announceReady(readyFile, { ...urls, pid });
  out.say(`Listening on ${urls.url}. Ctrl-C ends.`);
  if (urls.metricsUrl !== undefined) out.say(`Metrics on ${urls.metricsUrl}`);
  for (const target of forwardTo) out.say(`Forwarding to ${nameOf(target)}`);
  return remove;
}

interface Ready {
  readonly pid: number;
  readonly url: string;
  readonly metricsUrl?: string | undefined;
}

/**
 * Writes the file atomically for a waiting script. The returned function removes it, so that it never
 * names a listener that has ended.
 */
async function announceReady(file: string, ready: Ready): Promise<() => Promise<void>> {
  const unfinished = `${file}.${ready.pid}.tmp`;
  try {
    await writeFile(unfinished, `${JSON.stringify(ready)}\n`);
    await rename(unfinished, file);
  } catch (cause) {
    await rm(unfinished, { force: true });
    throw new Failure('usage', `The ready file ${file} cannot be written.`, { cause });
  }
  return () => rm(file, { force: true });
}

function portFailure(error: unknown, host: string, port: number, option: string): unknown {
  const code = codeOf(error);
  if (code === 'EADDRINUSE') {
    return new Failure('usage', `Port ${port} is in use.`, {
      hint: `svcpay webhook listen ${option} 0`,
      cause: error,
    });
  }
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EACCES') {
    return new Failure(
      'usage',
      `The address ${host} with port ${port} cannot be listened on (${code}).`,
      { cause: error },
    );
  }
  return error;
}
