// A payment and its attempts, as the journal stores them, and all values derived from them. Pure.
import { Failure } from '../../formats/failure.js';
import { hasLapsed } from '../../formats/states.js';
import { nothingStored, type Detail, type Told } from './steps.js';

/**
 * The states of one attempt, which is one transaction at the service. The table {@link transitions}
 * shows how the state of an attempt may change.
 */
export const attemptStates = [
  'requested',
  'quoted',
  'submitting',
  'in-flight',
  'paid',
  'failed',
  'error',
  'unknown',
  'lapsed',
] as const;
export type AttemptState = (typeof attemptStates)[number];

/** Limits on the cost of one payment. */
export interface PaymentTerms {
  /** The highest total fee, in the source currency or as a percentage of the amount. */
  readonly maxFee?:
    | { readonly amount: string; readonly ccy: string }
    /** `floor` is an amount in the source currency up to which a fee is always allowed. */
    | { readonly percent: string; readonly floor?: string | undefined }
    | undefined;
  /** The limit on the loss of a conversion against the service's own rates, in percent. */
  readonly maxRateLoss?: string | undefined;
  /** The highest total with fees, in the source currency. */
  readonly maxTotal?: { readonly amount: string; readonly ccy: string } | undefined;
}

/** The run and the row of a batch payment, by which the next run recognizes the payment. */
export interface BatchMark {
  /**
   * The start time and the name of the batch run, such as `2026-10-22T09:12:03.123Z payroll.csv`.
   * The start time comes first in `run`, so that svcpay can sort batch runs by time.
   */
  readonly run: string;
  /** The payee and the amount of the payment, as JSON. */
  readonly row: string;
}

/** What the journal stores of a payment beside its attempts. */
interface AskedPayment {
  readonly id: string;
  /**
   * The account as the service names it. References are unique within one account of the service.
   */
  readonly scope: string;
  /** The account against whose limits the payment counts. */
  readonly account: string;
  /**
   * The reference of the first attempt, `R`. The second attempt has the reference `R~2`, see {@link
   * attemptRef}.
   */
  readonly ref: string;
  /** The kind of the payment, such as `send lightning`. */
  readonly kind: string;
  /** What was asked for, as JSON. See `wallet/instruction`. */
  readonly instruction: string;
  /**
   * The digest of the instruction. A reference belongs to one digest: another digest under the same
   * reference is another payment, unless the reference is free (see `isReferenceFree`).
   */
  readonly digest: string;
  /**
   * The idempotency key, which identifies what can be paid only once, such as a payment hash. The
   * journal looks for this key in the payments of all scopes.
   */
  readonly idempotencyKey: string | null;
  readonly terms: PaymentTerms;
  /** The batch run and the row, or undefined for a payment outside a batch. */
  readonly batch?: BatchMark | undefined;
}

/** A request to pay, by a person or a script. */
export interface PaymentDraft extends AskedPayment {
  /** The order of the first attempt as JSON. */
  readonly request: string;
  /** Details of the request for the trail, such as the row of a batch. */
  readonly detail?: Detail | undefined;
}

/**
 * A person's answer to the question whether an attempt moved money, for an attempt whose outcome
 * the service does not report.
 */
export interface Resolution {
  readonly moved: boolean;
  /**
   * Where the person's answer comes from, such as the number of a support ticket at the service.
   */
  readonly note: string;
  /**
   * The time of the person's answer in epoch ms, by the clock of the machine that recorded the
   * answer.
   */
  readonly at: number;
}

