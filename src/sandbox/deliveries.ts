// Webhooks: stores each account's webhook and the deliveries of state changes in the same database
// transaction, and posts due deliveries in the background, in order for each webhook.
import * as v from 'valibot';
import { assertReach, type Account } from './accounts.js';
import { randomId, type Context, schedule, unschedule, type DueAction } from './world.js';
import { readSetting, type Store, writeSetting } from './database.js';
import { badRequest, notFound, isLoopback, writeJson, isFinal, type State, json } from './wire.js';
import {
  attemptAnswer,
  deliveryAnswer,
  type Attempt,
  type Delivery,
} from '../formats/sandbox/answers.js';
import { takeEventFaults } from './faults.js';
import { deliveries } from './unspecified.js';
import { createHmac } from 'node:crypto';
import { setImmediate } from 'node:timers';
import { setTimeout as delay } from 'node:timers/promises';
import type { Poster } from './post.js';

const webhookRow = v.object({
  id: v.string(),
  accountId: v.string(),
  callback: v.string(),
  secret: v.string(),
  createdAt: v.number(),
});

type Webhook = v.InferOutput<typeof webhookRow>;

export function webhookOf(store: Store, accountId: string): Webhook | undefined {
  return store.find(webhookRow, 'webhook', { accountId });
}

/**
 * Returns the webhook in the form that endpoints 11 to 13 show, which never includes the secret.
 */
export const showWebhook = ({ id, callback, createdAt }: Webhook) => ({ id, callback, createdAt });

/**
 * Returns the webhook that the path names. Throws a `Refusal` if the caller may not act on the
 * webhook.
 */
export function reachWebhook(store: Store, caller: Account, id: string): Webhook {
  const webhook = store.find(webhookRow, 'webhook', { id });
  if (webhook === undefined) throw notFound();
  assertReach(store, caller, webhook.accountId);
  return webhook;
}

/** Replaces the account's webhook and deletes the pending deliveries of the old webhook. */
export function createWebhook(
  ctx: Context,
  accountId: string,
  { callback, secret }: { readonly callback: string; readonly secret: string },
): Webhook {
  assertCallback(ctx, callback);
  const before = webhookOf(ctx.store, accountId);
  if (before !== undefined) removeWebhook(ctx, before.id);
  const webhook = { id: randomId(ctx.random), accountId, callback, secret, createdAt: ctx.now };
  ctx.store.insert('webhook', webhook);
  return webhook;
}

/**
 * Changes the callback or the secret of a webhook. Pending deliveries of a changed webhook use its
 * new callback and secret.
 */
export function updateWebhook(
  ctx: Context,
  webhook: Webhook,
  change: { callback?: string | undefined; secret?: string | undefined },
): Webhook {
  const { callback = webhook.callback, secret = webhook.secret } = change;
  if (callback !== webhook.callback) assertCallback(ctx, callback);
  ctx.store.update('webhook', { callback, secret }, { id: webhook.id });
  return { ...webhook, callback, secret };
}

const idRow = v.object({ id: v.number() });

export function removeWebhook(ctx: Context, id: string): void {
  ctx.store.run('DELETE FROM webhook WHERE id = ?', id);
  const canceled = ctx.store.all(
    idRow,
    `UPDATE delivery SET status = 'canceled', next_attempt_at = NULL
     WHERE webhook_id = ? AND status IN ('scheduled', 'sending') RETURNING id`,
    id,
  );
  for (const delivery of canceled) unschedule(ctx, subjectOf(delivery.id));
}

/**
 * Throws a `Refusal` unless the callback is HTTPS, or http to the loopback interface if the sandbox
 * allows http.
 */
function assertCallback(ctx: Context, callback: string): void {
  const url = URL.canParse(callback) ? new URL(callback) : undefined;
  if (url?.protocol === 'https:') return;
  if (url?.protocol === 'http:' && isLoopback(url.hostname)) {
    if (ctx.allowHttpCallbacks || readWebhookOptions(ctx.store).allowHttpLoopback) return;
    throw badRequest(
      'callback must be an HTTPS URL; http to this machine requires sandbox start ' +
        '--allow-http-callbacks',
    );
  }
  throw badRequest('callback must be an HTTPS URL');
}

export const webhookMethods = ['POST', 'PUT'] as const;
/** The state changes that webhooks deliver: changes to `every` state, or only to `final` states. */
export const webhookEvents = ['every', 'final'] as const;

const storedOptions = v.object({
  /**
   * Whether the service accepts http callbacks to the loopback interface, for receivers without a
   * certificate.
   */
  allowHttpLoopback: v.optional(v.boolean(), false),
  /** An additional certificate authority (PEM) that the sandbox trusts when it delivers events. */
  ca: v.optional(v.nullable(v.string()), null),
  method: v.optional(v.picklist(webhookMethods), 'POST'),
  events: v.optional(v.picklist(webhookEvents), 'every'),
});

type StoredOptions = v.InferOutput<typeof storedOptions>;

