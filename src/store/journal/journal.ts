// The payment journal and its guarantees. svcpay writes every attempt to the journal before sending
// any request of the attempt.
import type { Attempt, Payment, PaymentChange, PaymentDraft } from './payment.js';
import type { TrailStep } from './steps.js';

/**
 * The proof that this process is working on a payment. A claim becomes stale when another process
 * claims the same payment later.
 */
export interface Claim {
  readonly payment: Payment;
  /**
   * The number of the claim, which is higher than the number of every earlier claim on the payment.
   */
  readonly fence: number;
  /**
   * The random token that identifies the last change of the payment, or null before the first
   * change.
   */
  readonly lastChange: string | null;
}

/** An account whose stored totals of its last day differ from its attempts, with both in words. */
export interface WrongTotals {
  readonly account: string;
  readonly differs: string;
}

export interface Spend {
  readonly ccy: string;
  readonly total: string;
}

/** An attempt that the service reports and that a restored journal lacks. */
export interface ImportedAttempt extends Pick<
  Attempt,
  'number' | 'txnState' | 'approvedTotal' | 'approvedReceives' | 'spendCcy'
> {
  readonly txnId: string;
  readonly state: 'in-flight' | 'paid' | 'failed' | 'error' | 'unknown';
  /** The time since the submission of the attempt, in ms. */
  readonly ago: number;
}

/** A run of a batch. See `BatchMark`. */
export interface BatchRun {
  readonly run: string;
  readonly payments: number;
}

/** A stored payment, compared with its trail. */
export interface CheckedPayment {
  readonly id: string;
  readonly ref: string;
  readonly txnId: string | null;
  readonly steps: number;
  /** What differs, in words, or undefined if the trail leads to the stored payment. */
  readonly differs?: string | undefined;
  /** The payment, or undefined if svcpay cannot read it. */
  readonly payment?: Payment | undefined;
}

/** The result of opening a payment. */
export interface Begun {
  readonly payment: Payment;
  readonly found: 'new' | 'ref' | 'once';
  /** The claim of the given owner, if the payment has a new row. */
  readonly claim?: Claim | undefined;
  /** The payment that the new payment replaces. No attempt of it was ever submitted. */
  readonly replaced?: Payment | undefined;
}

/**
 * The status of a counted payment. `unattended` means that the payment was submitted and that its
 * process died or ended before the service acknowledged the payment, so the outcome is unknown.
 */
export const unfinishedStatuses = ['open', 'in-flight', 'unattended', 'unknown', 'error'] as const;

export interface UnfinishedPayments {
  readonly status: (typeof unfinishedStatuses)[number];
  /**
   * The time since the payment was submitted, or since it was opened if its status is `open`. The
   * four age groups are up to a minute, up to 10 minutes, up to an hour, and longer.
   */
  readonly age: '1m' | '10m' | '1h' | 'older';
  readonly count: number;
  /**
   * The time at which the oldest counted payment was submitted, or opened if its status is `open`,
   * in epoch ms by the journal's clock.
   */
  readonly oldest: number;
  readonly oldestSeconds: number;
}

type Amounts = Readonly<Record<string, string>>;

/** The figures of a budget, each by currency, and its other rules. */
export interface BudgetRules {
  readonly perPayment: Amounts;
  readonly perDay: Amounts;
  /** The highest sum of all payments that the budget is ever charged. */
  readonly total: Amounts;
  /** The amounts above which the owner decides about each payment. */
  readonly askAbove: Amounts;
  /** The only payees, as names of the allow-list, or empty for every payee. */
  readonly destinations: readonly string[];
  /** The only kinds of payments, such as `swap` or `lightning`, or empty for every kind. */
  readonly kinds: readonly string[];
  /** By the clock of the daily limit, or null for a budget that does not expire. */
  readonly expiresAt: number | null;
  /** The folder for proposals to the owner, or null for the usual folder. */
  readonly outbox: string | null;
}

