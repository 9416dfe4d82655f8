// Reads the payload of a webhook delivery, even if it deviates from the specification (see "Events"
// in the specification). Keeps unknown fields.
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
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
 * The payload of a webhook delivery (see "Events" in the specification). The payload may have
 * fields that the specification does not contain.
 */
export interface WebhookEvent {
  txnId: string;
  /** The caller's reference for the payment, if the caller set a reference. */
  extRefId?: string | null | undefined;
  /**
   * The state of the transaction, such as `completed` (see "States and transitions" in the
   * specification).
   */
  txnState: TxnState;
  /** The service's message about the state, which may be empty. */
  msg?: string | null | undefined;
  /** The time of the state change in epoch ms. */
  updatedAt?: number | null | undefined;
}

/**
 * A stored event with its payload, or without a payload if the body does not match the
 * specification.
 */
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
 * Returns the id of an event. Two events have the same id only if their bodies are identical. The
 * number of an event in the inbox is not a suitable id, because a different event can have that
 * number after a restore or in a different home.
 */
export const eventIdOf = (body: Uint8Array): string => bytesToHex(sha256(body)).slice(0, 32);

const utf8 = new TextDecoder('utf-8', { fatal: true });

function textOf(body: Uint8Array): string {
  try {
    return utf8.decode(body);
  } catch {
    return '';
  }
}

/**
 * Reads the payload from the body of a delivery. Returns undefined if the body does not contain a
 * transaction id and a state.
 */
export function readPayload(body: Uint8Array): WebhookEvent | undefined {
  const payload = within(jsonIn(textOf(body)), 'txnId');
  if (!isFields(payload)) return undefined;
  const [txnId, txnState] = [name.read(payload['txnId']), word.read(payload['txnState'])];
  if (txnId === undefined || txnState === undefined) return undefined;
  readInPlace(payload, payloadFields);
  return Object.assign(payload, { txnId, txnState });
}
