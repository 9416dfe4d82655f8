// The world of the checker: the true state of each attempt at the service, its delayed requests,
// and one process that can run, die and start again. Times are relative to the present, so that
// states that differ only in the time of day are equal.
import { bitcoinAddress } from '../../../support/destinations.js';
import type { Transaction } from '../../../../src/api/types.js';
import { NoAnswer, ServiceError } from '../../../../src/api/errors.js';
import type { Failure } from '../../../../src/formats/failure.js';
import { policies, staleForMs, pauseAfter } from '../../../../src/formats/poll.js';
import {
  latest,
  opened,
  type Attempt,
  type AttemptState,
  type Payment,
} from '../../../../src/store/journal/payment.js';
import type { Order } from '../../../../src/wallet/order/orders.js';
import { onchainOrder } from '../../../support/orders.js';
import { money } from '../../../../src/formats/amount.js';
import type { RunMemory, Submitting, RunGoal } from '../../../../src/wallet/payment/model.js';
import type { Quote } from '../../../../src/wallet/quote/quote.js';

export type Real = 'none' | 'quoted' | 'moving' | 'completed' | 'failed' | 'error' | 'expired';

/** The true state of one transaction at the service. */
export interface Truth {
  readonly real: Real;
  /**
   * The time in ms since the creation of the quote or, once the transaction is no longer `quoted`,
   * since it left that state. For 8 s after each change, reads and lists may show the earlier
   * state.
   */
  readonly ago: number;
  /** The number of confirmations that the service has yet to receive. */
  readonly delayed: number;
  /** The number of confirmations that left this machine. */
  readonly sent: number;
  /** Whether another client confirmed the transaction by its id. */
  readonly byOther: boolean;
}

export interface Process {
  readonly memory: RunMemory;
  readonly goal: RunGoal;
}

/** The result that the last run reported. */
export type Report = '' | 'paid' | 'nothing moved' | 'not paid' | 'unknown' | 'accepted' | 'quoted';

export interface State {
  readonly payment: Payment;
  readonly truths: readonly Truth[];
  /** The running process with its memory, or undefined between runs and after a kill. */
  readonly process: Process | undefined;
  readonly reported: Report;
  /** How many times a person has used `--retry`. */
  readonly retries: number;
  /**
   * True after a run has reported that nothing moved, until a command requests the payment again.
   */
  readonly isOver: boolean;
  /**
   * Whether a process is suspended while it asks the person to approve a quote, so that another
   * process may drive the payment.
   */
  readonly isAsking: boolean;
  /** Whether `tx resume` confirmed a payment after a run had reported that nothing moved. */
  readonly paidAfterEnd: boolean;
}

/** A state of the search while a process is running. */
export type Running = State & { readonly process: Process };

export const isRunning = (state: State): state is Running => state.process !== undefined;

/** How long a read may be stale, in ms. */
export { staleForMs };
/** The longest wait for the settlement, in ms. */
export const waitMs = 100;
export const order: Order = onchainOrder(bitcoinAddress(1), money('BTC', '0.0001'), 'BTC');
export const approvedQuote: Quote = {
  txnId: 't',
  total: money('BTC', '0.0001'),
  serviceFee: money('BTC', 0),
  networkFee: money('BTC', 0),
  namesFees: true,
  receives: undefined,
  rate: undefined,
  derived: false,
  expiresAt: undefined,
};

export const first: State = {
  payment: opened(
    {
      id: 'p',
      scope: 's',
      account: 's',
      ref: 'R',
      kind: order.kind,
      request: '{}',
      instruction: '{}',
      digest: 'f',
      idempotencyKey: null,
      terms: {},
    },
    0,
  ),
  truths: [],
  process: undefined,
  reported: '',
  retries: 0,
  isOver: false,
  isAsking: false,
  paidAfterEnd: false,
};

/** The budget that every submission charges. */
export const budget = 'agents';

/** The id of the account that the payment belongs to. */
export const account = 'own';

/** The minimum that live services return for a transaction: its id and state. */
export const abbreviated = ({ txnId, txnState }: Transaction): Transaction => ({
  txnId,
  txnState,
  sourceReq: {},
  destReq: {},
});

export const transaction = (number: number, txnState: string, expiresAt: number): Transaction => ({
  txnId: `t${number}`,
  txnState,
  extRefId: `R~${number}`,
  sourceReq: { ccy: 'BTC', method: 'servicepay', expiresAt },
  destReq: { ccy: 'BTC', method: 'on-chain' },
});

const words: Readonly<Record<Real, string>> = {
  none: '',
  quoted: 'quoted',
  moving: 'destsent',
  completed: 'completed',
  failed: 'failed',
  error: 'error',
  expired: 'expired',
};
export const wordOf = (real: Real): string => words[real];

/**
 * Returns the states that a read may report: the true state, `moving` if the payment has ended, and
 * `quoted` and `expired` while reads can be stale.
 */
export function readable({ real, ago }: Truth): readonly Real[] {
  if (real === 'none' || real === 'quoted') return [real];
  const before: readonly Real[] =
    real === 'completed' || real === 'failed' || real === 'error' ? ['moving'] : [];
  return [real, ...before, ...(ago < staleForMs ? (['quoted', 'expired'] as const) : [])];
}

