// Signs and verifies webhook deliveries (see "Authentication" in the specification), reads their
// payload even if it deviates from the specification (see "Events"), and compares an event with the
// other events of its transaction. Runs without Node, because functions at the edge verify
// deliveries too.
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { isFields, jsonIn } from '../formats/text.js';
import type {
  EarlierEvent,
  EventPlace,
  ReceivedEvent,
  StoredEvent,
} from '../store/events/event-store.js';
import type { TxnState } from '../api/types.js';
import { type FieldsOf, instant, name, readInPlace, text, within, word } from '../api/reading.js';
import { isFinal } from '../formats/states.js';
import { hmac } from '@noble/hashes/hmac.js';

/** Returns the signature of a body in lowercase hex. The key is the UTF-8 text of the secret. */
export const signBody = (body: Uint8Array, secret: string): string =>
  bytesToHex(hmac(sha256, utf8ToBytes(secret), body));

/** Checks a signature in constant time, and accepts a signature only in lowercase hex. */
export function verifyBody(body: Uint8Array, signature: string, secret: string): boolean {
  if (!isSignature(signature)) return false;
  const expected = signBody(body, secret);
  let difference = 0;
  for (let i = 0; i < expected.length; i += 1)
    difference |= expected.charCodeAt(i) ^ signature.charCodeAt(i);
  return difference === 0;
}

export const isSignature = (text: string): boolean => /^[0-9a-f]{64}$/.test(text);

/** The name of the signature header, such as `X-Acmepay-Signature` for the service name `acme`. */
export function signatureHeader(serviceName: string): string {
  return `X-${serviceName.charAt(0).toUpperCase()}${serviceName.slice(1)}pay-Signature`;
}

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

/**
 * The direct transitions between states, earliest first (see "States and transitions" in the
 * specification). A transaction in any state that is not final can also fail.
 */
const next: Readonly<Record<string, readonly string[]>> = {
  quoted: ['srcintent', 'srccreated', 'completed', 'expired', 'usercanceled'],
  srcintent: ['srccreated', 'expired'],
  srccreated: ['destsent', 'completed', 'expired'],
  destsent: ['completed'],
};

const failures: readonly string[] = ['failed', 'rejected', 'error'];
const ranks = Object.keys(next);

/**
 * Returns the rank of a state in the order of transitions. A final state has the last rank, and an
 * unknown state has rank -1.
 */
const rankOf = (state: string): number => (isFinal(state) ? ranks.length : ranks.indexOf(state));

const first: EventPlace = { duplicateOf: null, outOfOrder: false, missing: [] };

/** @param earlier the earlier events of the same transaction, in any order, without duplicates */
export function placeOf(
  { txnState, updatedAt }: ReceivedEvent,
  earlier: readonly EarlierEvent[],
): EventPlace {
  if (txnState === null || updatedAt === null || earlier.length === 0) return first;
  const same = earlier.find((each) => each.txnState === txnState && each.updatedAt === updatedAt);
  if (same !== undefined) return { ...first, duplicateOf: same.id };
  const event = { txnState, updatedAt };
  const latest = earlier.reduce((a, b) => (isAfter(b, a) ? b : a));
  return isAfter(latest, event)
    ? { ...first, outOfOrder: true }
    : { ...first, missing: statesBetween(latest.txnState, txnState) };
}

type Moment = Pick<EarlierEvent, 'txnState' | 'updatedAt'>;

/**
 * Whether event `a` comes after event `b`, by their states, or by their times if the order of the
 * states is undefined.
 */
function isAfter(a: Moment, b: Moment): boolean {
  const [rankA, rankB] = [rankOf(a.txnState), rankOf(b.txnState)];
  const decides = rankA >= 0 && rankB >= 0 && rankA !== rankB;
  return decides ? rankA > rankB : a.updatedAt > b.updatedAt;
}

/**
 * Returns the states on the shortest path between two states, or an empty list if no path is known.
 */
export function statesBetween(from: string, to: string): string[] {
  if (failures.includes(to)) return [];
  const paths: string[][] = [[from]];
  for (const path of paths) {
    const state = path.at(-1) ?? '';
    if (state === to) return path.slice(1, -1);
    for (const following of next[state] ?? []) paths.push([...path, following]);
  }
  return [];
}

/**
 * Returns the states between the events of one transaction for which no event arrived, in the order
 * of transitions.
 */
export function gapsOf(events: readonly Moment[]): string[] {
  const ordered = events.toSorted((a, b) => (isAfter(a, b) ? 1 : isAfter(b, a) ? -1 : 0));
  return ordered.flatMap(({ txnState }, index) => {
    const before = ordered[index - 1];
    return before === undefined ? [] : statesBetween(before.txnState, txnState);
  });
}
