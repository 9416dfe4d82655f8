// The entry points of the payment core. Each entry point opens a payment in the journal, claims the
// payment and drives it. If another process is working on the payment, the run follows that process
// until the payment can be claimed. A resume after a crash uses the same code as a new payment, and
// starts from the stored attempts.
import type { Transaction } from '../../api/types.js';
import { Failure, ifAvailable, type FailureKind } from '../../formats/failure.js';
import { leaseMs, type Claim, type Journal } from '../../store/journal/journal.js';
import {
  decisive,
  invoiceReference,
  isReferenceFree,
  latest,
  mayHavePaid,
  status,
  type Payment,
  type PaymentTerms,
} from '../../store/journal/payment.js';
import { OverBudget, mostCompared, payees, sameAgain } from '../limits/limits.js';
import { echoes, decodeOrder, encodeOrder, type Order } from '../order/orders.js';
import {
  askedColumns,
  digestOf,
  instructionOf,
  type Instruction,
} from '../instruction/instruction.js';
import { needOf, orderFor } from '../instruction/order.js';
import { readTransaction } from '../transaction/read.js';
import type {
  Consent,
  Owner,
  PaymentDeps,
  PaymentOptions,
  PaymentRequest,
  RunGoal,
} from './model.js';
import { drive } from './driver.js';
import {
  alreadyPaid,
  concerned,
  declinedTooLate,
  differentPayment,
  isAbandoned,
  journalLost,
  allUnreadable,
  unreadable,
} from './outcomes.js';
import { termsOf } from './apply.js';
import { policies, poll, type PollNext, type PollTurn } from '../../formats/poll.js';
import { isFinal, isQuoted } from '../../formats/states.js';

/**
 * The caller's reference, otherwise the reference of the invoice, or undefined if svcpay generates
 * a reference.
 */
export const referenceOf = ({
  ref,
  instruction: { once, ways },
}: Pick<PaymentRequest, 'ref' | 'instruction'>): string | undefined =>
  ref === undefined && once !== null && ways?.[0] !== 'onchain' ? invoiceReference(once) : ref;

/**
 * Pays at most once, and resolves with the transaction in its last known state. Throws Failure
 * `payment-failed` if the payment ended unpaid, and `pending` if the payment's outcome is not known
 * yet.
 */
export async function pay(
  request: PaymentRequest,
  options: PaymentOptions,
  deps: PaymentDeps,
): Promise<Transaction> {
  const { instruction, terms, batch } = request;
  const ref = referenceOf(request);
  const id = deps.newId();
  const resumed = await pricedEarlier(request, deps);
  const order =
    resumed === undefined
      ? await orderFor(instruction, deps.service)
      : decodeOrder(latest(resumed).request);
  const isQuote = options.until === 'quoted';
  const columns = askedColumns(instruction, order.kind);
  const asked = ref === undefined || isQuote ? undefined : { scope: deps.scope, ref, ...columns };
  const decided = asked && (await decidedByOwner(asked, options, deps));
  if (decided !== undefined) return decided;
  const compared = isQuote ? notCompared : await compare(request, order, deps);
  if (compared.follow !== undefined)
    return resume(compared.follow, { ...options, consent: request.consent }, deps);
  const draft = {
    id,
    scope: deps.scope,
    account: deps.account,
    // A payment whose reference svcpay generated has its id as reference.
    ref: ref ?? id,
    ...columns,
    request: encodeOrder(order),
    terms,
    batch,
    detail: { batch: batch?.run, line: batch?.line, ...termsOf(terms) },
  };
  const own = ownRun(deps);
  const { payment, found, replaced, claim } = await deps.journal.begin(draft, own.owner);
  if (replaced !== undefined) deps.on({ type: 'replaced', payment: replaced });
  if (found !== 'new') await checkSame(payment, found, request, deps);
  const goal: Given = {
    reference:
      request.ref !== undefined ? 'given' : instruction.once === null ? 'generated' : 'invoice',
    terms: found === 'new' ? undefined : terms,
    consent: isQuote ? { by: 'nobody' } : request.consent,
    repeats: compared.repeats,
    leaveOpen: isQuote && found !== 'new' && status(payment) === 'open' ? 'always' : 'never',
  };
  return run(payment, goal, options, own, claim);
}

