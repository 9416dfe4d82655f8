// Receives webhook deliveries: registers a webhook, and verifies, stores, prints and forwards each
// event.
import { rename, rm, writeFile } from 'node:fs/promises';
import type { Transaction, Webhook } from '../../api/types.js';
import { Failure, ifAvailable, invalid, unlessKind } from '../../formats/failure.js';
import { messageOf, counted } from '../../formats/text.js';
import { openFolder, receiverFile } from '../../store/files/home.js';
import { checkHeader } from '../../store/profile/settings.js';
import type { EventStore, StoredEvent } from '../../store/events/event-store.js';
import { fieldColumns, type RecordView } from '../../terminal/rows/view.js';
import {
  eventStream,
  totalLines,
  type EventRow,
  eventFields,
} from '../../terminal/views/webhook-view.js';
import { missedSince, startListener, type Answer, type Listener } from '../../webhooks/listen.js';
import { nameOf, parseTarget } from '../../webhooks/targets.js';
import type { Metrics } from '../../webhooks/metrics.js';
import { startPages, type Pages } from '../../webhooks/receive.js';
import type { Context } from '../context.js';
import { defineCommand } from '../define.js';
import {
  portFailure,
  eventRow,
  withTransaction,
  defaultListenPort,
  headerOf,
  secretFromStdin,
  secretsToListenWith,
  webhookSecrets,
  type WebhookSecrets,
  registerAdvice,
} from './receiving.js';
import { controlSandbox, isRealService, isSandbox } from '../sandbox/control.js';
import { consumerName } from './consumers.js';
import { file, flag, text, whole, word, type ValuesOf } from '../values.js';
import * as v from 'valibot';
import type { ServiceClient } from '../../api/client.js';
import { back } from '../../terminal/ask/questions.js';
import { commandLine } from '../../terminal/next-step.js';
import { checkCallback } from './webhook.js';

const options = {
  port: whole(0, 65_535, 'PORT')
    .otherwise(defaultListenPort)
    .describe(`port to listen on, 0 for any free port (default ${defaultListenPort})`),
  host: text('ADDRESS')
    .otherwise('127.0.0.1')
    .describe(
      'address to listen on (default 127.0.0.1: only this machine); at most 1,024 connections, ' +
        'each with 10 s to send its headers',
    ),
  metrics: whole(0, 65_535, 'PORT')
    .optional()
    .describe(
      'serve /metrics for Prometheus on this port of the --host address, 0 for any free port',
    ),
  forwardTo: word('URL', parseTarget)
    .repeated()
    .describe(
      'forward every new event to this address; may be repeated (svcpay stores duplicates and ' +
        'answers them with 200, but does not forward them)',
    ),
  consumer: consumerName()
    .repeated()
    .describe(
      'name under which events wait for a target; give one name for each --forward-to in order, ' +
        'then one for --exec (default: the address, or exec CMD)',
    ),
  exec: text('CMD')
    .optional()
    .describe('run this command for every event, with the body on stdin and SVCPAY_* variables'),
  readyFile: file()
    .optional()
    .describe('when svcpay listens, write a JSON file with the url to this path'),
  enrich: flag().describe('add the transaction in its current state to each event'),
  signatureHeader: word('NAME', checkHeader)
    .optional()
    .describe(
      'signature header (default X-Servicepay-Signature, where Servicepay is the service name)',
    ),
  printSecret: flag().describe('print the secret in use and exit'),
  ...secretFromStdin,
};

type Flags = ValuesOf<typeof options>;

/** The webhook secret, or the events as they arrive. */
type Listened = { readonly secret: string } | AsyncIterable<EventRow>;

const secretView: RecordView<{ readonly secret: string }> = {
  screen: (_canvas, { secret }) => [secret],
  columns: fieldColumns(['secret']),
  quiet: ({ secret }) => secret,
};

