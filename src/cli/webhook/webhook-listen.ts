// Receives webhook deliveries on this machine: checks, stores, prints, forwards and runs a command for each.
import { rename, rm, writeFile } from 'node:fs/promises';
import { Failure } from '../../formats/failure.js';
import { codeOf } from '../../formats/unknown.js';
import { checkHeader } from '../../store/profile/settings.js';
import type { EventStore } from '../../store/events/event-store.js';
import { fieldColumns } from '../../terminal/rows/cell.js';
import { eventStream, totalLines, type EventRow, eventFields } from '../../terminal/views/event-view.js';
import { missedSince, type Enriched } from '../../webhooks/enrich.js';
import { nameOf, parseTarget } from '../../webhooks/forward.js';
import { startListener, type Listener } from '../../webhooks/listen.js';
import type { Context } from '../context.js';
import { defineCommand } from '../define.js';
import { eventRow, withTransaction } from './event-row.js';
import { listenReports } from './listen-reports.js';
import { defaultListenPort, headerOf } from './receiving.js';
import { file, flag, text, whole, word, type ValuesOf } from '../values.js';
import { findWebhookSecret, secretFromStdin } from './webhook-secret.js';

const options = {
  port: whole(0, 65_535, 'PORT').otherwise(defaultListenPort).describe(`port to listen on, 0 for any free one (default ${defaultListenPort})`),
  host: text('ADDRESS').otherwise('127.0.0.1').describe('address to listen on (default 127.0.0.1: this machine alone)'),
  forwardTo: word('URL', parseTarget).repeated().describe('send every event on to this address; may be repeated'),
  exec: text('CMD').optional().describe('run this for every event, with the body on stdin and SVCPAY_* set'),
  readyFile: file().optional().describe('write this file, JSON with the url, once deliveries are taken'),
  enrich: flag().describe('ask the service for the transaction of each event, as it is now'),
  signatureHeader: word('NAME', checkHeader).optional().describe('header that carries the signature (default as the maker names it)'),
  printSecret: flag().describe('print the secret in use and end'),
  ...secretFromStdin,
};

type Flags = ValuesOf<typeof options>;

export const listenWebhook = defineCommand({
  fields: eventFields,
  options,
  examples: [
    ['svcpay webhook listen --forward-to http://localhost:3000/hooks', 'to an application under development'],
    ['svcpay webhook listen --port 0 --ready-file ready.json -o jsonl', 'for a script: one JSON object per event'],
    ['svcpay webhook listen --exec \'jq -r .txnState\' --enrich', 'a command per event; the service asked what holds now'],
  ],
  async run(flags, context) {
    const secret = await findWebhookSecret(flags.secretStdin, context);
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

async function listen(secret: string, store: EventStore, flags: Flags, context: Context): Promise<void> {
  const { out, signal } = context;
  const reports = listenReports(context);
  const client = flags.enrich ? (await context.account()).client : undefined;
  const lookUp = client && ((txnId: string) => client.transaction(txnId));
  const listener = await startListener({
    ...context,
    ...flags,
    secret,
    store,
    worker: `${context.owner} ${context.newId()}`,
    lookUp,
    signatureHeader: flags.signatureHeader ?? headerOf(context.settings),
    reports,
  }).catch((error: unknown) => {
    throw portFailure(error, flags);
  });
  let stopping: ReturnType<Listener['stop']> | undefined;
  const stop = (): ReturnType<Listener['stop']> => (stopping ??= listener.stop());
  // What goes wrong with it is told below, where its end is waited for.
  const begin = (): void => void stop().catch(() => undefined);
  signal.addEventListener('abort', begin);
  if (signal.aborted) begin();
  try {
    const removeReadyFile = await greet(listener.url, flags, context);
    context.onClose(removeReadyFile);
    if (lookUp !== undefined) {
      for (const { txnId, txnState, transaction } of await missedSince(store, context.now(), lookUp, reports.onLookUpFailed)) {
        out.say(`Missed while nobody listened: ${txnId} was ${txnState} and is ${transaction.txnState} now.`);
      }
    }
    await out.stream(rows(listener.events), eventStream);
  } finally {
    reports.close();
    for (const line of totalLines(await stop())) out.say(line);
  }
}

async function* rows(events: AsyncIterable<Enriched>): AsyncGenerator<EventRow> {
  for await (const { event, payload, transaction } of events) yield withTransaction(eventRow(event, payload), transaction);
}

async function greet(
  url: string,
  { readyFile, forwardTo }: Flags,
  { out, pid }: Context,
): Promise<() => Promise<void>> {
  const remove = readyFile === undefined ? () => Promise.resolve() : await announceReady(readyFile, { url, pid });
  out.say(`Listening on ${url}. Ctrl-C ends.`);
  for (const target of forwardTo) out.say(`Forwarding to ${nameOf(target)}`);
  return remove;
}

/**
 * Tells a waiting script that deliveries are taken: the file appears whole or not at all. The returned function removes
 * it, so that nobody takes a listener for ready that has ended.
 */
async function announceReady(file: string, ready: { readonly pid: number; readonly url: string }): Promise<() => Promise<void>> {
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

function portFailure(error: unknown, { port, host }: Flags): unknown {
  const code = codeOf(error);
  if (code === 'EADDRINUSE') {
    return new Failure('usage', `Port ${port} is taken.`, { hint: 'svcpay webhook listen --port 0', cause: error });
  }
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EACCES') {
    return new Failure('usage', `Nothing can listen on ${host}, port ${port} (${code}).`, { cause: error });
  }
  return error;
}