/** Follows the payment that the owner made for an earlier proposal of what is asked. */
async function decidedByOwner(
  asked: Parameters<Owner['decided']>[0],
  { wait }: Pick<PaymentOptions, 'wait'>,
  deps: PaymentDeps,
): Promise<Transaction | undefined> {
  const payment = await deps.budget?.owner?.decided(asked);
  return payment && resume(payment, { wait, consent: { by: 'nobody' } }, deps);
}

/** Gives a run its own name as the owner of claims, because a process may make several runs. */
const ownRun = (deps: PaymentDeps): PaymentDeps => ({
  ...deps,
  owner: `${deps.owner} ${deps.newId()}`,
});

/**
 * Finds the earlier payment of this instruction under its reference, if the amount of a new attempt
 * would need rates or a balance. The open attempt keeps its amount. Throws Failure `usage` if the
 * reference belongs to another payment.
 */
async function pricedEarlier(
  request: PaymentRequest,
  deps: PaymentDeps,
): Promise<Payment | undefined> {
  const { instruction, ref } = request;
  if (ref === undefined || needOf(instruction) === undefined) return undefined;
  const earlier = await deps.journal.find(deps.scope, ref);
  if (earlier?.ref !== ref) return undefined;
  if (earlier.digest === digestOf(instruction)) return earlier;
  if (!isReferenceFree(earlier)) await checkSame(earlier, 'ref', request, deps);
  return undefined;
}

interface Compared extends Pick<RunGoal, 'repeats'> {
  /** The earlier payment that this run follows instead of making a new payment. */
  readonly follow?: Payment | undefined;
}

const notCompared: Compared = { repeats: 'not compared' };

/**
 * Compares a payment that was never submitted with earlier payments, unless the caller's reference
 * already prevents a second payment.
 */
async function compare(
  { instruction, ref }: Pick<PaymentRequest, 'instruction' | 'ref'>,
  order: Order,
  { journal, scope, account, now, repeats }: PaymentDeps,
): Promise<Compared> {
  if (ref !== undefined && repeats.of === 'generated references') return notCompared;
  const keys = payees(instruction);
  if (keys.length === 0) return notCompared;
  const within = repeats.paidWithinMs;
  const payments = await journal.comparable(scope, account, keys, within, mostCompared);
  const asked = { instruction, order, ref };
  const earlier = sameAgain(asked, payments, { ...repeats, now: now() });
  if (earlier === undefined) return { repeats: [] };
  // A payment that is only quoted now, and is submitted before this one, is no repetition on
  // purpose.
  return (await repeats.decide(earlier, 'start')) === 'follow'
    ? { follow: earlier.payment, repeats: [] }
    : { repeats: payments.filter(mayHavePaid).map(({ id }) => id) };
}

/** Compares a payment of the journal, unless it was submitted before. */
function compareStored(payment: Payment, deps: PaymentDeps): Promise<Compared> | Compared {
  if (mayHavePaid(payment)) return notCompared;
  // The reference of the payment is its id if svcpay generated the reference.
  const ref = payment.ref === payment.id ? undefined : payment.ref;
  const asked = { instruction: instructionOf(payment), ref };
  return compare(asked, decodeOrder(latest(payment).request), deps);
}

/**
 * Requests a quote and shows its full cost. svcpay then abandons a new payment, but does not
 * abandon an earlier payment that is open.
 */
export const quote = (
  request: PaymentRequest,
  { retry }: Pick<PaymentOptions, 'retry'>,
  deps: PaymentDeps,
): Promise<Transaction> => pay(request, { wait: false, retry, until: 'quoted' }, deps);

/** Throws Failure `usage` if the reference or the invoice belongs to another payment. */
async function checkSame(
  payment: Payment,
  found: 'ref' | 'once',
  { instruction, ref }: PaymentRequest,
  deps: PaymentDeps,
): Promise<void> {
  const isSame = isPaymentOf(payment, instruction);
  if (found === 'ref') {
    if (isSame || (await isImportedAlike(payment, instruction, deps))) return;
    throw differentPayment(payment, instruction);
  }
  // If a caller pays an invoice again without a reference, the call resumes the invoice's payment,
  // or shows how it ended.
  if (ref !== undefined || !isSame) throw alreadyPaid(payment);
}