export const readWebhookOptions = (store: Store): StoredOptions =>
  v.parse(storedOptions, JSON.parse(readSetting(store, 'webhookOptions') ?? '{}'));

/** Changes the given webhook options, and keeps the other options. */
export function changeWebhookOptions(
  store: Store,
  change: { [K in keyof StoredOptions]?: StoredOptions[K] | undefined },
): void {
  const given = Object.entries(change).filter(([, value]) => value !== undefined);
  writeSetting(
    store,
    'webhookOptions',
    JSON.stringify({ ...readWebhookOptions(store), ...Object.fromEntries(given) }),
  );
}

const deliveryRow = v.object({
  ...deliveryAnswer.entries,
  attempts: json(v.array(attemptAnswer)),
});

interface Event {
  readonly txnId: string;
  readonly extRefId?: string | undefined;
  readonly txnState: State;
  readonly msg: string;
  /** The time of the reported state change in epoch ms. */
  readonly updatedAt: number;
}

const deliver = 'deliver';

/**
 * Marks due deliveries as ready. The worker posts ready deliveries outside the database
 * transaction.
 */
export const deliveryActions: ReadonlyMap<string, DueAction> = new Map([
  [
    deliver,
    ({ store }, subject) =>
      void store.update('delivery', { status: 'sending' }, { id: idOf(subject) }),
  ],
]);

const subjectOf = (id: number): string => `delivery:${id}`;
const idOf = (subject: string): number => Number(subject.slice('delivery:'.length));

/** Enqueues an event for the account's webhook, if the account has one. */
export function announce(ctx: Context, accountId: string, event: Event): void {
  if (webhookOf(ctx.store, accountId) === undefined) return;
  if (readWebhookOptions(ctx.store).events === 'final' && !isFinal(event.txnState)) return;
  const { copies, delay } = takeEventFaults(ctx.store, event.txnState);
  for (let copy = 0; copy < copies; copy += 1) enqueue(ctx, accountId, event, ctx.now + delay);
}

/** Stores a delivery that is due at `at`. Throws a `Refusal` if the account has no webhook. */
export function enqueue(ctx: Context, accountId: string, event: Event, at: number): number {
  const webhook = webhookOf(ctx.store, accountId);
  if (webhook === undefined) throw badRequest('the account has no webhook');
  const { txnId, txnState } = event;
  const id = ctx.store.insert('delivery', {
    webhookId: webhook.id,
    accountId,
    txnId,
    txnState,
    body: writeJson(event),
    status: 'scheduled',
    createdAt: ctx.now,
  });
  dispatch(ctx, id, at);
  return id;
}

/** Posts a delivery again to the account's current webhook, and resets the number of attempts. */
export function replay(ctx: Context, id: number): void {
  const { accountId, status } = showDelivery(ctx.store, id);
  const webhook = webhookOf(ctx.store, accountId);
  if (webhook === undefined) throw badRequest('the account has no webhook');
  if (status === 'sending') return;
  ctx.store.update('delivery', { webhookId: webhook.id, tries: 0 }, { id });
  dispatch(ctx, id, ctx.now);
}

const triesRow = v.object({ tries: v.number() });

/**
 * Stores an attempt, and marks the delivery as delivered or failed, or schedules the next attempt.
 */
function recordAttempt(ctx: Context, id: number, attempt: Attempt): void {
  const { store } = ctx;
  const { at, status } = attempt;
  const attempts = JSON.stringify([...showDelivery(store, id).attempts, attempt]);
  const tries = store.find(triesRow, 'delivery', { id })?.tries ?? 0;
  const isDelivered = status !== null && status >= 200 && status < 300;
  const pause = isDelivered ? undefined : deliveries.retries[tries];
  const ended = { status: isDelivered ? 'delivered' : 'failed', nextAttemptAt: null };
  store.update('delivery', { attempts, tries: tries + 1, ...ended }, { id });
  // Counts the pause before a retry from the time at which the delivery was due, so that every
  // retry runs even if a test advances the clock far ahead.
  if (pause !== undefined) dispatch(ctx, id, at + pause);
}

/**
 * Schedules a delivery if the time `at` is in the future, and makes the delivery ready otherwise.
 */
function dispatch(ctx: Context, id: number, at: number): void {
  unschedule(ctx, subjectOf(id));
  const isDue = at <= ctx.now;
  const status = isDue ? 'sending' : 'scheduled';
  ctx.store.update('delivery', { status, nextAttemptAt: at }, { id });
  if (!isDue) schedule(ctx, deliver, subjectOf(id), at);
}

export function showDelivery(store: Store, id: number): Delivery {
  const found = store.find(deliveryRow, 'delivery', { id });
  if (found === undefined) throw notFound();
  return found;
}

/** A filter for deliveries. A field that the filter omits matches every delivery. */
export interface DeliveryFilter {
  readonly txnId?: string | undefined;
  readonly status?: string | undefined;
  readonly limit?: number | undefined;
}

