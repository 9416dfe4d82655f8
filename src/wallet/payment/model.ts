// The types of the payment core: what a payment needs from its caller (the service, the journal,
// the person, the screen), and a run with its goal, its memory, its steps and the resulting events.
import type {
  Rates,
  Transaction,
  CreateTransaction,
  ListedTransaction,
  TransactionFilter,
  TransactionPage,
  Wallet,
} from '../../api/types.js';
import type { Money } from '../../formats/amount.js';
import type { Failure } from '../../formats/failure.js';
import { hasLapsed, isFinal, isQuoted, isRetriable } from '../../formats/states.js';
import type {
  Attempt,
  AttemptState,
  Payment,
  PaymentTerms,
  Resolution,
  BatchMark,
} from '../../store/journal/payment.js';
import type { Order } from '../order/orders.js';
import type { Quote } from '../quote/quote.js';
import type { Journal } from '../../store/journal/journal.js';
import type { Limits } from '../../store/profile/profiles.js';
import type { OverBudget, EarlierPayment } from '../limits/limits.js';
import type { Instruction } from '../instruction/instruction.js';

/** The goal of a run. */
export interface RunGoal {
  /**
   * When the run stops: for `quoted` after showing the cost, for `submitted` once the service has
   * accepted the payment, and for `settled` once the payment has ended.
   */
  readonly until: 'quoted' | 'submitted' | 'settled';
  /** The longest wait for the settlement, in ms. */
  readonly waitMs: number;
  /** The only transaction that may be confirmed (`tx confirm`). */
  readonly onlyTxnId?: string | undefined;
  /**
   * The number of the last failed or unknown attempt that a person allows svcpay to repeat
   * (`--retry`), or 0 if svcpay may not repeat any attempt.
   */
  readonly retryUpTo: number;
  /** The number of the latest attempt at the start of the run. */
  readonly firstAttempt: number;
  /**
   * Whether svcpay generated the reference for this run, derived the reference from the invoice, or
   * got the reference from the caller. Every payer derives the same reference from an invoice.
   */
  readonly reference: 'generated' | 'invoice' | 'given';
  /**
   * Which failures leave the payment open for a later resume: no failure, recoverable failures, or
   * all.
   */
  readonly leaveOpen: 'never' | 'if-recoverable' | 'always';
  /** This run's limits on the cost, or undefined to apply the limits in the journal. */
  readonly terms?: PaymentTerms | undefined;
  /** The consent to this run. The journal stores no consent, only the submission. */
  readonly consent: Consent;
  /**
   * The ids of the earlier payments that this run repeats on purpose. A payment with a reference of
   * the caller, and a payment that was submitted before, is not compared with others.
   */
  readonly repeats: readonly string[] | 'not compared';
}

/**
 * The time by two clocks: the monotonic ms since the start of the run, and the service's clock in
 * epoch ms.
 */
export interface Now {
  readonly ms: number;
  readonly service: number;
}

/**
 * The result of one read of a transaction. The result of a read is `unreadable` for an invalid
 * response or a refusal, and `unanswered` for a missing response.
 */
export type ReadResult = ReportedResult | 'not-found' | 'unreadable' | 'unanswered';

export type ReportedResult = 'quoted' | 'moving' | 'completed' | 'failed' | 'error' | 'lapsed';

/**
 * A series of consecutive reads with the same result. A request that could change the transaction
 * ends the series of reads.
 */
export interface Reads {
  readonly result: ReadResult;
  readonly sinceMs: number;
  readonly atMs: number;
  readonly count: number;
  readonly error?: Failure | undefined;
}

export interface Funds {
  readonly available: Money;
  /** The amount that pending transactions reserve. */
  readonly reserved: Money;
  /**
   * Whether svcpay read the balance before it requested the quote, so the quote's reservation has
   * not reduced the balance.
   */
  readonly isBefore?: boolean;
}

/** The data of a run that every phase keeps. */
interface Kept {
  /** The quote that was approved in this run, for the latest attempt or for an earlier attempt. */
  readonly approvedQuote?: Quote | undefined;
  /** The numbers of the earlier unresolved attempts that this run has read. */
  readonly earlierRead: readonly number[];
  /** The transaction of an earlier attempt, if a read showed that the attempt was paid. */
  readonly earlierPaid?: Transaction | undefined;
  /** Whether this run sent a confirmation of the latest attempt. */
  readonly submittedHere?: boolean | undefined;
  readonly stopped?: Failure | undefined;
  readonly isInterrupted?: boolean | undefined;
}

/** The data of a run in every phase after `requesting`. */
interface Read extends Kept {
  /** The transaction of the latest attempt, as last returned by the service. */
  readonly txn?: Transaction | undefined;
  readonly reads?: Reads | undefined;
}