/**
 * Whether a payment is the payment of an instruction. An invoice that may be paid is the same
 * payment, whether it was read from its own text or from a URI.
 */
export const isPaymentOf = (payment: Payment, instruction: Instruction): boolean =>
  payment.digest === digestOf(instruction) ||
  (instruction.once !== null &&
    payment.idempotencyKey === instruction.once &&
    mayHavePaid(payment));

/** Whether the payment is imported and its transaction at the service matches the instruction. */
async function isImportedAlike(
  payment: Payment,
  instruction: Instruction,
  { service, account }: PaymentDeps,
): Promise<boolean> {
  const { txnId, request } = latest(payment);
  if (decodeOrder(request).isImported !== true || txnId === null) return false;
  const order = await orderFor(instruction, service);
  const txn = await readTransaction(service, txnId).catch((error: unknown) => {
    throw journalLost(payment, error);
  });
  return echoes(order, txn, account);
}

export interface ResumeOptions extends TakeOverOptions {
  /**
   * Whether a person requests another attempt after an attempt that failed or whose outcome is
   * unknown.
   */
  readonly retry?: boolean;
  readonly consent: Consent;
  /** Confirms exactly this quote within these terms, even if its payment was abandoned. */
  readonly only?: { readonly txnId: string; readonly terms: PaymentTerms };
}

/**
 * Resumes a payment of the journal, or reports how it ended. Throws the failures of `pay`, and
 * Failure `usage` for a payment that was abandoned before any money moved, unless the caller
 * requests another attempt.
 */
export async function resume(
  payment: Payment,
  { wait, retry = false, consent, only, leaveHeld = false }: ResumeOptions,
  deps: PaymentDeps,
): Promise<Transaction> {
  const isSubmitted = only === undefined && mayHavePaid(payment);
  const decided = isSubmitted ? undefined : await decidedByOwner(payment, { wait }, deps);
  if (decided !== undefined) return decided;
  if (only === undefined && !retry && status(payment) === 'abandoned') throw isAbandoned(payment);
  const { follow, repeats } = await compareStored(payment, deps);
  if (follow !== undefined) return resume(follow, { wait, consent, leaveHeld }, deps);
  const goal: Given = {
    reference: 'given',
    consent,
    repeats,
    leaveOpen: retry || only !== undefined ? 'never' : 'if-recoverable',
    onlyTxnId: only?.txnId,
    terms: only?.terms,
  };
  return run(payment, goal, { wait, retry, leaveHeld }, ownRun(deps));
}

type Given = Pick<
  RunGoal,
  'onlyTxnId' | 'reference' | 'terms' | 'consent' | 'repeats' | 'leaveOpen'
>;

/** @param first the claim of a new payment */
async function run(
  opened: Payment,
  given: Given,
  options: PaymentOptions & TakeOverOptions,
  deps: PaymentDeps,
  first?: Claim,
): Promise<Transaction> {
  let payment = opened;
  for (let claimed = first; ; claimed = undefined) {
    const taken =
      claimed === undefined
        ? await takeOver(payment, options, deps)
        : { claim: claimed, followed: false };
    if ('txn' in taken) return taken.txn;
    const { claim, followed } = taken;
    const endLease = keepLease(claim, deps);
    try {
      if (given.leaveOpen === 'if-recoverable' && status(claim.payment) === 'abandoned')
        throw isAbandoned(claim.payment);
      const end = await drive(claim, goalOf(claim.payment, given, options, followed), deps);
      if ('txn' in end) return end.txn;
      payment = end.lost;
      if (end.declined !== undefined) throw end.declined;
    } catch (error) {
      throw await concerning(await askedOwner(error, payment, deps), payment, deps);
    } finally {
      endLease();
      await deps.journal.release(claim).catch(() => undefined);
    }
  }
}

/** Proposes to the owner what the budget leaves to the owner. Returns the failure to report. */
async function askedOwner(error: unknown, payment: Payment, { budget }: PaymentDeps) {
  if (!(error instanceof OverBudget) || error.forOwner === undefined) return error;
  return (await budget?.owner?.propose(payment, error)) ?? error;
}