export const webhookListen = defineCommand({
  options,
  examples: [
    [
      'svcpay webhook listen --forward-to http://localhost:3000/hooks',
      'forwards to an application under development',
    ],
    [
      'svcpay webhook listen --port 0 --ready-file ready.json -o jsonl',
      'prints one JSON object per event, for a script',
    ],
    [
      "svcpay webhook listen --exec 'jq -r .txnState' --enrich",
      'runs a command for each event, with the current state of the transaction',
    ],
  ],
  changes: true,
  async run(flags, context): Promise<Listened> {
    checkNames(flags);
    const { printSecret, secretStdin } = flags;
    if (printSecret) return { secret: (await webhookSecrets(secretStdin, context))[0] };
    // Opens the inbox before svcpay saves a new secret.
    const store = await context.events();
    return listen(store, await secretsToListenWith(secretStdin, context), flags, context);
  },
  view: {
    fields: eventFields,
    dataOf: (listened) => listened,
    print: (listened, _parts, { out }) =>
      'secret' in listened ? out.record(listened, secretView) : out.stream(listened, eventStream),
  },
});

/**
 * Throws Failure `usage` if only some targets and commands have a consumer name, or if two targets
 * have the same consumer name.
 */
function checkNames({ consumer: names, forwardTo, exec }: Flags): void {
  const targets = forwardTo.length + (exec === undefined ? 0 : 1);
  if (names.length === 0) return;
  if (names.length !== targets)
    throw invalid(
      `Give --consumer once for each --forward-to and --exec (got ${names.length} for ${targets}).`,
    );
  if (new Set(names).size < names.length)
    throw invalid('Two targets cannot have the same --consumer.');
}

/** Yields the received events until a person or the system stops svcpay. */
async function* listen(
  store: EventStore,
  secrets: WebhookSecrets,
  flags: Flags,
  context: Context,
): AsyncGenerator<EventRow> {
  const { out } = context;
  const describe = await describer(flags, context);
  const reports = listenReports(describe, context);
  const client = flags.enrich ? (await context.account()).client : undefined;
  // The embedded sandbox delivers events, and its clock runs, only while a process has it open.
  if (context.settings.embedded) await context.embedded();
  const metrics =
    flags.metrics === undefined
      ? undefined
      : (await import('../../webhooks/metrics.js')).createMetrics();
  const read = client && ((txnId: string) => client.transaction(txnId));
  const timed = read && (metrics?.timedLookUp(read) ?? read);
  const lookUp = timed && ((txnId: string) => timed(txnId).catch(reports.onLookUpFailed));
  const listener = await startListener({
    ...context,
    ...flags,
    secrets,
    store: metrics?.timedStore(store) ?? store,
    worker: `${context.owner} ${context.newId()}`,
    lookUp,
    signatureHeader: flags.signatureHeader ?? headerOf(context.settings),
    reports,
  }).catch((error: unknown) => {
    throw portFailure(error, flags.host, flags.port, 'webhook listen --port');
  });
  let registration: Registration | undefined;
  try {
    registration = await register(listener.url, secrets[0], context);
    const metricsUrl = metrics && (await serveMetrics(metrics, listener, flags, context));
    await greet({ url: listener.url, metricsUrl }, registration, flags, context);
    if (lookUp !== undefined)
      for (const { txnId, txnState, transaction } of await missedSince(
        store,
        context.now(),
        lookUp,
      ).catch(reports.onUnsearched))
        out.say(
          `Missed while no receiver ran: ${txnId} was ${txnState} and is ` +
            `${transaction.txnState} now.`,
        );
    const keepRate = settlementReader(context);
    for await (const { event, payload, transaction } of listener.events) {
      if (transaction === undefined) keepRate(event);
      // For a person, svcpay prints a forwarded event only together with the target's answer. It
      // forwards no duplicate, so it prints a duplicate without an answer.
      if (out.forPeople && flags.forwardTo.length > 0 && event.duplicateOf === null) continue;
      yield withTransaction(eventRow(event, payload), transaction ?? (await describe(event)));
    }
  } finally {
    await registration
      ?.remove()
      .catch((error: unknown) => out.warn(`The webhook is still registered: ${messageOf(error)}`));
    reports.close();
    for (const line of totalLines(await listener.stop())) out.say(line);
  }
}

