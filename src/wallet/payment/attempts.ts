// Which transaction of the service stands for a payment: the attempts under its reference, here or from another machine,
// and the rivals under the reference of its invoice. Looked for before one is created, and once more before it is confirmed.
import type { Transaction } from '../../api/types.js';
import { Failure } from '../../formats/failure.js';
import { isFinal, isQuoted, movedNothing } from '../../formats/states.js';
import type { IntentChange } from '../../store/journal/journal.js';
import type { Attempt } from './history.js';
import { echoes } from '../quote/echo.js';
import { readTransaction } from '../transaction/read-transaction.js';
import { differentPayment, inDoubt, listedButNotFound, onceRef, paidElsewhere } from './references.js';
import { lagPauses, wasReportedLater, write, writeAfterMoney, type Run } from './run.js';

/**
 * What the service knows under the reference: an attempt that paid or may pay, whichever that is, else the latest one.
 * Several transactions can carry the same reference where the service does not refuse that: the earliest of them counts.
 */
export async function findEarlier(run: Run, look: 'now' | 'if-old'): Promise<Transaction | undefined> {
  const { intent } = run.claim;
  await (look === 'now' ? run.history.update(since(run)) : run.history.updateOnce(since(run)));
  await refuseRival(run);
  let found: { attempt: Attempt; txn: Transaction } | undefined;
  for (const attempt of await run.history.attempts(intent.ref)) {
    if (run.over.has(attempt.txnId) && attempt.number < intent.attempt) continue;
    const txn = await readAttempt(run, attempt.txnId);
    const isLive = !movedNothing(txn.txnState) && !isQuoted(txn.txnState);
    const goesFirst = found === undefined || attempt.number > found.attempt.number || movedNothing(found.txn.txnState);
    if (isLive || (attempt.number >= intent.attempt && goesFirst)) found = { attempt, txn };
    if (isLive) break;
  }
  if (found === undefined) return undefined;
  await adopt(run, found.txn, found.attempt.number);
  return found.txn;
}

async function readAttempt(run: Run, txnId: string): Promise<Transaction> {
  const txn = await readListed(run, txnId);
  if (await wasReportedLater(run, txn)) throw inDoubt(run.claim.intent, txn);
  if (movedNothing(txn.txnState)) run.over.add(txnId);
  return txn;
}

/** What the list shows is there, and may have paid: a read that does not find it lags behind. */
async function readListed({ claim, deps }: Run, txnId: string): Promise<Transaction> {
  for (let look = 0; ; look += 1) {
    try {
      return await readTransaction(deps.service, txnId);
    } catch (error) {
      const pause = lagPauses[look];
      if (!(error instanceof Failure) || error.kind !== 'not-found') throw error;
      if (pause === undefined || deps.signal.aborted) throw listedButNotFound(claim.intent, txnId, error);
      await deps.sleep(pause, deps.signal).catch(() => undefined);
    }
  }
}

async function adopt(run: Run, txn: Transaction, number: number): Promise<void> {
  const { ref, attempt } = run.claim.intent;
  checkSamePayment(run, txn);
  if (run.start.reference === 'once' && isFinal(txn.txnState) && !movedNothing(txn.txnState)) throw paidElsewhere(txn, ref);
  if (number > attempt) await note(run, txn, { attempt: number });
  run.deps.on({ type: 'found', txn });
}

/** What is on its way already is followed to its end, whether the journal can be written or not. */
export const note = (run: Run, txn: Transaction, change: IntentChange): Promise<void> =>
  isQuoted(txn.txnState) || movedNothing(txn.txnState) ? write(run, change) : writeAfterMoney(run, change);

function checkSamePayment(run: Run, known: Transaction): void {
  if (!echoes(run.order, known)) throw differentPayment(run.claim.intent.ref, known.txnId);
}

/** The same invoice under the reference that it has by itself: another machine is paying it, or has. */
async function refuseRival(run: Run): Promise<void> {
  const { onceKey } = run.order;
  if (onceKey === null || onceRef(onceKey) === run.claim.intent.ref) return;
  const rivals = (await run.history.attempts(onceRef(onceKey))).filter(({ txnId }) => txnId !== run.claim.intent.txnId);
  // All at once: a quote runs out meanwhile.
  const read = await Promise.all(rivals.map(({ txnId }) => readListed(run, txnId)));
  const open = read.find((txn) => !movedNothing(txn.txnState));
  if (open !== undefined) throw paidElsewhere(open, onceRef(onceKey));
}

/** Nothing about a payment can be older than this, epoch ms. */
export function since({ order, claim, deps, start }: Run): number {
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
  for (const ms of visiblePauses) {
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

/** A list that does not show the transaction yet may hide an earlier one as well: it is looked at again after so many ms. */
const visiblePauses = [0, 250, ...lagPauses];

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
    if (!movedNothing(txn.txnState) && !(isLater && isQuoted(txn.txnState))) return { txn, number };
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
