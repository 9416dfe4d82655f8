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
import type { Journal } from '../../store/journal/journal.js';
import type { BatchMark, Payment, PaymentTerms, Resolution } from '../../store/journal/payment.js';
import type { Limits } from '../../store/profile/profiles.js';
import type { OverBudget } from '../limits/limits.js';
import type { Order } from '../order/orders.js';
import type { Quote } from '../quote/quote.js';
import type { Instruction } from '../instruction/instruction.js';
import type { EarlierPayment } from '../instruction/same-again.js';

/** The methods of the client that payments use. */
export interface PaymentService {
  createTransaction(body: CreateTransaction): Promise<Transaction>;
  confirmTransaction(txnId: string): Promise<Transaction>;
  /**
   * Cancels a transaction. The payment core cancels only a quote that expired before its
   * confirmation.
   */
  cancelTransaction(txnId: string): Promise<Transaction>;
  transaction(txnId: string): Promise<Transaction>;
  /**
   * Reads a page of the service's list of transactions. The payment core reads the list of
   * transactions only after a refused create request.
   */
  transactions(filter: TransactionFilter): Promise<TransactionPage>;
  eachTransaction(filter: TransactionFilter): AsyncIterable<ListedTransaction>;
  wallets(): Promise<Wallet[]>;
  /** Reads the rates. The payment core reads the rates only if the payment converts money. */
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
   * The spendable amount of the source wallet before this quote, or undefined if the amount is
   * uncertain.
   */
  readonly available: Money | undefined;
  /**
   * The lowest possible balance of the source wallet after this payment, or undefined if the
   * service does not report balances.
   */
  readonly left: Money | undefined;
  /**
   * Whether this quote replaces an expired quote that was approved, and is worse than the expired
   * quote.
   */
  readonly worse: boolean;
  /**
   * The unusual costs, in words, which a person must approve because `--yes` does not cover them.
   */
  readonly unusual: readonly string[];
}

/**
 * Whether the person approves a quote, or `lapsed` if the quote expired before the person answered.
 */
export type Answer = boolean | 'lapsed';

/**
 * The consent to what a run pays: who or what gave it, and for which quotes. A run that only shows
 * a quote has the consent of nobody, and never pays.
 */
export type Consent =
  /**
   * A person at a terminal, a program, or the rest of a batch's approved total decides on a quote.
   */
  (
    | {
        readonly by: 'person' | 'program' | 'batch';
        readonly ask: (approval: Approval) => Promise<Answer>;
      }
    /**
     * `--yes`, or the call of a program that asks nobody, approves in advance every quote within
     * the terms of the run.
     */
    | { readonly by: 'yes' | 'call' }
    | { readonly by: 'nobody' }
  ) &
    ApprovedProposal;

/** The id of the proposal that was approved as a whole. Its refusal stops every submission. */
export interface ApprovedProposal {
  readonly proposal?: string | undefined;
}

/** Whether a consent covers every quote within the terms, so that a run asks nobody. */
export const isInAdvance = ({ by }: Consent): boolean => by === 'yes' || by === 'call';

/** How a run treats an earlier payment of the same amount to the same payee. */
export interface Repeats {
  /** Which new payments are compared: those without a reference of the caller, or all. */
  readonly of: 'generated references' | 'every reference';
  /** How long a paid payment counts, in ms. An unfinished payment always counts. */
  readonly paidWithinMs: number;
  /**
   * Decides whether this run follows the earlier payment or makes another one. Throws Failure if
   * the run must do neither. At the submission nobody can be asked, and following is not possible.
   */
  readonly decide: (
    earlier: EarlierPayment,
    at: 'start' | 'submission',
  ) => Promise<'follow' | 'another'>;
}

