// Faults that the sandbox injects into requests, payments and webhooks. The database stores each
// fault, and how often it was applied.
import * as v from 'valibot';
import type { Fault } from '../formats/sandbox/answers.js';
import type { Store } from './database.js';
import {
  readJson,
  writeJson,
  notFound,
  states,
  type State,
  json,
  duration,
  durationIn,
  numberOrText,
  whole,
} from './wire.js';
import { deliveries } from './unspecified.js';

const flag = v.pipe(
  v.custom<boolean>((given) => /^(?:true|false)$/.test(String(given)), 'must be true or false'),
  v.transform((given) => String(given) === 'true'),
);

const count = whole(1, 1_000_000);

/**
 * The fields that limit how often a fault applies: to `times` matches, beginning with the `nth`
 * match.
 */
const countFields = {
  nth: v.optional(count, 1),
  times: v.optional(v.union([v.literal('always'), count], 'must be a number, or always'), 1),
};

/**
 * A filter for requests. In a pattern, `*` matches any text without a slash, and `**` matches any
 * text.
 */
const request = {
  ...countFields,
  method: v.optional(
    v.pipe(v.string(), v.toUpperCase(), v.regex(/^[A-Z]+$/, 'must be an HTTP method')),
  ),
  /** A pattern that the path, without the query string, must match. */
  path: v.optional(v.pipe(v.string(), v.nonEmpty(), v.maxLength(500))),
};

/** The schema of one kind of fault, which refuses fields of other kinds of fault. */
const rule = <K extends string, E extends v.ObjectEntries>(kind: K, entries: E) =>
  v.strictObject({ kind: v.literal(kind), ...entries }, ({ expected, received, message }) => {
    if (expected === 'never')
      return `this kind of fault has only the fields ${Object.keys(entries).join(', ')}`;
    return received === 'undefined' ? 'this kind of fault requires this field' : message;
  });

/**
 * The time at which the service processes a request despite the fault: before the response
 * (`commit`), or a delay after the response (`commitAfter`).
 */
const effect = (commit: boolean) => ({
  commit: v.optional(flag, commit),
  commitAfter: v.optional(duration),
});

/**
 * The request filter of faults that falsify transactions in responses. If the filter omits the
 * method, the fault applies to GET requests.
 */
const reads = { ...request, method: v.optional(request.method, 'GET') };

/** A pattern that the paid invoice, address or account number must match. */
const destination = v.optional(v.pipe(v.string(), v.nonEmpty(), v.maxLength(2000)), '**');

const event = { ...countFields, state: v.optional(v.picklist(states)) };

export const faultRule = v.variant('kind', [
  rule('status', {
    ...request,
    status: whole(200, 599),
    /** The complete body of the response, by default `{ error, message }`. */
    body: v.optional(v.unknown()),
    error: v.optional(v.string()),
    message: v.optional(v.string()),
    /** The value of the `Retry-After` header, in seconds. */
    retryAfter: v.optional(durationIn(1000, 86_400)),
    ...effect(false),
  }),
  rule('latency', { ...request, delay: duration }),
  rule('drop-before-commit', { ...request }),
  rule('drop-after-commit', { ...request }),
  rule('truncate', { ...request }),
  rule('html', { ...request, status: v.optional(whole(200, 599), 502), ...effect(false) }),
  rule('no-answer', { ...request, ...effect(true) }),
  /**
   * Answers a confirmation or cancellation with the unchanged transaction, and processes the
   * request later.
   */
  rule('late-effect', { ...request, method: v.optional(request.method, 'PUT'), delay: duration }),
  rule('stale', {
    ...reads,
    /**
     * Shows transactions as they were this long ago, and hides transactions that did not exist
     * then.
     */
    ago: v.optional(duration, 0),
    /**
     * Shows transactions as they were this many state changes ago, but not before their first
     * state.
     */
    steps: v.optional(whole(0, 100), 0),
  }),
  rule('false-state', { ...reads, state: v.picklist(states) }),
  /** Omits the transaction `txn` from lists, or the first row of the page if `txn` is not set. */
  rule('missing-row', { ...reads, txn: v.optional(v.pipe(v.string(), v.nonEmpty())) }),
  rule('reference-reuse', { ...countFields }),
  rule('double-payment', { ...countFields, destination }),
  rule('payment', {
    ...countFields,
    outcome: v.picklist(['no-route', 'rejected', 'error']),
    destination,
  }),
  /** Multiplies the settled amount of one side by the factor. */
  rule('settled-amount', {
    ...countFields,
    side: v.picklist(['source', 'dest']),
    factor: v.pipe(numberOrText, v.gtValue(0), v.maxValue(10)),
    destination,
  }),
  /** Reports a completed send as failed or rejected after a delay, and returns the money. */
  rule('returned', {
    ...countFields,
    state: v.optional(v.picklist(['failed', 'rejected']), 'failed'),
    delay: v.optional(duration, 60_000),
    destination,
  }),
  rule('webhook-duplicate', { ...event }),
  rule('webhook-out-of-order', {
    ...event,
    /** The delay of an event that the fault delivers out of order. */
    delay: v.optional(duration, deliveries.heldBack),
  }),
]);

