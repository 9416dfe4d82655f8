// What the control endpoints of the sandbox answer, as far as it is used; the rest is passed on as it came.
import * as v from 'valibot';

/** `now` in epoch ms. */
export const clockSchema = v.object({ now: v.number(), frozen: v.boolean() });
export type SandboxClock = v.InferOutput<typeof clockSchema>;

const counts = v.record(v.string(), v.number());

export const walletSchema = v.object({ ccy: v.string(), amount: v.number(), availableBalance: v.number() });

const accountSchema = v.looseObject({
  accountId: v.string(),
  accountDisplayName: v.string(),
  wallets: v.array(v.looseObject(walletSchema.entries)),
});
export type SandboxAccount = v.InferOutput<typeof accountSchema>;

export const statusSchema = v.looseObject({
  baseUrl: v.string(),
  accountId: v.string(),
  clock: clockSchema,
  /** Ms until a payment request is paid by itself. */
  autoPay: v.union([v.number(), v.literal('off')]),
  accounts: v.array(accountSchema),
  /** How many there are, by state. */
  transactions: counts,
  faults: v.number(),
  deliveries: counts,
  /** How much is to happen later. */
  due: v.number(),
});
export type SandboxStatus = v.InferOutput<typeof statusSchema>;

export const snapshotSchema = v.looseObject({
  name: v.string(),
  /** Epoch ms of the machine. */
  savedAt: v.number(),
  clock: clockSchema,
  transactions: v.number(),
});
export type SandboxSnapshot = v.InferOutput<typeof snapshotSchema>;

/** A transfer on a blockchain after blocks were found. */
export const transferSchema = v.looseObject({
  id: v.string(),
  chain: v.string(),
  confirmations: v.number(),
  needed: v.number(),
});
export type MinedTransfer = v.InferOutput<typeof transferSchema>;

export const requestSchema = v.looseObject({
  /** Epoch ms. */
  at: v.number(),
  method: v.string(),
  path: v.string(),
  /** 0 when a fault left it unanswered. */
  status: v.number(),
  fault: v.nullable(v.string()),
});
export type SandboxRequest = v.InferOutput<typeof requestSchema>;

export const deliverySchema = v.looseObject({
  id: v.number(),
  txnId: v.string(),
  txnState: v.string(),
  status: v.string(),
  /** Epoch ms, as the next. */
  createdAt: v.number(),
  nextAttemptAt: v.nullable(v.number()),
  attempts: v.array(v.looseObject({ status: v.nullable(v.number()), error: v.nullable(v.string()) })),
});
export type SandboxDelivery = v.InferOutput<typeof deliverySchema>;

/** Which fields a fault has depends on its kind. */
export const faultSchema = v.looseObject({
  id: v.number(),
  kind: v.string(),
  nth: v.number(),
  times: v.union([v.number(), v.literal('always')]),
  applied: v.number(),
  spent: v.boolean(),
  method: v.optional(v.string()),
  path: v.optional(v.string()),
  destination: v.optional(v.string()),
  state: v.optional(v.string()),
  txn: v.optional(v.string()),
  status: v.optional(v.number()),
  outcome: v.optional(v.string()),
  delay: v.optional(v.number()),
  retryAfter: v.optional(v.number()),
  commitAfter: v.optional(v.number()),
  ago: v.optional(v.number()),
  steps: v.optional(v.number()),
});
export type SandboxFault = v.InferOutput<typeof faultSchema>;

/** A list in its envelope. */
export const listOf = <T>(item: v.GenericSchema<unknown, T>) => v.object({ data: v.array(item) });
