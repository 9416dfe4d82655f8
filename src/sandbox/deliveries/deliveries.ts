// Events on their way to webhooks: written down with the state change, due at once, tried again until they arrive.
import * as v from 'valibot';
import type { Context } from '../world/context.js';
import type { Store } from '../storage/database.js';
import { takeEventFaults } from '../world/faults.js';
import { writeJson } from '../wire/json.js';
import { badRequest, notFound } from '../wire/refusal.js';
import { isFinal, type State } from '../wire/states.js';
import { schedule, unschedule, type DueAction } from '../world/schedule.js';
import { deliveries } from '../unspecified.js';
import { readWebhookOptions } from './webhook-options.js';
import { webhookOf } from './webhooks.js';

/** `scheduled` waits for its moment, `sending` has reached it, the others are over. */
const statuses = ['scheduled', 'sending', 'delivered', 'failed', 'canceled'] as const;
type Status = (typeof statuses)[number];

const deliveryRow = v.object({
  id: v.number(),
  webhookId: v.string(),
  accountId: v.string(),
  txnId: v.string(),
  txnState: v.string(),
  body: v.string(),
  status: v.picklist(statuses),
  createdAt: v.number(),
  tries: v.number(),
  dueAt: v.number(),
});

const attemptRow = v.object({
  at: v.number(),
  callback: v.string(),
  signature: v.string(),
  status: v.nullable(v.number()),
  error: v.nullable(v.string()),
  durationMs: v.number(),
});

/** One POST of a delivery. Times are epoch ms of the service's clock, the duration is of the machine's. */
export interface Attempt {
  at: number;
  callback: string;
  signature: string;
  status: number | null;
  error: string | null;
  durationMs: number;
}

/** An event on its way to a webhook. Times are epoch ms of the service's clock. */
export interface Delivery {
  readonly id: number;
  readonly webhookId: string;
  readonly accountId: string;
  readonly txnId: string;
  readonly txnState: string;
  /** The exact text that is signed and posted. */
  readonly body: string;
  readonly status: 'scheduled' | 'sending' | 'delivered' | 'failed' | 'canceled';
  readonly createdAt: number;
  /** When it is or was to be posted next; null when it is over. */
  readonly nextAttemptAt: number | null;
  readonly attempts: readonly Attempt[];
}

/** An event as its receiver reads it. */
export interface Event {
  readonly txnId: string;
  readonly extRefId?: string | undefined;
  readonly txnState: State;
  readonly msg: string;
  /** Epoch ms. */
  readonly updatedAt: number;
}

const deliver = 'deliver';

/** What a due delivery does inside the database: it becomes ready to be posted, which happens outside of it. */
export const deliveryActions: ReadonlyMap<string, DueAction> = new Map([
  [deliver, ({ store }, subject) => setStatus(store, idOf(subject), 'sending')],
]);

const subjectOf = (id: number): string => `delivery:${id}`;
const idOf = (subject: string): number => Number(subject.slice('delivery:'.length));

/** Tells the account's webhook, if it has one, that a transaction has come into a state. */
export function announce(ctx: Context, accountId: string, event: Event): void {
  if (webhookOf(ctx.store, accountId) === undefined) return;
  if (readWebhookOptions(ctx).events === 'final' && !isFinal(event.txnState)) return;
  const { copies, delay } = takeEventFaults(ctx.store, event.txnState);
  for (let copy = 0; copy < copies; copy += 1) enqueue(ctx, accountId, event, ctx.now + delay);
}

/** Writes down one delivery of an event, to be posted at the given moment. Refuses when the account has no webhook. */
export function enqueue(ctx: Context, accountId: string, event: Event, at: number): number {
  const webhook = webhookOf(ctx.store, accountId);
  if (webhook === undefined) throw badRequest('the account has no webhook');
  const { txnId, txnState } = event;
  const id = ctx.store.insert('delivery', {
    webhookId: webhook.id, accountId, txnId, txnState, body: writeJson(event), status: 'scheduled', dueAt: at, createdAt: ctx.now,
  });
  dispatch(ctx, id, at);
  return id;
}

