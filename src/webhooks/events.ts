// The payload of a webhook delivery (specification: Events), read leniently. Unknown fields are
// kept.
import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { isFields, jsonIn } from '../formats/unknown.js';
import type { StoredEvent } from '../store/events/event-store.js';
import type { TxnState } from '../api/types.js';
import {
  instant,
  readInPlace,
  name,
  text,
  within,
  word,
  type FieldsOf,
} from '../api/reading/readers.js';

/**
 * The payload of a webhook delivery (specification: Events). Fields outside the specification are
 * kept.
 */
export interface WebhookEvent {
  txnId: string;
  /** The caller's reference, if the caller gave one. */
  extRefId?: string | null | undefined;
  /** A state such as `completed` (specification: States and transitions). */
  txnState: TxnState;
  /** A text, which may be empty. */
  msg?: string | null | undefined;
  /** Epoch ms. */
  updatedAt?: number | null | undefined;
}

/** A stored event and its payload; undefined if the body is not a payload of the specification. */
export interface ReadEvent {
  readonly event: StoredEvent;
  readonly payload: WebhookEvent | undefined;
}

export const payloadFields = {
  txnId: name,
  extRefId: text,
  txnState: word,
  msg: text,
  updatedAt: instant,
} satisfies FieldsOf<WebhookEvent>;

/**
 * The id of an event, equal only for equal bodies. A number of the inbox could name another event
 * after a restore, or in another home that forwards to the same application.
 */
export const eventIdOf = (body: Uint8Array): string =>
  createHash('sha256').update(body).digest('hex').slice(0, 32);

const utf8 = new TextDecoder();

/** The payload of a body, or undefined if the body does not name a transaction and its state. */
export function readPayload(body: Uint8Array): WebhookEvent | undefined {
  const payload = within(isUtf8(body) ? jsonIn(utf8.decode(body)) : undefined, 'txnId');
  if (!isFields(payload)) return undefined;
  const [txnId, txnState] = [name.read(payload['txnId']), word.read(payload['txnState'])];
  if (txnId === undefined || txnState === undefined) return undefined;
  readInPlace(payload, payloadFields, () => undefined);
  return Object.assign(payload, { txnId, txnState });
}
