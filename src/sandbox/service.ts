// The service: receives a request, runs due actions, applies injected faults, and answers after the
// commit. Also the embedded sandbox, to which requests go without a port.
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import * as v from 'valibot';
import { policies, poll, type PollNext } from '../formats/poll.js';
import { openStore, requireSetting, type Store, writeAutoPay, type OpenFile } from './database.js';
import {
  controlPrefix,
  jsonAnswer,
  router,
  type Incoming,
  type Outgoing,
  logRequest,
} from './routing.js';
import { nextDue, readClock, runDueActions, schedule, type Context, type Random } from './world.js';
import { controls } from './control.js';
import { createDeliveryWorker, deliveryActions, changeWebhookOptions } from './deliveries.js';
import { endpoints } from './endpoints.js';
import {
  alwaysFault,
  takeAnswerFault,
  takeReadFaults,
  type ReadFault,
  type AnswerFault,
} from './faults.js';
import { dueActions } from './kinds.js';
import { verifyBooks } from './accounts.js';
import { wireNamesOf, Refusal, json } from './wire.js';
import type { Poster } from './post.js';
import { seedStore, readCredentials, type Seed } from './seed.js';
import { webRoutes } from './web.js';
import { otherError } from './unspecified.js';
import { STATUS_CODES } from 'node:http';
import { once } from 'node:events';
import { timerMs } from '../formats/calendar.js';

