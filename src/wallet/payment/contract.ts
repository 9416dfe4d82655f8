// The interfaces of a payment: the service, the journal, the person, and the events for the screen.
import type {
  CreateTransaction,
  ListedTransaction,
  Rates,
  Transaction,
  TransactionFilter,
  TransactionPage,
  Wallet,
} from '../../api/types.js';
import type { Money } from '../../formats/amount.js';
import type { Failure } from '../../formats/failure.js';
import type { Journal, SpentBefore } from '../../store/journal/journal.js';
import type { BatchMark, Payment, PaymentTerms } from '../../store/journal/payment.js';
import type { Limits } from '../../store/profile/profiles.js';
import type { Order } from '../order/orders.js';
import type { Quote } from '../quote/quote.js';
import type { Consent } from './model.js';
import type { EarlierPayment } from './same-again.js';

/** The methods of the client that payments use. */
export interface PaymentService {
  createTransaction(body: CreateTransaction): Promise<Transaction>;
  confirmTransaction(txnId: string): Promise<Transaction>;
  /** Called only for a quote that expired before it was confirmed. */
  cancelTransaction(txnId: string): Promise<Transaction>;
  transaction(txnId: string): Promise<Transaction>;
  /** Reads the list. Called only after a refused create request. */
  transactions(filter: TransactionFilter): Promise<TransactionPage>;
  eachTransaction(filter: TransactionFilter): AsyncIterable<ListedTransaction>;
  wallets(): Promise<Wallet[]>;
  /** Reads the rates. Called only if money is converted. */
  rates(): Promise<Rates>;
  serviceNow(): number;
  /** The service's clock, or undefined before the first response with a date. */
  datedNow(): number | undefined;
}

/** A quote with its full cost, for approval before money moves. */
export interface Approval {
  readonly order: Order;
  readonly quote: Quote;
  readonly txn: Transaction;
  /**
   * The spendable amount of the source wallet before this quote. Undefined if the amount is
   * uncertain.
   */
  readonly available: Money | undefined;
  /**
   * The least amount in the source wallet after this payment. Undefined if the service does not
   * report balances.
   */
  readonly left: Money | undefined;
  /** Whether this quote replaces an approved quote that expired, and is worse. */
  readonly worse: boolean;
  /** Costs, in words, that only a person can approve, not `--yes`. */
  readonly unusual: readonly string[];
}

/** The answer to a quote. `lapsed` means that the quote expired during the question. */
export type Answer = boolean | 'lapsed';

/** The events of a payment, in the order in which they happen, for the terminal to draw. */
export type PaymentEvent =
  | { readonly type: 'following'; readonly payment: Payment }
  | { readonly type: 'found'; readonly txn: Transaction }
  | { readonly type: 'quoted'; readonly approval: Approval }
  /**
   * svcpay is about to send the confirmation or may have sent it, or the service started the
   * payment without a confirmation. From `submitting` on, only the service can report the outcome.
   */
  | { readonly type: 'submitting'; readonly payment: Payment }
  /**
   * The service refused the confirmation. svcpay reads the state for 8 s before it treats the
   * refusal as final.
   */
  | { readonly type: 'refused'; readonly error: Failure }
  | { readonly type: 'state'; readonly txn: Transaction }
  /**
   * A read during the wait. The event occurs even if the state is unchanged, because the
   * confirmations of a blockchain increase within one state.
   */
  | { readonly type: 'read'; readonly txn: Transaction }
  /**
   * svcpay searches the service's list for a used reference, and has read `count` transactions so
   * far.
   */
  | { readonly type: 'searching'; readonly count: number }
  /** The rate of this conversion could not be read. `why` is a sentence. */
  | { readonly type: 'rate-unchecked'; readonly why: string }
  /**
   * The service started the payment without a confirmation, although the payment exceeds a limit or
   * `maxFee`.
   */
  | { readonly type: 'exceeded'; readonly failure: Failure }
  | { readonly type: 'journal-failed'; readonly error: Failure };

export interface PaymentDeps {
  readonly service: PaymentService;
  readonly journal: Journal;
  /** The account within which references are unique. */
  readonly scope: string;
  /** The account whose spending the limits count. */
  readonly account: string;
  /** The name of this process in the journal. Each run appends an id to the name. */
  readonly owner: string;
  /**
   * Makes a further check in the database transaction of the submission, while the account is
   * locked. Throws Failure to refuse the payment.
   */
  readonly refuse?:
    | ((payment: Payment, latest: SpentBefore['latest']) => Promise<void>)
    | undefined;
  /**
   * Checks the order at the service, during the create request and before the approval. Throws
   * Failure to refuse the payment.
   */
  readonly checkOrder?: (() => Promise<void>) | undefined;
  readonly limits: Limits;
  readonly now: () => number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Runs the action at this interval until the returned function is called. */
  readonly every: (ms: number, action: () => void) => () => void;
  readonly newId: () => string;
  /** Returns the states of a transaction from sources other than a read, such as webhook events. */
  readonly reported?: (txnId: string) => Promise<readonly string[]>;
  /** A signal that is aborted when the person interrupts. */
  readonly signal: AbortSignal;
  /**
   * Called if an equal payment was made a moment ago, or is under way. Decides whether this run
   * follows the earlier payment or makes a new payment. Throws Failure to refuse both.
   */
  readonly again: (earlier: EarlierPayment) => Promise<'follow' | 'another'>;
  /** Asks a person to approve a quote, unless `--yes` is given. */
  readonly approve: (approval: Approval) => Promise<Answer>;
  readonly on: (event: PaymentEvent) => void;
}

export interface PaymentOptions {
  /**
   * The longest wait for a final state, in ms. `false` stops the wait once the service has accepted
   * the payment.
   */
  readonly wait: number | 'forever' | false;
  /** Whether a person requests another attempt after an attempt that failed or is unknown. */
  readonly retry: boolean;
  /** The goal of the run. `quoted` shows the cost and stops. */
  readonly until?: 'quoted' | undefined;
}

export interface PaymentRequest {
  readonly order: Order;
  /**
   * The caller's reference. Without a reference, a payment of an invoice gets the invoice's
   * reference, and every other order is a new payment.
   */
  readonly ref: string | undefined;
  readonly terms: PaymentTerms;
  /** The approval of the run, which is `standing` for `--yes`. */
  readonly consent: Consent;
  /** The batch run of the payment. */
  readonly batch?: BatchMark | undefined;
}