/** The events of a payment, in the order in which they happen, for the terminal to draw. */
export type PaymentEvent =
  | { readonly type: 'following'; readonly payment: Payment }
  /** The new payment replaces a payment under its reference that was never submitted. */
  | { readonly type: 'replaced'; readonly payment: Payment }
  /** The payment of a whole balance keeps the amount of an earlier quote. */
  | { readonly type: 'kept'; readonly total: Money }
  /** The outcome of the payment is the answer that a person recorded with `tx resolve`. */
  | { readonly type: 'recorded'; readonly resolution: Resolution }
  | { readonly type: 'found'; readonly txn: Transaction }
  | { readonly type: 'quoted'; readonly approval: Approval }
  /**
   * svcpay is about to send the confirmation or may have sent it, or the service started the
   * payment without a confirmation. After the event `submitting`, only the service can report the
   * outcome.
   */
  | { readonly type: 'submitting'; readonly payment: Payment }
  /**
   * The service refused the confirmation. svcpay reads the state for 8 s before it treats the
   * refusal as final.
   */
  | { readonly type: 'refused'; readonly error: Failure }
  | { readonly type: 'state'; readonly txn: Transaction }
  /**
   * svcpay read the transaction while it waited for the final state. The event `read` occurs even
   * if the state is unchanged, because the number of blockchain confirmations can increase within
   * one state.
   */
  | { readonly type: 'read'; readonly txn: Transaction }
  /**
   * svcpay is searching the service's list for a reference that is already used, and has read
   * `count` transactions so far.
   */
  | { readonly type: 'searching'; readonly count: number }
  /**
   * svcpay could not read the rate of this conversion. The field `why` states the reason as a
   * sentence.
   */
  | { readonly type: 'rate-unchecked'; readonly why: string }
  /**
   * The service started the payment without a confirmation, although the payment exceeds a limit or
   * `maxFee`.
   */
  | { readonly type: 'exceeded'; readonly failure: Failure }
  | { readonly type: 'journal-failed'; readonly error: Failure };

/** The budget that a run charges, and the owner's decisions about what it does not allow. */
export interface BudgetOfRun {
  readonly name: string;
  /** The highest total of a proposed batch by currency, instead of the rules of a stored budget. */
  readonly total?: Readonly<Record<string, string>> | undefined;
  /** Whom to ask about a payment that the budget leaves to the owner. Without it, refuses it. */
  readonly owner?: Owner | undefined;
}

/** The owner's decisions about payments that a budget does not allow. */
export interface Owner {
  /** Proposes the payment to the owner. Resolves with the failure to report. */
  readonly propose: (payment: Payment, refusal: OverBudget) => Promise<Failure>;
  /**
   * Returns the payment by which the owner made this proposed payment, or undefined if nothing was
   * proposed. Throws Failure while the owner has not decided, or if the owner refused.
   */
  readonly decided: (
    asked: Pick<Payment, 'scope' | 'ref' | 'instruction' | 'digest'>,
  ) => Promise<Payment | undefined>;
}

export interface PaymentDeps {
  readonly service: PaymentService;
  readonly journal: Journal;
  /** The account within which references are unique. */
  readonly scope: string;
  /** The account whose spending the limits count. */
  readonly account: string;
  /** The name of this process in the journal, to which each run appends an id. */
  readonly owner: string;
  /**
   * The caller's own check of the order. svcpay starts `checkOrder` just before the create request,
   * and asks for approval only after the check has succeeded. `checkOrder` throws Failure to refuse
   * the payment.
   */
  readonly checkOrder?: (() => Promise<void>) | undefined;
  readonly limits: Limits;
  /** The budget that this run charges, or undefined for a run of the owner. */
  readonly budget?: BudgetOfRun | undefined;
  readonly now: () => number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Runs the action every `ms` until the caller calls the returned function. */
  readonly every: (ms: number, action: () => void) => () => void;
  readonly newId: () => string;
  /** Returns the states of a transaction from sources other than a read, such as webhook events. */
  readonly reported?: (txnId: string) => Promise<readonly string[]>;
  /** The signal that is aborted when a person interrupts the run. */
  readonly signal: AbortSignal;
  readonly repeats: Repeats;
  readonly on: (event: PaymentEvent) => void;
}

export interface PaymentOptions {
  /**
   * The longest wait for a final state, in ms. With `wait: false`, svcpay stops waiting once the
   * service has accepted the payment.
   */
  readonly wait: number | 'forever' | false;
  /**
   * Whether a person requests another attempt after an attempt that failed or whose outcome is
   * unknown.
   */
  readonly retry: boolean;
  /**
   * The goal of the run. A run with the goal `quoted` shows the cost of the payment and then stops.
   */
  readonly until?: 'quoted' | undefined;
}

export interface PaymentRequest {
  readonly instruction: Instruction;
  /**
   * The caller's reference. Without a reference, a payment of an invoice gets the invoice's
   * reference, and every other instruction is a new payment.
   */
  readonly ref: string | undefined;
  readonly terms: PaymentTerms;
  readonly consent: Consent;
  /** The batch run to which the payment belongs, and its line in the file. */
  readonly batch?: (BatchMark & { readonly line: number }) | undefined;
}
