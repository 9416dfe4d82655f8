// The service: takes a request, runs due actions, answers after the commit.
import { randomBytes } from 'node:crypto';
import * as v from 'valibot';
import { writeAutoPay } from './storage/settings.js';
import { authenticate } from './http/auth.js';
import { readClock } from './world/clock.js';
import type { Context, Random } from './world/context.js';
import { controls } from './control/control.js';
import { createCourier } from './deliveries/courier.js';
import { openStore, type Store } from './storage/database.js';
import type { OpenFile } from './storage/schema.js';
import { deliveryActions } from './deliveries/deliveries.js';
import { injectFault } from './http/inject-fault.js';
import { endpoints } from './endpoints/endpoints.js';
import { alwaysFault, takeAnswerFault, takeSightFaults, type Sight } from './world/faults.js';
import {
  assertContentType,
  controlPrefix,
  jsonAnswer,
  router,
  type Incoming,
  type Outgoing,
} from './http/routing.js';
import { dueActions } from './kinds/index.js';
import { shapedEdge } from './live-shapes/apply.js';
import { readShapeNames } from './live-shapes/table.js';
import { verifyBooks } from './world/ledger.js';
import { makerNames } from './wire/maker.js';
import type { Poster } from './deliveries/post.js';
import { Refusal } from './wire/refusal.js';
import { logRequest } from './http/request-log.js';
import { carryOut, nextDue, schedule, type DueAction } from './world/schedule.js';
import { snapshotControls } from './control/snapshots.js';
import { webhookControls } from './control/webhook-controls.js';
import { changeWebhookOptions } from './deliveries/webhooks.js';
import { seedStore, readCredentials, setCredentials, type Seed } from './control/seed.js';
import { openApiRoute } from './openapi/document.js';
import { lnurlRoutes } from './web/lnurl-pay.js';
import { pageRoutes } from './web/payment-page.js';
import { otherError } from './unspecified.js';

