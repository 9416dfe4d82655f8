// Options of a program, checked completely before any action: a wrong type or a misspelt name must not become a payment.
import * as v from 'valibot';
import { Failure } from '../formats/failure.js';
import { networks } from '../store/profile/profiles.js';

const text = v.optional(v.string());
const flag = v.optional(v.boolean());
const called = v.optional(v.function());
const decimal = v.pipe(
  v.string(),
  v.regex(/^\d{1,30}(\.\d{1,30})?$/, 'plain digits are needed, as in "0.5"'),
);
const signal = { signal: v.optional(v.instance(AbortSignal)) };
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
    'texts are needed: { percent } or { amount, ccy }',
  ),
);
const pay = {
  ...call,
  ref: text,
  note: text,
  maxFee,
  maxRateLoss: v.optional(decimal),
  approve: called,
  retry: flag,
};

const shapes = {
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

/** The unchanged options. Throws Failure `usage` unless `name` accepts them. */
export function checked<T>(name: keyof typeof shapes, given: T): T {
  const { success, issues } = v.safeParse(shapes[name], given);
  if (success) return given;
  throw new Failure(
    'usage',
    `${name}: ${v.getDotPath(issues[0]) ?? 'what was given'}: ${issues[0].message}.`,
  );
}
