// intent -> created: finds the transaction that an earlier attempt under the reference made, or has one quoted.
import Big from 'big.js';
import { ServiceError } from '../../api/errors.js';
import type { Transaction } from '../../api/types.js';
import { Failure } from '../../formats/failure.js';
import { hasLapsed, isFinal, isQuoted, isRetriable } from '../../formats/states.js';
import type { IntentChange } from '../../store/journal/journal.js';
import { availableIn, notEnough } from './balance.js';
import { createOnce, explainRefusal } from './create.js';
import { attemptRef, type Attempt } from './history.js';
import { checkDestination, checkSpend, knownAmounts, lastDay } from '../limits/limits.js';
import { checkEcho, echoes, notObeyed } from '../quote/echo.js';
import { readTransaction } from '../transaction/read-transaction.js';
import { differentPayment, inDoubt, onceRef, paidElsewhere, usedButNotSeen } from './references.js';
import { wasReportedLater, write, writeAfterMoney, type Run } from './run.js';

export async function createQuote(run: Run): Promise<void> {
  // A later attempt may be there as well: made by another machine, or left behind for an earlier one.
  const mayBeThere = run.start.reference === 'given' || (run.start.reference === 'once' && run.requotes > 0);
  const known = mayBeThere ? await findEarlier(run, 'if-old') : undefined;
  const txn = known ?? (await createOrFind(run));
  run.txn = txn;
  await note(run, txn, { step: 'created', txnId: txn.txnId, txnState: txn.txnState });
}

/** What is on its way already is followed to its end, whether the journal can be written or not. */
const note = (run: Run, txn: Transaction, change: IntentChange): Promise<void> =>
  isQuoted(txn.txnState) || isOpenEnded(txn) ? write(run, change) : writeAfterMoney(run, change);

/** Where it cannot be created, an earlier attempt of somebody else may be why: that one is gone on with. */
async function createOrFind(run: Run): Promise<Transaction> {
  try {
    await checkLimitsFirst(run);
    await checkBalanceFirst(run);
  } catch (error) {
    const isTaken = !run.ours && error instanceof Failure && error.kind === 'limit';
    const earlier = isTaken ? await findEarlier(run, 'now').catch(neverMind) : undefined;
    if (earlier !== undefined) return earlier;
    throw error;
  }
  const { txn: created, isFound } = await createFresh(run);
  if (isFound) return created;
  // The answer is held against the order before anything else of it is believed, whatever state it is in.
  checkEcho(run.order, created);
  checkReference(run, created);
  run.createdHere = true;
  run.requotes += 1;
  return created;
}

const neverMind = (error: unknown): undefined => {
  if (error instanceof Failure && (error.kind === 'temporary' || error.kind === 'refused')) return undefined;
  throw error;
};

/** What can be known of the limits before anything is created; the quote is held to them again when it is let go. */
async function checkLimitsFirst({ order, claim, deps }: Run): Promise<void> {
  const { limits, journal, now, service } = deps;
  checkDestination(limits, order);
  const perDay = Object.keys(limits.perDay).length > 0;
  const spent = perDay ? await journal.spent(claim.intent.account, lastDay(now(), service.serviceNow())) : [];
  checkSpend(limits, knownAmounts(order), () => spent);
}

/** The wallet before the quote: some services reserve the funds with it. */
async function checkBalanceFirst(run: Run): Promise<void> {
  const { sourceReq, destReq } = run.order.body;
  run.available = await availableIn(sourceReq.ccy, run.deps.service);
  const asked = sourceReq.amtRequested ?? (sourceReq.ccy === destReq.ccy ? run.order.receives?.value : undefined);
  if (asked === undefined) return;
  const needed = { ccy: sourceReq.ccy, value: new Big(asked) };
  if (run.available !== undefined && needed.value.gt(run.available.value)) throw notEnough(needed, run.available);
}

/** A quote under another reference would not be found again. */
function checkReference({ claim: { intent } }: Run, { extRefId, txnId }: Transaction): void {
  const asked = attemptRef(intent.ref, intent.attempt);
  if (extRefId === asked) return;
  throw notObeyed(`the reference is ${extRefId == null ? 'missing' : `"${extRefId}"`}, not "${asked}"`, txnId);
}

