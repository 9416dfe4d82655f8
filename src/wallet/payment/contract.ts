// What a payment is given and what it tells: the service, the journal, the person, and the events that are drawn.
import type { CreateTransaction, Rates, Transaction, Wallet } from '../../api/types.js';
import type { Money } from '../../formats/amount.js';
import type { Failure } from '../../formats/failure.js';
import type { Consent, Intent, Journal, PaymentTerms } from '../../store/journal/journal.js';
import type { Limits } from '../../store/profile/profiles.js';
import type { ConfirmService } from './confirm.js';
import type { Order } from './orders.js';
import type { History, ListService } from './history.js';
import type { Quote } from '../quote/quote.js';

/** The part of the client that payments use. */
export interface PaymentService extends ConfirmService, ListService {
  createTransaction(body: CreateTransaction): Promise<Transaction>;
  /** Asked only for a quote that ran out before it was confirmed. */
  cancelTransaction(txnId: string): Promise<Transaction>;
  wallets(): Promise<Wallet[]>;
  /** Asked only where money is converted. */
  rates(): Promise<Rates>;
}

/** A quote with its full cost, to be agreed to before money moves. */
export interface Approval {
  readonly order: Order;
  readonly quote: Quote;
  readonly txn: Transaction;
  /** What the source wallet could spend before this quote; undefined when an earlier quote is gone on with. */
  readonly available: Money | undefined;
  /** A quote that was agreed to has lapsed, and this one is worse. */
  readonly worse: boolean;
  /** What only a person can agree to, in words: `--yes` does not cover it. */
  readonly unusual: readonly string[];
}

/** A yes, a no, or a quote that lapsed while the question stood. */
export type Answer = boolean | 'lapsed';

/** What happens to a payment, in the order it happens; the terminal draws it. */
export type PaymentEvent =
  | { readonly type: 'following'; readonly intent: Intent }
  | { readonly type: 'found'; readonly txn: Transaction }
  | { readonly type: 'quoted'; readonly approval: Approval }
  /** The confirmation goes out next, or may have gone out before: from here on only the service can say what happens. */
  | { readonly type: 'let-go'; readonly intent: Intent }
  | { readonly type: 'state'; readonly txn: Transaction }
  /** Read again while it is waited for, in whatever state: a blockchain counts within one. */
  | { readonly type: 'read'; readonly txn: Transaction }
  /** The service's list is long and is read for the first time: so many of its transactions so far. */
  | { readonly type: 'reading-history'; readonly count: number }
  /** No rate could be read for this conversion; `why` is a sentence. */
  | { readonly type: 'rate-unchecked'; readonly why: string }
  | { readonly type: 'journal-failed'; readonly error: Failure };

export interface PaymentDeps {
  readonly service: PaymentService;
  readonly journal: Journal;
  /** The service and the account within which references are unique. */
  readonly scope: string;
  /** The account alone, whose spending the limits count. */
  readonly account: string;
  /** Names this process in the journal; every run adds a name of its own. */
  readonly owner: string;
  readonly limits: Limits;
  readonly now: () => number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Runs the action every so many ms until the function that it gives is called. */
  readonly every: (ms: number, action: () => void) => () => void;
  readonly newId: () => string;
  /** Shared by payments that run at the same time; each opens its own where there is none. */
  readonly history?: History;
  /** States of a transaction that came in some other way than by a read, such as webhook events. */
  readonly reported?: (txnId: string) => Promise<readonly string[]>;
  /** Aborted when the person interrupts. */
  readonly signal: AbortSignal;
  /** The yes or no of a person to a quote; asked only where the journal holds no yes that covers it. */
  readonly approve: (approval: Approval) => Promise<Answer>;
  readonly on: (event: PaymentEvent) => void;
}

/**
 * What a run may do. `pay`: all of it. `resume`: go on with what was begun; it is not begun again once it is over, nor
 * given up for a passing trouble. `this-quote`: confirm the quote that there is and no other. `look`: end once a quote is
 * known and shown, and leave what is on its way alone.
 */
export type Mode = 'pay' | 'resume' | 'this-quote' | 'look';

export interface PaymentOptions {
  /** How long to wait for a final state, in ms; `false` ends once the service has taken the confirmation. */
  readonly wait: number | 'forever' | false;
  /** A person asks for another attempt after `failed` or `rejected`, or where it is in doubt whether the last one paid. */
  readonly retry: boolean;
  readonly mode: 'pay' | 'look';
}

export interface PaymentRequest {
  readonly order: Order;
  /** The caller's reference. Without one it comes from what can be paid once only, else a new payment is meant. */
  readonly ref: string | undefined;
  readonly terms: PaymentTerms;
  /** `standing` for `--yes`. */
  readonly consent: Exclude<Consent, 'quote'>;
}
