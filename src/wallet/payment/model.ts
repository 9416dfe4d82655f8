// The words of the payment core: what a run wants, what it knows, the steps it can take and the facts that come back.
import type { Rates, Transaction } from '../../api/types.js';
import type { Failure } from '../../formats/failure.js';
import { hasLapsed, isFinal, isQuoted, isRetriable } from '../../formats/states.js';
import type {
  Attempt,
  AttemptState,
  Consent,
  Payment,
  PaymentTerms,
} from '../../store/journal/payment.js';
import type { Order } from '../order/orders.js';
import type { Quote } from '../quote/quote.js';
import type { Funds } from './balance.js';

/** What this run is to achieve. */
export interface Wish {
  /** `quoted` shows the cost and stops; `submitted` stops once the service has accepted the payment. */
  readonly until: 'quoted' | 'submitted' | 'settled';
  /** Longest wait for the settlement, in ms. */
  readonly waitMs: number;
  /** The only transaction that may be confirmed (`tx confirm`). */
  readonly expect?: string | undefined;
  /** The last attempt that a person allows to be repeated although it failed or is unknown (`--retry`); 0 for none. */
  readonly retryUpTo: number;
  /** The latest attempt when the run began. */
  readonly firstAttempt: number;
  /** Who else can use the reference: nobody (`own`, generated for this run), payers of the same invoice, or anyone who was given it. */
  readonly reference: 'own' | 'once' | 'given';
  /** Which stops leave the payment open for a later resume: those that may pass by themselves, or all. */
  readonly leaveOpen: 'never' | 'if-passing' | 'always';
  /** The terms and the consent of this run, for the payment and for each attempt that it begins. */
  readonly renew: {
    readonly terms?: PaymentTerms | undefined;
    readonly consent?: Consent | undefined;
  };
}

/** Times of a run: ms since it began, which only grow, and the service's clock in epoch ms. */
export interface Now {
  readonly ms: number;
  readonly service: number;
}

/** What one read of a transaction shows. `unreadable` is an answer that makes no sense or a refusal, `unanswered` is none. */
export type ReadResult =
  | 'quoted'
  | 'moving'
  | 'completed'
  | 'failed'
  | 'error'
  | 'lapsed'
  | 'not-found'
  | 'unreadable'
  | 'unanswered';

/** Consecutive reads with the same result, since the last request that could have changed the transaction. */
export interface Reads {
  readonly result: ReadResult;
  readonly sinceMs: number;
  readonly atMs: number;
  readonly count: number;
  readonly error?: Failure | undefined;
}

/** Everything that a run has learned and that a crash forgets. The attempts in the payment are what a crash keeps. */
export interface Known {
  /** The latest attempt's transaction, as the service last returned it. */
  readonly txn?: Transaction | undefined;
  readonly reads?: Reads | undefined;
  /** The source wallet, as read next to the creation. */
  readonly funds?: Funds | undefined;
  /** The service's rates for a conversion, or why they could not be read next to the creation. */
  readonly rates?: Rates | Failure | undefined;
  /** Creations of the latest attempt. One without an answer, or of an earlier run, may have succeeded. */
  readonly creation: {
    readonly tries: number;
    readonly atMs: number;
    readonly mayExist: boolean;
    readonly refusal?: Failure | undefined;
    readonly error?: Failure | undefined;
  };
  /** The quote was over when it was made: one of the clocks is wrong, so its expiry decides nothing. */
  readonly isMisdated?: boolean | undefined;
  readonly lookup?:
    | { readonly sinceMs: number; readonly atMs: number; readonly count: number }
    | undefined;
  readonly approval?: 'asked' | 'covered' | 'prompt-expired' | undefined;
  /** The quote that a person approved in this run, of this attempt or of an earlier one. */
  readonly agreed?: Quote | undefined;
  readonly shown?: boolean | undefined;
  readonly cancel?: 'refused' | 'done' | undefined;
  /** Confirmations of the latest attempt. A refusal counts only if no other confirmation can have taken effect. */
  readonly confirmation: {
    readonly tries: number;
    readonly atMs: number;
    /** Some confirmation, of this run or of one that died, may have arrived without an answer. */
    readonly isUnanswered: boolean;
    readonly refusal?: Failure | undefined;
    readonly error?: Failure | undefined;
  };
  /** When the attempt was first known to be on its way, in this run. */
  readonly settlingSinceMs?: number | undefined;
  /** Unknown attempts before the latest one that were read in this run. */
  readonly earlierRead: readonly number[];
  readonly stopped?: Failure | undefined;
  readonly isInterrupted?: boolean | undefined;
}

