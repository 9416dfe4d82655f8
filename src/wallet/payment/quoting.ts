// intent -> created: finds the transaction that an earlier attempt under the reference made, or has one quoted.
import Big from 'big.js';
import { ServiceError } from '../../api/errors.js';
import type { Transaction } from '../../api/types.js';
import { Failure } from '../../formats/failure.js';
import { availableIn, notEnough } from './balance.js';
import { createOnce, explainRefusal } from './create.js';
import { findEarlier, note, since } from './attempts.js';
import { attemptRef } from './history.js';
import { checkDestination, checkSpend, knownAmounts, lastDay } from '../limits/limits.js';
import { checkEcho, notObeyed } from '../quote/echo.js';
import { checkNotExpired } from './orders.js';
import { usedButNotSeen } from './references.js';
import { lagPauses, type Run } from './run.js';

export async function createQuote(run: Run): Promise<void> {
  // A later attempt may be there as well: made by another machine, or left behind for an earlier one.
  const mayBeThere = run.start.reference === 'given' || (run.start.reference === 'once' && run.requotes > 0);
  const known = mayBeThere ? await findEarlier(run, 'if-old') : undefined;
  const txn = known ?? (await createOrFind(run));
  run.txn = txn;
  await note(run, txn, { step: 'created', txnId: txn.txnId, txnState: txn.txnState });
}

/** Where it cannot be created, an earlier attempt of somebody else may be why: that one is gone on with. */
async function createOrFind(run: Run): Promise<Transaction> {
  try {
    await checkLimitsFirst(run);
    await checkBalanceFirst(run);
    // By the service's clock, which an answer has told by now.
    checkNotExpired(run.order, run.deps.service.serviceNow());
  } catch (error) {
    const isTaken = !run.ours && error instanceof Failure && (error.kind === 'limit' || error.kind === 'usage');
    const earlier = isTaken ? await findEarlier(run, 'now').catch(neverMind) : undefined;
    if (earlier !== undefined) return earlier;
    throw error;
  }
  const { txn: created, isFound } = await createFresh(run);
  if (isFound) return created;
  // The answer is held against the order before anything else of it is believed, whatever state it is in.
  checkEcho(run.order, created, run.deps.account);
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

/** Where the reference is used and the list does not show it yet, it may be this payment's own, or another machine's. */
async function lookForAWhile(run: Run): Promise<Transaction | undefined> {
  for (const ms of lagPauses) {
    if (run.deps.signal.aborted) break;
    await run.deps.sleep(ms, run.deps.signal).catch(() => undefined);
    const found = await findEarlier(run, 'now').catch(neverMind);
    if (found !== undefined) return found;
  }
  await run.history.readAnew(since(run)).catch(neverMind);
  return run.deps.signal.aborted ? undefined : findEarlier(run, 'now').catch(neverMind);
}