/** Starts the metrics server, and resolves with its address. */
async function serveMetrics(
  metrics: Metrics,
  { totals, probes }: Listener,
  { host, metrics: port = 0 }: Flags,
  { events, journal, onClose }: Context,
): Promise<string> {
  const { backlog } = await events();
  const sources = {
    totals,
    backlog,
    unfinished: async () => (await journal()).unfinished(),
    mayPay: async () => (await journal()).mayPay(),
  };
  const pages: Pages = async (path) => (path === '/metrics' ? metrics.page(sources) : probes(path));
  const { url, stop } = await startPages({ host, port }, pages).catch((error: unknown) => {
    throw portFailure(error, host, port, 'webhook listen --metrics');
  });
  onClose(stop);
  return `${url}/metrics`;
}

/**
 * Returns a function that reads the settled transaction of an event, because the client stores the
 * exchange rates for each settled transaction that it reads. The function reads one transaction at
 * a time.
 */
function settlementReader({ settings, account }: Context): (event: StoredEvent) => void {
  if (settings.profile.fiat === undefined) return () => undefined;
  let work: Promise<unknown> = Promise.resolve();
  return ({ txnId, txnState, duplicateOf }) => {
    if (txnId === null || txnState !== 'completed' || duplicateOf !== null) return;
    work = work
      .then(async () => (await account()).client.transaction(txnId))
      .catch(() => undefined);
  };
}

/**
 * Returns the transaction of an event for its description, or undefined if the transaction is
 * unknown.
 */
type Describe = (event: StoredEvent) => Promise<Transaction | undefined>;

/**
 * Returns a function that reads the transaction of an event, to describe the event to a person. If
 * the output is for programs, the returned function reads no transaction. Without `--enrich`, the
 * returned function reads transactions only from a sandbox, because a read from a real service
 * takes time.
 */
async function describer({ enrich }: Flags, context: Context): Promise<Describe> {
  const reads = enrich || isSandbox(context.settings);
  const account = context.out.forPeople && reads ? await ifAvailable(context.account()) : undefined;
  return async ({ txnId, duplicateOf }) =>
    txnId === null || duplicateOf !== null
      ? undefined
      : // svcpay shows the event even if Ctrl-C aborted the read of the transaction.
        account?.client.transaction(txnId).catch(() => undefined);
}

/** Says where svcpay listens, and writes the files with the address of the listener. */
async function greet(
  urls: Pick<Ready, 'url' | 'metricsUrl'>,
  registration: Registration | undefined,
  { readyFile, forwardTo }: Flags,
  { home, out, pid, onClose }: Context,
): Promise<void> {
  // `webhook replay` finds `webhook listen` by the receiver file. Without a receiver file, `webhook
  // replay` uses the default port.
  openFolder(home.data);
  for (const file of [receiverFile(home), ...(readyFile === undefined ? [] : [readyFile])])
    onClose(await announceReady(file, { ...urls, pid }));
  const place = registration === undefined ? '' : ` · ${registration.text}`;
  out.say(`Listening on ${urls.url}${place}. Press Ctrl-C to stop.`);
  if (urls.metricsUrl !== undefined) out.say(`Metrics on ${urls.metricsUrl}`);
  for (const target of forwardTo) out.say(`Forwarding to ${nameOf(target)}`);
}

interface Ready {
  readonly pid: number;
  readonly url: string;
  readonly metricsUrl?: string | undefined;
}

/**
 * Writes the file with the listener's address atomically, because a script may wait for the file.
 * The returned function removes the file with the address, so that the file never names a listener
 * that has ended.
 */
