// How webhooks go out of this sandbox: whom they trust, by which method, what they tell, and how often they are tried.
import * as v from 'valibot';
import type { Store } from '../storage/database.js';
import { readSetting, writeSetting } from '../storage/settings.js';
import type { Context } from '../world/context.js';

export const webhookMethods = ['POST', 'PUT'] as const;
/** `final`: only that a transaction has come to its end. */
export const webhookEvents = ['every', 'final'] as const;

const stored = v.object({
  /** Takes callbacks of http to the loopback interface, for receivers without a certificate. Off at first. */
  allowHttpLoopback: v.optional(v.boolean(), false),
  /** Certificate authority to trust besides the well-known ones, PEM. */
  ca: v.optional(v.nullable(v.string()), null),
  method: v.optional(v.picklist(webhookMethods), 'POST'),
  events: v.optional(v.picklist(webhookEvents), 'every'),
});

type Stored = v.InferOutput<typeof stored>;

/** What the file keeps, unless a live shape says otherwise. */
export function readWebhookOptions({ store, liveShapes }: Pick<Context, 'store' | 'liveShapes'>) {
  const kept = readStored(store);
  return {
    ...kept,
    method: liveShapes.has('webhook-put') ? 'PUT' as const : kept.method,
    events: liveShapes.has('webhook-final-only') ? 'final' as const : kept.events,
    /** A delivery that does not arrive is tried again. */
    retries: !liveShapes.has('webhook-once'),
    /** In place of the header of the specification. */
    signatureHeader: liveShapes.has('webhook-signature-header') ? 'X-Signature' : undefined,
  };
}

/** Changes the given options and keeps the rest. */
export function changeWebhookOptions(store: Store, change: { [K in keyof Stored]?: Stored[K] | undefined }): void {
  const given = Object.entries(change).filter(([, value]) => value !== undefined);
  writeSetting(store, 'webhookOptions', JSON.stringify({ ...readStored(store), ...Object.fromEntries(given) }));
}

const readStored = (store: Store): Stored => v.parse(stored, JSON.parse(readSetting(store, 'webhookOptions') ?? '{}'));