export interface Attempt {
  /**
   * The attempt number, which is 1 for the reference `R` and n for `R~n`. Later attempts have
   * higher numbers. An imported or upgraded payment may lack its first attempts.
   */
  readonly number: number;
  /**
   * The order of the attempt as JSON: the body of its create request, derived from the instruction
   * when the attempt began.
   */
  readonly request: string;
  readonly state: AttemptState;
  /** The transaction id, or null until the service has answered with a transaction. */
  readonly txnId: string | null;
  /** The last `txnState` that the service reported, mainly for display. */
  readonly txnState: string | null;
  /** The debit of the approved quote in `spendCcy`, including fees, or null before the approval. */
  readonly approvedTotal: string | null;
  /**
   * The amount that the recipient receives according to the approved quote, or null if the quote
   * does not state this amount.
   */
  readonly approvedReceives: string | null;
  readonly spendCcy: string | null;
  /** The budget or the proposed batch that the submission charged, or null for neither. */
  readonly budget: string | null;
  /**
   * The time of the submission in epoch ms, or null until the journal records a submission of the
   * attempt.
   */
  readonly submittedAt: number | null;
  /**
   * A person's answer about an `error` or `unknown` attempt. svcpay deletes the answer if a read
   * reports a different state of the attempt.
   */
  readonly resolution: Resolution | null;
}

export interface Payment extends AskedPayment {
  /** The attempts of a payment, sorted by number. A payment has at least one attempt. */
  readonly attempts: readonly Attempt[];
  /**
   * Whether the payment was declined, refused or stopped before any money moved. `tx resume` skips
   * an abandoned payment, and the original command reopens the payment.
   */
  readonly abandoned: boolean;
  readonly openedAt: number;
  readonly updatedAt: number;
}

/**
 * The status of a payment, which `status` derives from its attempts. `unknown` means that the
 * service reported a submitted payment as expired or cancelled, which proves nothing about the
 * money. `error` means that the payment ended and that the service does not report whether money
 * moved.
 */
export type PaymentStatus =
  | 'open'
  | 'in-flight'
  | 'unknown'
  | 'error'
  | 'paid'
  | 'failed'
  | 'abandoned';

/**
 * The reference of an invoice payment, which is the same on every machine. For example, the
 * idempotency key `bolt11:HASH` gives the reference `bolt11-HASH`.
 */
export const invoiceReference = (idempotencyKey: string): string =>
  idempotencyKey.replace(':', '-');

/**
 * The reference of an attempt at the service. The first attempt has the payment's own reference
 * `R`, and each later attempt adds its number, such as `R~2`.
 */
export const attemptRef = (ref: string, number: number): string =>
  number === 1 ? ref : `${ref}~${number}`;

/**
 * A key that is the same for references that differ only in letter case or blanks, because people
 * confuse similar references.
 */
export const alikeRef = (ref: string): string =>
  ref.normalize('NFKC').toLowerCase().replaceAll(/\s/gu, '');

/**
 * Splits a reference at the service into the payment's reference and the attempt number. For
 * example, `R~2` is the second attempt of the payment `R`.
 */
export function attemptNamed(extRefId: string): readonly [ref: string, number: number] {
  const [, ref, number] = /^(.+)~([2-9]|[1-9]\d{1,5})$/s.exec(extRefId) ?? [];
  return ref === undefined ? [extRefId, 1] : [ref, Number(number)];
}

/** The attempt with this transaction, or undefined if the payment has no such attempt. */
export const attemptOf = (
  payment: Pick<Payment, 'attempts'> | undefined,
  txnId: string,
): Attempt | undefined => payment?.attempts.find((each) => each.txnId === txnId);

/** The latest attempt, which has the highest number. */
export function latest({ attempts, ref }: Pick<Payment, 'attempts' | 'ref'>): Attempt {
  const last = attempts.at(-1);
  if (last === undefined)
    throw new Failure('unexpected', `Journal entry ${ref} is inconsistent: it has no attempt.`);
  return last;
}

/**
 * The outcomes of an attempt that moved or may have moved money, in the order in which they decide
 * the status of a payment.
 */
const movedOutcomes: readonly AttemptState[] = [
  'paid',
  'submitting',
  'in-flight',
  'unknown',
  'error',
];

/**
 * The outcome of an attempt: its state, or the recorded answer of `tx resolve` if the state does
 * not tell whether money moved. Every question that could pay, or that says what happened, uses
 * this view. A later read that reports another state deletes the recorded answer.
 */
