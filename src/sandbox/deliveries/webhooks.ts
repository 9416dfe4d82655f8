// Stores the HTTPS callback and the secret of each account's webhook, and the delivery options. An
// account has at most one webhook.
import * as v from 'valibot';
import { assertReach, findAccount, type Account } from '../world/accounts.js';
import { randomId, type Context } from '../world/context.js';
import { readSetting, type Store, writeSetting } from '../storage/database.js';
import { badRequest, notFound } from '../wire/refusal.js';
import { isLoopback } from '../wire/values.js';

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

/**
 * Returns the webhook in the form that endpoints 11 to 13 show, which never includes the secret.
 */
export const showWebhook = ({ id, callback, createdAt }: Webhook) => ({ id, callback, createdAt });

/**
 * Returns the webhook that the path names. Throws a `Refusal` if the caller may not act on the
 * webhook.
 */
export function reachWebhook(store: Store, caller: Account, id: string): Webhook {
  const webhook = store.one(row, 'SELECT * FROM webhook WHERE id = ?', id);
  if (webhook === undefined) throw notFound();
  assertReach(caller, webhook.accountId, findAccount(store, webhook.accountId)?.parentId);
  return webhook;
}

/** Replaces the account's webhook and deletes the pending deliveries of the old webhook. */
export function createWebhook(
  ctx: Context,
  accountId: string,
  callback: string,
  secret: string,
): Webhook {
  assertCallback(ctx, callback);
  const before = webhookOf(ctx.store, accountId);
  if (before !== undefined) removeWebhook(ctx.store, before.id);
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
  ctx.store.run(
    'UPDATE webhook SET callback = ?, secret = ? WHERE id = ?',
    callback,
    secret,
    webhook.id,
  );
  return { ...webhook, callback, secret };
}

export function removeWebhook(store: Store, id: string): void {
  store.run('DELETE FROM webhook WHERE id = ?', id);
  const open = `webhook_id = ? AND status IN ('scheduled', 'sending')`;
  store.run(
    `DELETE FROM due WHERE subject IN (SELECT 'delivery:' || id FROM delivery WHERE ${open})`,
    id,
  );
  store.run(`UPDATE delivery SET status = 'canceled' WHERE ${open}`, id);
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
