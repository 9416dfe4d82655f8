// The error type for expected failures, with a kind, an exit code and a next step.

/** The exit code of each kind of failure. Each exit code states what happened to the money. */
export const exitCodes = {
  unexpected: 1,
  /** The input is invalid, and nothing was sent. */
  usage: 2,
  /** The invoice was already paid under another reference, and nothing was sent. */
  'already-paid': 2,
  /** The service refused the request (4xx), and no money moved. */
  refused: 3,
  authentication: 4,
  'not-found': 5,
  /** The payment ended in `failed`, `rejected`, `expired` or `usercanceled`, and nothing moved. */
  'payment-failed': 6,
  /** The balance is too low, or a limit or `--max-fee` stopped the payment. */
  limit: 7,
  /** The payment is in flight, and its outcome is not known yet. */
  pending: 8,
  /**
   * The payment ended in `error`, or expired after its submission: the service does not report
   * whether money moved, so only a person can find out.
   */
  'outcome-unknown': 8,
  /** A person declined at the prompt, or svcpay could not ask a necessary question. */
  declined: 9,
  /** Books, records or files differ: a statement, a reconciliation or the status of a batch. */
  'books-differ': 10,
  /**
   * The network failed, or the service responded 5xx or 429. A `temporary` failure moved no money,
   * so the command can safely run again.
   */
  temporary: 75,
  /** A person or a program interrupted svcpay before money moved. */
  interrupted: 130,
  /** The system ended svcpay with SIGTERM before money moved. */
  terminated: 143,
} as const;

/** The kind of a failure, which determines the exit code. See {@link exitCodes}. */
export type FailureKind = keyof typeof exitCodes;

/** The exit codes that promise that nothing was sent, each with the kind that replaces it. */
const nothingSent: Readonly<Partial<Record<number, FailureKind>>> = {
  [exitCodes.usage]: 'payment-failed',
  [exitCodes.declined]: 'payment-failed',
  [exitCodes.interrupted]: 'payment-failed',
  [exitCodes.temporary]: 'pending',
};

/**
 * The kind of failure of a run with several payments: `kind` is the failure of one payment, and the
 * run submitted another payment.
 */
export const besideSubmitted = (kind: FailureKind): FailureKind =>
  nothingSent[exitCodes[kind]] ?? kind;

/**
 * The next step that a failure suggests. Each program phrases the next step for its own users, so
 * the command line, for example, names a command.
 */
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
        | 'import-payments';
    }
  /**
   * A next step for one payment, whose `id` is the transaction id or, without a transaction, the
   * reference.
   */
  | {
      readonly do: 'show' | 'watch' | 'confirm' | 'resume' | 'retry' | 'resolve' | 'explain';
      readonly id: string;
    }
  | { readonly do: 'accept-database'; readonly id: string }
  | { readonly do: 'allow'; readonly destination: string }
  | { readonly do: 'see-institutions'; readonly country: string }
  /** A command of the command line, for failures that only the command line has. */
  | {
      readonly do: 'run';
      readonly command: string;
      /** One or several arguments. */
      readonly argument?: string | readonly string[] | undefined;
      readonly options?: Readonly<Record<string, string | true | undefined>> | undefined;
    };

/** The details of a failure in addition to its kind and message. */
export interface FailureDetails {
  /**
   * Advice on what to change or request. The advice must suit every program, not only the command
   * line.
   */
  hint?: string | undefined;
  next?: NextStep | undefined;
  /**
   * What happened to the money, in the words that begin the message. Without these words, the kind
   * tells what happened to the money.
   */
  money?: string | undefined;
  /** The flags of the answers that svcpay lacks and cannot ask for. */
  missing?: string | undefined;
  /** The HTTP status of the service's response. */
  status?: number | undefined;
  /** The error code in the service's response, such as `2005`. */
  code?: string | undefined;
  txnId?: string | undefined;
  /** The state of the transaction, as the service reported it last. */
  txnState?: string | undefined;
  /** The reference of the payment. */
  ref?: string | undefined;
  /** The id of the proposal with which the run asks the owner to approve the payment. */
  proposal?: string | undefined;
  /** The service's id of the request, which the operator of the service can look up. */
  requestId?: string | undefined;
  cause?: unknown;
}

/**
 * An expected failure. `kind` is the outcome, `money` and `why` make the message, and `hint` and
 * `next` are the advice.
 */
