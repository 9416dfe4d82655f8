// What the payment journal keeps and promises. Every step of a payment is written here before its request goes out.
import type { UnfinishedPayments } from './figures.js';

/** How far a payment has come. Each is written before the request that it announces. */
export type Step = 'intent' | 'created' | 'confirming' | 'confirmed' | 'final';

/** What a person agreed to: nothing yet, one quote (up to `approvedTotal`), or any quote within the terms (`--yes`). */
export type Consent = 'none' | 'quote' | 'standing';

export interface PaymentTerms {
  /** Highest total fee, in the source currency or as a percentage of the amount. */
  readonly maxFee?: { readonly amount: string; readonly ccy: string } | { readonly percent: string } | undefined;
  /** What a conversion may lose against the service's own rates, in percent. */
  readonly maxRateLoss?: string | undefined;
}

export interface IntentDraft {
  readonly id: string;
  /** The service and the account: a reference is unique within it. */
  readonly scope: string;
  /** The account alone, under which spending is summed up whatever name its host goes by. */
  readonly account: string;
  readonly ref: string;
  /** What is paid for, in words: `send lightning`. */
  readonly kind: string;
  /** The creation body without its extRefId, as JSON. */
  readonly request: string;
  /** Equal for equal payments: a used reference may only be run again with the same. */
  readonly fingerprint: string;
  /** What can be paid once only, such as a payment hash: once in all scopes together. */
  readonly onceKey: string | null;
  readonly terms: PaymentTerms;
  readonly consent: Consent;
}

/** An attempt that was let go and may have paid, and that a person had tried again all the same. */
export type Doubt = Pick<
  Intent,
  'attempt' | 'txnId' | 'txnState' | 'approvedTotal' | 'approvedReceives' | 'spendCcy' | 'approvedAt'
>;

export interface Intent extends IntentDraft {
  /** 1 for `R`, n for `R~n`. */
  readonly attempt: number;
  readonly step: Step;
  readonly txnId: string | null;
  /** Last `txnState` seen. */
  readonly txnState: string | null;
  /** What the quote that was agreed to took from the wallet, fees included. */
  readonly approvedTotal: string | null;
  /** What it brought, where it said so. */
  readonly approvedReceives: string | null;
  readonly spendCcy: string | null;
  /** When the money of the present attempt was let go; null while no confirmation can have been sent for it. */
  readonly approvedAt: number | null;
  /** Of other attempts than the present one, in their order. The journal keeps them by itself. */
  readonly doubts: readonly Doubt[];
  /** Ended without being final: declined, refused by the service or by a limit. */
  readonly closed: boolean;
  readonly openedAt: number;
  readonly updatedAt: number;
}

export type IntentChange = Partial<
  Pick<
    Intent,
    | 'attempt'
    | 'step'
    | 'txnId'
    | 'txnState'
    | 'consent'
    | 'approvedTotal'
    | 'approvedReceives'
    | 'spendCcy'
    | 'approvedAt'
    | 'closed'
    | 'terms'
  >
>;

/** Proof that this process drives an intent; a later claim by another makes it stale. */
export interface Claim {
  readonly intent: Intent;
  /** Counts the claims on this intent: 1 for the first ever. */
  readonly fence: number;
}

export interface Spend {
  readonly ccy: string;
  readonly total: string;
}

/** A payment that was let go, as the service tells of it. */
export interface LetGo extends Pick<Intent, 'attempt' | 'txnState' | 'approvedTotal' | 'approvedReceives' | 'spendCcy'> {
  readonly txnId: string;
  readonly step: 'confirmed' | 'final';
  /** How long ago that was, in ms. */
  readonly ago: number;
}

export interface SpentBefore {
  /** All that was let go in the window and has not come back, see `Journal.spent`. */
  readonly spent: readonly Spend[];
  /** Another intent with the same `onceKey` that was let go and has not come back. */
  readonly rival: Intent | undefined;
}

/**
 * A span of time up to the present, of which there are two readings, by the machine's clock and by the service's: money
 * is counted from the earlier and noted under the later one, so that a clock that is moved opens no new day early. A
 * journal with a clock of its own (a database's) goes by that one alone.
 */
