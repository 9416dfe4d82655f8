// What the payment journal keeps and promises. Every step of a payment is written here before its request goes out.

/**
 * How far a payment has come. Each is written before the request it announces:
 * `intent` before creation, `created` once the quote is known, `confirming` before confirmation,
 * `confirmed` once the service took it, `final` once nothing can change any more.
 */
export type Step = 'intent' | 'created' | 'confirming' | 'confirmed' | 'final';

/** What a person agreed to: nothing yet, one quote (up to `approvedTotal`), or any quote within the terms (`--yes`). */
export type Consent = 'none' | 'quote' | 'standing';

export interface PaymentTerms {
  /** Highest total fee, in the source currency or as a percentage of the amount. */
  readonly maxFee?: { readonly amount: string; readonly ccy: string } | { readonly percent: string } | undefined;
}

export interface IntentDraft {
  readonly id: string;
  /** The service and the account: a reference is unique within it. */
  readonly scope: string;
  readonly ref: string;
  /** What is paid for, in words: `send lightning`. */
  readonly kind: string;
  /** The creation body without its extRefId, as JSON. */
  readonly request: string;
  /** Equal for equal payments: a used reference may only be run again with the same. */
  readonly fingerprint: string;
  /** What can be paid once only, such as a payment hash. */
  readonly onceKey: string | null;
  readonly terms: PaymentTerms;
  readonly consent: Consent;
  readonly openedAt: number;
}

export interface Intent extends IntentDraft {
  /** 1 for `R`, n for `R~n`. */
  readonly attempt: number;
  readonly step: Step;
  readonly txnId: string | null;
  /** Last `txnState` seen. */
  readonly txnState: string | null;
  readonly approvedTotal: string | null;
  readonly spendCcy: string | null;
  /** When the money was let go, for the limits per day. */
  readonly approvedAt: number | null;
  /** Ended without being final: declined, refused by the service or by a limit. */
  readonly closed: boolean;
  readonly updatedAt: number;
}

export type IntentChange = Partial<
  Pick<Intent, 'attempt' | 'step' | 'txnId' | 'txnState' | 'consent' | 'approvedTotal' | 'spendCcy' | 'approvedAt' | 'closed' | 'terms'>
>;

/** Proof that this process drives an intent; a later claim by another makes it stale. */
export interface Claim {
  readonly intent: Intent;
  readonly fence: number;
}

export interface Spend {
  readonly ccy: string;
  readonly total: string;
}

export interface Journal {
  /**
   * Opens an intent, or finds the one that has the same reference, or the same `onceKey` and is not over
   * without having paid. Atomic between processes.
   */
  begin(draft: IntentDraft): Promise<{ intent: Intent; found: 'new' | 'ref' | 'once' }>;
  /** Takes an intent over when nobody drives it, its driver is dead, or its lease ran out; undefined otherwise. */
  claim(id: string, owner: string, now: number): Promise<Claim | undefined>;
  /** Writes a change durably. Rejects with LostClaim when another process took the intent over. */
  write(claim: Claim, change: IntentChange, now: number): Promise<Claim>;
  /**
   * Writes the change that lets money go, after `allow` has seen all that was spent since `since`: one
   * transaction, so that two payments at once cannot both pass a limit. `allow` throws to refuse.
   */
  spend(
    claim: Claim,
    change: IntentChange,
    window: { since: number; now: number },
    allow: (spent: readonly Spend[]) => void,
  ): Promise<Claim>;
  release(claim: Claim): Promise<void>;
  read(id: string): Promise<Intent | undefined>;
  /** By intent id, transaction id or reference. */
  find(scope: string, name: string): Promise<Intent | undefined>;
  /** Intents that are neither final nor closed, oldest first. */
  open(scope: string): Promise<readonly Intent[]>;
  close(): Promise<void>;
}

export const leaseMs = 30_000;

/** Another process has taken the intent over; what it does now is in the journal. */
export class LostClaim extends Error {
  override readonly name = 'LostClaim';
}
