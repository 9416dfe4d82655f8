// What shall go wrong on demand: with requests, payments and webhooks. Kept in the database, applied by count.
import Big from 'big.js';
import * as v from 'valibot';
import type { Store } from '../storage/database.js';
import type { Incoming } from '../http/http.js';
import { readJson, writeJson } from '../http/json.js';
import { notFound } from '../http/refusal.js';
import { states } from '../service/transitions.js';
import { deliveries } from '../unspecified.js';
import { duration } from '../http/values.js';

const whole = (min: number, max: number) =>
  v.pipe(v.instance(Big), v.transform(Number), v.integer(), v.minValue(min), v.maxValue(max));

const count = whole(1, 1_000_000);

/** Strikes from the `nth` match on, so many times. */
const strikes = {
  nth: v.optional(count, new Big(1)),
  times: v.optional(v.union([v.literal('always'), count]), new Big(1)),
};

/** Requests to the service. In a pattern `*` is any text without a slash, `**` any text. */
const request = {
  ...strikes,
  method: v.optional(v.pipe(v.string(), v.toUpperCase(), v.regex(/^[A-Z]+$/, 'an HTTP method is needed'))),
  /** Path without the query. */
  path: v.optional(v.pipe(v.string(), v.nonEmpty(), v.maxLength(500))),
};

/** A field of another kind of fault is a mistake, not something to pass over. */
const rule = <E extends v.ObjectEntries>(entries: E) => v.strictObject(entries, ({ expected, received, message }) => {
  if (expected === 'never') return 'this kind of fault has no such field';
  return received === 'undefined' ? 'this kind of fault needs it' : message;
});

/** State changes on their way to the webhook; of any state unless one is given. */
const event = { ...strikes, state: v.optional(v.picklist(states)) };

/** The rule of a fault. `commit` says whether the request is carried out all the same. */
export const faultRule = v.variant('kind', [
  rule({
    kind: v.literal('status'),
    ...request,
    status: whole(200, 599),
    /** The whole body; else it is `{ error, message }`. */
    body: v.optional(v.unknown()),
    error: v.optional(v.string()),
    message: v.optional(v.string()),
    /** Seconds, for the `Retry-After` header. */
    retryAfter: v.optional(whole(0, 86_400)),
    commit: v.optional(v.boolean(), false),
  }),
  rule({ kind: v.literal('latency'), ...request, delay: duration }),
  rule({ kind: v.literal('drop-before-commit'), ...request }),
  rule({ kind: v.literal('drop-after-commit'), ...request }),
  rule({ kind: v.literal('truncate'), ...request }),
  rule({
    kind: v.literal('html'),
    ...request,
    status: v.optional(whole(200, 599), new Big(502)),
    commit: v.optional(v.boolean(), false),
  }),
  rule({ kind: v.literal('no-answer'), ...request, commit: v.optional(v.boolean(), true) }),
  rule({
    kind: v.literal('payment'),
    ...strikes,
    outcome: v.picklist(['no-route', 'rejected', 'error']),
    /** Pattern of the invoice, address or account number that is paid. */
    destination: v.optional(v.pipe(v.string(), v.nonEmpty(), v.maxLength(2000)), '**'),
  }),
  rule({ kind: v.literal('webhook-duplicate'), ...event }),
  rule({
    kind: v.literal('webhook-out-of-order'),
    ...event,
    /** How long the event is held back while later ones overtake it. */
    delay: v.optional(duration, new Big(deliveries.heldBack)),
  }),
]);

export type FaultRule = v.InferOutput<typeof faultRule>;

/** A rule as it is handed in: durations may be text (`2s`), what has a default may be left out. */
export type NewFault = Plain<v.InferInput<typeof faultRule>>;
/** Numbers where the exact JSON reader has decimals. */
type Plain<T> = T extends Big ? number : T extends object ? { [K in keyof T]: Plain<T[K]> } : T;

export type RequestFault = Exclude<FaultRule, { kind: 'payment' | 'webhook-duplicate' | 'webhook-out-of-order' }>;
type PaymentFault = Extract<FaultRule, { kind: 'payment' }>;
export type PaymentOutcome = PaymentFault['outcome'];
type EventFault = Extract<FaultRule, { kind: 'webhook-duplicate' | 'webhook-out-of-order' }>;