export interface Window {
  readonly lengthMs: number;
  /** Epoch ms. */
  readonly earliest: number;
  /** Epoch ms. */
  readonly latest: number;
}

/** A transaction as the service's list shows it, as far as references are concerned. */
export interface SeenTransaction {
  readonly txnId: string;
  readonly extRefId: string | null;
  /** Epoch ms by the service's clock. */
  readonly createdAt: number;
}

/** The part of the service's history that was read whole, epoch ms by its clock. */
export interface Coverage {
  readonly from: number;
  readonly to: number;
}

/** The transactions of a scope that were seen in the service's list, so that it is read once and then only what is new. */
export interface ReferenceIndex {
  /** Undefined when the list was never read. */
  covered(scope: string): Promise<Coverage | undefined>;
  /**
   * Adds what was read and, where a span of the list is now read whole, widens the coverage, in one transaction. Of spans
   * that do not touch the later one counts.
   */
  note(scope: string, seen: readonly SeenTransaction[], span?: Coverage): Promise<void>;
  /** Those that carry the reference or one of its attempts, `R~n`. */
  attempts(scope: string, ref: string): Promise<readonly SeenTransaction[]>;
  /** How many are known that were created at this moment or later. */
  countSince(scope: string, createdAt: number): Promise<number>;
}

/** Every method reads the present by the journal's own clock, within its transaction. */
export interface Journal {
  /**
   * Opens an intent, or finds the one that has the same reference (`ref`), or another one with the same `onceKey` that
   * paid or still may (`once`; it goes first where the one with the reference is over without having paid). A draft
   * takes the place of one of the same reference that ended before anything was created. Atomic between processes.
   */
  begin(draft: IntentDraft): Promise<{ intent: Intent; found: 'new' | 'ref' | 'once' }>;
  /** Takes an intent over when nobody drives it, its driver is dead, or its lease ran out; undefined otherwise. */
  claim(id: string, owner: string): Promise<Claim | undefined>;
  /** Lengthens the lease while a request is out. Rejects with LostClaim when another process took the intent over. */
  renew(claim: Claim): Promise<void>;
  /** Writes a change durably. Rejects with LostClaim when another process took the intent over. */
  write(claim: Claim, change: IntentChange): Promise<Claim>;
  /**
   * Writes the change that lets money go, with the moment, after `allow` has seen what stands in its way: one
   * transaction, so that two payments at once cannot both pass. `allow` throws to refuse.
   */
  spend(claim: Claim, change: IntentChange, window: Window, allow: (before: SpentBefore) => void): Promise<Claim>;
  release(claim: Claim): Promise<void>;
  /**
   * Enters what a journal that was restored from a back-up does not know: under the draft's reference, or as what became
   * of the payment that waits there. A process that is at work on it loses its claim. False where it is known already.
   */
  enter(draft: IntentDraft, letGo: LetGo, window: Window): Promise<boolean>;
  /**
   * All that the account let go in the window and has not come back: what left the wallet and, where it arrived elsewhere
   * in another currency, also that.
   */
  spent(account: string, window: Window): Promise<readonly Spend[]>;
  read(id: string): Promise<Intent | undefined>;
  /** By intent id, transaction id or reference; last by the transaction of an attempt in doubt. */
  find(scope: string, name: string): Promise<Intent | undefined>;
  /** Two at most of those whose transaction id begins so: for a person who was shown no more of it. */
  beginning(scope: string, start: string): Promise<readonly Intent[]>;
  /** What the account let go last, newest first. */
  latest(account: string, atMost: number): Promise<readonly Intent[]>;
  /** Intents that are neither final nor closed, oldest first. */
  open(scope: string): Promise<readonly Intent[]>;
  /** Those of all accounts that were opened so many ms ago or before, oldest first, and the process that had them last. */
  openSince(ms: number): Promise<readonly (Intent & { readonly owner: string | null })[]>;
  /** How many have not ended, by status and age, of all accounts. */
  unfinished(): Promise<readonly UnfinishedPayments[]>;
  readonly references: ReferenceIndex;
  close(): Promise<void>;
}

export const leaseMs = 30_000;

/** Another process has taken the intent over; what it does now is in the journal. */
export class LostClaim extends Error {
  override readonly name = 'LostClaim';
}
