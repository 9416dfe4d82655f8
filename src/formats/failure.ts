// The error type for expected failures: kind, exit code and next step.

/** Exit codes. Each states what happened to the money. */
export const exitCodes = {
  unexpected: 1,
  /** Invalid input: nothing was sent. */
  usage: 2,
  /** The service refused (4xx): nothing moved. */
  refused: 3,
  authentication: 4,
  'not-found': 5,
  /** The payment ended in `failed`, `rejected`, `expired`, `error` or `usercanceled`. */
  'payment-failed': 6,
  /** A statement or a reconciliation found a difference: nothing was sent. */
  'books-differ': 6,
  /** Not enough funds, or a limit or `--max-fee` stopped it. */
  limit: 7,
  /** The payment is in flight; its outcome is unknown. */
  pending: 8,
  /** Declined at the prompt, or svcpay needed an answer and could not ask. */
  declined: 9,
  /** Network, 5xx or 429: nothing moved, safe to run again. */
  temporary: 75,
  /** Interrupted before anything moved. */
  interrupted: 130,
} as const;

/** The kind of a failure, which decides the exit code, see {@link exitCodes}. */
export type FailureKind = keyof typeof exitCodes;

/** The next step. The program expresses it in its own way: the command line names a command. */
export type NextStep =
  | {
      readonly do:
        | 'sign-in'
        | 'see-wallets'
        | 'see-rates'
        | 'see-limits'
        | 'see-profiles'
        | 'see-payout-methods';
    }
  | {
      readonly do:
        | 'see-history'
        | 'see-open-payments'
        | 'check-installation'
        | 'start-new-journal'
        | 'upgrade-database'
        | 'create-tables'
        | 'import-payments'
        | 'complete-move';
    }
  /** A transaction by its id, or a payment without a transaction by its reference. */
  | {
      readonly do: 'show' | 'watch' | 'confirm' | 'resume' | 'retry' | 'resolve';
      readonly id: string;
    }
  | { readonly do: 'accept-database'; readonly id: string }
  | { readonly do: 'allow'; readonly destination: string }
  | { readonly do: 'see-institutions'; readonly country: string };

/** What a failure carries besides kind and message. */
export interface FailureDetails {
  /** What to change or to request, in words that hold for every program. */
  hint?: string | undefined;
  next?: NextStep | undefined;
  /** The HTTP status of the service's response. */
  status?: number | undefined;
  /** The error code in the service's response, such as `2005`. */
  code?: string | undefined;
  txnId?: string | undefined;
  /** The service's id of the request, which its operator can look up. */
  requestId?: string | undefined;
  cause?: unknown;
}

/**
 * An expected failure. `kind` is the outcome, `message` the reason, `hint` and `next` the advice.
 */
export class Failure extends Error {
  override readonly name: string = 'Failure';
  readonly kind: FailureKind;
  readonly hint: string | undefined;
  readonly next: NextStep | undefined;
  readonly status: number | undefined;
  readonly code: string | undefined;
  readonly txnId: string | undefined;
  readonly requestId: string | undefined;

  constructor(kind: FailureKind, message: string, details: FailureDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.kind = kind;
    this.hint = details.hint;
    this.next = details.next;
    this.status = details.status;
    this.code = details.code;
    this.txnId = details.txnId;
    this.requestId =
      details.requestId ?? (details.cause instanceof Failure ? details.cause.requestId : undefined);
  }

  get exitCode(): number {
    return exitCodes[this.kind];
  }

  /** Includes the message, which `JSON.stringify` omits for other errors. */
  toJSON(): object {
    const { kind, message, exitCode, status, code, txnId, requestId, hint, next } = this;
    return { kind, message, exitCode, status, code, txnId, requestId, hint, next };
  }
}

/** The result of an optional lookup: undefined after a Failure, except after an interruption. */
export async function ifAvailable<T>(
  lookUp: Promise<T>,
  onFailure: (why: string) => void = () => undefined,
): Promise<T | undefined> {
  try {
    return await lookUp;
  } catch (error) {
    if (!(error instanceof Failure) || error.kind === 'interrupted') throw error;
    onFailure(error.message);
    return undefined;
  }
}

/**
 * Throws Failure `usage` unless the count is a whole number from `least` on, because programs may
 * pass NaN.
 */
export function checkCount(name: string, count: number, least: number): void {
  if (!Number.isSafeInteger(count) || count < least)
    throw new Failure('usage', `${name} is ${count}: a whole number from ${least} on is needed.`);
}
