// What a payment is given and what it tells: the service, the journal, the person, and the events that are drawn.
import type { CreateTransaction, Transaction, Wallet } from '../../api/types.js';
import type { Money } from '../../formats/amount.js';
import type { Failure } from '../../formats/failure.js';
import type { Consent, Intent, Journal, PaymentTerms } from '../../store/journal/journal.js';
import type { Limits } from '../../store/profile/profiles.js';
import type { ConfirmService } from './confirm.js';
import type { Order } from './orders.js';
import type { Quote } from './quote.js';
import type { ListService } from './references.js';

/** The part of the client that payments use. */
export interface PaymentService extends ConfirmService, ListService {
  createTransaction(body: CreateTransaction): Promise<Transaction>;
  wallets(): Promise<Wallet[]>;
}

export interface Approval {
  readonly order: Order;
  readonly quote: Quote;
  readonly txn: Transaction;
  /** What the source wallet could spend before this quote; undefined when an earlier quote is gone on with. */
  readonly available: Money | undefined;
  /** A quote that was agreed to has lapsed, and this one is worse. */
  readonly worse: boolean;
}

/** What happens to a payment, in the order it happens; the terminal draws it. */
export type PaymentEvent =
  | { readonly type: 'following'; readonly intent: Intent }
  | { readonly type: 'found'; readonly txn: Transaction }
  | { readonly type: 'quoted'; readonly approval: Approval }
  /** The confirmation goes out next, or may have gone out before: from here on only the service can say what happens. */
  | { readonly type: 'let-go'; readonly intent: Intent }
  | { readonly type: 'state'; readonly txn: Transaction }
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
  readonly newId: () => string;
  /** Aborted when the person interrupts. */
  readonly signal: AbortSignal;
  /** The yes or no of a person to a quote; asked only where the journal holds no yes that covers it. */
  readonly approve: (approval: Approval) => Promise<boolean>;
  readonly on: (event: PaymentEvent) => void;
}

export interface PaymentOptions {
  /** How long to wait for a final state, in ms; `false` ends once the service has taken the confirmation. */
  readonly wait: number | 'forever' | false;
  /** Open a new attempt after `failed` or `rejected`. */
  readonly retry: boolean;
  /** End once the quote is known and shown. */
  readonly quoteOnly: boolean;
  /** End when the quote lapses, instead of asking for a new one. */
  readonly thisQuoteOnly?: boolean;
}

export interface PaymentRequest {
  readonly order: Order;
  /** The caller's reference; without one a new payment is meant, and one is generated. */
  readonly ref: string | undefined;
  /** The caller has just been through the service's list, and nothing is under this reference. */
  readonly unseen?: boolean;
  readonly terms: PaymentTerms;
  /** `standing` for `--yes`. */
  readonly consent: Exclude<Consent, 'quote'>;
}