/**
 * Names the payment in a failure, with the state that the journal has now. Returns Failure
 * `pending` if another process submitted the payment while the person declined it here.
 */
async function concerning(error: unknown, opened: Payment, { journal }: PaymentDeps) {
  if (!(error instanceof Failure)) return error;
  const read = await ifAvailable(journal.read(opened.id));
  const payment = read ?? opened;
  if (error.kind === 'declined' && mayHavePaid(payment) && !mayHavePaid(opened))
    return declinedTooLate(payment);
  return error.concerning(concerned(payment, decisive(payment)));
}

/**
 * Returns the goal of a run.
 * @param followed whether another process was working on the payment until this run took over, so
 * that this run reports the result of that process instead of making another attempt
 */
function goalOf(
  payment: Payment,
  given: Given,
  { wait, retry, until }: PaymentOptions,
  followed: boolean,
): RunGoal {
  const { number } = latest(payment);
  return {
    ...given,
    until: until ?? (wait === false ? 'submitted' : 'settled'),
    waitMs: typeof wait === 'number' ? wait : Number.POSITIVE_INFINITY,
    retryUpTo: retry && !followed ? number : 0,
    firstAttempt: number,
  };
}

/** Extends the lease of the payment regularly, because a response may take longer than a lease. */
const keepLease = (claim: Claim, { every, journal }: PaymentDeps): (() => void) =>
  // svcpay ignores a failed extension of the lease, because the next write detects a lost lease.
  every(leaseMs / 3, () => void journal.extendLease(claim).catch(() => undefined));

const followAtMostMs = 120_000;

export interface TakenClaim {
  readonly claim: Claim;
  /** Whether another process was working on the payment until this run took over. */
  readonly followed: boolean;
}

export interface TakeOverOptions extends Pick<PaymentOptions, 'wait'> {
  /**
   * Rejects with HeldElsewhere instead of waiting for the process that is working on the payment.
   */
  readonly leaveHeld?: boolean;
}

/**
 * The error that `takeOver` throws with `leaveHeld` while another process is working on the
 * payment.
 */
export class HeldElsewhere extends Error {
  override readonly name = 'HeldElsewhere';
}

type TakenOver = TakenClaim | { readonly txn: Transaction };

/**
 * Claims the payment, after waiting until no other process is working on the payment. With
 * `wait: false`, resolves with the transaction of a payment under way instead of waiting.
 */
export async function takeOver(
  opened: Payment,
  { wait, leaveHeld = false }: TakeOverOptions,
  deps: PaymentDeps,
): Promise<TakenOver> {
  const atMost = typeof wait === 'number' ? Math.min(wait, followAtMostMs) : followAtMostMs;
  let payment = opened;
  const step = async ({ number }: PollTurn): Promise<PollNext<TakenOver>> => {
    const isFollowing = number > 1;
    const claim = await orUnknown(payment, isFollowing, deps.journal.claim(opened.id, deps.owner));
    if (claim !== undefined)
      return { done: { claim: await sameInstruction(claim, opened, deps), followed: isFollowing } };
    if (leaveHeld) throw new HeldElsewhere(`another process is working on ${opened.ref}`);
    payment = (await orUnknown(payment, isFollowing, deps.journal.read(opened.id))) ?? opened;
    if (!isFollowing) deps.on({ type: 'following', payment });
    const { state, txnId } = latest(payment);
    if (wait === false && (state === 'in-flight' || state === 'unknown') && txnId !== null) {
      const txn = await readTransaction(deps.service, txnId).catch((error: unknown) =>
        leaveTo(payment, 'temporary', 'the service does not answer.', error),
      );
      // Reports a final state only after the process that is working on the payment has written
      // that state. Repeats a read that returns `quoted`, which is stale because the payment was
      // already submitted.
      if (!isFinal(txn.txnState) && !isQuoted(txn.txnState)) return { done: { txn } };
    }
    return {};
  };
  const end = await poll(policies.takeOver, step, deps, atMost);
  if ('done' in end) return end.done;
  return end.over === 'interrupted'
    ? leaveTo(payment, 'interrupted', 'you interrupted.')
    : leaveTo(payment, 'temporary', 'the other process has not finished yet.');
}