/** A budget with what it was charged. */
export interface Budget {
  readonly name: string;
  readonly rules: BudgetRules;
  /** Whether the owner stopped this budget, or all budgets. */
  readonly stopped: 'this' | 'all' | null;
  /** The time by the clock of the daily limit. */
  readonly time: number;
  readonly spentToday: readonly Spend[];
  readonly spentEver: readonly Spend[];
}

export interface SpentBefore {
  /**
   * Resolves with the same spending as `Journal.spent`, and locks the account until the change is
   * written.
   */
  readonly spent: () => Promise<readonly Spend[]>;
  /**
   * Resolves with the same payments as `Journal.comparable`, and locks the account until the change
   * is written.
   */
  readonly comparable: (
    keys: readonly string[],
    withinMs: number,
    atMost: number,
  ) => Promise<readonly Payment[]>;
  /**
   * Resolves with the budget of this name and what it was charged, and locks the account until the
   * change is written.
   */
  readonly budget: (name: string) => Promise<Budget | undefined>;
  /** Resolves with what was ever charged to this name, and locks the account likewise. */
  readonly charged: (name: string) => Promise<readonly Spend[]>;
  /** A competing payment that has the same idempotency key and may have paid. */
  readonly rival: Payment | undefined;
  /** Whether a person has refused the proposal, on any home of the database. */
  readonly isRefused: (proposal: string) => Promise<boolean>;
}

/**
 * The service's clock in epoch ms, or undefined before the service answered. A journal in a file
 * uses the service's clock to measure a day if the machine's clock jumps. A journal in PostgreSQL
 * uses only the clock of the database.
 */
export type ServiceTime = number | undefined;

/**
 * The payment journal. Every method of the journal reads the time from the journal's own clock,
 * within the transaction of the method.
 */
