// The types of the library's payments: options, results and events. Also the shapes against which
// the library checks the options of a program.
import * as v from 'valibot';
import type { Transaction, TxnState } from '../api/types.js';
import type { Failure } from '../formats/failure.js';
import { option, optionsOf } from '../api/check-options.js';
import type { Journal } from '../store/journal/handle.js';
import type { PaymentStatus } from '../store/journal/payment.js';
import { networks, type Network } from '../formats/rails.js';
import type { Limits } from '../store/profile/profiles.js';
import type { Answer, QuotedCost } from '../wallet/payment/model.js';
import type { CreateTransaction, WalletClient } from './client.js';

/** The options of `openPayments`. */
export interface PaymentsOptions {
  /** The client, whose API key determines the account of all payments. */
  client: WalletClient;
  /**
   * The journal, which stores each step before svcpay sends the request. A payment that is lost
   * from the journal can be paid twice.
   */
  journal: Journal;
  /** The limits on spending. By default, spending is unlimited. */
  limits?: Partial<Limits> | undefined;
  /**
   * The budget that payments charge, from `svcpay budget add`. A payment that the budget leaves to
   * the owner is refused. By default, payments charge no budget.
   */
  budget?: string | undefined;
  /**
   * The network of accepted invoices and addresses. The default network is `mainnet` if the base
   * URL is https, otherwise `any`.
   */
  network?: Network | undefined;
  /** A signal that stops all calls, in addition to the signal of each call. */
  signal?: AbortSignal | undefined;
  /** Called with each step of every payment as it happens. */
  on?: ((event: PaymentEvent) => void) | undefined;
}

/** The options of every call. */
export interface CallOptions {
  /**
   * The longest wait for the payment to settle, in ms (default 30 000). With `wait: false`, the
   * call stops waiting once the service has accepted the confirmation.
   */
  wait?: number | 'forever' | false | undefined;
  /**
   * A signal that stops the call. When the signal fires, the call rejects with kind `pending` if
   * money may have moved, otherwise with kind `interrupted`.
   */
  signal?: AbortSignal | undefined;
  /**
   * Called with each step of this call as it happens. If `on` throws, the payment continues, and
   * the process emits a warning.
   */
  on?: ((event: PaymentEvent) => void) | undefined;
}

/** The options of every payment. */
export interface PayOptions extends CallOptions {
  /**
   * The caller's name for the payment. Calls with the same reference never pay twice. A call with
   * the reference of an unfinished payment resumes that payment.
   */
  ref?: string | undefined;
  /** A note for the caller, which the recipient does not see. */
  note?: string | undefined;
  /** The highest total fee: a percentage, or an amount in the currency of the wallet that pays. */
  maxFee?: { percent: string } | { amount: string; ccy: string } | undefined;
  /**
   * The largest loss in percent that a conversion may cause, compared with the service's own rates.
   */
  maxRateLoss?: string | undefined;
  /**
   * Receives the full cost before money moves, and resolves with true to approve the payment.
   * Without `approve`, the call itself approves in advance every quote within `maxFee`,
   * `maxRateLoss` and the limits, except a quote with unusual costs.
   */
  approve?: ((approval: Approval) => Promise<Answer>) | undefined;
  /**
   * Whether to pay even if a payment of the same amount to the same destination is submitted and
   * unfinished. If a call has neither `ref` nor an invoice, svcpay refuses to repeat an unfinished
   * payment unless the call passes `again` or `approve`.
   */
  again?: boolean | undefined;
  /**
   * Whether to make a further attempt after an attempt that failed or whose outcome is unknown.
   * With `retry`, you pay twice if the earlier attempt settles after all.
   */
  retry?: boolean | undefined;
}

/** A payment to another party. */
export interface Send extends PayOptions {
  /** An invoice, an address, an LNURL, a Lightning Address or a `bitcoin:` URI. */
  to: string;
  /**
   * The amount with its unit, as in `50000sat` or `25usdt`. An invoice needs no `amount`, because
   * the invoice has its own amount. If `from` is `BTC`, svcpay converts an amount such as `10usd`
   * at the current rate.
   */
  amount?: string | undefined;
  /**
   * The amount that leaves the wallet, given instead of `amount`. Only USDT and LNURL payments
   * accept `spend`.
   */
  spend?: string | undefined;
  /**
   * The currency of the wallet that pays, such as `USDT`. The default wallet depends on the
   * destination.
   */
  from?: string | undefined;
  /** The rail for a `bitcoin:` URI that offers an invoice and an address (default `lightning`). */
  via?: 'lightning' | 'onchain' | undefined;
  /** Whether to take the fees out of the amount, so that the recipient gets less. */
  deductFees?: boolean | undefined;
}

/** An exchange between two of the account's own wallets. */
export interface Swap extends PayOptions {
  /**
   * The amount, such as `25usdt` or `25`. The amount needs no unit, because `from` and `to` name
   * the wallets.
   */
  amount: string;
  from: string;
  to: string;
  /**
   * Whether `amount` is the amount that arrives in `to`, instead of the amount that leaves `from`.
   */
  receive?: boolean | undefined;
}

/** A fiat payout, with the create request body from the specification (endpoint 6, rule 7). */
export interface Payout extends PayOptions {
  body: CreateTransaction;
}