async function announceReady(file: string, ready: Ready): Promise<() => Promise<void>> {
  const unfinished = `${file}.${ready.pid}.tmp`;
  try {
    await writeFile(unfinished, `${JSON.stringify(ready)}\n`);
    await rename(unfinished, file);
  } catch (cause) {
    await rm(unfinished, { force: true });
    throw invalid(`The ready file ${file} cannot be written.`, { cause });
  }
  return () => rm(file, { force: true });
}

interface Registration {
  /**
   * The registration in words, such as `registered with the embedded sandbox until this command
   * ends`.
   */
  readonly text: string;
  /** Removes the registered webhook, even after Ctrl-C. */
  readonly remove: () => Promise<void>;
}

/**
 * Registers the webhook, or reports the reason of a failed registration and returns undefined.
 * svcpay asks before a registration with a real service, but not with a sandbox. `webhook listen`
 * continues without a registration, because a different program may deliver events.
 */
async function register(
  listening: string,
  secret: string,
  context: Context,
): Promise<Registration | undefined> {
  const { settings, terminal, out } = context;
  if (settings.baseUrl === undefined) return undefined;
  const isReal = isRealService(settings);
  if (isReal && (!terminal.canPrompt || settings.apiKey === undefined)) return undefined;
  try {
    const { client } = await context.account();
    const [before] = await client.webhooks();
    const how = isReal ? registerReal : registerSandbox;
    return await how(listening, secret, before, client, context);
  } catch (error) {
    if (!(error instanceof Failure) || error.kind === 'interrupted') throw error;
    out.warn(`The webhook was not registered: ${error.message}`);
    return undefined;
  }
}

async function registerSandbox(
  listening: string,
  secret: string,
  before: Webhook | undefined,
  client: ServiceClient,
  context: Context,
): Promise<Registration | undefined> {
  const { settings } = context;
  const place = settings.embedded ? 'the embedded sandbox' : `the sandbox at ${client.baseUrl}`;
  if (before !== undefined) {
    const { callback, id } = before;
    if (URL.canParse(callback) && new URL(callback).origin === new URL(listening).origin) {
      await client.updateWebhook(id, { secret });
      return { text: `registered with ${place}`, remove: () => Promise.resolve() };
    }
    if (!(await replaces(callback, listening, place, context))) return undefined;
    await client.removeWebhook(id);
  }
  if (!settings.embedded)
    await controlSandbox(context, 'PUT webhook-options', v.object({}), {
      allowHttpLoopback: true,
    });
  return registered({ callback: listening, secret }, `registered with ${place}`, client);
}

/**
 * Asks whether to replace an existing webhook, which belongs to a different receiver or to an
 * earlier run that was killed.
 */
async function replaces(
  callback: string,
  listening: string,
  place: string,
  { ask, out, globals }: Context,
): Promise<boolean> {
  const elsewhere = `Events of ${place} go to ${callback}, not here.`;
  const yes = await ask
    .confirm(`${elsewhere} Send the events here instead?`)
    .catch((error: unknown) => {
      if (error instanceof Failure && error.kind === 'declined') return false;
      throw error;
    });
  const here = commandLine({ command: 'webhook set', argument: listening }, globals);
  if (!yes) out.say(`${elsewhere} To send the events here: ${here}`);
  return yes;
}

/**
 * Registers the webhook with a real service, which needs an external address, such as the address
 * of a tunnel.
 */
async function registerReal(
  listening: string,
  secret: string,
  before: Webhook | undefined,
  client: ServiceClient,
  { ask, out, settings, globals }: Context,
): Promise<Registration | undefined> {
  const notHere = (why: string): undefined => {
    out.say(why);
    out.say(registerAdvice(globals));
  };
  if (before !== undefined)
    return notHere(`Events of ${client.baseUrl} go to ${before.callback}, not here.`);
  const callback = await ask.pose({
    message: `Public https address of ${listening}, such as your tunnel's address`,
    flag: 'a registered webhook (svcpay webhook set URL)',
    parse: (text) => checkCallback(text, settings.baseUrl),
  });
  if (callback === back) return notHere(`No webhook is set at ${client.baseUrl}.`);
  return registered({ callback: callback.href, secret }, `registered as ${callback.href}`, client);
}

