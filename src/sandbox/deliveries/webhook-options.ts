// How webhooks go out of this sandbox: whom they trust, and whether http is good enough on this machine.
import * as v from 'valibot';
import type { Store } from '../storage/database.js';
import { readSetting, writeSetting } from '../storage/settings.js';

const options = v.object({
  /** Takes callbacks of http to the loopback interface, for receivers without a certificate. Off at first. */
  allowHttpLoopback: v.boolean(),
  /** Certificate authority to trust besides the well-known ones, PEM. */
  ca: v.nullable(v.string()),
});

export type WebhookOptions = v.InferOutput<typeof options>;

export function readWebhookOptions(store: Store): WebhookOptions {
  const stored = readSetting(store, 'webhookOptions');
  return stored === undefined ? { allowHttpLoopback: false, ca: null } : v.parse(options, JSON.parse(stored));
}

/** Changes what is given and keeps the rest. */
export function changeWebhookOptions(
  store: Store, change: { [K in keyof WebhookOptions]?: WebhookOptions[K] | undefined },
): void {
  const { allowHttpLoopback, ca } = readWebhookOptions(store);
  const next: WebhookOptions = {
    allowHttpLoopback: change.allowHttpLoopback ?? allowHttpLoopback,
    ca: change.ca === undefined ? ca : change.ca,
  };
  writeSetting(store, 'webhookOptions', JSON.stringify(next));
}
