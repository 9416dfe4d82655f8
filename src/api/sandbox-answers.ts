// Responses of the sandbox's control endpoints; unused fields are passed on.
import * as v from 'valibot';

/** `now` in epoch ms. */
export const clockSchema = v.object({ now: v.number(), frozen: v.boolean() });
export type SandboxClock = v.InferOutput<typeof clockSchema>;

const counts = v.record(v.string(), v.number());

export const walletSchema = v.object({
  ccy: v.string(),
  amount: v.number(),
  availableBalance: v.number(),
});

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
  /** Ms until a payment request is paid automatically. */
  autoPay: v.union([v.number(), v.literal('off')]),
  accounts: v.array(accountSchema),
  /** Count by state. */
  transactions: counts,
  faults: v.number(),
  deliveries: counts,
  /** Number of scheduled actions. */
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
  /** 0 if a fault left it unanswered. */
  status: v.number(),
  fault: v.nullable(v.string()),
});
export type SandboxRequest = v.InferOutput<typeof requestSchema>;

export const deliverySchema = v.looseObject({
  id: v.number(),
  txnId: v.string(),
  txnState: v.string(),
  status: v.string(),
  /** Epoch ms, like the next. */
  createdAt: v.number(),
  nextAttemptAt: v.nullable(v.number()),
  attempts: v.array(
    v.looseObject({ status: v.nullable(v.number()), error: v.nullable(v.string()) }),
  ),
});
export type SandboxDelivery = v.InferOutput<typeof deliverySchema>;

/** The fields depend on the kind. */
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

export const listOf = <T>(item: v.GenericSchema<unknown, T>) => v.object({ data: v.array(item) });
