// Defines the results of the sandbox's control endpoints, which the test fixture and the sandbox
// commands read. The option `--fields` of a sandbox command accepts the field names of its result.
import type { Big } from 'big.js';
import * as v from 'valibot';

/** The contents and the scheduled actions of the sandbox. */
export interface SandboxStatus {
  readonly baseUrl: string;
  readonly accountId: string;
  /** The service's clock. `now` is in epoch ms. */
  readonly clock: { readonly now: number; readonly frozen: boolean };
  /** Milliseconds until the automatic payer pays a payment request. */
  readonly autoPay: number | 'off';
  readonly accounts: readonly {
    readonly accountId: string;
    readonly accountDisplayName: string;
    readonly parentAccountId: string | null;
    readonly wallets: readonly {
      readonly ccy: string;
      readonly amount: number;
      readonly availableBalance: number;
    }[];
  }[];
  /** The number of transactions by state. */
  readonly transactions: Readonly<Record<string, number>>;
  /** The number of faults that can still apply. */
  readonly faults: number;
  /** The number of deliveries by status. */
  readonly deliveries: Readonly<Record<string, number>>;
  /** The number of scheduled actions. */
  readonly due: number;
}

export type ClockState = SandboxStatus['clock'];
export type SandboxAccount = SandboxStatus['accounts'][number];
export type SandboxWallet = SandboxAccount['wallets'][number];

export const clockAnswer = v.object({
  now: v.number(),
  frozen: v.boolean(),
}) satisfies Answer<ClockState>;

export const walletAnswer = v.object({
  ccy: v.string(),
  amount: v.number(),
  availableBalance: v.number(),
}) satisfies Answer<SandboxWallet>;

const counts = v.record(v.string(), v.number());

export const statusAnswer = v.object({
  baseUrl: v.string(),
  accountId: v.string(),
  clock: clockAnswer,
  autoPay: v.union([v.number(), v.literal('off')]),
  accounts: v.array(
    v.object({
      accountId: v.string(),
      accountDisplayName: v.string(),
      parentAccountId: v.nullable(v.string()),
      wallets: v.array(walletAnswer),
    }),
  ),
  transactions: counts,
  faults: v.number(),
  deliveries: counts,
  due: v.number(),
}) satisfies Answer<SandboxStatus>;

/** The API key and secret of an account of the sandbox. */
export interface Credentials {
  readonly apiKey: string;
  readonly apiSecret: string;
  readonly accountId: string;
}

export const credentialsAnswer = v.object({
  apiKey: v.string(),
  apiSecret: v.string(),
  accountId: v.string(),
}) satisfies Answer<Credentials>;

/**
 * A snapshot of the sandbox. `savedAt` is the machine's time in epoch ms, and `clock` is the
 * service's clock at the time `savedAt`.
 */
export interface Snapshot {
  readonly name: string;
  readonly savedAt: number;
  readonly clock: { readonly now: number; readonly frozen: boolean };
  readonly transactions: number;
}

export const snapshotAnswer = v.object({
  name: v.string(),
  savedAt: v.number(),
  clock: clockAnswer,
  transactions: v.number(),
}) satisfies Answer<Snapshot>;

export const chains = ['bitcoin', 'tron', 'ethereum'] as const;

/**
 * A blockchain transfer. `id` is the id of the service's transaction or deposit to which the
 * transfer belongs.
 */
export interface Transfer {
  readonly id: string;
  readonly chain: (typeof chains)[number];
  readonly confirmations: number;
  readonly needed: number;
}

export const transferAnswer = v.object({
  id: v.string(),
  chain: v.picklist(chains),
  confirmations: v.number(),
  needed: v.number(),
}) satisfies Answer<Transfer>;

/** A Lightning invoice of an external node. */
export interface OutsideInvoice {
  readonly invoice: string;
  readonly paymentHash: string;
  readonly amount: number;
  readonly expiresAt: number;
}

export const invoiceAnswer = v.object({
  invoice: v.string(),
  paymentHash: v.string(),
  amount: v.number(),
  expiresAt: v.number(),
}) satisfies Answer<OutsideInvoice>;

/**
 * A payment from outside the service, which belongs to a transaction or is a deposit to a permanent
 * address.
 */
export type Paid =
  | { readonly txnId: string; readonly txnState: string }
  | {
      readonly depositId: string;
      readonly ccy: string;
      readonly amount: number;
      readonly confirmations: number;
      readonly needed: number;
    };

export const paidAnswer = v.union([
  v.object({ txnId: v.string(), txnState: v.string() }),
  v.object({
    depositId: v.string(),
    ccy: v.string(),
    amount: v.number(),
    confirmations: v.number(),
    needed: v.number(),
  }),
]) satisfies Answer<Paid>;

/** A logged request and the response of the service. */
export interface LoggedRequest {
  /** The time of the request in epoch ms, by the service's clock. */
  readonly at: number;
  readonly method: string;
  readonly path: string;
  /** The HTTP status of the response, or 0 if a fault left the request unanswered. */
  readonly status: number;
  readonly requestBody: string;
  readonly responseBody: string;
  /**
   * The kind of the fault that changed or lost the response or, without a fault, a note such as
   * `repeated signature`.
   */
  readonly fault: string | null;
}