/** The answer to a creation, or what the list shows under its reference where that is refused or not answered. */
async function createFresh(run: Run): Promise<{ readonly txn: Transaction; readonly isFound: boolean }> {
  const { intent } = run.claim;
  const body = { ...run.order.body, extRefId: attemptRef(intent.ref, intent.attempt) };
  let [mayBeOurs, isFound] = [false, false];
  const find = async (): Promise<Transaction | undefined> => {
    const earlier = await findEarlier(run, 'now');
    isFound = earlier !== undefined;
    return earlier;
  };
  try {
    const txn = await createOnce(body, run.ours, find, (lost) => (mayBeOurs ||= lost), run.deps);
    return { txn, isFound };
  } catch (error) {
    if (error instanceof ServiceError && error.kind === 'refused') {
      const found = mayBeOurs || (!run.ours && mayBeUsed(error)) ? await lookForAWhile(run) : undefined;
      if (found !== undefined) return { txn: found, isFound: true };
      if (mayBeOurs || (!run.ours && (saysUsed(error) || (run.mayBeSent && mayBeUsed(error))))) throw usedButNotSeen(intent.ref, error);
    }
    throw explainRefusal(error, run.available);
  } finally {
    run.ours = false;
  }
}

/** The specification has no words for a used reference: services say them in their own. */
const saysUsed = ({ reason, status }: ServiceError): boolean =>
  status === 409 || /\b(ext\w*ref\w*|ref(erence)?s?\b.*|duplicate\w*)/i.test(reason) && /(use|exist|duplicate|unique|already|taken|twice)/i.test(reason);

/** Or they have none for any refusal. */
const mayBeUsed = (error: ServiceError): boolean => saysUsed(error) || /^(?:bad request|conflict|invalid request|no explanation)$/i.test(error.reason);

/** How long a list may lag behind the refusal of a reference, in ms, look by look. */
const listPauses = [500, 1_000, 2_000, 4_000];

/** Where the reference is used and the list does not show it yet, it may be this payment's own, or another machine's. */
async function lookForAWhile(run: Run): Promise<Transaction | undefined> {
  for (const ms of listPauses) {
    if (run.deps.signal.aborted) break;
    await run.deps.sleep(ms, run.deps.signal).catch(() => undefined);
    const found = await findEarlier(run, 'now').catch(neverMind);
    if (found !== undefined) return found;
  }
  await run.history.readAnew(since(run)).catch(neverMind);
  return run.deps.signal.aborted ? undefined : findEarlier(run, 'now').catch(neverMind);
}

/**
 * What the service knows under the reference: an attempt that paid or may pay, whichever that is, else the latest one.
 * Several transactions can carry the same reference where the service does not refuse that: the earliest of them counts.
 */
async function findEarlier(run: Run, look: 'now' | 'if-old'): Promise<Transaction | undefined> {
  const { intent } = run.claim;
  await (look === 'now' ? run.history.update(since(run)) : run.history.updateOnce(since(run)));
  await refuseRival(run);
  let found: { attempt: Attempt; txn: Transaction } | undefined;
  for (const attempt of await run.history.attempts(intent.ref)) {
    if (run.over.has(attempt.txnId) && attempt.number < intent.attempt) continue;
    const txn = await readAttempt(run, attempt.txnId);
    const isLive = !isOpenEnded(txn) && !isQuoted(txn.txnState);
    const goesFirst = found === undefined || attempt.number > found.attempt.number || isOpenEnded(found.txn);
    if (isLive || (attempt.number >= intent.attempt && goesFirst)) found = { attempt, txn };
    if (isLive) break;
  }
  if (found === undefined) return undefined;
  await adopt(run, found.txn, found.attempt.number);
  return found.txn;
}

async function readAttempt(run: Run, txnId: string): Promise<Transaction> {
  const txn = await readTransaction(run.deps.service, txnId);
  if (await wasReportedLater(run, txn)) throw inDoubt(run.claim.intent, txn);
  if (isOpenEnded(txn)) run.over.add(txnId);
  return txn;
}

