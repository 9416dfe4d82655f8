// The payment journal and its guarantees. svcpay writes every attempt to the journal before it
// sends a request of the attempt.
import type { UnfinishedPayments } from './figures.js';
import type { Attempt, Payment, PaymentChange, PaymentDraft } from './payment.js';

/**
 * The proof that this process works on a payment. A later claim by another process makes this claim
 * stale.
 */
export interface Claim {
  readonly payment: Payment;
  /** The number of the claim, which is higher than that of every earlier claim on the payment. */
  readonly fence: number;
  /** The token of the payment's last change. Null before the first change. */
  readonly lastChange: string | null;
}

export interface Spend {
  readonly ccy: string;
  readonly total: string;
}

/** An attempt as the service reports it, to add to a restored journal that lacks the attempt. */
export interface ImportedAttempt extends Pick<
  Attempt,
  'number' | 'txnState' | 'approvedTotal' | 'approvedReceives' | 'spendCcy'
> {
  readonly txnId: string;
  readonly state: 'in-flight' | 'paid' | 'failed' | 'error' | 'unknown';
  /** The time since the submission, in ms. */
  readonly ago: number;
}

/** Selects some of the latest payments, because reading all of them may take long. */
export interface OnlyLatest {
  /** The longest time since the last change of a payment, in ms. */
  readonly changedWithinMs: number;
  /** A text that the order must contain, without `%` and `_`. */
  readonly mentioning: string;
}

/** A run of a batch. See `BatchMark`. */
export interface BatchRun {
  readonly run: string;
  readonly payments: number;
}

export interface SpentBefore {
  /** The spending as in `Journal.spent`. Locks the account until the change is written. */
  readonly spent: () => Promise<readonly Spend[]>;
  /** The latest payments as in `Journal.latest`. Locks the account like `spent`. */
  readonly latest: (atMost: number) => Promise<readonly Payment[]>;
  /** Another payment with the same idempotency key that may have paid. */
  readonly rival: Payment | undefined;
}

/**
 * The service's clock in epoch ms, or undefined before the service answered. A journal in a file
 * uses this clock to measure a day if the machine's clock jumps. A journal in PostgreSQL uses only
 * the clock of the database.
 */
export type ServiceTime = number | undefined;

/**
 * The payment journal. Every method reads the time from the journal's own clock, within its
 * transaction.
 */
export interface Journal {
  /**
   * Opens a payment, or finds an earlier payment: the payment with its reference (`ref`), or a
   * different payment with its idempotency key that may have paid (`once`). `once` has precedence
   * if the payment with the reference has moved no money. A draft of a different order replaces a
   * payment whose reference is free (see `isReferenceFree`), with the result `new`. Atomic between
   * processes.
   */
  begin(draft: PaymentDraft): Promise<{ payment: Payment; found: 'new' | 'ref' | 'once' }>;
  /**
   * Claims a payment. Resolves with undefined if another running process holds an unexpired lease
   * on the payment.
   */
  claim(id: string, owner: string): Promise<Claim | undefined>;
  /**
   * Extends the lease during a request. Rejects with LostClaim if another process took over the
   * payment.
   */
  extendLease(claim: Claim): Promise<void>;
  /** Writes a change durably. Rejects with LostClaim if another process took over the payment. */
  write(claim: Claim, change: PaymentChange): Promise<Claim>;
  /**
   * Writes the change that submits an attempt, with the current time. Before the write, `allow`
   * receives the spending of the account and any competing payment, and throws to refuse the
   * submission. `allow` and the write share one transaction, so that two concurrent payments cannot
   * both pass. If the transaction runs again, `allow` runs again.
   */
  submit(
    claim: Claim,
    change: PaymentChange & { readonly attempt: Attempt },
    service: ServiceTime,
    allow: (before: SpentBefore) => void | Promise<void>,
  ): Promise<Claim>;
  release(claim: Claim): Promise<void>;
  /**
   * Adds an attempt that a restored journal lacks, under the draft's reference or to the payment
   * with that reference. If a process works on that payment, that process loses its claim. Resolves
   * with false if the journal already has the attempt as submitted.
   */
  enter(draft: PaymentDraft, imported: ImportedAttempt, service: ServiceTime): Promise<boolean>;
  /**
   * The amount in each currency that the account spent within the last day. Each attempt that may
   * have moved money counts with its debit. If another party receives a different currency, the
   * received amount counts too.
   */
  spent(account: string, service: ServiceTime): Promise<readonly Spend[]>;
  read(id: string): Promise<Payment | undefined>;
  /**
   * Finds the payment with this payment id, transaction id of an attempt, or reference (including
   * `R~2`).
   */
  find(scope: string, name: string): Promise<Payment | undefined>;
  /**
   * Finds payments of all accounts with this reference (including `R~2`) or transaction id of an
   * attempt.
   */
  named(name: string): Promise<readonly Payment[]>;
  /** Finds at most two payments with an attempt whose transaction id starts with the prefix. */
  beginning(scope: string, start: string): Promise<readonly Payment[]>;
  /** The payments of the account with the most recently submitted attempts, newest first. */
  latest(account: string, atMost: number, only?: OnlyLatest): Promise<readonly Payment[]>;
  /**
   * Lists payments of a scope in the order of their ids, after this id. An empty id starts at the
   * first payment.
   */
  page(scope: string, after: string, atMost: number): Promise<readonly Payment[]>;
  /**
   * Finds payments whose reference differs from this reference at most in letter case and blanks.
   */
  alike(scope: string, ref: string): Promise<readonly Payment[]>;
  /** The latest runs of batches, newest first. */
  runs(scope: string, atMost: number): Promise<readonly BatchRun[]>;
  /** The payments of a run, in the order in which they were opened. */
  inRun(scope: string, run: string): Promise<readonly Payment[]>;
  /**
   * The `BatchMark.row` of each payment of a run that paid or may have paid, in the order in which
   * the payments were opened.
   */
  paidInRun(scope: string, run: string): Promise<readonly string[]>;
  /**
   * The unfinished payments (see `isUnfinished`), oldest first. The query stays fast with a long
   * history.
   */
  open(scope: string): Promise<readonly Payment[]>;
  /**
   * The unfinished payments of all accounts that were opened at least this many ms ago, oldest
   * first, each with the process that last worked on it.
   */
  openSince(ms: number): Promise<readonly (Payment & { readonly owner: string | null })[]>;
  /** The number of unfinished payments of all accounts, by status and age. */
  unfinished(): Promise<readonly UnfinishedPayments[]>;
  close(): Promise<void>;
}

export const leaseMs = 30_000;

/** The error of a claim on a payment that another process has taken over. */
export class LostClaim extends Error {
  override readonly name = 'LostClaim';
}