/** A request for money. */
export interface Receive extends Pick<CallOptions, 'signal' | 'on'> {
  /**
   * The amount, such as `50000sat`. A Lightning request may name a different currency, such as
   * `10usd`, converted at the current rate.
   */
  amount: string;
  method?: 'lightning' | 'on-chain' | undefined;
  /**
   * The caller's name for the payment request. Calls with the same reference create only one
   * payment request.
   */
  ref?: string | undefined;
  note?: string | undefined;
}

/**
 * The data that a payer needs. svcpay has checked the signature, amount and network of an invoice,
 * or the network of an address.
 */
export interface Received {
  transaction: Transaction;
  /** The invoice or the address. */
  payTo: string;
  /** A `lightning:` or `bitcoin:` URI, for a QR code. */
  uri: string;
  /** The expiry of the invoice or the address, in epoch ms by the service's clock. */
  expiresAt: number | undefined;
}

/**
 * A quote with its full cost, for approval before money moves. A call without `approve` refuses a
 * payment with unusual costs.
 */
export interface Approval extends QuotedCost {
  /** The kind of the payment, such as `send lightning`. */
  readonly kind: string;
  readonly destination: string;
  readonly transaction: Transaction;
  /**
   * An earlier payment, either recent or still under way, of the same amount to the same
   * destination.
   */
  readonly earlier: PaymentReport | undefined;
}

/** A step of a payment. After the event `submitting`, money may have moved. */
export type PaymentEvent =
  | { type: 'following' | 'submitting'; payment: PaymentReport }
  | { type: 'found' | 'state' | 'read'; transaction: Transaction }
  | { type: 'quoted'; approval: Approval }
  /** Reports a problem that does not stop the payment. */
  | { type: 'warning'; message: string };

/** A payment in the journal. */
export interface PaymentReport {
  ref: string;
  /** The kind of the payment, such as `send lightning`. */
  kind: string;
  status: PaymentStatus;
  txnId: string | undefined;
  /** The last known state of the latest transaction. */
  txnState: TxnState | undefined;
  /** Epoch ms. */
  openedAt: number;
  updatedAt: number;
}

/** The outcome of resuming an unfinished payment: its transaction, or the failure. */
export interface Resumed {
  ref: string;
  transaction: Transaction | undefined;
  failure: Failure | undefined;
}

/**
 * Each call pays at most once, even if the network, the service or the process fails, and makes the
 * same checks as the command line. A call resolves with the transaction in its last known state. A
 * call rejects with Failure `payment-failed` if the payment ended without paying, and with Failure
 * `pending` if the outcome of the payment is unknown. To continue a payment after `pending`, call
 * `resume`, or repeat the call with the same `ref`.
 */
export interface Payments {
  send(payment: Send): Promise<Transaction>;
  swap(swap: Swap): Promise<Transaction>;
  payout(payout: Payout): Promise<Transaction>;
  /** Requests money. Resolves with an invoice or an address, without moving money. */
  receive(request: Receive): Promise<Received>;
  /**
   * Finishes or reports every unfinished payment, or the payment with `ref`, e.g. after a crash.
   * The limit `wait` applies to all resumed payments together.
   */
  resume(options?: CallOptions & { ref?: string | undefined }): Promise<Resumed[]>;
  /** The unfinished payments of the journal, oldest first. */
  pending(options?: Pick<CallOptions, 'signal'>): Promise<PaymentReport[]>;
  /**
   * The report of a payment in the journal or, from the service, of a payment request. Resolves
   * with undefined if neither has this reference.
   */
  status(ref: string, options?: Pick<CallOptions, 'signal'>): Promise<PaymentReport | undefined>;
  /**
   * Waits until a payment or a payment request is final, and resolves with its transaction,
   * whatever its final state. Rejects with Failure `pending` after the limit `wait`, and
   * `not-found` without a transaction under the reference.
   */
  waitFor(ref: string, options?: CallOptions): Promise<Transaction>;
}

const decimal = v.pipe(
  v.string(),
  v.regex(/^\d{1,30}(\.\d{1,30})?$/, 'pass plain digits, such as "0.5"'),
);
const { text, flag, called } = option;
const signal = { signal: option.signal };
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

/** Checks the options that the functions of {@link Payments} accept. */
export const checked = {
  openPayments: optionsOf('openPayments', {
    ...signal,
    client: v.object({}),
    journal: v.object({}),
    limits: v.optional(v.object({})),
    budget: v.optional(v.string()),
    network: v.optional(v.picklist(networks)),
    on: called,
  }),
  send: optionsOf('send', {
    ...pay,
    to: v.string(),
    amount: text,
    spend: text,
    from: text,
    via: v.optional(v.picklist(['lightning', 'onchain'])),
    deductFees: flag,
  }),
  swap: optionsOf('swap', {
    ...pay,
    amount: v.string(),
    from: v.string(),
    to: v.string(),
    receive: flag,
  }),
  payout: optionsOf('payout', { ...pay, body: v.object({}) }),
  receive: optionsOf('receive', {
    ...signal,
    on: called,
    amount: v.string(),
    method: v.optional(v.picklist(['lightning', 'on-chain'])),
    ref: text,
    note: text,
  }),
  resume: optionsOf('resume', { ...call, ref: text }),
  pending: optionsOf('pending', signal),
  status: optionsOf('status', { ...signal, ref: v.string() }),
  waitFor: optionsOf('waitFor', { ...call, ref: v.string() }),
};
