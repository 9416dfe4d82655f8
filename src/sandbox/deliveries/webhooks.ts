// The webhook of an account: one at most, its callback HTTPS, its secret never shown again.
import * as v from 'valibot';
import { assertReach, findAccount, type Account } from '../world/accounts.js';
import { type Context, randomId } from '../world/context.js';
import type { Store } from '../storage/database.js';
import { badRequest, notFound } from '../wire/refusal.js';
import { isLoopback } from '../wire/values.js';
import { readWebhookOptions } from './webhook-options.js';

const row = v.object({
  id: v.string(),
  accountId: v.string(),
  callback: v.string(),
  secret: v.string(),
  createdAt: v.number(),
});

export type Webhook = v.InferOutput<typeof row>;

export function webhookOf(store: Store, accountId: string): Webhook | undefined {
  return store.one(row, 'SELECT * FROM webhook WHERE account_id = ?', accountId);
}

/** As endpoints 11 to 13 answer it. */
export const showWebhook = ({ id, callback, createdAt }: Webhook) => ({ id, callback, createdAt });

/** The webhook of the path, if the caller may act on it. */
export function reachWebhook(store: Store, caller: Account, id: string): Webhook {
  const webhook = store.one(row, 'SELECT * FROM webhook WHERE id = ?', id);
  if (webhook === undefined) throw notFound();
  assertReach(caller, webhook.accountId, findAccount(store, webhook.accountId)?.parentId);
  return webhook;
}

/** Registers a webhook in place of the one before, whose remaining deliveries are dropped. */
export function createWebhook(ctx: Context, accountId: string, callback: string, secret: string): Webhook {
  assertCallback(ctx, callback);
  const before = webhookOf(ctx.store, accountId);
  if (before !== undefined) removeWebhook(ctx.store, before.id);
  const webhook = { id: randomId(ctx.random), accountId, callback, secret, createdAt: ctx.now };
  ctx.store.insert('webhook', webhook);
  return webhook;
}

/** Whatever is delivered from now on goes to the new callback and is signed with the new secret. */
export function updateWebhook(
  ctx: Context, webhook: Webhook, change: { callback?: string | undefined; secret?: string | undefined },
): Webhook {
  const { callback = webhook.callback, secret = webhook.secret } = change;
  if (callback !== webhook.callback) assertCallback(ctx, callback);
  ctx.store.run('UPDATE webhook SET callback = ?, secret = ? WHERE id = ?', callback, secret, webhook.id);
  return { ...webhook, callback, secret };
}

/** Removes a webhook and drops what was still to be delivered to it. */
export function removeWebhook(store: Store, id: string): void {
  store.run('DELETE FROM webhook WHERE id = ?', id);
  const open = `webhook_id = ? AND status IN ('scheduled', 'sending')`;
  store.run(`DELETE FROM due WHERE subject IN (SELECT 'delivery:' || id FROM delivery WHERE ${open})`, id);
  store.run(`UPDATE delivery SET status = 'canceled' WHERE ${open}`, id);
}

/** HTTPS only; http to loopback if the sandbox allows it. */
function assertCallback(ctx: Context, callback: string): void {
  const url = URL.canParse(callback) ? new URL(callback) : undefined;
  if (url?.protocol === 'https:') return;
  if (url?.protocol === 'http:' && isLoopback(url.hostname)) {
    if (readWebhookOptions(ctx).allowHttpLoopback) return;
    throw badRequest('callback must be an HTTPS URL; http to this machine needs sandbox start --allow-http-callbacks');
  }
  throw badRequest('callback must be an HTTPS URL');
}