/** A fault with how many matches it has met and how often it has struck. */
export type Fault = FaultRule & {
  readonly id: number;
  readonly seen: number;
  readonly applied: number;
  /** It has struck as often as it was to. */
  readonly spent: boolean;
};

const row = v.object({
  id: v.number(),
  rule: v.pipe(v.string(), v.transform(readJson), faultRule),
  seen: v.number(),
  applied: v.number(),
  spent: v.pipe(v.number(), v.transform((flag) => flag === 1)),
});

export function addFault(store: Store, rule: FaultRule): Fault {
  const { lastId: id } = store.run('INSERT INTO fault (rule) VALUES (?)', writeJson(rule));
  return { id, ...rule, seen: 0, applied: 0, spent: false };
}

export function listFaults(store: Store): Fault[] {
  const rows = store.all(row, 'SELECT id, rule, seen, applied, spent FROM fault ORDER BY id');
  return rows.map(({ id, rule, ...counts }) => ({ id, ...rule, ...counts }));
}

export function clearFaults(store: Store): void {
  store.run('DELETE FROM fault');
}

export function removeFault(store: Store, id: number): void {
  if (store.run('DELETE FROM fault WHERE id = ?', id).changes === 0) throw notFound();
}

/** The fault that strikes this request, if one does. */
export function takeRequestFault(store: Store, { method, target }: Incoming): RequestFault | undefined {
  const [path = ''] = target.split('?', 1);
  return strike(store, (rule): rule is RequestFault =>
    !isPaymentFault(rule) && !isEventFault(rule)
    && (rule.method ?? method) === method && (rule.path === undefined || fits(rule.path, path)));
}

/** How a payment to this destination shall end, if a fault says so. */
export function takePaymentFault(store: Store, destination: string): PaymentOutcome | undefined {
  const struck = strike(store, (rule): rule is PaymentFault =>
    isPaymentFault(rule) && fits(rule.destination, destination));
  return struck?.outcome;
}

/** How often and how much later (ms) a state change shall reach the webhook. */
export function takeEventFaults(store: Store, state: string): { copies: number; delay: number } {
  const concerns = (rule: FaultRule): rule is EventFault => isEventFault(rule) && (rule.state ?? state) === state;
  const twice = strike(store, (rule): rule is EventFault => concerns(rule) && rule.kind === 'webhook-duplicate');
  const late = strike(store, (rule): rule is EventFault => concerns(rule) && rule.kind === 'webhook-out-of-order');
  return { copies: twice === undefined ? 1 : 2, delay: late !== undefined && 'delay' in late ? late.delay : 0 };
}

/**
 * The first fault, in the order they were added, whose rule matches and that strikes now. A match counts for the faults
 * up to the one that strikes, so that several on one path strike one after the other.
 */
function strike<R extends FaultRule>(store: Store, matches: (rule: FaultRule) => rule is R): R | undefined {
  const waiting = store.recall(row, 'SELECT id, rule, seen, applied, spent FROM fault WHERE spent = 0 ORDER BY id');
  for (const { id, rule, seen, applied } of waiting) {
    if (!matches(rule)) continue;
    const strikes = seen + 1 >= rule.nth;
    const spent = strikes && rule.times !== 'always' && applied + 1 >= rule.times;
    store.run(
      'UPDATE fault SET seen = seen + 1, applied = applied + ?, spent = ? WHERE id = ?',
      Number(strikes), Number(spent), id,
    );
    if (strikes) return rule;
  }
  return undefined;
}

const isPaymentFault = (rule: FaultRule): rule is PaymentFault => rule.kind === 'payment';
const isEventFault = (rule: FaultRule): rule is EventFault => rule.kind.startsWith('webhook-');

/** Whether the pattern fits the whole text. */
function fits(pattern: string, text: string): boolean {
  const parts = pattern.split(/(\*+)/).map((part) => {
    if (part === '*') return '[^/]*';
    return part.startsWith('*') ? '.*' : part.replace(/[^\w/]/g, '\\$&');
  });
  return new RegExp(`^${parts.join('')}$`, 's').test(text);
}
