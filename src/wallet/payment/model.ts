// The words of the payment core: what a run wants, what it knows, the steps it can take and the
// facts that come back.
import type { Rates, Transaction } from '../../api/types.js';
import type { Money } from '../../formats/amount.js';
import type { Failure } from '../../formats/failure.js';
import { hasLapsed, isFinal, isQuoted, isRetriable } from '../../formats/states.js';
import type { Attempt, AttemptState, Payment, PaymentTerms } from '../../store/journal/payment.js';
import type { Order } from '../order/orders.js';
import type { Quote } from '../quote/quote.js';

/** What a run should achieve. */
export interface Wish {
  /**
   * `quoted` shows the cost and stops; `submitted` stops once the service has accepted the payment.
   */
  readonly until: 'quoted' | 'submitted' | 'settled';
  /** Longest wait for the settlement, in ms. */
  readonly waitMs: number;
  /** The only transaction that may be confirmed (`tx confirm`). */
  readonly expect?: string | undefined;
  /**
   * The last attempt that a person allows to be repeated although it failed or is unknown
   * (`--retry`); 0 for none.
   */
  readonly retryUpTo: number;
  /** The latest attempt when the run began. */
  readonly firstAttempt: number;
  /**
   * `generated` for this run, derived from the `invoice` by every payer, or `given` by the caller.
   */
  readonly reference: 'generated' | 'invoice' | 'given';
  /** Which stops leave the payment open for a later resume: temporary ones, or all. */
  readonly leaveOpen: 'never' | 'if-passing' | 'always';
  /** This run's limits on the cost; without them those in the journal apply. */
  readonly terms?: PaymentTerms | undefined;
  /** The yes of this run. The journal stores no yes but the submission itself. */
  readonly consent: Consent;
}

/** `standing` for `--yes`: every quote within the terms. */
export type Consent = 'none' | 'standing';

/** Times of a run: ms since it began, which only grow, and the service's clock in epoch ms. */
export interface Now {
  readonly ms: number;
  readonly service: number;
}

/**
 * What one read of a transaction shows. `unreadable` is an answer that makes no sense or a refusal,
 * `unanswered` is none.
 */
export type ReadResult = ReportedResult | 'not-found' | 'unreadable' | 'unanswered';

export type ReportedResult = 'quoted' | 'moving' | 'completed' | 'failed' | 'error' | 'lapsed';

/**
 * Consecutive reads with the same result, since the last request that could have changed the
 * transaction.
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
  /** What pending transactions reserve. */
  readonly reserved: Money;
  /** Read before the quote was requested, so that nothing of the quote is in it. */
  readonly isBefore?: boolean;
}

/** Kept in every phase. */
interface Kept {
  /** The quote that was approved in this run, of this attempt or of an earlier one. */
  readonly agreed?: Quote | undefined;
  /** Unresolved attempts before the latest one that were read in this run. */
  readonly earlierRead: readonly number[];
  /** The transaction of an earlier attempt that was read as paid. */
  readonly earlierPaid?: Transaction | undefined;
  /** This run sent a confirmation of the latest attempt. */
  readonly submittedHere?: boolean | undefined;
  readonly stopped?: Failure | undefined;
  readonly isInterrupted?: boolean | undefined;
}

/** From the first answer on. */
interface Read extends Kept {
  /** The latest attempt's transaction, as the service last returned it. */
  readonly txn?: Transaction | undefined;
  readonly reads?: Reads | undefined;
}

/** The attempt is `requested`. */
export interface Requesting extends Kept {
  readonly phase: 'requesting';
  /**
   * Create requests of the latest attempt. One without an answer, or of an earlier run, may have
   * succeeded.
   */
  readonly creation: {
    readonly tries: number;
    readonly atMs: number;
    readonly mayExist: boolean;
    readonly refusal?: Failure | undefined;
    readonly error?: Failure | undefined;
  };
  /** The source wallet, as read during the create request. */
  readonly funds?: Funds | undefined;
  readonly lookup?:
    | { readonly sinceMs: number; readonly atMs: number; readonly count: number }
    | undefined;
}

/** The attempt is `quoted`. */
export interface Quoted extends Read {
  readonly phase: 'quoted';
  readonly funds?: Funds | undefined;
  /**
   * The service's rates for a conversion, or why they could not be read during the create request.
   */
  readonly rates?: Rates | Failure | undefined;
  /**
   * The quote had expired when it was made. One of the clocks is wrong, so the expiry decides
   * nothing.
   */
  readonly isMisdated?: boolean | undefined;
  readonly approval?: 'asked' | 'covered' | 'prompt-expired' | undefined;
  readonly shown?: boolean | undefined;
  readonly cancel?: 'refused' | 'done' | undefined;
}

/** The attempt is `submitting`. */
export interface Submitting extends Read {
  readonly phase: 'submitting';
  /** A refusal counts only if no other confirmation can have taken effect. */
  readonly confirmation: {
    readonly tries: number;
    readonly atMs: number;
    /** Some confirmation, of this run or of one that died, may have arrived without an answer. */
    readonly isUnanswered: boolean;
    readonly refusal?: Failure | undefined;
    readonly error?: Failure | undefined;
  };
}

/** The attempt is `in-flight` or `unknown`. */
export interface Settling extends Read {
  readonly phase: 'settling';
  /** When this run first knew that. */
  readonly sinceMs: number;
}

