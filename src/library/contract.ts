// The payments of the library: options, answers and events.
import type { Transaction, TxnState } from '../api/types.js';
import type { Money } from '../formats/amount.js';
import type { Failure } from '../formats/failure.js';
import type { Journal } from '../store/journal/handle.js';
import type { PaymentStatus } from '../store/journal/payment.js';
import type { Limits, Network } from '../store/profile/profiles.js';
import type { Answer } from '../wallet/payment/contract.js';
import type { Quote } from '../wallet/quote/quote.js';
import type { WalletClient } from './client.js';
import type { CreateTransaction } from './create-transaction.js';

/** What `openPayments` is given. */
export interface PaymentsOptions {
  /** The client. Payments act in the account of its key. */
  client: WalletClient;
  /**
   * The journal stores each step before its request is sent. A payment that is lost from the
   * journal can be paid twice.
   */
  journal: Journal;
  /** Limits on spending. By default there are none. */
  limits?: Partial<Limits> | undefined;
  /**
   * The network of accepted invoices and addresses. The default is `mainnet` for a remote service,
   * and `any` for a service on this machine.
   */
  network?: Network | undefined;
  /** Stops all calls, like the signal of each call. */
  signal?: AbortSignal | undefined;
  /** Called with each step of every payment as it happens. */
  on?: ((event: PaymentEvent) => void) | undefined;
}

/** Options of every call. */
export interface CallOptions {
  /**
   * The longest wait for the end, in ms. The default is 30 000. `false` stops the wait once the
   * service has accepted the confirmation.
   */
  wait?: number | 'forever' | false | undefined;
  /**
   * Stops the call. The kind is `interrupted` before money may have moved, and `pending`
   * afterwards.
   */
  signal?: AbortSignal | undefined;
  /**
   * Called with each step of this call as it happens. If it throws, the payment continues, and the
   * process emits a warning.
   */
  on?: ((event: PaymentEvent) => void) | undefined;
}

/** Options of every payment. */
export interface PayOptions extends CallOptions {
  /**
   * The caller's name for the payment. The same reference never pays twice, and resumes an
   * unfinished payment.
   */
  ref?: string | undefined;
  /** A note for the caller. The recipient does not see it. */
  note?: string | undefined;
  /** The highest total fee: a percentage, or an amount in the currency of the wallet that pays. */
  maxFee?: { percent: string } | { amount: string; ccy: string } | undefined;
  /** The limit on the loss of a conversion against the service's own rates, in percent. */
  maxRateLoss?: string | undefined;
  /**
   * Receives the full cost before money moves, and returns true to approve. Without it, the call
   * itself is the approval.
   */
  approve?: ((approval: Approval) => Promise<Answer>) | undefined;
  /**
   * Allows a payment of the same amount to the same destination as a payment that is submitted and
   * unfinished. Without `again`, a payment without `ref` and without an invoice is then refused.
   */
  again?: boolean | undefined;
  /**
   * Makes a further attempt after an attempt that failed or whose outcome is unknown. Both attempts
   * may be paid.
   */
  retry?: boolean | undefined;
}

/** A payment to another party. */
export interface Send extends PayOptions {
  /** An invoice, an address, an LNURL, a Lightning Address or a `bitcoin:` URI. */
  to: string;
  /**
   * The amount with its unit, as in `50000sat` or `25usdt`. An invoice has its own amount. With
   * `from: 'BTC'`, another currency is converted at the current rate: `10usd`.
   */
  amount?: string | undefined;
  /** The amount that leaves the wallet, instead of `amount` (USDT, LNURL). */
  spend?: string | undefined;
  /** The wallet that pays, such as `USDT`. The default depends on the destination. */
  from?: string | undefined;
  /** The method for a `bitcoin:` URI that offers both. */
  via?: 'lightning' | 'onchain' | undefined;
  /** Takes the fees out of the amount, so that the recipient gets less. */
  deductFees?: boolean | undefined;
}

/** An exchange between two of the account's own wallets. */
export interface Swap extends PayOptions {
  /** The amount, `25usdt` or `25`. The unit is optional, because the wallets are named. */
  amount: string;
  from: string;
  to: string;
  /** `amount` is the amount that arrives in `to`, not the amount that leaves `from`. */
  receive?: boolean | undefined;
}

/** A fiat payout, with the create request body of the specification (endpoint 6, rule 7). */
export interface Payout extends PayOptions {
  body: CreateTransaction;
}

/** A request for money. */
export interface Receive extends Pick<CallOptions, 'signal' | 'on'> {
  /**
   * The amount, such as `50000sat`. Over Lightning another currency is possible, converted at the
   * current rate: `10usd`.
   */
  amount: string;
  method?: 'lightning' | 'on-chain' | undefined;
  /** The caller's name for the request. The same reference requests the same money once. */
  ref?: string | undefined;
  note?: string | undefined;
}

/**
 * The data that a payer needs, checked: the signature, amount and network of an invoice, or the
 * network of an address.
 */
export interface Received {
  transaction: Transaction;
  /** The invoice or the address. */
  payTo: string;
  /** A `lightning:` or `bitcoin:` URI, for a QR code. */
  uri: string;
  /** Epoch ms by the service's clock. */
  expiresAt: number | undefined;
}

/** A quote with its full cost, for approval before money moves. */
export interface Approval {
  /** The kind of the payment, such as `send lightning`. */
  kind: string;
  destination: string;
  quote: Quote;
  transaction: Transaction;
  /** The amount that the wallet could spend before this quote. Undefined if that is uncertain. */
  available: Money | undefined;
  /** Whether this quote replaces an approved quote that expired, and is worse. */
  worse: boolean;
  /** Unusual costs, in words. A call without `approve` refuses them. */
  unusual: readonly string[];
  /**
   * An earlier payment of the same amount to the same destination that was made a moment ago or is
   * under way.
   */
  earlier: PaymentReport | undefined;
}

/** A step of a payment. From `submitting` on, money may have moved. */
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
  /** The last known state. */
  txnState: TxnState | undefined;
  /** Epoch ms. */
  openedAt: number;
  updatedAt: number;
}

/** The outcome of an unfinished payment: its transaction, or the failure. */
export interface Resumed {
  ref: string;
  transaction: Transaction | undefined;
  failure: Failure | undefined;
}

/**
 * Payments that are made once, whatever fails meanwhile, with the checks of the command line. Each
 * call resolves with the transaction in its last known state. It rejects with a `Failure`:
 * `payment-failed` if the payment ended without paying, `pending` if its outcome is unknown. After
 * `pending`, `resume`, or the same call with its `ref`, continues the payment.
 */
export interface Payments {
  send(payment: Send): Promise<Transaction>;
  swap(swap: Swap): Promise<Transaction>;
  payout(payout: Payout): Promise<Transaction>;
  /** Requests money. Resolves with an invoice or an address. Moves nothing. */
  receive(request: Receive): Promise<Received>;
  /**
   * Finishes or reports every unfinished payment, or the payment with `ref`, e.g. after a crash.
   * `wait` applies to all payments together.
   */
  resume(options?: CallOptions & { ref?: string | undefined }): Promise<Resumed[]>;
  /** The unfinished payments of the journal, oldest first. */
  pending(options?: Pick<CallOptions, 'signal'>): Promise<PaymentReport[]>;
  /** The report of a payment, or undefined if the journal has no payment with this reference. */
  status(ref: string, options?: Pick<CallOptions, 'signal'>): Promise<PaymentReport | undefined>;
}