export const moved = ({ real }: Truth): boolean => real === 'moving' || real === 'completed';
export const mayStillMove = (truth: Truth): boolean => truth.delayed > 0 && truth.real === 'quoted';

/** Changes the true state of an attempt at the present time. */
export const becomes = (truth: Truth, real: Real): Truth => ({
  ...truth,
  real,
  ago: truth.real === 'moving' ? truth.ago : 0,
});

const refusal = (reason: string, code?: string): Failure =>
  new ServiceError('refused', reason, { status: 400, reason, code, isOwnRefusal: true });

/** One error of each kind, which all runs share because an error is expensive to create. */
export const errors = {
  refused: refusal('insufficient balance'),
  unspecific: refusal('bad request'),
  /** The service refused the token sent with the confirmation, and the next sign-in failed. */
  signInFailed: new NoAnswer('pending', 'no sign-in', { mayHaveArrived: true }),
  alreadyFinal: refusal('already in final state', '2005'),
  used: refusal('extRefId has already been used'),
  lost: new NoAnswer('pending', 'lost', { mayHaveArrived: true }),
  notSent: new NoAnswer('temporary', 'not sent', { mayHaveArrived: false }),
  unread: new NoAnswer('temporary', 'unread', { mayHaveArrived: false }),
  missing: new ServiceError('not-found', 'not found', {
    status: 404,
    reason: 'not found',
    isOwnRefusal: true,
  }),
};

const age = (ms: number, by: number): number => Math.max(ms - by, -2 * staleForMs);

/** Returns the same state `by` ms later, with times relative to the new present. */
export function later<S extends State>(state: S, by: number): S {
  const truths = state.truths.map((truth) => ({
    ...truth,
    ago: Math.min(truth.ago + by, staleForMs),
  }));
  if (state.process === undefined) return { ...state, truths };
  const memory = aged(state.process.memory, (ms) => age(ms, by));
  return { ...state, truths, process: { ...state.process, memory } };
}

/** Reduces the times and counts in a run's memory to the values that the core can distinguish. */
function aged(memory: RunMemory, at: (ms: number) => number): RunMemory {
  const counted = <T extends { sinceMs: number; atMs: number; count: number }>(each: T): T => ({
    ...each,
    sinceMs: at(each.sinceMs),
    atMs: at(each.atMs),
    count: Math.min(each.count, 6),
  });
  if (memory.phase === 'requesting') {
    const { sending, lookup } = memory;
    return {
      ...memory,
      sending: { ...sending, atMs: at(sending.atMs) },
      lookup: lookup && counted(lookup),
    };
  }
  const read = { ...memory, reads: memory.reads && counted(memory.reads) };
  if (read.phase === 'settling') return { ...read, sinceMs: at(read.sinceMs) };
  if (read.phase !== 'submitting') return read;
  const { sending } = read;
  const tries = Math.min(sending.tries, 5);
  return { ...read, sending: { ...sending, tries, atMs: at(sending.atMs) } };
}

/**
 * The core distinguishes only these ages of a request, in ms: the pauses before the next request,
 * and the 8 s and 16 s after which the core decides how to continue.
 */
const ownAges = [0, 250, 500, 1_000, 2_000, 4_000, 8_000, 12_000, 16_000];
const waitAges = [0, waitMs, staleForMs];
const staleAge = [staleForMs];

/** The final states of an attempt, in which svcpay no longer reads the transaction. */
const over: ReadonlySet<AttemptState> = new Set(['paid', 'failed', 'error', 'lapsed']);

/** Returns the largest of `ages` that is at most `age`. */
function floor(ages: readonly number[], age: number): number {
  let greatest = 0;
  for (const each of ages) if (each <= age && each > greatest) greatest = each;
  return greatest;
}

/**
 * Returns the ages of a confirmation that the core can distinguish. After a refusal, the core
 * distinguishes ages up to 16 s. Otherwise, the core distinguishes ages up to the pause before the
 * next request.
 */
const agesAfter = ({ tries, refusal }: Submitting['sending']): readonly number[] =>
  ownAges.filter(
    (each) =>
      refusal !== undefined ||
      each <= (pauseAfter(policies.confirmation, { number: tries, waitedMs: 0 }) ?? 0),
  );

/**
 * Rounds ages down to the values that the core can distinguish, so that equivalent states merge.
 * After the rounding, a read can be stale for longer and a wait can take longer, but never shorter,
 * so the search still finds every violation.
 */
export function rounded(state: State): State {
  const { process, payment } = state;
  const since = process && sinceOf(process.memory);
  const ages = [staleForMs, -(since ?? 0)];
  const truths = state.truths.map((truth, index): Truth => {
    const attempt = payment.attempts[index];
    const isLatest = index === payment.attempts.length - 1;
    const isKnown = attempt !== undefined && over.has(attempt.state);
    if (!isLatest && isDead(truth, isKnown)) return dead;
    const { real, byOther } = truth;
    return {
      real,
      ago: isKnown ? staleForMs : floor(isLatest ? ages : staleAge, truth.ago),
      delayed: real === 'quoted' ? truth.delayed : 0,
      sent: isLatest ? truth.sent : Math.min(truth.sent, 1),
      byOther,
    };
  });
  if (process === undefined) return { ...state, truths };
  return { ...state, truths, process: { ...process, memory: coarse(process.memory) } };
}