export interface Run {
  readonly payment: Payment;
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
  | { readonly do: 'wait'; readonly ms: number }
  /** Enough is known to move the attempt without a further request. */
  | { readonly do: 'conclude'; readonly state: 'lapsed' }
  | { readonly do: 'begin'; readonly number: number }
  /** `abandons`: the payment is over for `tx resume`, nothing moved. */
  | { readonly do: 'stop'; readonly outcome: Outcome; readonly abandons: boolean };

export type Outcome = { readonly txn: Transaction } | { readonly failure: Failure };

/** What came back of a step. */
export type FactBody =
  | {
      readonly is: 'created';
      readonly txn: Transaction;
      readonly funds: Funds | undefined;
      readonly rates?: Known['rates'];
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
      readonly result: 'not-found' | 'unreadable' | 'unanswered';
      readonly error: Failure;
    }
  | { readonly is: 'shown' }
  | { readonly is: 'approved'; readonly quote: Quote; readonly by: 'asked' | 'covered' }
  | { readonly is: 'declined'; readonly failure: Failure }
  | { readonly is: 'prompt-expired' }
  | { readonly is: 'cancelled'; readonly txn: Transaction }
  | { readonly is: 'cancel-refused' }
  | { readonly is: 'submitted'; readonly amounts: ApprovedAmounts; readonly consent: Consent }
  | { readonly is: 'confirmed'; readonly txn: Transaction }
  | { readonly is: 'confirm-refused'; readonly error: Failure }
  | { readonly is: 'confirm-unanswered'; readonly error: Failure }
  | { readonly is: 'confirm-not-sent'; readonly error: Failure }
  | { readonly is: 'waited' }
  | { readonly is: 'concluded'; readonly state: 'lapsed' }
  | { readonly is: 'begun'; readonly number: number; readonly renew: Wish['renew'] }
  /** This run's terms and consent apply; an abandoned payment is open again. */
  | { readonly is: 'reopened'; readonly renew: Wish['renew'] }
  | { readonly is: 'abandoned' }
  | { readonly is: 'stopped'; readonly failure: Failure }
  | { readonly is: 'interrupted' };

export type Fact = { readonly at: Now } & FactBody;

/** What an approved quote debits and delivers. */
export type ApprovedAmounts = Pick<Attempt, 'approvedTotal' | 'approvedReceives' | 'spendCcy'>;

/** The service began to pay without a confirmation, for this run's creation. */
export interface Started {
  readonly amounts: ApprovedAmounts;
  /** Whether the transaction is what was asked for. */
  readonly isOrdered: boolean;
}

/** What a `txnState` of the service means for the money; an unrecognized state counts as in flight. */
export function resultOf(
  txnState: string,
): Exclude<ReadResult, 'not-found' | 'unreadable' | 'unanswered'> {
  if (isQuoted(txnState)) return 'quoted';
  if (txnState === 'completed') return 'completed';
  if (hasLapsed(txnState)) return 'lapsed';
  if (isRetriable(txnState)) return 'failed';
  return isFinal(txnState) ? 'error' : 'moving';
}

/** What is known when a run begins, or begins a new attempt. */
export const nothingKnown = (state: AttemptState, isFirstRun: boolean): Known => ({
  creation: { tries: 0, atMs: 0, mayExist: state === 'requested' && !isFirstRun },
  confirmation: { tries: 0, atMs: 0, isUnanswered: state === 'submitting' },
  earlierRead: [],
});