async function registered(
  wanted: { readonly callback: string; readonly secret: string },
  text: string,
  client: ServiceClient,
): Promise<Registration> {
  const { id } = await client.createWebhook(wanted);
  return {
    text: `${text} until this command ends`,
    // A different command may have replaced or removed the webhook.
    remove: () => unlessKind(['not-found'], client.afterwards().removeWebhook(id)),
  };
}

const quietMs = 5_000;

/** Prints the reports of `webhook listen` on stderr, and combines frequent reports. */
function listenReports(describe: Describe, context: Context) {
  const { out, terminal } = context;
  const wrongSignature = calmly(
    context,
    'svcpay refused a delivery with a wrong signature.',
    (count) => `svcpay refused ${count} more deliveries with a wrong signature.`,
  );
  const lookUpFailed = calmly(
    context,
    'svcpay could not read a transaction from the service.',
    (count) => `svcpay could not read ${count} more transactions from the service.`,
  );
  return {
    onWrongSignature: wrongSignature.note,
    onLookUpFailed: lookUpFailed.note,
    onUnwritten: (error: unknown): void =>
      out.warn(`svcpay could not store an event and answered with 503: ${messageOf(error)}`),
    onUnpruned: (error: unknown): void =>
      out.warn(
        `svcpay could not delete old events and will try again in an hour: ${messageOf(error)}`,
      ),
    onForgotten: (consumer: string, events: number): void =>
      out.warn(
        `svcpay dropped ${counted(events, 'waiting event')} of ${consumer}, ` +
          'because no receiver has served this consumer for 30 days.',
      ),
    onUnsearched: (error: unknown): [] => {
      out.warn(
        'svcpay could not search the inbox for transactions that changed while no receiver was ' +
          `running: ${messageOf(error)}`,
      );
      return [];
    },
    onTrouble: (consumer: string, reason: string | undefined): void =>
      reason === undefined
        ? out.say(`${consumer} accepts events again.`)
        : out.warn(`${consumer}: ${reason}. svcpay keeps the events and tries again.`),
    onFailed: (consumer: string, { id, txnId }: StoredEvent, reason: string): void =>
      out.warn(`${consumer} failed for event #${id}: ${reason}.`, txnId === null ? {} : { txnId }),
    onAnswer: answerPrinter(describe, out),
    onOutput: (chunk: Buffer): void => void terminal.stderr.write(chunk),
    close(): void {
      wrongSignature.close();
      lookUpFailed.close();
    },
  };
}

/**
 * Draws a target's answer to an event only if its status differs from the previous answer, because
 * svcpay retries a refused event many times.
 */
function answerPrinter(describe: Describe, out: Context['out']) {
  const last = new Map<string, number>();
  return async ({ event, target, status, ms }: Answer): Promise<void> => {
    const key = `${event.id} ${target}`;
    if (!out.forPeople || last.get(key) === status) return;
    if (status >= 200 && status < 300) last.delete(key);
    else last.set(key, status);
    const row = withTransaction(eventRow(event), await describe(event));
    const answered = { ...row, status, answeredBy: { target, ms } };
    out.screen((canvas) => eventStream.lines(answered, canvas));
  };
}

/**
 * Creates a warning of a frequent event, which reports the first occurrence at once, and the number
 * of later occurrences every few seconds.
 */
function calmly({ every, out }: Context, first: string, more: (count: number) => string) {
  let count = 0;
  let stop: (() => void) | undefined;
  const flush = (): void => {
    if (count > 0) out.warn(more(Math.max(count, 2)));
    else {
      stop?.();
      stop = undefined;
    }
    count = 0;
  };
  return {
    note(): undefined {
      if (stop !== undefined) return void (count += 1);
      out.warn(first);
      stop = every(quietMs, flush);
    },
    close(): void {
      if (count > 0) flush();
      stop?.();
    },
  };
}
