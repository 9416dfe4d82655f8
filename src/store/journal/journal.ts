// The payment journal and its guarantees. Every attempt is written here before its request is sent.
import type { UnfinishedPayments } from './figures.js';
import type { Attempt, Payment, PaymentChange, PaymentDraft } from './payment.js';

/**
 * The proof that this process works on a payment. A later claim by another process makes it stale.
 */
export interface Claim {
  readonly payment: Payment;
  /** The number of claims on this payment so far, from 1. */
  readonly fence: number;
  /** Identifies the last change of the payment. Null before the first change. */
  readonly lastChange: string | null;
}

export interface Spend {
  readonly ccy: string;
  readonly total: string;
}

/** An attempt as the service reports it, for a restored journal that lacks it. */
export interface ImportedAttempt extends Pick<
  Attempt,
  'number' | 'txnState' | 'approvedTotal' | 'approvedReceives' | 'spendCcy'
> {
  readonly txnId: string;
  readonly state: 'in-flight' | 'paid' | 'failed' | 'error' | 'unknown';
  /** Ms since the submission. */
  readonly ago: number;
}

/** Selects some of the latest payments, because all of them may be many and take time to read. */
export interface OnlyLatest {
  /** The most ms since their last change. */
  readonly changedWithinMs: number;
  /** A part of the text of their order, without `%` and `_`. */
  readonly mentioning: string;
}

/** A run of a batch: see `BatchMark`. */
export interface BatchRun {
  readonly run: string;
  readonly payments: number;
}

export interface SpentBefore {
  /** See `Journal.spent`. Locks the account until the change is written. */
  readonly spent: () => Promise<readonly Spend[]>;
  /** See `Journal.latest`. Locks the account like `spent`. */
  readonly latest: (atMost: number) => Promise<readonly Payment[]>;
  /** Another payment with the same idempotency key that may have paid. */
  readonly rival: Payment | undefined;
}

/**
 * The service's clock in epoch ms, or undefined before the service answered. A journal in a file
 * needs it to measure a day if the machine's clock jumps. A database uses only its own clock.
 */
export type ServiceTime = number | undefined;

/** Every method reads the time from the journal's own clock, within its transaction. */
export interface Journal {
  /**
   * Opens a payment, or finds an earlier one: the payment with its reference (`ref`), or another
   * payment with its idempotency key that may have paid (`once`). `once` has precedence if the
   * payment with the reference has moved nothing. A draft of another order takes a free reference
   * (see `isReferenceFree`), and its payment is `new`. Atomic between processes.
   */
  begin(draft: PaymentDraft): Promise<{ payment: Payment; found: 'new' | 'ref' | 'once' }>;
  /**
   * Claims a payment if no process works on it, its process is dead, or its lease has expired.
   * Otherwise resolves with undefined.
   */
  claim(id: string, owner: string): Promise<Claim | undefined>;
  /**
   * Extends the lease during a request. Rejects with LostClaim if another process took the payment
   * over.
   */
  extendLease(claim: Claim): Promise<void>;
  /** Writes a change durably. Rejects with LostClaim if another process took the payment over. */
  write(claim: Claim, change: PaymentChange): Promise<Claim>;
  /**
   * Writes the change that submits an attempt, dated now. Before that, `allow` sees what the
   * account spent and whether another payment competes, and throws to refuse. All of it is one
   * transaction, so that two payments at once cannot both pass. If the transaction runs again, so
   * does `allow`.
   */
  submit(
    claim: Claim,
    change: PaymentChange & { readonly attempt: Attempt },
    service: ServiceTime,
    allow: (before: SpentBefore) => void | Promise<void>,
  ): Promise<Claim>;
  release(claim: Claim): Promise<void>;
  /**
   * Enters an attempt that a restored journal lacks, under the draft's reference or into the
   * payment with that reference. A process that works on that payment loses its claim. False if the
   * journal already has the attempt as submitted.
   */
  enter(draft: PaymentDraft, imported: ImportedAttempt, service: ServiceTime): Promise<boolean>;
  /**
   * The sum in each currency that the account submitted within the last day and did not get back.
   * Each attempt that may have moved money counts with its debit, and with the received amount if
   * another party receives it in another currency.
   */
  spent(account: string, service: ServiceTime): Promise<readonly Spend[]>;
  read(id: string): Promise<Payment | undefined>;
  /** The payment with this payment id, transaction id of an attempt, or reference (also `R~2`). */
  find(scope: string, name: string): Promise<Payment | undefined>;
  /** Payments of all accounts with this reference (also `R~2`) or transaction id of an attempt. */
  named(name: string): Promise<readonly Payment[]>;
  /** At most two payments with an attempt whose transaction id starts with the prefix. */
  beginning(scope: string, start: string): Promise<readonly Payment[]>;
  /** The payments of the account with the most recently submitted attempts, newest first. */
  latest(account: string, atMost: number, only?: OnlyLatest): Promise<readonly Payment[]>;
  /**
   * Payments of a scope in the order of their ids, after this id. Empty starts at the first
   * payment.
   */
  page(scope: string, after: string, atMost: number): Promise<readonly Payment[]>;
  /** Payments whose reference differs from this reference at most in case and blanks. */
  alike(scope: string, ref: string): Promise<readonly Payment[]>;
  /** The latest runs of batches, newest first. */
  runs(scope: string, atMost: number): Promise<readonly BatchRun[]>;
  /** The payments of a run, in the order they were opened. */
  inRun(scope: string, run: string): Promise<readonly Payment[]>;
  /**
   * `BatchMark.row` of each payment of a run that paid or may have paid, in the order of their
   * opening.
   */
  paidInRun(scope: string, run: string): Promise<readonly string[]>;
  /**
   * Unfinished payments (see `isUnfinished`), oldest first. A long history does not slow it down.
   */
  open(scope: string): Promise<readonly Payment[]>;
  /**
   * Unfinished payments of all accounts that were opened at least this many ms ago, oldest first,
   * each with the process that last worked on it.
   */
  openSince(ms: number): Promise<readonly (Payment & { readonly owner: string | null })[]>;
  /** The number of unfinished payments of all accounts, by status and age. */
  unfinished(): Promise<readonly UnfinishedPayments[]>;
  close(): Promise<void>;
}

export const leaseMs = 30_000;

/** Another process has taken the payment over. */
export class LostClaim extends Error {
  override readonly name = 'LostClaim';
}