export class Failure extends Error {
  override readonly name: string = 'Failure';
  readonly kind: FailureKind;
  /** The reason, without what happened to the money. */
  readonly why: string;
  declare readonly hint: string | undefined;
  declare readonly next: NextStep | undefined;
  declare readonly money: string | undefined;
  declare readonly missing: string | undefined;
  declare readonly status: number | undefined;
  declare readonly code: string | undefined;
  declare txnId: string | undefined;
  declare txnState: string | undefined;
  declare ref: string | undefined;
  declare readonly proposal: string | undefined;
  declare readonly requestId: string | undefined;

  /**
   * @param why the reason: whole sentences, or the end of the sentence that `money` begins
   */
  constructor(kind: FailureKind, why: string, details: FailureDetails = {}) {
    const { money, hint, next, missing, status, code, txnId, txnState, ref, proposal } = details;
    const { cause, requestId = cause instanceof Failure ? cause.requestId : undefined } = details;
    const start = money === undefined ? '' : `${money}${why === '' ? '.' : ': '}`;
    super(start + why, cause === undefined ? undefined : { cause });
    this.kind = kind;
    this.why = why;
    // A subclass passes further details, which it may hide.
    const own = { money, hint, next, missing, status, code, txnId, txnState, ref, proposal };
    Object.assign(this, { ...own, requestId });
  }

  /** Names the payment that the failure concerns, where the failure does not name it itself. */
  concerning({ txnId, txnState, ref }: Pick<FailureDetails, 'txnId' | 'txnState' | 'ref'>): this {
    this.ref ??= ref;
    this.txnState ??= this.txnId === undefined || this.txnId === txnId ? txnState : undefined;
    this.txnId ??= txnId;
    return this;
  }

  /** The reason as a clause of another sentence. */
  get clause(): string {
    return this.why.replace(/\.$/, '');
  }

  /** The same failure, with another reason, another kind or other details. */
  saying(
    why: string,
    { kind = this.kind, ...details }: FailureDetails & { kind?: FailureKind } = {},
  ): Failure {
    return new Failure(kind, why, { ...this, ...details, cause: this });
  }

  get exitCode(): number {
    return exitCodes[this.kind];
  }

  /**
   * Converts the failure to JSON, including the message, which `JSON.stringify` omits for other
   * errors.
   */
  toJSON() {
    const { kind, message, status, code, ref, txnId, txnState } = this;
    const { proposal, requestId, hint, exitCode, next } = this;
    const about = { ref, txnId, txnState, proposal, requestId };
    return { kind, message, status, code, ...about, hint, exitCode, next };
  }
}

/** The failure of an invalid input, after which nothing was sent. */
export const invalid = (why: string, details?: FailureDetails): Failure =>
  new Failure('usage', why, details);

/**
 * The refusal of a payment before anything was sent.
 * @param reason why, as a clause without its full stop
 */
export const notSent = (
  reason: string,
  details: Pick<FailureDetails, 'hint' | 'next' | 'txnId'> = {},
): Failure => invalid(`${reason}.`, { money: 'Not sent', ...details });

/** Whether nobody knows yet what happened to the money (exit code 8). */
export const isUnknown = ({ kind }: Pick<Failure, 'kind'>): boolean =>
  exitCodes[kind] === exitCodes.pending;

/** Returns an error that is a Failure, and throws every other error again. */
export function asFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  throw error;
}

/** Returns the result of the action, or the Failure that it throws. */
export function orFailure<T>(action: () => T): T | Failure {
  try {
    return action();
  } catch (error) {
    return asFailure(error);
  }
}

/** Returns the result of a computation, or undefined if the computation throws a Failure. */
export function unlessFailure<T>(compute: () => T): T | undefined {
  const found = orFailure(compute);
  return found instanceof Failure ? undefined : found;
}

/**
 * Resolves with the result of an optional lookup, or with undefined after a Failure. Rejects if
 * `lookUp` rejects with Failure `interrupted`, or with an error that is not a Failure.
 */
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

/** Resolves with the result, or with undefined after a Failure of one of the kinds. */
export async function unlessKind<T>(
  kinds: readonly FailureKind[],
  result: Promise<T>,
): Promise<T | undefined> {
  try {
    return await result;
  } catch (error) {
    if (!(error instanceof Failure) || !kinds.includes(error.kind)) throw error;
    return undefined;
  }
}

/**
 * Throws Failure `usage` unless the count is a whole number of at least `least`, because a program
 * may pass NaN.
 */
export function checkCount(name: string, count: number, least: number): void {
  if (!Number.isSafeInteger(count) || count < least)
    throw invalid(`${name} must be a whole number of at least ${least}, not ${count}.`);
}