/** Port, storage and initial state of the sandbox; everything is optional. */
export interface SandboxOptions {
  /** 0 (the default) takes a free port. */
  readonly port?: number | undefined;
  /** SQLite file, created if missing; the default is `:memory:`. */
  readonly file?: string | undefined;
  /** The maker's name on the wire (default `service`). */
  readonly maker?: string | undefined;
  /** The machine's time in epoch ms. The sandbox's own clock runs on top of it. */
  readonly now?: (() => number) | undefined;
  /** Credentials of the main account instead of those in the file. Both or neither. */
  readonly apiKey?: string | undefined;
  readonly apiSecret?: string | undefined;
  /** Milliseconds until a new payment request is paid automatically, or `off`. Stored in the file; initially 3000. */
  readonly autoPay?: number | 'off' | undefined;
  /** Contents of a new file (default `demo`). */
  readonly seed?: Seed | undefined;
  /** Certificate authority (PEM) that webhooks trust besides the well-known ones. Stored in the file. */
  readonly webhookCa?: string | undefined;
  /** Accepts webhook callbacks of plain http to this machine, for receivers without a certificate. Stored in the file. */
  readonly allowHttpCallbacks?: boolean | undefined;
  /** Method of deliveries (default POST). Stored in the file, like the next option. */
  readonly webhookMethod?: 'POST' | 'PUT' | undefined;
  /** Which state changes are delivered (default every). */
  readonly webhookEvents?: 'every' | 'final' | undefined;
  /** Accepts the same signature at the token endpoint repeatedly. */
  readonly allowSignatureReuse?: boolean | undefined;
  /** Accepts a used `extRefId`. Stored in the file as a fault, like the next option. */
  readonly allowReferenceReuse?: boolean | undefined;
  /** Pays an external invoice repeatedly. */
  readonly allowDoublePayment?: boolean | undefined;
  /** Names of live shapes, or `all`: response formats of live services that differ from the specification. */
  readonly liveShapes?: readonly string[] | undefined;
  /** Called for every internal error, which is answered as 500. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** Further options of tests and the command line. */
export interface ServiceOptions extends SandboxOptions {
  readonly openFile?: OpenFile | undefined;
  readonly random?: Random | undefined;
  /** Posts to webhooks (default: over the network). */
  readonly post?: Poster['post'] | undefined;
  /** Called for every response that no fault changed. */
  readonly onAnswer?: ((incoming: Incoming, outgoing: Outgoing) => void) | undefined;
}

export type Service = ReturnType<typeof openService>;

/** Opens the service on its file. `baseUrl` is its address as clients see it, without a trailing slash. */
export function openService(options: ServiceOptions, baseUrl: () => string) {
  const {
    file = ':memory:',
    openFile,
    now: machineTime = Date.now,
    random = randomBytes,
    onAnswer,
  } = options;
  const onError = options.onError ?? (() => undefined);
  const maker = makerNames(options.maker ?? 'service');
  const shapes = new Set(readShapeNames(options.liveShapes ?? []));
  const edge = shapedEdge(shapes, maker, machineTime);
  const contextOn = (store: Store): Context => ({
    store,
    random,
    maker,
    now: readClock(store, machineTime()).now,
    baseUrl: baseUrl(),
    liveShapes: shapes,
  });
  const store = openStore({
    file,
    openFile,
    verify: verifyBooks,
    initialise: (fresh) => initialise(contextOn(fresh), options),
  });

  const lateRequest: DueAction = (ctx, subject) => {
    const incoming = readKept(subject);
    logRequest(ctx, incoming, answer(ctx, incoming), lateAction);
  };
  const actions = new Map([...dueActions(), ...deliveryActions, [lateAction, lateRequest]]);
  const find = router([
    ...endpoints({ allowSignatureReuse: options.allowSignatureReuse ?? false }),
    ...controls({ machineTime, dueActions: actions }),
    ...webhookControls(),
    ...snapshotControls(machineTime),
    openApiRoute,
    ...pageRoutes,
    ...lnurlRoutes,
  ]);
  const poster = lazyPoster();
  const courier = createCourier({
    write: (job) => store.write(() => job(contextOn(store))),
    read: (job) => job(contextOn(store)),
    machineTime,
    post: options.post ?? poster.post,
    onError,
  });

  function answer(ctx: Context, incoming: Incoming, sight?: Sight): Outgoing {
    try {
      return store.attempt(() => {
        const { route, params, query } = find(incoming);
        const call = { ctx, incoming, params, query, sight };
        if (route.access === 'public') return route.answer(call);
        if (route.access === 'open') {
          assertContentType(incoming);
          return jsonAnswer(200, route.answer(call));
        }
        const account = authenticate(ctx, incoming.headers['authorization']);
        assertContentType(incoming);
        return jsonAnswer(200, route.answer({ ...call, account }));
      });
    } catch (error) {
      if (error instanceof Refusal)
        return { ...jsonAnswer(error.status, error.body), note: error.note };
      onError(error);
      return serverError;
    }
  }

  /** `genuine` is the service's own answer, if no fault applied. */
  function perform(incoming: Incoming): {
    readonly outgoing: Outgoing;
    readonly genuine?: Outgoing;
  } {
    const ctx = contextOn(store);
    carryOut(ctx, actions);
    if (!isForClients(incoming)) {
      const genuine = dated(answer(ctx, incoming), ctx.now);
      return { outgoing: genuine, genuine };
    }
    const fault = takeAnswerFault(store, incoming);
    const sight = takeSightFaults(store, incoming);
    let genuine: Outgoing | undefined;
    const respond = (asked: Incoming): Outgoing =>
      edge.shape(asked, (genuine = answer(ctx, asked, sight)));
    const carried = (): Outgoing => edge.refuse() ?? respond(incoming);
    const outgoing = dated(
      fault === undefined
        ? carried()
        : injectFault(fault, {
            carryOut: carried,
            carryOutLater: (after) => schedule(ctx, lateAction, keep(incoming), ctx.now + after),
            show: () =>
              respond({
                ...incoming,
                method: 'GET',
                target: incoming.target.replace(/\/\w+$/, ''),
              }),
          }),
      ctx.now,
    );
    logRequest(ctx, incoming, outgoing, fault?.kind ?? sight?.kind);
    return {
      outgoing,
      ...(genuine !== undefined && fault === undefined && sight === undefined && { genuine }),
    };
  }

  return {
    credentials: readCredentials(store),
    store,
    /** Resolves after the commit. Never rejects. */
    async handle(incoming: Incoming): Promise<Outgoing> {
      try {
        const { outgoing, genuine } = await store.write(() => perform(incoming));
        courier.kick();
        if (genuine !== undefined) onAnswer?.(incoming, genuine);
        return outgoing;
      } catch (error) {
        onError(error);
        return dated(serverError, machineTime());
      }
    },
    courier,
    /** Runs all due actions. */
    async catchUp(): Promise<void> {
      await store.write(() => carryOut(contextOn(store), actions));
      courier.kick();
    },
    /** Milliseconds until the next action is due; undefined if none is scheduled. */
    nextDueIn(): number | undefined {
      const at = nextDue(store);
      const clock = readClock(store, machineTime());
      if (at === undefined || (clock.frozen && at > clock.now)) return undefined;
      return Math.max(0, at - clock.now);
    },
    async close(): Promise<void> {
      await courier.close();
      poster.close();
      await store.close();
    },
  };
}

const serverError = jsonAnswer(500, { error: otherError(500) });

/** Targets that are neither logged nor subject to faults. */
const apart = new RegExp(`^(?:${controlPrefix}|/openapi\\.json|/pay/)`);
const isForClients = ({ target }: Incoming): boolean => !apart.test(target);

/** Due action for a request that was answered before it is carried out. */
const lateAction = 'late-effect';

const keep = ({ body, ...rest }: Incoming): string =>
  JSON.stringify({ ...rest, body: body && Buffer.from(body).toString('base64') });

const keptRequest = v.object({
  method: v.string(),
  target: v.string(),
  headers: v.record(v.string(), v.string()),
  body: v.optional(
    v.pipe(
      v.string(),
      v.transform((text): Uint8Array => Buffer.from(text, 'base64')),
    ),
  ),
});

const readKept = (text: string): Incoming => ({
  body: undefined,
  ...v.parse(keptRequest, JSON.parse(text)),
});

function initialise(ctx: Context, options: ServiceOptions): void {
  const { apiKey, apiSecret, autoPay, seed, webhookCa, allowHttpCallbacks } = options;
  if (options.allowReferenceReuse) alwaysFault(ctx.store, 'reference-reuse');
  if (options.allowDoublePayment) alwaysFault(ctx.store, 'double-payment');
  seedStore(ctx, seed ?? 'demo');
  const { webhookMethod: method, webhookEvents: events } = options;
  changeWebhookOptions(ctx.store, {
    ca: webhookCa,
    allowHttpLoopback: allowHttpCallbacks,
    method,
    events,
  });
  if (autoPay !== undefined) writeAutoPay(ctx.store, autoPay);
  if (apiKey !== undefined && apiSecret !== undefined) {
    setCredentials(ctx.store, readCredentials(ctx.store).accountId, apiKey, apiSecret);
  }
}

/** Sets the Date header to the service's clock. */
function dated(outgoing: Outgoing, now: number): Outgoing {
  return { ...outgoing, headers: { ...outgoing.headers, date: new Date(now).toUTCString() } };
}

/** Loads the HTTP client with the first delivery. */
function lazyPoster(): Poster {
  let made: Promise<Poster> | undefined;
  return {
    async post(request) {
      made ??= import('./deliveries/post.js').then(({ createPoster }) => createPoster());
      return (await made).post(request);
    },
    close: () => void made?.then((poster) => poster.close()),
  };
}
