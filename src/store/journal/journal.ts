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
  /** What the quote that was agreed to took from the wallet, fees included. */
  readonly approvedTotal: string | null;
  /** What it brought, where it said so. */
  readonly approvedReceives: string | null;
  readonly spendCcy: string | null;
  /** When the money was let go, for the limits per day. */
  readonly approvedAt: number | null;
  /** Ended without being final: declined, refused by the service or by a limit. */
  readonly closed: boolean;
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

export interface SpentBefore {
  /** All that was let go since the start of the window and has not come back, see `Journal.spent`. */
  readonly spent: readonly Spend[];
  /** Another intent with the same `onceKey` that was let go and has not come back. */
  readonly rival: Intent | undefined;
}

export interface Journal {
  /**
   * Opens an intent, or finds the one that has the same reference (`ref`), or another one with the same `onceKey` that
   * paid or still may (`once`; it goes first where the one with the reference is over without having paid). A draft
   * takes the place of one of the same reference that ended before anything was created. Atomic between processes.
   */
  begin(draft: IntentDraft): Promise<{ intent: Intent; found: 'new' | 'ref' | 'once' }>;
  /** Takes an intent over when nobody drives it, its driver is dead, or its lease ran out; undefined otherwise. */
  claim(id: string, owner: string, now: number): Promise<Claim | undefined>;
  /** Writes a change durably. Rejects with LostClaim when another process took the intent over. */
  write(claim: Claim, change: IntentChange, now: number): Promise<Claim>;
  /**
   * Writes the change that lets money go, after `allow` has seen what stands in its way: one transaction, so that two
   * payments at once cannot both pass. `allow` throws to refuse.
   */
  spend(
    claim: Claim,
    change: IntentChange,
    window: { since: number; now: number },
    allow: (before: SpentBefore) => void,
  ): Promise<Claim>;
  release(claim: Claim): Promise<void>;
  /**
   * All that was let go since then and has not come back: what left the wallet and, where it arrived elsewhere in another
   * currency, also that.
   */
  spent(scope: string, since: number): Promise<readonly Spend[]>;
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
