// A payment and its attempts, as the journal stores them, and everything that is derived from them.
// Pure.
import { Failure } from '../../formats/failure.js';
import { hasLapsed } from '../../formats/states.js';

/**
 * What became of one attempt, which is one transaction at the service. The table of moves is {@link
 * moves}.
 */
export type AttemptState =
  | 'requested'
  | 'quoted'
  | 'submitting'
  | 'in-flight'
  | 'paid'
  | 'failed'
  | 'lapsed'
  | 'error'
  | 'unknown';

/** Limits on the cost of one payment. */
export interface PaymentTerms {
  /** Highest total fee, in the source currency or as a percentage of the amount. */
  readonly maxFee?:
    | { readonly amount: string; readonly ccy: string }
    | { readonly percent: string }
    | undefined;
  /** Highest loss of a conversion against the service's own rates, in percent. */
  readonly maxRateLoss?: string | undefined;
}

/** A run of a batch that a payment belongs to, to compare the next run with. */
export interface BatchMark {
  /** `2026-10-22T09:12:03.123Z payroll.csv`: its start and its name. In order of time. */
  readonly run: string;
  /** Who is paid what, as JSON of the batch. */
  readonly row: string;
}

/** What a person or script asked for. */
export interface PaymentDraft {
  readonly id: string;
  /** The account that the service names, within which references are unique. */
  readonly scope: string;
  /** The account whose spending the limits count. */
  readonly account: string;
  /**
   * The reference of the first attempt; later attempts are `R~2`, `R~3`, see {@link attemptRef}.
   */
  readonly ref: string;
  /** What is paid for, in words: `send lightning`. */
  readonly kind: string;
  /** The body of the create request without its extRefId, as JSON. */
  readonly request: string;
  /** Equal for equal orders: a used reference may only be run again with the same order. */
  readonly fingerprint: string;
  /** Names what can be paid only once, such as a payment hash: unique in all scopes together. */
  readonly idempotencyKey: string | null;
  readonly terms: PaymentTerms;
  /** Undefined for a payment on its own. */
  readonly batch?: BatchMark | undefined;
}

/** A person's answer to what the service does not report: whether the money moved. */
export interface Resolution {
  readonly moved: boolean;
  /** Where the answer comes from, such as a ticket of the service. */
  readonly note: string;
  /** Epoch ms by the clock of the machine that recorded it. */
  readonly at: number;
}

export interface Attempt {
  /**
   * 1 for `R`, n for `R~n`. Numbers only grow; an imported or upgraded payment may lack the first
   * ones.
   */
  readonly number: number;
  readonly state: AttemptState;
  /** Null while the service has not answered with a transaction. */
  readonly txnId: string | null;
  /** The last `txnState` that the service reported, to show; no decision reads it. */
  readonly txnState: string | null;
  /** What the approved quote debits, fees included, in `spendCcy`; null before approval. */
  readonly approvedTotal: string | null;
  /** What the approved quote delivers, where the quote states it. */
  readonly approvedReceives: string | null;
  readonly spendCcy: string | null;
  /**
   * Epoch ms at which the attempt was submitted; null while no confirmation can have been sent from
   * this journal.
   */
  readonly submittedAt: number | null;
  /** Of an `error` or `unknown` attempt. It is dropped when a read reports another state. */
  readonly resolution: Resolution | null;
}

export interface Payment extends PaymentDraft {
  /** At least one, by number. */
  readonly attempts: readonly Attempt[];
  /**
   * Declined, refused or stopped before anything moved: `tx resume` leaves it alone, running the
   * command again reopens it.
   */
  readonly abandoned: boolean;
  readonly openedAt: number;
  readonly updatedAt: number;
}

/**
 * The status of a payment, derived from its attempts: see `status`. `unknown`: it was submitted,
 * and the service then reported it expired or cancelled, which proves nothing. `error`: it ended,
 * and the service does not report whether money moved.
 */
export type PaymentStatus =
  | 'open'
  | 'in-flight'
  | 'unknown'
  | 'error'
  | 'paid'
  | 'failed'
  | 'abandoned';

/** The reference at the service: attempt 1 has the payment's own, later ones carry their number. */
export const attemptRef = (ref: string, number: number): string =>
  number === 1 ? ref : `${ref}~${number}`;

/** Equal for references that differ in case or blanks alone, which people confuse. */
export const alikeRef = (ref: string): string =>
  ref.normalize('NFKC').toLowerCase().replaceAll(/\s/gu, '');

/**
 * The payment and attempt that a reference at the service names: `R~2` is the second attempt of
 * `R`.
 */
export function attemptNamed(extRefId: string): readonly [ref: string, number: number] {
  const [, ref, number] = /^(.+)~([2-9]|[1-9]\d{1,5})$/s.exec(extRefId) ?? [];
  return ref === undefined ? [extRefId, 1] : [ref, Number(number)];
}

