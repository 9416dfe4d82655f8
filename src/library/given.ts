// Checks all options of a program before any action, so that a wrong type or a misspelt name never
// becomes a payment.
import * as v from 'valibot';
import { Failure } from '../formats/failure.js';
import { nearest } from '../formats/nearest.js';
import { networks } from '../store/profile/profiles.js';

const text = v.optional(v.string());
const flag = v.optional(v.boolean());
const called = v.optional(v.function());
const decimal = v.pipe(
  v.string(),
  v.regex(/^\d{1,30}(\.\d{1,30})?$/, 'pass plain digits, such as "0.5"'),
);
const signal = { signal: v.optional(v.instance(AbortSignal)) };
const count = (least: number) => v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(least)));
const filled = v.pipe(v.string(), v.nonEmpty('is empty'));
const limits = { timeout: count(1), maxNetworkRetries: count(0) };
const call = {
  ...signal,
  on: called,
  wait: v.optional(
    v.union([v.pipe(v.number(), v.minValue(0)), v.picklist(['forever']), v.literal(false)]),
  ),
};
const maxFee = v.optional(
  v.union(
    [v.strictObject({ percent: decimal }), v.strictObject({ amount: decimal, ccy: v.string() })],
    'pass { percent } or { amount, ccy } with string values',
  ),
);
const pay = {
  ...call,
  ref: text,
  note: text,
  maxFee,
  maxRateLoss: v.optional(decimal),
  approve: called,
  again: flag,
  retry: flag,
};

const shapes = {
  WalletClient: v.strictObject({
    ...signal,
    ...limits,
    baseUrl: filled,
    apiKey: filled,
    apiSecret: filled,
    maker: text,
    accountId: text,
    onRequest: called,
    onResponse: called,
    transport: called,
    tokens: v.optional(v.object({ load: v.function(), save: v.function() })),
    userAgent: text,
    log: called,
  }),
  request: v.strictObject({ ...signal, ...limits }),
  autoPagingToArray: v.strictObject({ limit: v.pipe(v.number(), v.safeInteger(), v.minValue(0)) }),
  openPayments: v.strictObject({
    ...signal,
    client: v.object({}),
    journal: v.object({}),
    limits: v.optional(v.object({})),
    network: v.optional(v.picklist(networks)),
    on: called,
  }),
  send: v.strictObject({
    ...pay,
    to: v.string(),
    amount: text,
    spend: text,
    from: text,
    via: v.optional(v.picklist(['lightning', 'onchain'])),
    deductFees: flag,
  }),
  swap: v.strictObject({
    ...pay,
    amount: v.string(),
    from: v.string(),
    to: v.string(),
    receive: flag,
  }),
  payout: v.strictObject({ ...pay, body: v.object({}) }),
  receive: v.strictObject({
    ...signal,
    on: called,
    amount: v.string(),
    method: v.optional(v.picklist(['lightning', 'on-chain'])),
    ref: text,
    note: text,
  }),
  resume: v.strictObject({ ...call, ref: text }),
  pending: v.strictObject(signal),
  status: v.strictObject({ ...signal, ref: v.string() }),
};

type NamesOf<Name extends keyof typeof shapes> = keyof (typeof shapes)[Name]['entries'];
/**
 * Makes the compiler refuse an options type whose names differ from the names that `checked`
 * accepts.
 */
type WithNames<T, Names> = [keyof T, Names] extends [Names, keyof T] ? unknown : never;

/**
 * Checks the options against the schema `name`, and returns the options unchanged. Throws Failure
 * `usage` if the schema does not accept the options.
 */
export function checked<Name extends keyof typeof shapes, T>(
  name: Name,
  given: T & WithNames<T, NamesOf<Name>>,
): T {
  const shape = shapes[name];
  const { success, issues } = v.safeParse(shape, given);
  if (success) return given;
  const [issue] = issues;
  const option = v.getDotPath(issue);
  throw new Failure('usage', `${name}: ${problem(issue, option, Object.keys(shape.entries))}`);
}

function problem(
  { type, expected, received, message }: v.BaseIssue<unknown>,
  option: string | null,
  names: readonly string[],
): string {
  if (option === null) return `pass an object with ${names.join(', ')}.`;
  if (type === 'strict_object' && expected === 'never') {
    const meant = nearest(option, names);
    return meant === undefined
      ? `there is no option ${option}. The options are: ${names.join(', ')}.`
      : `there is no option ${option}. Did you mean ${meant}?`;
  }
  if (received === 'undefined') return `${option} is missing.`;
  if (type === 'non_empty') return `${option} is empty.`;
  const what = expected === null ? undefined : wanted[expected.replace(/ \| undefined$/, '')];
  if (what === undefined) return `${option}: ${message}.`;
  // The message does not quote a string that the caller passed, because the string may be a secret.
  const given = received.startsWith('"') ? 'a text' : received;
  return `${option} must be ${what}, not ${given}.`;
}

/** The words for each type of value that valibot expects. */
const wanted: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  boolean: 'true or false',
  Function: 'a function',
  AbortSignal: 'an AbortSignal',
  Object: 'an object',
  '>=0': 'a whole number of at least 0',
  '>=1': 'a whole number of at least 1',
};