export const outcomeOf = ({ state, resolution }: Pick<Attempt, 'state' | 'resolution'>) =>
  resolution === null ? state : resolution.moved ? 'paid' : 'failed';

/**
 * Whether an attempt moved or may have moved money, so that the attempt counts against limits and
 * blocks its invoice.
 */
export const mayHaveMoved = (attempt: Pick<Attempt, 'state' | 'resolution'>): boolean =>
  movedOutcomes.includes(outcomeOf(attempt));

/** The outcomes for which {@link mayHaveMoved} is true, for conditions in SQL. */
export const movedInSql = movedOutcomes.map((each) => `'${each}'`).join(',');

/**
 * Whether the service started a transaction that differs from the order. If an attempt is `unknown`
 * because its transaction differs from the order, the attempt stays `unknown` until a read matches
 * the order.
 */
export const differsFromOrder = ({ state, txnState }: Attempt): boolean =>
  state === 'unknown' && txnState !== null && !hasLapsed(txnState);

/**
 * Whether only the service, or a person who asked the service, can report whether the attempt moved
 * money.
 */
export const needsAnswer = ({ state }: Attempt): boolean =>
  state === 'error' || state === 'unknown';

/**
 * Whether any attempt of a payment may have moved money, so that no other payment for the same
 * invoice may start.
 */
export const mayHavePaid = ({ attempts }: Pick<Payment, 'attempts'>): boolean =>
  attempts.some(mayHaveMoved);

/**
 * The attempt that decides what happened to the money of a payment: the first one in the order of
 * {@link movedOutcomes}, otherwise the latest attempt. Every answer about a payment names this
 * attempt.
 */
export function decisive(payment: Pick<Payment, 'attempts' | 'ref'>): Attempt {
  const [first] = movedOutcomes.flatMap(
    (outcome) => payment.attempts.findLast((each) => outcomeOf(each) === outcome) ?? [],
  );
  return first ?? latest(payment);
}

/**
 * The reference of a quote that svcpay requests only to show its price. Nobody asked for a payment
 * under this reference, so svcpay never offers to resume it after a kill.
 */
export const priceReference = (id: string): string => `quote-${id}`;
const isPriceReference = (ref: string): boolean => /^quote-[0-9a-f]{8}-[0-9a-f-]{27}$/.test(ref);

/**
 * The status of a payment, derived only from its decisive attempt, from `abandoned`, and from its
 * reference. A payment whose quote only shows a price counts as abandoned. The first matching row
 * of the table below gives the status, by the outcomes of the attempts (see {@link outcomeOf}).
 *
 * | some attempt is         | the latest is       | abandoned | status    | exit code of the run  |
 * |-------------------------|---------------------|-----------|-----------|-----------------------|
 * | paid                    | any                 | any       | paid      | 0                     |
 * | submitting or in-flight | any                 | any       | in-flight | 8                     |
 * | unknown                 | any                 | any       | unknown   | 8                     |
 * | error                   | any                 | any       | error     | 8                     |
 * | any                     | failed              | any       | failed    | 6                     |
 * | any                     | lapsed              | any       | abandoned | 6, or code of refusal |
 * | any                     | requested or quoted | yes       | abandoned | code of the error     |
 * | any                     | requested or quoted | no        | open      | none                  |
 */
export function status(payment: Pick<Payment, 'attempts' | 'abandoned' | 'ref'>): PaymentStatus {
  const outcome = outcomeOf(decisive(payment));
  switch (outcome) {
    case 'submitting':
    case 'in-flight':
      return 'in-flight';
    case 'requested':
    case 'quoted':
      return payment.abandoned || isPriceReference(payment.ref) ? 'abandoned' : 'open';
    case 'lapsed':
      return 'abandoned';
    default:
      return outcome;
  }
}

/**
 * Whether the payment is unfinished. The command `tx pending` lists unfinished payments, and `tx
 * resume` resumes them.
 */