/** The attempt that is worked on: the one with the highest number. */
export function latest({ attempts, ref }: Pick<Payment, 'attempts' | 'ref'>): Attempt {
  const last = attempts.at(-1);
  if (last === undefined)
    throw new Failure('unexpected', `Journal entry ${ref} is inconsistent: it has no attempt.`);
  return last;
}

const mayHaveMovedStates: ReadonlySet<AttemptState> = new Set([
  'submitting',
  'in-flight',
  'paid',
  'error',
  'unknown',
]);

/** Money left or may have left: the attempt counts against limits and blocks its invoice. */
export const mayHaveMoved = ({ state }: Attempt): boolean => mayHaveMovedStates.has(state);

/**
 * The service started it, and it was not what was asked for: only a read that shows what was asked
 * for is believed.
 */
export const differsFromOrder = ({ state, txnState }: Attempt): boolean =>
  state === 'unknown' && txnState !== null && !hasLapsed(txnState);

/** Only the service, or a person who asked it, can report whether money moved. */
export const needsAnswer = ({ state }: Attempt): boolean =>
  state === 'error' || state === 'unknown';

/** Some attempt may have moved money: no other payment for the same thing may start. */
export const mayHavePaid = ({ attempts }: Pick<Payment, 'attempts'>): boolean =>
  attempts.some(mayHaveMoved);

/**
 * The status of a payment, derived from its attempts and from nothing else. The first row that
 * applies decides. An attempt that a person resolved counts as paid or as failed here; the core
 * decides by its state alone, so that a resolution neither pays nor permits a payment.
 *
 * | some attempt is         | the latest is       | abandoned | status    | exit code of the run |
 * |-------------------------|---------------------|-----------|-----------|----------------------|
 * | paid                    | any                 | any       | paid      | 0                    |
 * | submitting or in-flight | any                 | any       | in-flight | 8                    |
 * | unknown                 | any                 | any       | unknown   | 8                    |
 * | error                   | any                 | any       | error     | 6                    |
 * | -                       | failed              | any       | failed    | 6                    |
 * | -                       | lapsed              | any       | abandoned | 6, or of the refusal |
 * | -                       | requested or quoted | yes       | abandoned | of what stopped it   |
 * | -                       | requested or quoted | no        | open      | -                    |
 */
export function status(payment: Pick<Payment, 'attempts' | 'abandoned' | 'ref'>): PaymentStatus {
  const known = payment.attempts.map(resolvedState);
  const some = (...states: readonly AttemptState[]): boolean =>
    known.some((state) => states.includes(state));
  if (some('paid')) return 'paid';
  if (some('submitting', 'in-flight')) return 'in-flight';
  if (some('unknown')) return 'unknown';
  if (some('error')) return 'error';
  const state = resolvedState(latest(payment));
  if (state === 'failed') return 'failed';
  return payment.abandoned || state === 'lapsed' ? 'abandoned' : 'open';
}

const resolvedState = ({ state, resolution }: Attempt): AttemptState =>
  resolution === null ? state : resolution.moved ? 'paid' : 'failed';

/** Work is left: `tx pending` lists it and `tx resume` takes it up. */
export const isUnfinished = (payment: Payment): boolean =>
  ['open', 'in-flight', 'unknown', 'error'].includes(status(payment));

export interface Move {
  readonly from: AttemptState;
  readonly to: AttemptState;
  /** What causes it, for the diagram in docs/payments.md. */
  readonly when: string;
}

/** Every move of an attempt: it only goes forward (design: The payment core). */
export const moves: readonly Move[] = [
  {
    from: 'requested',
    to: 'quoted',
    when: 'the service returns a quote, or the reference lookup finds one',
  },
  {
    from: 'requested',
    to: 'in-flight',
    when: 'the service returns a transaction that is already on its way',
  },
  {
    from: 'requested',
    to: 'paid',
    when: 'the service returns a transaction that is already completed',
  },
  { from: 'requested', to: 'failed', when: 'the transaction found ended as failed or rejected' },
  { from: 'requested', to: 'error', when: 'the transaction found ended as error' },
  {
    from: 'requested',
    to: 'unknown',
    when: 'the service started a transaction that differs from the order',
  },
  { from: 'quoted', to: 'submitting', when: 'the quote is approved and within the limits' },
  { from: 'quoted', to: 'in-flight', when: 'another home or program submitted it' },
  { from: 'quoted', to: 'paid', when: 'another home or program paid it' },
  { from: 'quoted', to: 'failed', when: 'another home or program submitted it and it failed' },
  {
    from: 'quoted',
    to: 'error',
    when: 'another home or program submitted it and it ended as error',
  },
  {
    from: 'quoted',
    to: 'lapsed',
    when: 'it expired, was cancelled, or the service no longer has it',
  },
  {
    from: 'submitting',
    to: 'quoted',
    when: 'no confirmation left this machine, and the run ends',
  },
  { from: 'submitting', to: 'in-flight', when: 'the service accepted the confirmation' },
  { from: 'submitting', to: 'paid', when: 'the service reports completed' },
  { from: 'submitting', to: 'failed', when: 'the service reports failed or rejected' },
  { from: 'submitting', to: 'error', when: 'the service reports error' },
  { from: 'submitting', to: 'unknown', when: 'the service reports expired or cancelled' },
  {
    from: 'submitting',
    to: 'lapsed',
    when: 'the service refused the confirmation, and the refusal is final',
  },
  { from: 'in-flight', to: 'paid', when: 'the service reports completed' },
  { from: 'in-flight', to: 'failed', when: 'the service reports failed or rejected' },
  { from: 'in-flight', to: 'error', when: 'the service reports error' },
  { from: 'in-flight', to: 'unknown', when: 'the service reports expired or cancelled' },
  { from: 'unknown', to: 'paid', when: 'the service reports completed' },
  { from: 'unknown', to: 'failed', when: 'the service reports failed or rejected' },
  { from: 'unknown', to: 'error', when: 'the service reports error' },
  { from: 'error', to: 'paid', when: 'the service reports completed after all' },
  { from: 'error', to: 'failed', when: 'the service reports failed or rejected after all' },
];