export interface Journal {
  /**
   * Opens a new payment (result `new`), or finds an earlier payment. The result `ref` is the
   * payment with the draft's reference. The result `once` is a different payment that has the
   * draft's idempotency key and may have moved money. `begin` prefers the `once` payment to the
   * `ref` payment, unless the `ref` payment may have moved money. If the draft has a different
   * instruction from the payment with its reference, and that reference is free (see
   * `isReferenceFree`), the draft replaces the payment, and the result is `new` with the `replaced`
   * payment. A new row is claimed for `owner`, if there is one. `begin` is atomic between
   * processes.
   */
  begin(draft: PaymentDraft, owner?: string): Promise<Begun>;
  /**
   * Claims a payment. Resolves with undefined if another running process holds an unexpired lease
   * on the payment.
   */
  claim(id: string, owner: string): Promise<Claim | undefined>;
  /**
   * Extends the lease of a claim while a request is running. Rejects with LostClaim if another
   * process took over the payment.
   */
  extendLease(claim: Claim): Promise<void>;
  /**
   * Writes a change to a claimed payment durably. Rejects with LostClaim if another process took
   * over the payment.
   */
  write(claim: Claim, change: PaymentChange): Promise<Claim>;
  /**
   * Writes the change that submits an attempt, with the current time. Before the journal records
   * the submission, `allow` receives the spending of the account and any competing payment, and
   * throws to refuse the submission. svcpay calls `allow` and records the submission in one
   * database transaction, so that two concurrent payments cannot exceed a limit together. If svcpay
   * repeats the database transaction, it may call `allow` again.
   */
  submit(
    claim: Claim,
    change: PaymentChange & { readonly attempt: Attempt },
    service: ServiceTime,
    allow: (before: SpentBefore) => void | Promise<void>,
  ): Promise<Claim>;
  release(claim: Claim): Promise<void>;
  /**
   * Adds an attempt that a restored journal lacks. `enter` adds the attempt to the payment with the
   * draft's reference, and creates this payment if it is missing. A process that is working on the
   * changed payment loses its claim. Resolves with false if the journal already records the attempt
   * as submitted.
   */
  enter(draft: PaymentDraft, imported: ImportedAttempt, service: ServiceTime): Promise<boolean>;
  /**
   * The amount in each currency that the account spent within the last day. The debit of each
   * attempt that may have moved money counts as spent. If another party receives a currency other
   * than the debited currency, the received amount also counts as spent.
   */
  spent(account: string, service: ServiceTime): Promise<readonly Spend[]>;
  read(id: string): Promise<Payment | undefined>;
  /**
   * Compares the payments of all accounts with their trails, in the order of their ids, beginning
   * after the id `after`. Omits payments that did not change since `since`.
   */
  checked(after: string, since: number, atMost: number): Promise<readonly CheckedPayment[]>;
  /** The accounts whose stored totals of their last day differ from their attempts. */
  wrongTotals(): Promise<readonly WrongTotals[]>;
  /** The trails of payments, each in the order of its steps. */
  trails(ids: readonly string[]): Promise<readonly TrailStep[]>;
  /**
   * Finds a payment by its exact reference, and otherwise by its payment id, by the transaction id
   * of an attempt, or by an attempt's reference such as `R~2`.
   */
  find(scope: string, name: string): Promise<Payment | undefined>;
  /**
   * Finds payments of all accounts by a reference (including `R~2`), or by the transaction id of an
   * attempt.
   */
  named(name: string): Promise<readonly Payment[]>;
  /** Finds at most two payments that have an attempt whose transaction id begins with `start`. */
  beginning(scope: string, start: string): Promise<readonly Payment[]>;
  /** The account's payments whose attempts were submitted most recently, newest first. */
  latest(account: string, atMost: number): Promise<readonly Payment[]>;
  /**
   * The payments with which svcpay compares a new payment to one of the destination keys: the
   * unfinished payments of the scope, and of the account's `atMost` latest payments those that
   * changed within `withinMs`.
   */
  comparable(
    scope: string,
    account: string,
    keys: readonly string[],
    withinMs: number,
    atMost: number,
  ): Promise<readonly Payment[]>;
  /**
   * Lists payments of a scope in the order of their ids, beginning after the id `after`. If `after`
   * is empty, the list begins with the first payment.
   */
  page(scope: string, after: string, atMost: number): Promise<readonly Payment[]>;
  /** Finds payments whose reference equals one of `refs` except for letter case and blanks. */
  alike(scope: string, refs: readonly string[]): Promise<readonly Payment[]>;
  /** The latest runs of batches, newest first. */
  runs(scope: string, atMost: number): Promise<readonly BatchRun[]>;
  /** The payments of a batch run, in the order in which they were opened. */
  inRun(scope: string, run: string): Promise<readonly Payment[]>;
  /**
   * The `BatchMark.row` of each payment that paid or may have paid in a batch run, in the order in
   * which the payments were opened.
   */
  paidInRun(scope: string, run: string): Promise<readonly string[]>;
  /**
   * The unfinished payments (see `isUnfinished`), oldest first. The query for unfinished payments
   * stays fast with a long history.
   */
  open(scope: string): Promise<readonly Payment[]>;
  /**
   * For all accounts, the unfinished payments that were opened at least this many ms ago, oldest
   * first, each with the process that last worked on the payment.
   */
  openSince(ms: number): Promise<readonly (Payment & { readonly owner: string | null })[]>;
  /** The number of unfinished payments of all accounts, by status and age. */
  unfinished(): Promise<readonly UnfinishedPayments[]>;
  /**
   * Rejects with the reason why svcpay must not pay from this journal, for example because its
   * database was restored from a backup. `begin` and `submit` reject with this reason too.
   */
  mayPay(): Promise<void>;
  close(): Promise<void>;
}

export const leaseMs = 30_000;

/** The error of a write under a claim, after another process has taken over the payment. */
export class LostClaim extends Error {
  override readonly name = 'LostClaim';
}

/**
 * Runs the work under a claim of a payment. Resolves with undefined if another process is working
 * on the payment, or takes over the payment.
 */
export async function underClaim<T>(
  journal: Journal,
  id: string,
  owner: string,
  work: (claim: Claim) => Promise<T>,
): Promise<T | undefined> {
  const claim = await journal.claim(id, owner);
  if (claim === undefined) return undefined;
  try {
    return await work(claim);
  } catch (error) {
    if (error instanceof LostClaim) return undefined;
    throw error;
  } finally {
    await journal.release(claim).catch(() => undefined);
  }
}