export const isUnfinished = (payment: Payment): boolean =>
  ['open', 'in-flight', 'unknown', 'error'].includes(status(payment));

interface AttemptTransition {
  readonly from: AttemptState;
  readonly to: AttemptState;
  /** The cause of the transition, for the table in docs/payments.md. */
  readonly when: string;
}

const causes: readonly (readonly [
  from: readonly AttemptState[],
  to: AttemptState,
  when: string,
])[] = [
  [['requested'], 'quoted', 'the service returns a quote, or the reference lookup finds a quote'],
  [['requested'], 'in-flight', 'the service reports a transaction that is already in flight'],
  [['requested'], 'paid', 'the service reports a transaction that is already completed'],
  [
    ['requested'],
    'failed',
    'the service reports a transaction that ended in state `failed` or `rejected`',
  ],
  [['requested'], 'error', 'the service reports a transaction that ended in state `error`'],
  [['requested'], 'unknown', 'the service started a transaction that differs from the order'],
  [['quoted'], 'submitting', 'the quote is approved and within the limits'],
  [['quoted'], 'in-flight', 'another home or program submitted the quote'],
  [['quoted'], 'paid', 'another home or program submitted the quote, and its payment is completed'],
  [['quoted'], 'failed', 'another home or program submitted the quote, and its payment failed'],
  [
    ['quoted'],
    'error',
    'another home or program submitted the quote, and its payment ended in state `error`',
  ],
  [['quoted'], 'lapsed', 'the quote expired, was cancelled, or is missing at the service'],
  [['submitting'], 'quoted', 'the run ends before a confirmation leaves this machine'],
  [['submitting'], 'in-flight', 'the service accepted the confirmation'],
  [['submitting', 'in-flight', 'unknown'], 'paid', 'the service reports `completed`'],
  [['submitting', 'in-flight', 'unknown'], 'failed', 'the service reports `failed` or `rejected`'],
  [['submitting', 'in-flight', 'unknown'], 'error', 'the service reports `error`'],
  [
    ['submitting', 'in-flight'],
    'unknown',
    'the service reports the transaction as expired or cancelled',
  ],
  [['submitting'], 'lapsed', 'the service refused the confirmation, and the refusal is final'],
  [['error'], 'paid', 'a later read reports `completed`'],
  [['error'], 'failed', 'a later read reports `failed` or `rejected`'],
];

/**
 * Every permitted change of an attempt's state. Attempts only move forward, with one exception:
 * svcpay withdraws a submission if the confirm request of the attempt never left this machine.
 */
export const transitions: readonly AttemptTransition[] = attemptStates.flatMap((from) =>
  causes.flatMap(([states, to, when]) => (states.includes(from) ? [{ from, to, when }] : [])),
);

/** Whether an attempt stays in its state, or may change to the other state. */
export const mayFollow = (from: AttemptState | undefined, to: AttemptState | undefined): boolean =>
  from === to || transitions.some((each) => each.from === from && each.to === to);

/** The conditions that every attempt must meet, each with its text for error messages. */
const invariants: readonly (readonly [text: string, holds: (attempt: Attempt) => boolean])[] = [
  [
    'a requested attempt must have no transaction, and every other attempt must have one',
    ({ state, txnId }) => (state === 'requested') === (txnId === null),
  ],
  [
    'a submitted attempt must have approved amounts',
    ({ state, approvedTotal, submittedAt, spendCcy }) =>
      state !== 'submitting' ||
      (approvedTotal !== null && submittedAt !== null && spendCcy !== null),
  ],
  [
    'a quoted attempt must not be submitted',
    ({ state, submittedAt }) => state !== 'quoted' || submittedAt === null,
  ],
  [
    'only an attempt without a reported outcome may have a resolution',
    (attempt) => attempt.resolution === null || needsAnswer(attempt),
  ],
  ['attempts must be numbered from one', ({ number }) => Number.isInteger(number) && number >= 1],
];