/** The time since which all reads have returned the same result. */
const sinceOf = (memory: RunMemory): number | undefined =>
  memory.phase === 'requesting' ? memory.lookup?.sinceMs : memory.reads?.sinceMs;

function coarse(memory: RunMemory): RunMemory {
  switch (memory.phase) {
    case 'requesting': {
      const { sending } = memory;
      return {
        ...memory,
        sending: { ...sending, atMs: -floor(ownAges, -sending.atMs) },
      };
    }
    case 'submitting': {
      const { sending } = memory;
      const atMs = -floor(agesAfter(sending), -sending.atMs);
      return { ...memory, sending: { ...sending, atMs } };
    }
    case 'settling':
      return { ...memory, sinceMs: -floor(waitAges, -memory.sinceMs) };
    default:
      return memory;
  }
}

/**
 * Whether an earlier attempt has ended: no process will confirm the attempt again, and svcpay knows
 * how the attempt ended.
 */
const isDead = ({ real, delayed }: Truth, isKnown: boolean): boolean =>
  real === 'expired' ||
  (real === 'quoted' && delayed === 0) ||
  ((real === 'failed' || real === 'error') && isKnown);
const dead: Truth = { real: 'expired', ago: staleForMs, delayed: 0, sent: 1, byOther: false };

const notCreated: Truth = { real: 'none', ago: staleForMs, delayed: 0, sent: 0, byOther: false };

export const truthOf = (state: State, number: number): Truth =>
  state.truths[number - 1] ?? notCreated;

export function withTruth<S extends State>(state: S, number: number, truth: Truth): S {
  const truths = [...state.truths];
  while (truths.length < number) truths.push(truthOf(state, truths.length + 1));
  truths[number - 1] = truth;
  return { ...state, truths };
}

export const attemptOf = ({ payment }: State): Attempt => latest(payment);

/**
 * Returns the key of a state. The key omits details that no later step can observe, so that states
 * with the same future have the same key.
 */
export function keyOf(state: State): string {
  const { payment, truths, process, reported, retries, isOver, isAsking, paidAfterEnd } = state;
  const attempts = payment.attempts.map((attempt) => `${attempt.number} ${attempt.state}`);
  const real = truths.map(
    (truth) => `${truth.real} ${truth.ago} ${truth.delayed} ${truth.sent} ${truth.byOther}`,
  );
  const run = process && [...wished(process.goal), ...relevant(process)];
  const flags = [payment.abandoned, isOver, isAsking, paidAfterEnd];
  return [attempts, flags, real, reported, retries, run?.join()].join(' | ');
}

const wished = ({
  retryUpTo,
  until,
  leaveOpen,
  onlyTxnId,
  reference,
  consent,
}: RunGoal): unknown[] => [retryUpTo, until, leaveOpen, onlyTxnId, reference, consent.by];

function relevant({ memory, goal }: Process): unknown[] {
  const { earlierRead, earlierPaid, stopped, submittedHere, approvedQuote } = memory;
  return [
    memory.phase,
    ...ofPhase(memory),
    ...(memory.phase === 'requesting' ? [] : readOf(memory)),
    earlierRead,
    earlierPaid !== undefined,
    stopped?.kind,
    submittedHere,
    goal.consent.by !== 'yes' && approvedQuote !== undefined,
  ];
}

const readOf = ({ reads, txn }: Exclude<RunMemory, { phase: 'requesting' }>): unknown[] => [
  reads?.result,
  reads?.sinceMs,
  reads?.atMs,
  reads?.count,
  txn?.txnState,
  txn?.txnId,
];

function ofPhase(memory: RunMemory): unknown[] {
  switch (memory.phase) {
    case 'requesting': {
      const { sending, lookup } = memory;
      return [
        sending.tries,
        sending.isUnanswered,
        sending.refusal?.message,
        sending.tries > 0 && sending.atMs,
        lookup?.sinceMs,
        lookup?.atMs,
        lookup?.count,
      ];
    }
    case 'quoted':
      return [memory.txn?.sourceReq.expiresAt, memory.approval, memory.cancel, memory.shown];
    case 'submitting': {
      const { tries, isUnanswered, refusal, error, atMs } = memory.sending;
      return [tries, isUnanswered, refusal !== undefined, error !== undefined, tries > 0 && atMs];
    }
    case 'settling':
      return [memory.sinceMs];
    case 'ended':
      return [memory.refusal?.message];
  }
}

/**
 * Returns the transaction after all delayed requests have arrived and reads are no longer stale.
 */
export function settled(truth: Truth): Truth {
  const isCarriedOut = truth.real === 'moving' || (truth.real === 'quoted' && truth.delayed > 0);
  return { ...truth, real: isCarriedOut ? 'completed' : truth.real, delayed: 0, ago: staleForMs };
}