/** The create requests or the confirmations that this run sent for the latest attempt. */
export interface Sending {
  readonly tries: number;
  readonly atMs: number;
  /**
   * Whether the response to such a request may have been lost, in this run or in an earlier run
   * that was killed, so that the service may have carried the request out.
   */
  readonly isUnanswered: boolean;
  /**
   * The refusal of a request. The refusal of a confirmation is final only if no other confirmation
   * can have taken effect.
   */
  readonly refusal?: Failure | undefined;
  readonly error?: Failure | undefined;
}

/** The data of a run whose attempt is `requested`. */
export interface Requesting extends Kept {
  readonly phase: 'requesting';
  readonly sending: Sending;
  /** The funds of the source wallet, read before or during the create request. */
  readonly funds?: Funds | undefined;
  readonly lookup?:
    | { readonly sinceMs: number; readonly atMs: number; readonly count: number }
    | undefined;
}

/** The data of a run whose attempt is `quoted`. */
export interface Quoted extends Read {
  readonly phase: 'quoted';
  readonly funds?: Funds | undefined;
  /** The service's rates for a conversion, or the failure to read the rates. */
  readonly rates?: Rates | Failure | undefined;
  /**
   * Whether the expiry time of the quote had already passed when the service returned the quote.
   * svcpay ignores the expiry time of a quote that was returned expired, because a clock must be
   * wrong.
   */
  readonly isMisdated?: boolean | undefined;
  readonly approval?: 'asked' | 'covered' | 'prompt-expired' | undefined;
  readonly shown?: boolean | undefined;
  readonly cancel?: 'refused' | 'done' | undefined;
}

/** The data of a run whose attempt is `submitting`. */
export interface Submitting extends Read {
  readonly phase: 'submitting';
  readonly sending: Sending;
}

/** The data of a run whose attempt is `in-flight` or `unknown`. */
export interface Settling extends Read {
  readonly phase: 'settling';
  /** The time at which the run entered this phase, in ms since the start of the run. */
  readonly sinceMs: number;
}

/** The data of a run whose attempt is `paid`, `failed`, `error` or `lapsed`. */
export interface Ended extends Read {
  readonly phase: 'ended';
  /**
   * The service's refusal of the confirmation, if the attempt lapsed in this run because of the
   * refusal.
   */
  readonly refusal?: Failure | undefined;
}

/**
 * The data of a run, by the phase of the latest attempt. A crash loses the run's data, but the
 * payment's attempts survive in the journal.
 */
export type RunMemory = Requesting | Quoted | Submitting | Settling | Ended;
export type Phase = RunMemory['phase'];

export interface Run {
  readonly payment: Payment;
  /** The latest attempt of the payment. */
  readonly attempt: Attempt;
  readonly order: Order;
  readonly memory: RunMemory;
}

export type Step =
  | { readonly do: 'create' }
  | { readonly do: 'find'; readonly depth: 'every page' | 'newest page' }
  | { readonly do: 'read'; readonly attempt: Attempt }
  | { readonly do: 'approve' }
  | { readonly do: 'cancel' }
  | { readonly do: 'submit' }
  | { readonly do: 'confirm' }
  /**
   * Changes the attempt from `submitting` back to `quoted`, because no confirmation left this
   * machine.
   */
  | { readonly do: 'withdraw'; readonly failure: Failure }
  | { readonly do: 'wait'; readonly ms: number }
  /** Marks the attempt as lapsed in the journal, without a request to the service. */
  | { readonly do: 'lapse' }
  | { readonly do: 'open-attempt'; readonly number: number }
  /** Ends the run. `abandons` is true if no money moved and `tx resume` must skip the payment. */
  | { readonly do: 'stop'; readonly outcome: Outcome; readonly abandons: boolean };

export type Outcome =
  /** `recorded` is the answer of `tx resolve` that decides about the money, if there is one. */
  | { readonly txn: Transaction; readonly recorded?: Resolution | undefined }
  | { readonly failure: Failure };