export const faultKinds = faultRule.options.map(({ entries }) => entries.kind.literal);
export const faultFields = [
  ...new Set(faultRule.options.flatMap(({ entries }) => Object.keys(entries).slice(1))),
];

type FaultRule = v.InferOutput<typeof faultRule>;

/** A delay as a number of ms, or as text with a unit, such as `2s`. */
export type FaultDelay = number | string;

/**
 * The number of matches to which a fault applies (`times`, default 1), and the first of these
 * matches (`nth`, default 1).
 */
export interface FaultCount {
  nth?: number | undefined;
  times?: number | 'always' | undefined;
}

/**
 * The requests to which a fault applies. In the pattern of a path, `*` matches any text without a
 * slash, and `**` matches any text.
 */
export interface RequestFault extends FaultCount {
  method?: string | undefined;
  path?: string | undefined;
}

/**
 * The time at which the service processes a request despite the fault: before the response
 * (`commit`), or a delay after the response (`commitAfter`).
 */
export interface FaultEffect {
  commit?: boolean | undefined;
  commitAfter?: FaultDelay | undefined;
}

/** A fault to inject. */
export type NewFault =
  | (RequestFault &
      FaultEffect & {
        kind: 'status';
        status: number;
        body?: unknown | undefined;
        error?: string | undefined;
        message?: string | undefined;
        retryAfter?: number | undefined;
      })
  | (RequestFault & { kind: 'latency' | 'late-effect'; delay: FaultDelay })
  | (RequestFault & { kind: 'drop-before-commit' | 'drop-after-commit' | 'truncate' })
  | (RequestFault & FaultEffect & { kind: 'html'; status?: number | undefined })
  | (RequestFault & FaultEffect & { kind: 'no-answer' })
  | (RequestFault & { kind: 'stale'; ago?: FaultDelay | undefined; steps?: number | undefined })
  | (RequestFault & { kind: 'false-state'; state: State })
  | (RequestFault & { kind: 'missing-row'; txn?: string | undefined })
  | (FaultCount & { kind: 'reference-reuse' })
  | (FaultCount & { kind: 'double-payment'; destination?: string | undefined })
  | (FaultCount & {
      kind: 'payment';
      outcome: 'no-route' | 'rejected' | 'error';
      destination?: string | undefined;
    })
  | (FaultCount & {
      kind: 'settled-amount';
      side: 'source' | 'dest';
      factor: number;
      destination?: string | undefined;
    })
  | (FaultCount & {
      kind: 'returned';
      state?: 'failed' | 'rejected' | undefined;
      delay?: FaultDelay | undefined;
      destination?: string | undefined;
    })
  | (FaultCount & {
      kind: 'webhook-duplicate' | 'webhook-out-of-order';
      state?: State | undefined;
      delay?: FaultDelay | undefined;
    });

/**
 * The kinds of fault that change the response. At most one fault that changes the response applies
 * to a request.
 */
const answerKinds = [
  'status',
  'latency',
  'drop-before-commit',
  'drop-after-commit',
  'truncate',
  'html',
  'no-answer',
  'late-effect',
] as const;

type Of<K extends FaultRule['kind']> = Extract<FaultRule, { kind: K }>;
export type AnswerFault = Of<(typeof answerKinds)[number]>;
export type PaymentOutcome = Of<'payment'>['outcome'];

const row = v.pipe(
  v.object({
    id: v.number(),
    rule: json(faultRule, readJson),
    seen: v.number(),
    applied: v.number(),
  }),
  v.transform(({ id, rule, seen, applied }) => {
    const spent = rule.times !== 'always' && applied >= rule.times;
    return { id, ...rule, seen, applied, spent };
  }),
);

export type ReadFault = NonNullable<ReturnType<typeof takeReadFaults>>;

export function addFault(store: Store, rule: FaultRule): Fault {
  const id = store.insert('fault', { rule: writeJson(rule) });
  return { id, ...rule, seen: 0, applied: 0, spent: false };
}

