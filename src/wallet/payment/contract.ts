// What a payment is given and what it reports: the service, the journal, the person, and the events that are drawn.
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
import type { Consent, Payment, PaymentTerms } from '../../store/journal/payment.js';
import type { Limits } from '../../store/profile/profiles.js';
import type { Order } from '../order/orders.js';
import type { Quote } from '../quote/quote.js';

/** The part of the client that payments use. */
export interface PaymentService {
  createTransaction(body: CreateTransaction): Promise<Transaction>;
  confirmTransaction(txnId: string): Promise<Transaction>;
  /** Called only for a quote that expired before it was confirmed. */
  cancelTransaction(txnId: string): Promise<Transaction>;
  transaction(txnId: string): Promise<Transaction>;
  /** The list is read only after a refused creation. */
  transactions(filter: TransactionFilter): Promise<TransactionPage>;
  eachTransaction(filter: TransactionFilter): AsyncIterable<ListedTransaction>;
  wallets(): Promise<Wallet[]>;
  /** Read only if money is converted. */
  rates(): Promise<Rates>;
  serviceNow(): number;
  /** The service's clock for the sums of a day: one answer with a wrong date does not move it. */
  confirmedNow(): number;
}

/** A quote with its full cost, to be approved before money moves. */
export interface Approval {
  readonly order: Order;
  readonly quote: Quote;
  readonly txn: Transaction;
  /** What the source wallet could spend before this quote; undefined if that is not certain. */
  readonly available: Money | undefined;
  /** What the source wallet has after this payment, at least; undefined if the service does not report balances. */
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
  /** The confirmation is sent next or may have been sent, or the service started the payment: now only the service can report what happens. */
  | { readonly type: 'submitting'; readonly payment: Payment }
  /** The confirmation was refused in words that prove nothing yet: the state is read for some seconds. */
  | { readonly type: 'refused'; readonly error: Failure }
  | { readonly type: 'state'; readonly txn: Transaction }
  /** Read again while it is waited for, in whatever state: a blockchain counts within one. */
  | { readonly type: 'read'; readonly txn: Transaction }
  /** The service's list is searched for a used reference: so many of its transactions so far. */
  | { readonly type: 'searching'; readonly count: number }
  /** No rate could be read for this conversion; `why` is a sentence. */
  | { readonly type: 'rate-unchecked'; readonly why: string }
  /** The service started the payment without a confirmation, beyond a limit or a highest fee. */
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
  /** A further check in the transaction that submits, with the account locked. Throws Failure to refuse. */
  readonly refuse?:
    | ((payment: Payment, latest: SpentBefore['latest']) => Promise<void>)
    | undefined;
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
  /** A person's yes or no to a quote; asked only if the journal holds no yes that covers it. */
  readonly approve: (approval: Approval) => Promise<Answer>;
  readonly on: (event: PaymentEvent) => void;
}

export interface PaymentOptions {
  /** How long to wait for a final state, in ms; `false` stops once the service has accepted the payment. */
  readonly wait: number | 'forever' | false;
  /** A person asks for another attempt after one that failed or is unknown. */
  readonly retry: boolean;
  /** `quoted` shows the cost and stops. */
  readonly until?: 'quoted' | undefined;
}

export interface PaymentRequest {
  readonly order: Order;
  /** The caller's reference. Without one it is derived from what can be paid only once, else a new payment is meant. */
  readonly ref: string | undefined;
  readonly terms: PaymentTerms;
  /** `standing` for `--yes`. */
  readonly consent: Exclude<Consent, 'quote'>;
}