/** Posts a delivery again, to the account's current webhook, with a new attempt count. */
export function replay(ctx: Context, id: number): void {
  const { accountId, status } = findRow(ctx.store, id);
  const webhook = webhookOf(ctx.store, accountId);
  if (webhook === undefined) throw badRequest('the account has no webhook');
  if (status === 'sending') return;
  ctx.store.run('UPDATE delivery SET webhook_id = ?, tries = 0 WHERE id = ?', webhook.id, id);
  dispatch(ctx, id, ctx.now);
}

/** Writes down an attempt and what comes of it: the delivery arrived, waits for the next one, or is given up. */
export function recordAttempt(ctx: Context, id: number, attempt: Attempt): void {
  const { durationMs: duration, ...facts } = attempt;
  const { at, status } = attempt;
  ctx.store.insert('attempt', { deliveryId: id, ...facts, duration });
  const { tries } = findRow(ctx.store, id);
  const pause = readWebhookOptions(ctx).retries ? deliveries.retries[tries] : undefined;
  ctx.store.run('UPDATE delivery SET tries = tries + 1 WHERE id = ?', id);
  if (status !== null && status >= 200 && status < 300) setStatus(ctx.store, id, 'delivered');
  else if (pause === undefined) setStatus(ctx.store, id, 'failed');
  // Counted from the moment it was due, so that a clock that is moved far ahead still sees every attempt at its time.
  else dispatch(ctx, id, at + pause);
}

function setStatus(store: Store, id: number, status: Status): void {
  store.run('UPDATE delivery SET status = ? WHERE id = ?', status, id);
}

/** Makes a delivery ready to be posted, now or once its moment has come. */
function dispatch(ctx: Context, id: number, at: number): void {
  unschedule(ctx, subjectOf(id));
  const isDue = at <= ctx.now;
  ctx.store.run('UPDATE delivery SET status = ?, due_at = ? WHERE id = ?', isDue ? 'sending' : 'scheduled', at, id);
  if (!isDue) schedule(ctx, deliver, subjectOf(id), at);
}

function findRow(store: Store, id: number): v.InferOutput<typeof deliveryRow> {
  const found = store.one(deliveryRow, 'SELECT * FROM delivery WHERE id = ?', id);
  if (found === undefined) throw notFound();
  return found;
}

/** The delivery with its attempts. Throws 404 when there is none. */
export const showDelivery = (store: Store, id: number): Delivery => withAttempts(store, findRow(store, id));

/** Which deliveries. */
export interface DeliveryFilter {
  readonly txnId?: string | undefined;
  readonly status?: string | undefined;
  readonly limit?: number | undefined;
}

/** The newest deliveries that pass the filter, oldest first. */
export function listDeliveries(store: Store, { txnId, status, limit = 1000 }: DeliveryFilter = {}): Delivery[] {
  const rows = store.all(
    deliveryRow,
    `SELECT * FROM delivery WHERE (?1 IS NULL OR txn_id = ?1) AND (?2 IS NULL OR status = ?2) ORDER BY id DESC LIMIT ?3`,
    txnId ?? null, status ?? null, limit,
  );
  return rows.toReversed().map((row) => withAttempts(store, row));
}

function withAttempts(store: Store, row: v.InferOutput<typeof deliveryRow>): Delivery {
  const { tries: _, dueAt, ...delivery } = row;
  const isOpen = delivery.status === 'scheduled' || delivery.status === 'sending';
  const select = 'SELECT *, duration AS duration_ms FROM attempt WHERE delivery_id = ? ORDER BY id';
  const attempts = store.all(attemptRow, select, delivery.id);
  return { ...delivery, nextAttemptAt: isOpen ? dueAt : null, attempts };
}