/** What holds for an attempt in each state; the text names what is broken. */
const invariants: readonly (readonly [text: string, holds: (attempt: Attempt) => boolean])[] = [
  [
    'a requested attempt has no transaction, every other attempt has one',
    ({ state, txnId }) => (state === 'requested') === (txnId === null),
  ],
  [
    'a submitted attempt has approved amounts',
    ({ state, approvedTotal, submittedAt, spendCcy }) =>
      state !== 'submitting' ||
      (approvedTotal !== null && submittedAt !== null && spendCcy !== null),
  ],
  [
    'a quoted attempt is not submitted',
    ({ state, submittedAt }) => state !== 'quoted' || submittedAt === null,
  ],
  [
    'only an attempt without a reported outcome has a resolution',
    (attempt) => attempt.resolution === null || needsAnswer(attempt),
  ],
  ['attempts are numbered from one', ({ number }) => Number.isInteger(number) && number >= 1],
];

/**
 * Returns the payment. Throws Failure `unexpected` for one that cannot be: checked where it is
 * written and where it is read.
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
 * A change of a payment's columns, and of one attempt, which is rewritten whole or added as the
 * latest.
 */
export type PaymentChange = Partial<Pick<Payment, 'terms' | 'abandoned'>> & {
  readonly attempt?: Attempt | undefined;
};

/**
 * The payment after a change. Throws Failure `unexpected` for a move that the table does not have.
 */
export function changed(before: Payment, { attempt, ...columns }: PaymentChange): Payment {
  const after = { ...before, ...columns };
  if (attempt === undefined) return checkPayment(after);
  const known = before.attempts.find(({ number }) => number === attempt.number);
  const isNew =
    known === undefined && attempt.number > latest(before).number && attempt.state !== 'submitting';
  const isMove =
    known?.state === attempt.state ||
    moves.some(({ from, to }) => from === known?.state && to === attempt.state);
  if (!isNew && !isMove) {
    throw new Failure(
      'unexpected',
      `The journal refuses the move from ${known?.state ?? 'nothing'} to ${attempt.state} ` +
        `(payment ${before.ref}).`,
    );
  }
  const others = before.attempts.filter(({ number }) => number !== attempt.number);
  return checkPayment({
    ...after,
    attempts: [...others, attempt].toSorted((a, b) => a.number - b.number),
  });
}

/** An attempt before its create request is sent. */
export const requested = (number: number): Attempt => ({
  number,
  state: 'requested',
  txnId: null,
  txnState: null,
  approvedTotal: null,
  approvedReceives: null,
  spendCcy: null,
  submittedAt: null,
  resolution: null,
});

/** The payment as it is first written. */
export const opened = (draft: PaymentDraft, at: number): Payment => ({
  ...draft,
  attempts: [requested(1)],
  abandoned: false,
  openedAt: at,
  updatedAt: at,
});

const neverSubmittedStates: ReadonlySet<AttemptState> = new Set(['requested', 'quoted', 'lapsed']);

/** It was given up, and no attempt was ever submitted: another order may take its reference. */
export const isReferenceFree = (payment: Payment): boolean =>
  status(payment) === 'abandoned' &&
  payment.attempts.every(
    ({ state, submittedAt }) => submittedAt === null && neverSubmittedStates.has(state),
  );

/**
 * A payment whose reference is free, with the order of the draft. Its numbers continue, because the
 * service has the references of the earlier attempts; those belong to no payment any more.
 */
export function replaced(before: Payment, draft: PaymentDraft, at: number): Payment {
  const { number, state } = latest(before);
  const next = state === 'requested' ? number : number + 1;
  return { ...opened(draft, at), id: before.id, attempts: [requested(next)] };
}