/** The result of a step of the run, or an interruption. */
export type RunEventBody =
  | {
      readonly is: 'created';
      readonly txn: Transaction;
      readonly funds: Funds | undefined;
      readonly rates?: Quoted['rates'];
      readonly started?: Started;
    }
  /** The service refused the create request or the confirmation. */
  | { readonly is: 'refused'; readonly error: Failure; readonly funds?: Funds | undefined }
  /** The create request or the confirmation got no answer, or did not leave this machine. */
  | {
      readonly is: 'unanswered';
      readonly error: Failure;
      readonly mayHaveArrived: boolean;
      readonly funds?: Funds | undefined;
    }
  | {
      readonly is: 'found';
      readonly txn: Transaction;
      readonly number: number;
      readonly started?: Started;
    }
  | { readonly is: 'not-found' }
  | { readonly is: 'read'; readonly number: number; readonly txn: Transaction }
  | {
      readonly is: 'read-failed';
      readonly number: number;
      readonly result: Exclude<ReadResult, ReportedResult>;
      readonly error: Failure;
    }
  | { readonly is: 'shown' }
  | { readonly is: 'approved'; readonly quote: Quote; readonly by: 'asked' | 'covered' }
  | { readonly is: 'declined'; readonly failure: Failure }
  | { readonly is: 'prompt-expired' }
  | { readonly is: 'cancelled'; readonly txn: Transaction }
  | { readonly is: 'cancel-refused' }
  | { readonly is: 'submitted'; readonly amounts: ApprovedAmounts }
  | { readonly is: 'confirmed'; readonly txn: Transaction }
  | { readonly is: 'withdrawn'; readonly failure: Failure }
  | { readonly is: 'waited' }
  | { readonly is: 'lapsed' }
  | {
      readonly is: 'attempt-opened';
      readonly number: number;
      /** The order of the attempt as JSON. */
      readonly request: string;
      readonly terms?: PaymentTerms | undefined;
    }
  /** Applies this run's terms, and reopens an abandoned payment. */
  | { readonly is: 'reopened'; readonly terms?: PaymentTerms | undefined }
  /** The run ends before the submission, because of a failure or after it showed the quote. */
  | { readonly is: 'abandoned'; readonly why?: Failure | undefined }
  | { readonly is: 'stopped'; readonly failure: Failure }
  | { readonly is: 'interrupted' };

export type RunEvent = { readonly at: Now } & RunEventBody;

/** The amounts that an approved quote debits and delivers, and the budget that they charge. */
export type ApprovedAmounts = Pick<
  Attempt,
  'approvedTotal' | 'approvedReceives' | 'spendCcy' | 'budget'
>;

/** A payment that the service started without a confirmation, after this run's create request. */
export interface Started {
  readonly amounts: ApprovedAmounts;
  /** Whether the transaction matches the order. */
  readonly isOrdered: boolean;
}

/**
 * Interprets a `txnState` of the service: whether the money moved. A payment in an unrecognized
 * `txnState` counts as in flight.
 */
export function resultOf(txnState: string): ReportedResult {
  if (isQuoted(txnState)) return 'quoted';
  if (txnState === 'completed') return 'completed';
  if (hasLapsed(txnState)) return 'lapsed';
  if (isRetriable(txnState)) return 'failed';
  return isFinal(txnState) ? 'error' : 'moving';
}

const phases: Readonly<Record<AttemptState, Phase>> = {
  requested: 'requesting',
  quoted: 'quoted',
  submitting: 'submitting',
  'in-flight': 'settling',
  unknown: 'settling',
  paid: 'ended',
  failed: 'ended',
  error: 'ended',
  lapsed: 'ended',
};

/** Returns the data with which a run starts if its latest attempt is in the given state. */
export const emptyMemory = (state: AttemptState, isFirstRun: boolean): RunMemory =>
  inPhaseOf(
    state,
    {
      phase: 'requesting',
      sending: { tries: 0, atMs: 0, isUnanswered: state === 'requested' && !isFirstRun },
      earlierRead: [],
    },
    0,
  );

/**
 * Returns the data of a run for the attempt's current state. The data of the attempt's previous
 * state is removed, so that no rule can read outdated data.
 */
export function inPhaseOf(state: AttemptState, memory: RunMemory, ms: number): RunMemory {
  const phase = phases[state];
  if (memory.phase === phase) return memory;
  const { approvedQuote, earlierRead, earlierPaid, submittedHere, stopped, isInterrupted } = memory;
  const kept = { approvedQuote, earlierRead, earlierPaid, submittedHere, stopped, isInterrupted };
  const read = { ...kept, txn: txnOf(memory), reads: readsOf(memory) };
  const funds = memory.phase === 'requesting' ? memory.funds : undefined;
  switch (phase) {
    case 'requesting':
      return { ...kept, phase, sending: { tries: 0, atMs: 0, isUnanswered: false } };
    case 'quoted':
      return { ...read, phase, funds };
    // If an earlier run submitted the attempt, the process of that run may have sent a confirmation
    // before it died.
    case 'submitting':
      return { ...read, phase, sending: { tries: 0, atMs: ms, isUnanswered: true } };
    case 'settling':
      return { ...read, phase, sinceMs: ms };
    case 'ended': {
      const refusal = memory.phase === 'submitting' ? memory.sending.refusal : undefined;
      return { ...read, phase, refusal };
    }
  }
}

export const txnOf = (memory: RunMemory): Transaction | undefined =>
  memory.phase === 'requesting' ? undefined : memory.txn;

export const readsOf = (memory: RunMemory): Reads | undefined =>
  memory.phase === 'requesting' ? undefined : memory.reads;

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

/** The full cost of a quote, for approval before money moves. */
export interface QuotedCost {
  readonly quote: Quote;
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

/** The event of a quote, which is also what a person or a program approves. */
export interface Approval extends QuotedCost {
  readonly type: 'quoted';
  readonly order: Order;
  readonly txn: Transaction;
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
  | Approval
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
  | { readonly type: 'exceeded'; readonly error: Failure }
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