async function adopt(run: Run, txn: Transaction, number: number): Promise<void> {
  const { ref, attempt } = run.claim.intent;
  checkSamePayment(run, txn);
  if (run.start.reference === 'once' && isFinal(txn.txnState) && !isOpenEnded(txn)) throw paidElsewhere(txn, ref);
  if (number > attempt) await note(run, txn, { attempt: number });
  run.deps.on({ type: 'found', txn });
}

/** Over without having paid: told of as a failure of this payment, or gone on from. */
const isOpenEnded = ({ txnState }: Transaction): boolean => hasLapsed(txnState) || isRetriable(txnState);

function checkSamePayment(run: Run, known: Transaction): void {
  if (!echoes(run.order, known)) throw differentPayment(run.claim.intent.ref, known.txnId);
}

/** The same invoice under the reference that it has by itself: another machine is paying it, or has. */
async function refuseRival(run: Run): Promise<void> {
  const { onceKey } = run.order;
  if (onceKey === null || onceRef(onceKey) === run.claim.intent.ref) return;
  for (const { txnId } of await run.history.attempts(onceRef(onceKey))) {
    if (txnId === run.claim.intent.txnId) continue;
    const txn = await readTransaction(run.deps.service, txnId);
    if (!isOpenEnded(txn)) throw paidElsewhere(txn, onceRef(onceKey));
  }
}

/** Nothing about a payment can be older than this, epoch ms. */
function since({ order, claim, deps, start }: Run): number {
  const isByItself = start.reference === 'once' || (order.onceKey !== null && claim.intent.ref === onceRef(order.onceKey));
  if (!isByItself || order.notBefore === undefined) return 0;
  return Math.max(Math.min(order.notBefore, deps.service.serviceNow()) - hourMs, 0);
}

const hourMs = 3_600_000;

/**
 * The last look before a confirmation, where others can know the reference: the earliest transaction under it is the one
 * that is confirmed, by whomever. Resolves with false when that is another than this run's, which then takes its place.
 */
export async function isEarliest(run: Run, txn: Transaction): Promise<boolean> {
  if (run.start.reference === 'own') return true;
  const { intent } = run.claim;
  for (const ms of [0, ...visiblePauses]) {
    if (ms > 0) await run.deps.sleep(ms, run.deps.signal).catch(() => undefined);
    await run.history.update(since(run));
    await refuseRival(run);
    const attempts = await run.history.attempts(intent.ref);
    const rival = await liveAttempt(run, attempts, txn);
    if (rival !== undefined) return takeInstead(run, rival);
    if (attempts.some(({ txnId }) => txnId === txn.txnId) || run.deps.signal.aborted) return true;
  }
  return true;
}

/** A list that does not show the transaction yet may hide an earlier one as well: it is given this long, in ms. */
const visiblePauses = [250, 500, 1_000, 2_000, 4_000];

interface Live {
  readonly txn: Transaction;
  readonly number: number;
}

/**
 * Another transaction of the payment that goes first: one that is on its way, or an earlier one that may yet be. All who
 * know the reference see the same order, so that they come to the same one.
 */
async function liveAttempt(run: Run, attempts: readonly Attempt[], own: Transaction): Promise<Live | undefined> {
  const ownAt = attempts.findIndex(({ txnId }) => txnId === own.txnId);
  for (const [at, { txnId, number }] of attempts.entries()) {
    if (at === ownAt || run.over.has(txnId)) continue;
    const txn = await readAttempt(run, txnId);
    const isLater = ownAt >= 0 && at > ownAt;
    if (!isOpenEnded(txn) && !(isLater && isQuoted(txn.txnState))) return { txn, number };
  }
  return undefined;
}

/** With its number: after it comes the one that this run had made, not another new one. */
async function takeInstead(run: Run, { txn, number }: Live): Promise<false> {
  checkSamePayment(run, txn);
  run.txn = txn;
  run.createdHere = false;
  await write(run, { attempt: number, txnId: txn.txnId, txnState: txn.txnState });
  run.deps.on({ type: 'found', txn });
  return false;
}