/** Adds a fault of this kind with `times: always`, unless such a fault exists already. */
export function alwaysFault(store: Store, kind: 'reference-reuse' | 'double-payment'): void {
  const exists = listFaults(store).some((fault) => fault.kind === kind && fault.times === 'always');
  if (!exists) addFault(store, v.parse(faultRule, { kind, times: 'always' }));
}

export const listFaults = (store: Store): (Fault & FaultRule)[] =>
  store.all(row, 'SELECT * FROM fault ORDER BY id');

export function clearFaults(store: Store): void {
  store.run('DELETE FROM fault');
}

export function removeFault(store: Store, id: number): void {
  if (store.run('DELETE FROM fault WHERE id = ?', id) === 0) throw notFound();
}

/** The kinds of fault that change the response. At most one of them applies to a request. */
export const takeAnswerFault = (store: Store, incoming: Requested): AnswerFault | undefined =>
  takeFault(store, answerKinds, concerns(incoming));

/**
 * Finds the faults that falsify the transactions in the response to a request, and counts the
 * request as a match of these faults.
 */
export function takeReadFaults(store: Store, incoming: Requested) {
  const matches = concerns(incoming);
  const lag = takeFault(store, ['stale'], matches);
  const state = takeFault(store, ['false-state'], matches)?.state;
  if (lag === undefined && state === undefined) return undefined;
  return { kind: lag?.kind ?? ('false-state' as const), lag, state };
}

/** Returns the rows of a list without the row that a fault hides. */
export function withoutMissingRow<T extends { readonly id: string }>(
  store: Store,
  incoming: Requested,
  rows: readonly T[],
): readonly T[] {
  const matches = concerns(incoming);
  const fault = takeFault(
    store,
    ['missing-row'],
    (rule) => matches(rule) && rows.some(({ id }) => id === (rule.txn ?? id)),
  );
  const missing = fault === undefined ? undefined : (fault.txn ?? rows[0]?.id);
  return missing === undefined ? rows : rows.filter(({ id }) => id !== missing);
}

/**
 * Returns the number of times that the service delivers an event, and the delay of the event in ms.
 */
export function takeEventFaults(store: Store, state: string): { copies: number; delay: number } {
  const isOf = (rule: { state?: string | undefined }): boolean => (rule.state ?? state) === state;
  const twice = takeFault(store, ['webhook-duplicate'], isOf);
  const late = takeFault(store, ['webhook-out-of-order'], isOf);
  return { copies: twice === undefined ? 1 : 2, delay: late?.delay ?? 0 };
}

interface Requested {
  readonly method: string;
  /** The path and the query of the request. */
  readonly target: string;
}

/** Whether a fault applies to a request. */
const concerns =
  ({ method, target }: Requested) =>
  (rule: RequestFault): boolean => {
    const [path = ''] = target.split('?', 1);
    return (rule.method ?? method) === method && (rule.path === undefined || fits(rule.path, path));
  };

/** Whether a fault applies to the payment of an invoice, address or account number. */
export const pays =
  (paid: string) =>
  (rule: { destination: string }): boolean =>
    fits(rule.destination, paid);

/**
 * Returns the oldest fault of the given kinds that matches and applies now. Checks the matching
 * faults from the oldest to the newest, counts the match for each checked fault, and stops at the
 * first fault that applies, so that several faults on one path apply one after the other.
 * Without `counts`, only asks for the fault.
 */
export function takeFault<K extends FaultRule['kind']>(
  store: Store,
  kinds: readonly K[],
  matches: (rule: Of<K>) => boolean = () => true,
  counts = true,
): Of<K> | undefined {
  const isOf = (rule: FaultRule): rule is Of<K> => kinds.some((kind) => kind === rule.kind);
  for (const fault of listFaults(store)) {
    const { id, spent, seen, nth } = fault;
    if (spent || !isOf(fault) || !matches(fault)) continue;
    const applies = seen + 1 >= nth;
    if (counts) {
      store.run(
        'UPDATE fault SET seen = seen + 1, applied = applied + ? WHERE id = ?',
        Number(applies),
        id,
      );
    }
    if (applies) return fault;
  }
  return undefined;
}

function fits(pattern: string, text: string): boolean {
  const parts = pattern.split(/(\*+)/).map((part) => {
    if (part === '*') return '[^/]*';
    return part.startsWith('*') ? '.*' : part.replace(/[^\w/]/g, '\\$&');
  });
  return new RegExp(`^${parts.join('')}$`, 's').test(text);
}