/**
 * @param isFollowing whether another process worked on the payment a moment ago, and may have
 * submitted the payment since
 */
async function orUnknown<T>(
  payment: Payment,
  isFollowing: boolean,
  answer: Promise<T>,
): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (mayHavePaid(payment)) throw journalLost(payment, error);
    if (isFollowing && error instanceof Failure)
      leaveTo(
        payment,
        'pending',
        `the payment's state cannot be read now. ${error.message}`,
        error,
      );
    throw error;
  }
}

/**
 * Throws Failure `usage` if a different instruction has taken the reference since this run opened
 * the payment.
 */
async function sameInstruction(claim: Claim, opened: Payment, deps: PaymentDeps): Promise<Claim> {
  if (claim.payment.digest === opened.digest) return claim;
  await deps.journal.release(claim);
  throw differentPayment(claim.payment, instructionOf(opened));
}

/**
 * @param otherwise the kind of failure if the payment was not submitted when svcpay last read the
 * journal
 */
function leaveTo(
  payment: Payment,
  otherwise: 'temporary' | 'interrupted' | 'pending',
  why: string,
  cause?: unknown,
): never {
  const { txnId, number } = latest(payment);
  const kind = mayHavePaid(payment) || number > 1 ? 'pending' : otherwise;
  throw new Failure(kind, `another process is working on ${payment.ref}, and ${why}`, {
    money: kind === 'pending' ? 'Outcome unknown' : 'Nothing moved here',
    next: { do: 'resume', id: txnId ?? payment.ref },
    ...concerned(payment, latest(payment)),
    cause,
  });
}

/**
 * Finds the payments that a run concerns, in every account of the journal, because the account is
 * unknown before the sign-in.
 */
export type FindPayments = (
  journal: Pick<Journal, 'named' | 'openSince'>,
) => Promise<readonly Payment[]>;

/**
 * Returns a function that searches for the payment with this reference or transaction id, or
 * undefined if the run names no payment.
 */
export const named = (name: string | undefined): FindPayments | undefined =>
  name === undefined ? undefined : (journal) => journal.named(name);

/** Finds the unfinished payments that `fits` accepts. */
export const unfinished =
  (fits: (payment: Payment) => boolean = () => true): FindPayments =>
  async (journal) =>
    (await journal.openSince(0)).filter(fits);

/**
 * Finds the payment with a reference, a transaction id, or the beginning of the id of an unfinished
 * payment.
 */
export const concernedBy =
  (name: string): FindPayments =>
  async (journal) => {
    const named = await journal.named(name);
    const begins = ({ attempts }: Payment): boolean =>
      attempts.some(({ txnId }) => txnId?.startsWith(name.toLowerCase()));
    return named.length > 0 || name.length < 6 ? named : unfinished(begins)(journal);
  };

/**
 * Kinds of failure that report that no money moved, and that can end a run before it has read the
 * payment, for example because the sign-in failed.
 */
const endsEarly: ReadonlySet<FailureKind> = new Set([
  'unexpected',
  'refused',
  'authentication',
  'not-found',
  'temporary',
  'interrupted',
]);

/**
 * If an attempt may have moved money, throws Failure `pending` instead of a failure that reports
 * that no money moved.
 */
export async function journalFirst<T>(
  concerned: FindPayments | undefined,
  journal: () => Promise<Parameters<FindPayments>[0]>,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw await unlessSubmitted(error, concerned, journal);
  }
}

/** Returns the error or, if an attempt may have moved money, Failure `pending` instead. */
export async function unlessSubmitted(
  error: unknown,
  concerned: FindPayments | undefined,
  journal: () => Promise<Parameters<FindPayments>[0]>,
): Promise<unknown> {
  if (concerned === undefined || !(error instanceof Failure) || !endsEarly.has(error.kind))
    return error;
  const [submitted, ...others] = (await concerned(await journal())).filter(mayHavePaid);
  if (submitted === undefined) return error;
  return others.length === 0
    ? unreadable(submitted, error)
    : allUnreadable(others.length + 1, error);
}