export const requestAnswer = v.object({
  at: v.number(),
  method: v.string(),
  path: v.string(),
  status: v.number(),
  requestBody: v.string(),
  responseBody: v.string(),
  fault: v.nullable(v.string()),
}) satisfies Answer<LoggedRequest>;

/**
 * One attempt to post a delivery. `at` is a time of the service's clock, and `durationMs` is
 * measured with the machine's clock.
 */
export interface Attempt {
  readonly at: number;
  readonly callback: string;
  readonly signature: string;
  readonly status: number | null;
  readonly error: string | null;
  readonly durationMs: number;
}

export const attemptAnswer = v.object({
  at: v.number(),
  callback: v.string(),
  signature: v.string(),
  status: v.nullable(v.number()),
  error: v.nullable(v.string()),
  durationMs: v.number(),
}) satisfies Answer<Attempt>;

/**
 * The statuses of a delivery. A `scheduled` delivery is not due yet, a `sending` delivery is due,
 * and every other status is final.
 */
export const deliveryStatuses = [
  'scheduled',
  'sending',
  'delivered',
  'failed',
  'canceled',
] as const;

/** The delivery of an event to a webhook. Times are in epoch ms by the service's clock. */
export interface Delivery {
  readonly id: number;
  readonly webhookId: string;
  readonly accountId: string;
  readonly txnId: string;
  readonly txnState: string;
  /** The exact text that the service signed. */
  readonly body: string;
  readonly status: 'scheduled' | 'sending' | 'delivered' | 'failed' | 'canceled';
  readonly createdAt: number;
  /** The time of the next attempt, or null if the delivery is final. */
  readonly nextAttemptAt: number | null;
  readonly attempts: readonly Attempt[];
}

export const deliveryAnswer = v.object({
  id: v.number(),
  webhookId: v.string(),
  accountId: v.string(),
  txnId: v.string(),
  txnState: v.string(),
  body: v.string(),
  status: v.picklist(deliveryStatuses),
  createdAt: v.number(),
  nextAttemptAt: v.nullable(v.number()),
  attempts: v.array(attemptAnswer),
}) satisfies Answer<Delivery>;

/**
 * A fault that the sandbox injects. `seen` counts how often the fault matched, `applied` counts how
 * often the sandbox applied the fault, and `spent` means that the sandbox will not apply the fault
 * again.
 */
export interface Fault {
  readonly id: number;
  readonly kind: string;
  readonly nth: number;
  readonly times: number | 'always';
  readonly seen: number;
  readonly applied: number;
  readonly spent: boolean;
  // The fields from `method` to `steps` are present only for some kinds of fault.
  readonly method?: string | undefined;
  readonly path?: string | undefined;
  readonly destination?: string | undefined;
  readonly state?: string | undefined;
  readonly txn?: string | undefined;
  readonly status?: number | undefined;
  readonly error?: string | undefined;
  readonly message?: string | undefined;
  readonly body?: unknown;
  readonly outcome?: string | undefined;
  readonly side?: string | undefined;
  readonly factor?: number | undefined;
  /** `delay` and `commitAfter` are in ms. */
  readonly delay?: number | undefined;
  readonly commitAfter?: number | undefined;
  readonly commit?: boolean | undefined;
  /** The value of the `Retry-After` header, in seconds. */
  readonly retryAfter?: number | undefined;
  readonly ago?: number | undefined;
  readonly steps?: number | undefined;
}

const text = v.optional(v.string());
const count = v.optional(v.number());

export const faultAnswer = v.object({
  id: v.number(),
  kind: v.string(),
  nth: v.number(),
  times: v.union([v.number(), v.literal('always')]),
  seen: v.number(),
  applied: v.number(),
  spent: v.boolean(),
  method: text,
  path: text,
  destination: text,
  state: text,
  txn: text,
  status: count,
  error: text,
  message: text,
  body: v.optional(v.unknown()),
  outcome: text,
  side: text,
  factor: count,
  delay: count,
  commitAfter: count,
  commit: v.optional(v.boolean()),
  retryAfter: count,
  ago: count,
  steps: count,
}) satisfies Answer<Fault>;

type Answer<T> = v.GenericSchema<unknown, T>;

/**
 * The type of a response before its conversion to JSON, when a number may still be an exact
 * decimal.
 */
export type Unserialized<T> = T extends number
  ? number | Big
  : T extends object
    ? { readonly [K in keyof T]: Unserialized<T[K]> }
    : T;

interface WithEntries {
  readonly entries: Readonly<Record<string, unknown>>;
}

const hasEntries = (schema: unknown): schema is WithEntries =>
  typeof schema === 'object' && schema !== null && 'entries' in schema;

/**
 * Lists the names of a response's fields. The name of a nested field contains a dot, such as
 * `clock.now`.
 */
export const fieldNames = ({ entries }: WithEntries): string[] =>
  Object.entries(entries).flatMap(([name, inner]) => [
    name,
    ...(hasEntries(inner) ? fieldNames(inner).map((each) => `${name}.${each}`) : []),
  ]);