/** The attempt is `paid`, `failed`, `error` or `lapsed`. */
export interface Over extends Read {
  readonly phase: 'over';
  /** The refusal of the confirmation that made it lapse in this run. */
  readonly refusal?: Failure | undefined;
}

/**
 * Facts of a run by the phase of the latest attempt. A crash loses them; the payment's attempts
 * survive.
 */
export type Known = Requesting | Quoted | Submitting | Settling | Over;
export type Phase = Known['phase'];

export interface Run {
  readonly payment: Payment;
  /** The latest attempt of the payment. */
  readonly attempt: Attempt;
  readonly order: Order;
  readonly known: Known;
}

export type Step =
  | { readonly do: 'create' }
  | { readonly do: 'find'; readonly depth: 'every page' | 'newest page' }
  | { readonly do: 'read'; readonly attempt: Attempt }
  | { readonly do: 'approve' }
  | { readonly do: 'cancel' }
  | { readonly do: 'submit' }
  | { readonly do: 'confirm' }
  /** No confirmation left this machine: the attempt is a quote again. */
  | { readonly do: 'withdraw'; readonly failure: Failure }
  | { readonly do: 'wait'; readonly ms: number }
  /** Enough is known to lapse the attempt without a further request. */
  | { readonly do: 'lapse' }
  | { readonly do: 'open-attempt'; readonly number: number }
  /** `abandons`: the payment is over for `tx resume`, nothing moved. */
  | { readonly do: 'stop'; readonly outcome: Outcome; readonly abandons: boolean };

export type Outcome = { readonly txn: Transaction } | { readonly failure: Failure };

/** What came back from a step. */
export type FactBody =
  | {
      readonly is: 'created';
      readonly txn: Transaction;
      readonly funds: Funds | undefined;
      readonly rates?: Quoted['rates'];
      readonly started?: Started;
    }
  | { readonly is: 'create-refused'; readonly error: Failure; readonly funds: Funds | undefined }
  | { readonly is: 'create-unanswered'; readonly error: Failure; readonly mayExist: boolean }
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
  | { readonly is: 'confirm-refused'; readonly error: Failure }
  | { readonly is: 'confirm-unanswered'; readonly error: Failure }
  | { readonly is: 'confirm-not-sent'; readonly error: Failure }
  | { readonly is: 'withdrawn'; readonly failure: Failure }
  | { readonly is: 'waited' }
  | { readonly is: 'lapsed' }
  | {
      readonly is: 'attempt-opened';
      readonly number: number;
      readonly terms?: PaymentTerms | undefined;
    }
  /** This run's terms apply; an abandoned payment is open again. */
  | { readonly is: 'reopened'; readonly terms?: PaymentTerms | undefined }
  | { readonly is: 'abandoned' }
  | { readonly is: 'stopped'; readonly failure: Failure }
  | { readonly is: 'interrupted' };

export type Fact = { readonly at: Now } & FactBody;

/** What an approved quote debits and delivers. */
export type ApprovedAmounts = Pick<Attempt, 'approvedTotal' | 'approvedReceives' | 'spendCcy'>;

/** The service began to pay without a confirmation, after this run's create request. */
export interface Started {
  readonly amounts: ApprovedAmounts;
  /** Whether the transaction is what was asked for. */
  readonly isOrdered: boolean;
}

/**
 * What a `txnState` of the service means for the money; an unrecognized state counts as in flight.
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
  paid: 'over',
  failed: 'over',
  error: 'over',
  lapsed: 'over',
};

/** What is known when a run begins with an attempt in this state, or begins a new attempt. */
export const nothingKnown = (state: AttemptState, isFirstRun: boolean): Known =>
  inPhaseOf(
    state,
    {
      phase: 'requesting',
      creation: { tries: 0, atMs: 0, mayExist: state === 'requested' && !isFirstRun },
      earlierRead: [],
    },
    0,
  );

/**
 * What is known, in the phase of the attempt's state. Facts that belong to the phase before are
 * dropped: no rule can read them.
 */
export function inPhaseOf(state: AttemptState, known: Known, ms: number): Known {
  const phase = phases[state];
  if (known.phase === phase) return known;
  const { agreed, earlierRead, earlierPaid, submittedHere, stopped, isInterrupted } = known;
  const kept = { agreed, earlierRead, earlierPaid, submittedHere, stopped, isInterrupted };
  const read = { ...kept, txn: txnOf(known), reads: readsOf(known) };
  const funds = known.phase === 'requesting' ? known.funds : undefined;
  switch (phase) {
    case 'requesting':
      return { ...kept, phase, creation: { tries: 0, atMs: 0, mayExist: false } };
    case 'quoted':
      return { ...read, phase, funds };
    // Only the fact `submitted` proves that no confirmation was sent. Otherwise a process that died
    // may have sent one.
    case 'submitting':
      return { ...read, phase, confirmation: { tries: 0, atMs: ms, isUnanswered: true } };
    case 'settling':
      return { ...read, phase, sinceMs: ms };
    case 'over': {
      const refusal = known.phase === 'submitting' ? known.confirmation.refusal : undefined;
      return { ...read, phase, refusal };
    }
  }
}

export const txnOf = (known: Known): Transaction | undefined =>
  known.phase === 'requesting' ? undefined : known.txn;

export const readsOf = (known: Known): Reads | undefined =>
  known.phase === 'requesting' ? undefined : known.reads;