/**
 * Returns the payment unchanged, or throws Failure `unexpected` if the payment is inconsistent.
 * svcpay checks a payment at each write and each read.
 */
export function checkPayment<T extends Pick<Payment, 'attempts' | 'ref'>>(payment: T): T {
  latest(payment);
  const inOrder = payment.attempts.every(
    ({ number }, at) => at === 0 || number > (payment.attempts[at - 1]?.number ?? 0),
  );
  const broken = payment.attempts.flatMap((attempt) =>
    invariants.filter(([, holds]) => !holds(attempt)),
  )[0]?.[0];
  if (inOrder && broken === undefined) return payment;
  throw new Failure(
    'unexpected',
    `Journal entry ${payment.ref} is inconsistent: ${broken ?? 'its attempts are out of order'}.`,
  );
}

/**
 * A change to the columns of a payment and to one of its attempts. The journal completely
 * overwrites the stored attempt with the same number, or adds a new latest attempt if the payment
 * has no attempt with this number.
 */
export type PaymentChange = Partial<Pick<Payment, 'terms' | 'abandoned'>> & {
  readonly attempt?: Attempt | undefined;
  /** What the caller adds to the trail of the payment. */
  readonly trail?: Told | undefined;
};

/**
 * Applies a change to a payment, and returns the changed payment. Throws Failure `unexpected` for a
 * transition that {@link transitions} does not contain.
 */
export function changed(
  before: Payment,
  { attempt, trail: _told, ...columns }: PaymentChange,
): Payment {
  const after = { ...before, ...columns };
  if (attempt === undefined) return checkPayment(after);
  const earlier = before.attempts.find(({ number }) => number === attempt.number);
  const isNew =
    earlier === undefined &&
    attempt.number > latest(before).number &&
    attempt.state !== 'submitting';
  if (!isNew && !mayFollow(earlier?.state, attempt.state))
    throw new Failure(
      'unexpected',
      `The journal refuses the transition from ${earlier?.state ?? 'nothing'} ` +
        `to ${attempt.state} (payment ${before.ref}).`,
    );
  return checkPayment({ ...after, attempts: withAttempt(before.attempts, attempt) });
}

/** Returns the attempts with the given attempt, which replaces an attempt of the same number. */
export const withAttempt = <T extends { readonly number: number }>(
  attempts: readonly T[],
  attempt: T,
): T[] =>
  [...attempts.filter(({ number }) => number !== attempt.number), attempt].toSorted(
    (a, b) => a.number - b.number,
  );

/** A new attempt, whose create request has not been sent. */
export const requested = (number: number, request: string): Attempt => ({
  number,
  request,
  state: 'requested',
  ...nothingStored,
  submittedAt: null,
  resolution: null,
});

/** Returns the first version of a payment, as the journal stores it for a new draft. */
export const opened = (
  { request, detail: _detail, ...draft }: PaymentDraft,
  at: number,
): Payment => ({
  ...draft,
  attempts: [requested(1, request)],
  abandoned: false,
  openedAt: at,
  updatedAt: at,
});

/**
 * Whether a different instruction may take the payment's reference, because the payment is
 * abandoned and no attempt was ever submitted.
 */
export const isReferenceFree = (payment: Payment): boolean =>
  status(payment) === 'abandoned' &&
  payment.attempts.every(
    ({ state, submittedAt }) =>
      submittedAt === null && ['requested', 'quoted', 'lapsed'].includes(state),
  );

/**
 * Returns a payment for the instruction of the draft. The payment replaces an abandoned payment
 * that has the same reference and was never submitted. The attempt numbers continue from the
 * replaced payment, because the service may already have the references of the replaced payment's
 * attempts. The new payment does not include the attempts of the replaced payment.
 */
export function replaced(before: Payment, draft: PaymentDraft, at: number): Payment {
  const { number, state } = latest(before);
  const next = state === 'requested' ? number : number + 1;
  return { ...opened(draft, at), id: before.id, attempts: [requested(next, draft.request)] };
}
