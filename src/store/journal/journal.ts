// The payment journal and its guarantees. Every attempt is written here before its request is sent.
import type { UnfinishedPayments } from './figures.js';
import type { Attempt, Payment, PaymentChange, PaymentDraft } from './payment.js';

/** Proof that this process works on a payment; a later claim by another process makes it stale. */
export interface Claim {
  readonly payment: Payment;
  /** Counts the claims on this payment, from 1. */
  readonly fence: number;
  /** Identifies the last change of the payment; null before the first one. */
  readonly lastChange: string | null;
}

export interface Spend {
  readonly ccy: string;
  readonly total: string;
}

/** An attempt as the service reports it, for a journal that lacks it after a restore. */
export interface ImportedAttempt extends Pick<
  Attempt,
  'number' | 'txnState' | 'approvedTotal' | 'approvedReceives' | 'spendCcy'
> {
  readonly txnId: string;
  readonly state: 'in-flight' | 'paid' | 'failed' | 'error' | 'unknown';
  /** Ms since it was submitted. */
  readonly ago: number;
}

/** Which of the latest payments are read: the rest may be many, and reading them takes time. */
export interface OnlyLatest {
  /** Ms since their last change, at most. */
  readonly changedWithinMs: number;
  /** Part of their order's text, without `%` and `_`. */
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
 * The service's clock, epoch ms; undefined before it answered. A journal in a file needs it to
 * measure a day when the machine's clock jumps. A database uses its own clock alone.
 */
export type ServiceTime = number | undefined;

/** Every method reads the time from the journal's own clock, within its transaction. */
export interface Journal {
  /**
   * Opens a payment, or finds the one with its reference (`ref`), or another one with its
   * idempotency key that may have paid (`once`; preferred if the payment with the reference has
   * moved nothing). A draft of another order takes a reference that is free (see
   * `isReferenceFree`): its payment is `new`. Atomic between processes.
   */
  begin(draft: PaymentDraft): Promise<{ payment: Payment; found: 'new' | 'ref' | 'once' }>;
  /**
   * Claims a payment if no process works on it, its process is dead, or its lease has expired;
   * undefined otherwise.
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
   * Writes the change that submits an attempt, dated now, after `allow` has seen what the account
   * spent and whether another payment competes: in one transaction, so that two payments at once
   * cannot both pass. `allow` throws to refuse; it runs again if the transaction does.
   */
  submit(
    claim: Claim,
    change: PaymentChange & { readonly attempt: Attempt },
    service: ServiceTime,
    allow: (before: SpentBefore) => void | Promise<void>,
  ): Promise<Claim>;
  release(claim: Claim): Promise<void>;
  /**
   * Enters an attempt that a restored journal lacks: under the draft's reference, or into the
   * payment that has it. A process that works on that payment loses its claim. False if the journal
   * already has the attempt as submitted.
   */
  enter(draft: PaymentDraft, imported: ImportedAttempt, service: ServiceTime): Promise<boolean>;
  /**
   * The sum, in each currency, of all that the account submitted within the last day and did not
   * get back: what every attempt that may have moved money debits and, if that is received
   * elsewhere in another currency, what is received.
   */
  spent(account: string, service: ServiceTime): Promise<readonly Spend[]>;
  read(id: string): Promise<Payment | undefined>;
  /** By payment id, by the transaction id of an attempt, by reference (also `R~2`). */
  find(scope: string, name: string): Promise<Payment | undefined>;
  /** At most two of those with an attempt whose transaction id starts with the prefix. */
  beginning(scope: string, start: string): Promise<readonly Payment[]>;
  /** The payments of the account with the most recently submitted attempts, newest first. */
  latest(account: string, atMost: number, only?: OnlyLatest): Promise<readonly Payment[]>;
  /** Payments of a scope in the order of their ids, after this id (at first empty). */
  page(scope: string, after: string, atMost: number): Promise<readonly Payment[]>;
  /** Payments whose reference is this one but for case and blanks. */
  alike(scope: string, ref: string): Promise<readonly Payment[]>;
  /** The latest runs of batches, newest first. */
  runs(scope: string, atMost: number): Promise<readonly BatchRun[]>;
  /** The payments of a run, in the order they were opened. */
  inRun(scope: string, run: string): Promise<readonly Payment[]>;
  /**
   * `BatchMark.row` of the payments of a run that paid or may have, in the order of their opening.
   */
  paidInRun(scope: string, run: string): Promise<readonly string[]>;
  /**
   * Payments that are unfinished (see `isUnfinished`), oldest first. Equally fast with a long
   * history.
   */
  open(scope: string): Promise<readonly Payment[]>;
  /**
   * Unfinished payments of all accounts that were opened so many ms ago or earlier, oldest first,
   * and the process that had each last.
   */
  openSince(ms: number): Promise<readonly (Payment & { readonly owner: string | null })[]>;
  /** How many payments of all accounts are unfinished, by status and age. */
  unfinished(): Promise<readonly UnfinishedPayments[]>;
  close(): Promise<void>;
}

export const leaseMs = 30_000;

/** Another process has taken the payment over. */
export class LostClaim extends Error {
  override readonly name = 'LostClaim';
}