/** The options of the sandbox: port, storage and initial state. Every option has a default. */
export interface SandboxOptions {
  /** The port of the service. The port 0 (the default) chooses a free port. */
  readonly port?: number | undefined;
  /**
   * The path of the SQLite file (default `:memory:`). If the SQLite file is missing, the service
   * creates the file.
   */
  readonly file?: string | undefined;
  /** The service name on the wire (default `service`). */
  readonly maker?: string | undefined;
  /**
   * Returns the machine's time in epoch ms. The sandbox's own clock is relative to the machine's
   * time.
   */
  readonly now?: (() => number) | undefined;
  /** The API key of the main account, which replaces the key in the file. Set `apiSecret` too. */
  readonly apiKey?: string | undefined;
  readonly apiSecret?: string | undefined;
  /**
   * Milliseconds until the automatic payer pays a new payment request, or `off`. The sandbox's file
   * stores the delay `autoPay`, initially 3000 ms.
   */
  readonly autoPay?: number | 'off' | undefined;
  /**
   * The longest time of each step of a payment, in ms. With `settle: 0`, the first read after the
   * confirmation of a payment shows the payment as completed, on-chain too.
   */
  readonly settle?: number | undefined;
  /** The initial state of a new sandbox file (default `demo`). */
  readonly seed?: Seed | undefined;
  /**
   * An additional certificate authority (PEM) that the sandbox trusts when it delivers events. The
   * sandbox's file stores `webhookCa`.
   */
  readonly webhookCa?: string | undefined;
  /**
   * Whether the service accepts plain http callbacks to this machine, for receivers without a
   * certificate.
   */
  readonly allowHttpCallbacks?: boolean | undefined;
  /**
   * The HTTP method of webhook deliveries (default POST). The sandbox's file stores
   * `webhookMethod`.
   */
  readonly webhookMethod?: 'POST' | 'PUT' | undefined;
  /**
   * The state changes that webhooks deliver (default `every`). The sandbox's file stores
   * `webhookEvents`.
   */
  readonly webhookEvents?: 'every' | 'final' | undefined;
  /** Whether the token endpoint accepts the same signature repeatedly. */
  readonly allowSignatureReuse?: boolean | undefined;
  /**
   * Whether the service accepts an `extRefId` that is already used. The sandbox's file stores
   * `allowReferenceReuse` as a fault.
   */
  readonly allowReferenceReuse?: boolean | undefined;
  /**
   * Whether the service accepts a second payment of an external invoice. The sandbox's file stores
   * `allowDoublePayment` as a fault.
   */
  readonly allowDoublePayment?: boolean | undefined;
  /** Reports an internal error, which the service answers with status 500. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** The options of the service, including options that only tests and the command line set. */
export interface ServiceOptions extends SandboxOptions {
  readonly openFile?: OpenFile | undefined;
  readonly random?: Random | undefined;
  /**
   * Posts webhook deliveries. By default, the service posts webhook deliveries over the network.
   */
  readonly post?: Poster['post'] | undefined;
  /**
   * Answers a client's request in place of the service, or changes the service's response. By
   * default, the response of the service stays unchanged.
   */
  readonly intercept?: Intercept | undefined;
}

type Respond = (incoming: Incoming) => Outgoing;
export type Intercept = (incoming: Incoming, respond: Respond) => Outgoing;

export type Service = ReturnType<typeof openService>;

/**
 * Opens the service on its file. `baseUrl` returns the address of the service as clients see it,
 * without a trailing slash.
 */
export function openService(options: ServiceOptions, baseUrl: () => string) {
  const { now: machineTime = Date.now, onError = () => undefined } = options;
  const contextOn = contexts({ ...options, onError }, machineTime, baseUrl);
  const store = openStore({
    file: options.file ?? ':memory:',
    openFile: options.openFile,
    verify: verifyBooks,
    now: machineTime,
    initialise: (fresh) => initialise(contextOn(fresh), options),
  });
  const write = <T>(job: (ctx: Context) => T): Promise<T> =>
    store.write(() => job(contextOn(store)));
  const poster = lazyPoster();
  const worker = createDeliveryWorker({
    write,
    read: (job) => job(contextOn(store)),
    post: options.post ?? poster.post,
    onError,
  });

  return {
    credentials: readCredentials(store),
    store,
    /** Resolves with the response to a request after the commit, and never rejects. */
    async handle(incoming: Incoming): Promise<Outgoing> {
      try {
        const outgoing = await write((ctx) => {
          runDueActions(ctx);
          return respond(ctx, incoming, options.intercept);
        });
        worker.kick();
        return outgoing;
      } catch (error) {
        onError(error);
        return dated(serverError, machineTime());
      }
    },
    delivered: () => worker.settled(),
    /** Runs due actions until the signal is aborted, without keeping the process alive. */
    async keepTime(signal: AbortSignal): Promise<void> {
      const step = async (): Promise<PollNext<never>> => {
        try {
          if (dueIn(store, machineTime()) === 0) await write(runDueActions);
          worker.kick();
          return { afterMs: Math.min(dueIn(store, machineTime()), longestPauseMs) };
        } catch (error) {
          onError(error);
          return {};
        }
      };
      const sleep = (ms: number): Promise<void> => pause(ms, undefined, { ref: false, signal });
      await poll(policies.sandboxTimer, step, { now: machineTime, sleep, signal });
    },
    async close(): Promise<void> {
      await worker.close();
      poster.close();
      store.close();
    },
  };
}

const longestPauseMs = policies.sandboxTimer.pauses.upToMs;

/** Returns a function that makes the context of a job. */
function contexts(
  {
    maker = 'service',
    random = randomBytes,
    onError,
    ...options
  }: ServiceOptions & Pick<Context, 'onError'>,
  machineTime: () => number,
  baseUrl: () => string,
): (store: Store) => Context {
  const fixed = {
    random,
    actions,
    onError,
    wireNames: wireNamesOf(maker),
    allowHttpCallbacks: options.allowHttpCallbacks ?? false,
    allowSignatureReuse: options.allowSignatureReuse ?? false,
    settleMs: options.settle,
  };
  return (store) => {
    const machine = machineTime();
    const { now } = readClock(store, machine);
    return { ...fixed, store, machine, now, baseUrl: baseUrl() };
  };
}

/**
 * The number of milliseconds until the next action is due, or infinity if no action is scheduled or
 * the clock is frozen.
 */
function dueIn(store: Store, machine: number): number {
  const at = nextDue(store) ?? Infinity;
  const { now, frozen } = readClock(store, machine);
  return frozen && at > now ? Infinity : Math.max(0, at - now);
}

const route = router([...endpoints, ...controls, ...webRoutes]);

/** Answers a request by its route, and turns refusals and internal errors into responses. */
function answer(ctx: Context, incoming: Incoming, readFault?: ReadFault): Outgoing {
  try {
    return ctx.store.attempt(() => route(ctx, incoming, readFault));
  } catch (error) {
    if (error instanceof Refusal)
      return { ...jsonAnswer(error.status, error.body), note: error.note };
    ctx.onError(error);
    return serverError;
  }
}

/** Answers a request, applies injected faults and `intercept`, and logs the request. */
function respond(
  ctx: Context,
  incoming: Incoming,
  intercept: Intercept = (request, genuine) => genuine(request),
): Outgoing {
  const { store, now } = ctx;
  if (faultFreePaths.test(incoming.target)) return dated(answer(ctx, incoming), now);
  const fault = takeAnswerFault(store, incoming);
  const readFault = takeReadFaults(store, incoming);
  const faultless: Respond = (request) =>
    intercept(request, (asked) => answer(ctx, asked, readFault));
  const outcome =
    fault === undefined ? faultless(incoming) : injectFault(fault, ctx, incoming, faultless);
  const outgoing = dated(outcome, now);
  const number = logRequest(ctx, incoming, outgoing, fault?.kind ?? readFault?.kind);
  const requestId = `req-${now.toString(36)}-${number.toString(36)}`;
  return { ...outgoing, headers: { ...outgoing.headers, 'x-request-id': requestId } };
}

const serverError = jsonAnswer(500, { error: otherError(500) });

/** Matches the paths to which no fault applies and which the request log omits. */
const faultFreePaths = new RegExp(`^(?:${controlPrefix}|/openapi\\.json|/pay/)`);

/** The name of the scheduled action that processes a request after its response. */
const lateAction = 'late-effect';

const actions: Context['actions'] = new Map([
  ...dueActions,
  ...deliveryActions,
  [
    lateAction,
    (ctx, subject) => {
      const incoming = v.parse(keptRequest, subject);
      logRequest(ctx, incoming, answer(ctx, incoming), lateAction);
    },
  ],
]);

const keep = ({ body, ...rest }: Incoming): string =>
  JSON.stringify({ ...rest, body: Buffer.from(body).toString('base64') });

const keptRequest = json(
  v.object({
    method: v.string(),
    target: v.string(),
    headers: v.record(v.string(), v.string()),
    body: v.pipe(
      v.string(),
      v.transform((text) => Buffer.from(text, 'base64')),
    ),
  }),
);

function initialise(ctx: Context, options: ServiceOptions): void {
  const { apiKey, apiSecret, autoPay, seed, webhookCa } = options;
  if (options.allowReferenceReuse) alwaysFault(ctx.store, 'reference-reuse');
  if (options.allowDoublePayment) alwaysFault(ctx.store, 'double-payment');
  seedStore(ctx, seed ?? 'demo');
  const { webhookMethod: method, webhookEvents: events } = options;
  changeWebhookOptions(ctx.store, { ca: webhookCa, method, events });
  if (autoPay !== undefined) writeAutoPay(ctx.store, autoPay);
  if (apiKey !== undefined && apiSecret !== undefined) {
    const id = requireSetting(ctx.store, 'mainAccount');
    ctx.store.update('account', { apiKey, apiSecret }, { id });
  }
}

/** Sets the Date header from the service's clock. */
function dated(outgoing: Outgoing, now: number): Outgoing {
  return { ...outgoing, headers: { ...outgoing.headers, date: new Date(now).toUTCString() } };
}

/** Makes a poster that loads the HTTP client at the first delivery. */
function lazyPoster(): Poster {
  let made: Promise<Poster> | undefined;
  return {
    async post(request) {
      made ??= import('./post.js').then(({ createPoster }) => createPoster());
      return (await made).post(request);
    },
    close: () => void made?.then((poster) => poster.close()),
  };
}

function injectFault(
  fault: AnswerFault,
  ctx: Context,
  incoming: Incoming,
  respond: Respond,
): Outgoing {
  switch (fault.kind) {
    case 'latency':
      return { ...respond(incoming), delay: fault.delay };
    case 'truncate':
      return { ...respond(incoming), connectionFault: 'cut-within' };
    case 'drop-after-commit':
      return { ...respond(incoming), connectionFault: 'cut-before' };
    case 'drop-before-commit':
      return { ...nothing, connectionFault: 'cut-before' };
    case 'late-effect': {
      respondLater(fault.delay);
      // Shows the unchanged transaction.
      const target = incoming.target.replace(/\/\w+$/, '');
      return respond({ ...incoming, method: 'GET', target });
    }
    case 'no-answer':
      return { ...(effect(fault) ?? nothing), connectionFault: 'silence' };
    case 'html':
      effect(fault);
      return htmlPage(fault.status);
    case 'status':
      effect(fault);
      return otherAnswer(fault);
  }

  function effect({
    commit,
    commitAfter,
  }: Extract<AnswerFault, { commit: boolean }>): Outgoing | undefined {
    if (commitAfter !== undefined) return void respondLater(commitAfter);
    return commit ? respond(incoming) : undefined;
  }

  /** Makes the service process the request `after` ms after the response. */
  function respondLater(after: number): void {
    schedule(ctx, lateAction, keep(incoming), ctx.now + after);
  }
}

/** The log entry of a request that the service did not process. */
const nothing: Outgoing = { status: 0, headers: {}, body: '' };

function otherAnswer(fault: Extract<AnswerFault, { kind: 'status' }>): Outgoing {
  const { status, body, error = otherError(status), message, retryAfter } = fault;
  const outgoing = jsonAnswer(status, body ?? { error, message });
  return retryAfter === undefined
    ? outgoing
    : { ...outgoing, headers: { ...outgoing.headers, 'retry-after': String(retryAfter) } };
}

function htmlPage(status: number): Outgoing {
  const title = `${status} ${STATUS_CODES[status] ?? 'Unknown'}`;
  return {
    status,
    headers: { 'content-type': 'text/html; charset=utf-8' },
    body:
      '<!doctype ' +
      `html>\n<html><head><title>${title}</title></head><body><h1>${title}</h1></body></html>\n`,
  };
}

const embeddedUrl = 'http://sandbox.localhost';

export type EmbeddedSandbox = ReturnType<typeof openSandbox>;

/**
 * Opens the sandbox on its file. Scheduled actions that became due while the sandbox was closed run
 * immediately.
 */
export function openSandbox(options: ServiceOptions) {
  const service = openService(options, () => embeddedUrl);
  const closing = new AbortController();
  const ticking = service.keepTime(closing.signal);
  return {
    ...service.credentials,
    /**
     * Answers a request, and resolves after the commit. Rejects if a fault cuts the connection. If
     * a fault leaves the request unanswered, `handle` rejects when `signal` is aborted.
     */
    async handle(incoming: Incoming, signal: AbortSignal): Promise<Outgoing> {
      const outgoing = await service.handle(incoming);
      const { delay = 0, connectionFault } = outgoing;
      if (delay > 0) await pause(timerMs(delay), undefined, { signal });
      if (connectionFault === 'silence' && !signal.aborted) await once(signal, 'abort');
      if (connectionFault !== undefined)
        throw new Error('an injected fault cut the connection to the sandbox');
      return outgoing;
    },
    /**
     * Closes the sandbox after a brief wait for the webhook deliveries in flight. When a process
     * opens the sandbox again, the sandbox sends the events that were not delivered.
     */
    async close(): Promise<void> {
      closing.abort();
      await ticking;
      await service.close();
    },
  };
}