/** Returns the newest matching deliveries, sorted from the oldest to the newest. */
export function listDeliveries(
  store: Store,
  { txnId, status, limit = 1000 }: DeliveryFilter = {},
): Delivery[] {
  const rows = store.all(
    deliveryRow,
    `SELECT * FROM delivery WHERE (?1 IS NULL OR txn_id = ?1) AND (?2 IS NULL OR status = ?2)
     ORDER BY id DESC LIMIT ?3`,
    txnId ?? null,
    status ?? null,
    limit,
  );
  return rows.toReversed();
}

interface WorkerDeps {
  /** Runs a job in a database transaction, and resolves after the commit. */
  readonly write: <T>(job: (ctx: Context) => T) => Promise<T>;
  readonly read: <T>(job: (ctx: Context) => T) => T;
  readonly post: Poster['post'];
  readonly onError: (error: unknown) => void;
}

/**
 * The lifetime of a claim in ms. When the claim of a killed process expires, another process takes
 * over the webhook.
 */
const claimMs = deliveries.timeout + 5_000;
const graceMs = 500;

const readyRow = v.object({
  id: v.number(),
  nextAttemptAt: v.number(),
  body: v.string(),
  webhookId: v.string(),
  callback: v.string(),
  secret: v.string(),
});

type Ready = v.InferOutput<typeof readyRow>;
type Claimed = Ready & { readonly claimedUntil: number };

/** Finds the first ready delivery to a webhook that no process has claimed. */
const findReady = ({ store, machine }: Context): Ready | undefined =>
  store.one(
    readyRow,
    `SELECT delivery.id, next_attempt_at, body, webhook_id, callback, secret
     FROM webhook JOIN delivery ON webhook_id = webhook.id AND status = 'sending'
     WHERE claimed_until <= ? ORDER BY next_attempt_at, delivery.id LIMIT 1`,
    machine,
  );

/** Claims the webhook of a ready delivery. The end of the claim identifies the claim. */
function claimReady(ctx: Context): Claimed | undefined {
  const ready = findReady(ctx);
  if (ready === undefined) return undefined;
  const claimedUntil = ctx.machine + claimMs;
  ctx.store.update('webhook', { claimedUntil }, { id: ready.webhookId });
  return { ...ready, claimedUntil };
}

/**
 * Posts ready deliveries, separately for each webhook, so that a silent receiver does not delay
 * other receivers.
 */
export function createDeliveryWorker(deps: WorkerDeps) {
  const { write, read, onError } = deps;
  const closing = new AbortController();
  const running = new Set<Promise<unknown>>();
  let isClaiming = false;

  function deliverReady(): void {
    if (isClaiming || closing.signal.aborted) return;
    if (read(findReady) === undefined) return;
    isClaiming = true;
    run(async () => {
      const ready = await write(claimReady).finally(() => (isClaiming = false));
      if (ready !== undefined) run(() => deliverOnce(deps, ready, closing.signal));
    });
  }

  /**
   * Runs a job, then posts the deliveries that are ready. If the job fails, the timer posts the
   * ready deliveries later.
   */
  function run(work: () => Promise<void>): void {
    const started = work()
      .finally(() => running.delete(started))
      .then(deliverReady, onError);
    running.add(started);
  }

  /** Resolves once no delivery is ready or in flight. */
  async function settled(): Promise<void> {
    for (deliverReady(); running.size > 0; deliverReady()) await Promise.all(running);
  }

  return {
    /** Starts posting ready deliveries, after the response to the client. */
    kick: (): void => void setImmediate(deliverReady),
    settled,
    /**
     * Waits briefly for the posts in flight, then aborts the remaining posts. Aborted deliveries
     * stay ready for the next process.
     */
    async close(): Promise<void> {
      await Promise.race([settled(), delay(graceMs, undefined, { ref: false })]);
      closing.abort();
      await Promise.all(running);
    },
  };
}

/** Posts a claimed delivery, and records the attempt unless this process has lost the claim. */
async function deliverOnce(
  { read, write, post }: WorkerDeps,
  { id, nextAttemptAt: at, body, webhookId, callback, secret, claimedUntil }: Claimed,
  closing: AbortSignal,
): Promise<void> {
  const { ca, method, signatureHeader } = read(({ store, wireNames }) => ({
    ...readWebhookOptions(store),
    signatureHeader: wireNames.signatureHeader,
  }));
  const signature = createHmac('sha256', secret).update(body).digest('hex');
  const startedAt = performance.now();
  const result = await post({
    method,
    url: callback,
    headers: { 'content-type': 'application/json', [signatureHeader]: signature },
    body,
    ca,
    signal: AbortSignal.any([closing, AbortSignal.timeout(deliveries.timeout)]),
  });
  const isCut = closing.aborted;
  const durationMs = Math.round(performance.now() - startedAt);
  await write((ctx) => {
    const claim = { id: webhookId, claimedUntil };
    const released = ctx.store.update('webhook', { claimedUntil: 0 }, claim);
    if (released === 1 && !isCut)
      recordAttempt(ctx, id, { at, callback, signature, ...result, durationMs });
  });
}
