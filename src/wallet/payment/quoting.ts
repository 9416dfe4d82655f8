// intent -> created: finds the transaction that an earlier attempt under the reference made, or has one quoted.
import Big from 'big.js';
import type { Transaction } from '../../api/types.js';
import { availableIn, notEnough } from './balance.js';
import { createOnce, explainRefusal } from './create.js';
import { checkDestination, checkSpend, knownAmounts, lastDay } from '../limits/limits.js';
import { checkEcho, notObeyed } from './quote.js';
import { readTransaction } from './read-transaction.js';
import { attemptRef, differentPayment, latestAttempt } from './references.js';
import { write, type Run } from './run.js';

export async function createQuote(run: Run): Promise<void> {
  const known = run.unseen ? undefined : await findEarlier(run);
  if (known === undefined) {
    await checkLimitsFirst(run);
    await checkBalanceFirst(run);
  }
  const txn = known ?? (await createFresh(run));
  checkReference(run, txn);
  run.txn = txn;
  await write(run, { step: 'created', txnId: txn.txnId, txnState: txn.txnState });
}

/** What can be known of the limits before anything is created; the quote is held to them again when it is let go. */
async function checkLimitsFirst({ order, claim, deps }: Run): Promise<void> {
  const { limits, journal, now, service } = deps;
  checkDestination(limits, order);
  const perDay = Object.keys(limits.perDay).length > 0;
  const spent = perDay ? await journal.spent(claim.intent.account, lastDay(now(), service.serviceNow())) : [];
  checkSpend(limits, knownAmounts(order), () => spent);
}

/** A quote under another reference would not be found again. */
function checkReference({ claim: { intent } }: Run, { extRefId, txnId }: Transaction): void {
  const asked = attemptRef(intent.ref, intent.attempt);
  if (extRefId == null || extRefId === asked) return;
  throw notObeyed(`the reference is ${extRefId}, not ${asked}`, txnId);
}

async function createFresh(run: Run): Promise<Transaction> {
  const { intent } = run.claim;
  const body = { ...run.order.body, extRefId: attemptRef(intent.ref, intent.attempt) };
  try {
    return await createOnce(body, run.ours, () => findEarlier(run), run.deps);
  } catch (error) {
    throw explainRefusal(error, run.available);
  } finally {
    run.ours = false;
    run.unseen = false;
  }
}

/** An earlier attempt under this reference, made by a lost request, another machine or a journal since removed. */
async function findEarlier(run: Run): Promise<Transaction | undefined> {
  const { intent } = run.claim;
  const latest = await latestAttempt(intent.ref, 0, run.deps.service);
  if (latest === undefined || latest.number < intent.attempt) return undefined;
  const txn = await readTransaction(run.deps.service, latest.txnId);
  checkSamePayment(run, txn);
  if (latest.number > intent.attempt) await write(run, { attempt: latest.number });
  run.deps.on({ type: 'found', txn });
  return txn;
}

function checkSamePayment(run: Run, known: Transaction): void {
  try {
    checkEcho(run.order, known);
  } catch {
    throw differentPayment(run.claim.intent.ref, known.txnId);
  }
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
