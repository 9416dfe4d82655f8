// What a payment is given and what it reports: the service, the journal, the person, and the events
// that are drawn.
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
import type { Earlier } from './same-again.js';

/** The part of the client that payments use. */
export interface PaymentService {
  createTransaction(body: CreateTransaction): Promise<Transaction>;
  confirmTransaction(txnId: string): Promise<Transaction>;
  /** Called only for a quote that expired before it was confirmed. */
  cancelTransaction(txnId: string): Promise<Transaction>;
  transaction(txnId: string): Promise<Transaction>;
  /** The list is read only after a refused create request. */
  transactions(filter: TransactionFilter): Promise<TransactionPage>;
  eachTransaction(filter: TransactionFilter): AsyncIterable<ListedTransaction>;
  wallets(): Promise<Wallet[]>;
  /** Read only if money is converted. */
  rates(): Promise<Rates>;
  serviceNow(): number;
  /** The same clock; undefined before the first answer with a date. */
  datedNow(): number | undefined;
}

/** A quote with its full cost, to be approved before money moves. */
export interface Approval {
  readonly order: Order;
  readonly quote: Quote;
  readonly txn: Transaction;
  /** What the source wallet could spend before this quote; undefined if that is not certain. */
  readonly available: Money | undefined;
  /**
   * What the source wallet has after this payment, at least; undefined if the service does not
   * report balances.
   */
  readonly left: Money | undefined;
  /** An approved quote expired, and this one is worse. */
  readonly worse: boolean;
  /** What only a person can approve, in words: `--yes` does not cover it. */
  readonly unusual: readonly string[];
}

/** A yes, a no, or a quote that expired while the question stood. */
export type Answer = boolean | 'lapsed';

/** What happens to a payment, in the order it happens; the terminal draws it. */
export type PaymentEvent =
  | { readonly type: 'following'; readonly payment: Payment }
  | { readonly type: 'found'; readonly txn: Transaction }
  | { readonly type: 'quoted'; readonly approval: Approval }
  /**
   * The confirmation is about to be sent, may have been sent, or the service started the payment.
   * From here on only the service knows the outcome.
   */
  | { readonly type: 'submitting'; readonly payment: Payment }
  /**
   * The service refused the confirmation. The state is read for 8 s before the refusal is final.
   */
  | { readonly type: 'refused'; readonly error: Failure }
  | { readonly type: 'state'; readonly txn: Transaction }
  /**
   * A read during the wait, also without a new state: the confirmations of a blockchain increase
   * within one state.
   */
  | { readonly type: 'read'; readonly txn: Transaction }
  /** The service's list is searched for a used reference; `count` transactions were read so far. */
  | { readonly type: 'searching'; readonly count: number }
  /** No rate could be read for this conversion; `why` is a sentence. */
  | { readonly type: 'rate-unchecked'; readonly why: string }
  /** The service started the payment without a confirmation, and it exceeds a limit or `maxFee`. */
  | { readonly type: 'exceeded'; readonly failure: Failure }
  | { readonly type: 'journal-failed'; readonly error: Failure };

export interface PaymentDeps {
  readonly service: PaymentService;
  readonly journal: Journal;
  /** The account within which references are unique. */
  readonly scope: string;
  /** The account whose spending the limits count. */
  readonly account: string;
  /** Names this process in the journal; every run adds a name of its own. */
  readonly owner: string;
  /**
   * A further check in the transaction that submits, with the account locked. Throws Failure to
   * refuse.
   */
  readonly refuse?:
    | ((payment: Payment, latest: SpentBefore['latest']) => Promise<void>)
    | undefined;
  /**
   * Checks the order at the service, during the create request and before the approval. Throws
   * Failure to refuse.
   */
  readonly checkOrder?: (() => Promise<void>) | undefined;
  readonly limits: Limits;
  readonly now: () => number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Runs the action every so many ms until the returned function is called. */
  readonly every: (ms: number, action: () => void) => () => void;
  readonly newId: () => string;
  /** States of a transaction that arrived other than by a read, such as webhook events. */
  readonly reported?: (txnId: string) => Promise<readonly string[]>;
  /** Aborted when the person interrupts. */
  readonly signal: AbortSignal;
  /**
   * The same payment was made a moment ago, or is under way. Decides whether this run follows that
   * payment or makes another one. Throws Failure to make none.
   */
  readonly again: (earlier: Earlier) => Promise<'follow' | 'another'>;
  /** A person's yes or no to a quote; asked only without a standing yes. */
  readonly approve: (approval: Approval) => Promise<Answer>;
  readonly on: (event: PaymentEvent) => void;
}

export interface PaymentOptions {
  /**
   * How long to wait for a final state, in ms; `false` stops once the service has accepted the
   * payment.
   */
  readonly wait: number | 'forever' | false;
  /** A person asks for another attempt after one that failed or is unknown. */
  readonly retry: boolean;
  /** `quoted` shows the cost and stops. */
  readonly until?: 'quoted' | undefined;
}

export interface PaymentRequest {
  readonly order: Order;
  /**
   * The caller's reference. Without a reference, an invoice has one of its own, and every other
   * order is a new payment.
   */
  readonly ref: string | undefined;
  readonly terms: PaymentTerms;
  /** `standing` for `--yes`. */
  readonly consent: Consent;
  /** The run of a batch that it belongs to. */
  readonly batch?: BatchMark | undefined;
}
