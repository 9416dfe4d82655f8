// Stores webhook deliveries in the database transaction of the state change. A new delivery is due
// immediately, and the worker posts the delivery again after a failure.
import * as v from 'valibot';
import {
  attemptAnswer,
  deliveryAnswer,
  type Attempt,
  type Delivery,
} from '../../formats/sandbox/answers.js';
import type { Context } from '../world/context.js';
import type { Store } from '../storage/database.js';
import { takeEventFaults } from '../world/faults.js';
import { writeJson } from '../wire/json.js';
import { badRequest, notFound } from '../wire/refusal.js';
import { isFinal, type State } from '../wire/states.js';
import { schedule, unschedule, type DueAction } from '../world/schedule.js';
import { deliveries } from '../unspecified.js';
import { readWebhookOptions, webhookOf } from './webhooks.js';

const deliveryRow = v.object({
  ...v.omit(deliveryAnswer, ['nextAttemptAt', 'attempts']).entries,
  tries: v.number(),
  dueAt: v.number(),
});

export interface Event {
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
  [deliver, ({ store }, subject) => setStatus(store, idOf(subject), 'sending')],
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
    dueAt: at,
    createdAt: ctx.now,
  });
  dispatch(ctx, id, at);
  return id;
}

/** Posts a delivery again to the account's current webhook, and resets the number of attempts. */
export function replay(ctx: Context, id: number): void {
  const { accountId, status } = findRow(ctx.store, id);
  const webhook = webhookOf(ctx.store, accountId);
  if (webhook === undefined) throw badRequest('the account has no webhook');
  if (status === 'sending') return;
  ctx.store.run('UPDATE delivery SET webhook_id = ?, tries = 0 WHERE id = ?', webhook.id, id);
  dispatch(ctx, id, ctx.now);
}

/**
 * Stores an attempt, and marks the delivery as delivered or failed, or schedules the next attempt.
 */
export function recordAttempt(ctx: Context, id: number, attempt: Attempt): void {
  const { durationMs: duration, ...facts } = attempt;
  const { at, status } = attempt;
  ctx.store.insert('attempt', { deliveryId: id, ...facts, duration });
  const { tries } = findRow(ctx.store, id);
  const pause = deliveries.retries[tries];
  ctx.store.run('UPDATE delivery SET tries = tries + 1 WHERE id = ?', id);
  if (status !== null && status >= 200 && status < 300) setStatus(ctx.store, id, 'delivered');
  else if (pause === undefined) setStatus(ctx.store, id, 'failed');
  // Counts the pause before a retry from the time at which the delivery was due, so that every
  // retry runs even if a test advances the clock far ahead.
  else dispatch(ctx, id, at + pause);
}

function setStatus(store: Store, id: number, status: Delivery['status']): void {
  store.run('UPDATE delivery SET status = ? WHERE id = ?', status, id);
}

/**
 * Schedules a delivery if the time `at` is in the future, and makes the delivery ready otherwise.
 */
function dispatch(ctx: Context, id: number, at: number): void {
  unschedule(ctx, subjectOf(id));
  const isDue = at <= ctx.now;
  ctx.store.run(
    'UPDATE delivery SET status = ?, due_at = ? WHERE id = ?',
    isDue ? 'sending' : 'scheduled',
    at,
    id,
  );
  if (!isDue) schedule(ctx, deliver, subjectOf(id), at);
}

function findRow(store: Store, id: number): v.InferOutput<typeof deliveryRow> {
  const found = store.one(deliveryRow, 'SELECT * FROM delivery WHERE id = ?', id);
  if (found === undefined) throw notFound();
  return found;
}

export const showDelivery = (store: Store, id: number): Delivery =>
  withAttempts(store, findRow(store, id));

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
  return rows.toReversed().map((row) => withAttempts(store, row));
}

function withAttempts(store: Store, row: v.InferOutput<typeof deliveryRow>): Delivery {
  const { tries: _, dueAt, ...delivery } = row;
  const isOpen = delivery.status === 'scheduled' || delivery.status === 'sending';
  const select = 'SELECT *, duration AS duration_ms FROM attempt WHERE delivery_id = ? ORDER BY id';
  const attempts = store.all(attemptAnswer, select, delivery.id);
  return { ...delivery, nextAttemptAt: isOpen ? dueAt : null, attempts };
}
