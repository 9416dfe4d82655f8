// confirming -> confirmed -> final: once the money was let go, nothing but the service's word ends the payment.
import type { Transaction } from '../../api/types.js';
import { Failure } from '../../formats/failure.js';
import { messageOf } from '../../formats/unknown.js';
import { hasLapsed, isFinal, isQuoted, isRetriable, knownStates, movedNothing } from '../../formats/states.js';
import type { Doubt, Intent } from '../../store/journal/journal.js';
import { lastDoubt, wasConfirmed, wasLetGo } from '../../store/journal/rules.js';
import { confirmOnce, type Confirmed } from './confirm.js';
import { explainRefusal } from './create.js';
import { withKnown } from '../transaction/read-transaction.js';
import { inDoubt } from './references.js';
import { asBefore, lagPauses, nextAttempt, reread, wasReportedLater, writeAfterMoney, type Run } from './run.js';
import { waitUntilFinal } from '../transaction/wait.js';

export async function confirm(run: Run): Promise<undefined> {
  const { intent } = run.claim;
  run.deps.on({ type: 'let-go', intent });
  let confirmed: Confirmed;
  try {
    confirmed = await confirmOnce(intent.txnId ?? '', !run.confirmedHere, run.deps);
  } catch (error) {
    if (error instanceof Failure && error.kind === 'pending') throw error;
    // The service has refused, or was never reached: the quote will lapse, nothing moved.
    const { doubt } = run;
    await writeAfterMoney(run, doubt === undefined ? { step: 'created', closed: true, consent: 'none', approvedAt: null } : asBefore(doubt));
    throw explainRefusal(error, undefined, intent.txnId ?? undefined);
  }
  run.txn = run.txn === undefined ? confirmed.txn : withKnown(run.txn, confirmed.txn);
  run.witnessed = confirmed.sent > 0;
  run.deps.on({ type: 'state', txn: run.txn });
  await follow(run, run.txn);
}

/** Writes down what the service says of a payment that was let go. That it lapsed is no end: see `endDoubt`. */
async function follow(run: Run, { txnState }: Transaction): Promise<void> {
  await writeAfterMoney(run, { step: isFinal(txnState) && !hasLapsed(txnState) ? 'final' : 'confirmed', txnState });
}

/** Resolves with the transaction when it need not be waited for. */
export async function settle(run: Run): Promise<Transaction | undefined> {
  const isFirst = !run.witnessed;
  run.witnessed = true;
  const txn = run.txn ?? (await readLetGo(run));
  const { wait, retry } = run.start.options;
  if (isFirst && retry && hasLapsed(txn.txnState)) {
    await nextAttempt(run, true);
    return undefined;
  }
  if (wait === false && !isFinal(txn.txnState)) return taken(run, txn);
  run.txn = await waitForEnd(run, txn);
  if (hasLapsed(run.txn.txnState)) await endDoubt(run);
  await follow(run, run.txn);
  return undefined;
}

/** That the service calls it a quote takes back nothing that was seen; where nothing was seen, it is not known to be taken. */
function taken({ claim: { intent }, createdHere, confirmedHere }: Run, txn: Transaction): Transaction {
  const { txnState } = txn;
  const isNews = createdHere && !confirmedHere && !knownStates.includes(txnState);
  if (isNews) throw unread(intent, new Error(`the service answered the creation with the state ${txnState}, which is not known.`));
  if (!isQuoted(txnState)) return txn;
  const seen = intent.txnState ?? '';
  if (isQuoted(seen) || isFinal(seen) || seen === '') throw unread(intent, new Error('the service says quoted.'));
  return { ...txn, txnState: seen };
}

async function waitForEnd(run: Run, txn: Transaction): Promise<Transaction> {
  const { wait } = run.start.options;
  const onChange = async (next: Transaction): Promise<void> => {
    run.txn = next;
    run.deps.on({ type: 'state', txn: next });
    if (!isFinal(next.txnState)) await writeAfterMoney(run, { txnState: next.txnState });
  };
  const onRead = (next: Transaction): void => run.deps.on({ type: 'read', txn: next });
  const atMostMs = typeof wait === 'number' ? wait : undefined;
  return waitUntilFinal(txn, { atMostMs, onChange, onRead, goOn: 'resume' }, run.deps);
}

/**
 * `expired` and `usercanceled` after a confirmation was sent, or a later state was seen, prove nothing: a read may lag.
 * It is read again for a while; where the service stays with it, the outcome is not known, and only a person goes on.
 */
async function endDoubt(run: Run): Promise<void> {
  for (const ms of lagPauses) {
    if (run.start.options.wait === false || run.deps.signal.aborted) break;
    await run.deps.sleep(ms, run.deps.signal).catch(() => undefined);
    const next = await reread(run).catch(() => undefined);
    if (next === undefined || hasLapsed(next.txnState)) continue;
    run.txn = await waitForEnd(run, next);
    if (!hasLapsed(run.txn.txnState)) return;
  }
  const { txnId, txnState } = run.txn ?? {};
  await writeAfterMoney(run, { step: 'confirmed', txnState: txnState ?? null });
  throw inDoubt(run.claim.intent, { txnId, txnState: txnState ?? 'lapsed' });
}

/** Where only a quote is wanted of a payment that is on its way, it is read and otherwise left alone. */
export async function lookAtLetGo(run: Run): Promise<Transaction> {
  const txn = await readLetGo(run);
  if (hasLapsed(txn.txnState)) throw inDoubt(run.claim.intent, txn);
  return isFinal(txn.txnState) ? reportFinal(run, txn) : txn;
}

/** Reads a payment that goes on by itself: that it cannot be read does not mean that nothing moved. */
async function readLetGo(run: Run): Promise<Transaction> {
  try {
    return await reread(run);
  } catch (error) {
    throw unread(run.claim.intent, error);
  }
}

function unread({ txnId, txnState, ref }: Intent, cause: unknown): Failure {
  const last = txnState === null ? '' : `, last seen as ${txnState}`;
  return new Failure('pending', `Not known yet: the payment was let go${last}, and cannot be read now: ${messageOf(cause)}`, {
    next: { do: 'resume', id: txnId ?? ref },
    txnId: txnId ?? undefined,
    cause,
  });
}

/**
 * A payment that is run again after it ended without paying: by itself where it lapsed unconfirmed, else where a person
 * asks for another try. What the journal remembers is no licence: the service is asked once more.
 */
export async function reportOrStartAgain(run: Run): Promise<Transaction | undefined> {
  const { intent } = run.claim;
  const remembered = intent.txnState ?? '';
  const { retry } = run.start.options;
  const isWanted = !run.witnessed && (hasLapsed(remembered) || (retry && isRetriable(remembered)));
  const txn = (isWanted ? undefined : run.txn) ?? (await readEnded(run));
  // A state that goes back does not take back what was seen.
  if (remembered === 'completed') return { ...txn, txnState: remembered };
  if (txn.txnState === 'completed') await writeAfterMoney(run, { txnState: txn.txnState });
  const wasReported = await wasReportedLater(run, txn);
  const mayHavePaid = wasReported || (hasLapsed(txn.txnState) && wasConfirmed(intent));
  const startsAgain = isWanted && (retry ? movedNothing(txn.txnState) : hasLapsed(txn.txnState) && !mayHavePaid);
  if (!startsAgain && wasReported) throw inDoubt(intent, txn);
  const cameToNothing = isRetriable(txn.txnState) || (hasLapsed(txn.txnState) && !wasConfirmed(intent));
  if (!startsAgain && run.doubt !== undefined && cameToNothing) return goBack(run, run.doubt, txn);
  // Of two ends that moved nothing the one that was seen first stands: a read may lag.
  if (!startsAgain) return reportFinal(run, isFinal(txn.txnState) && txn.txnState !== 'completed' ? { ...txn, txnState: remembered } : txn);
  await nextAttempt(run, mayHavePaid);
  return undefined;
}

/** What may have paid before it is what the payment comes to. */
async function goBack(run: Run, doubt: Doubt, { txnState }: Transaction): Promise<undefined> {
  if (run.start.mode === 'look') throw new Failure('payment-failed', endedText(txnState));
  await writeAfterMoney(run, asBefore(doubt));
  run.txn = undefined;
  run.doubt = lastDoubt(run.claim.intent);
  run.witnessed = true;
}

function reportFinal(run: Run, txn: Transaction): Transaction {
  const { txnId, txnState } = txn;
  if (txnState === 'completed') return txn;
  if (!isFinal(txnState)) throw unread(run.claim.intent, new Error(`the service says ${txnState} again.`));
  if (hasLapsed(txnState) && wasConfirmed(run.claim.intent)) throw inDoubt(run.claim.intent, txn);
  const canRetry = isRetriable(txnState) && run.start.mode !== 'resume';
  throw new Failure('payment-failed', endedText(txnState), {
    next: canRetry ? { do: 'retry', id: run.claim.intent.ref } : { do: 'show', id: txnId },
    txnId,
  });
}

/** The specification does not say what `error` means for the money. */
const endedText = (txnState: string): string =>
  txnState === 'error'
    ? 'The transaction ended as error: ask the service what became of the money.'
    : `Not paid: the transaction ended as ${txnState}.`;

/** Where the journal knows more than that nothing moved, a read that fails does not take that back. */
async function readEnded(run: Run): Promise<Transaction> {
  const { intent } = run.claim;
  const { ref, txnId, txnState } = intent;
  try {
    return await reread(run);
  } catch (error) {
    if (!(error instanceof Failure) || !wasLetGo(intent)) throw error;
    if (txnState !== 'completed') throw unread(intent, error);
    // Of whatever kind the trouble with reading is: it must not say that nothing moved.
    throw new Failure('pending', `Paid before, under the reference ${ref}: the transaction cannot be read now. ${error.message}`, {
      next: { do: 'show', id: txnId ?? ref },
      txnId: txnId ?? undefined,
      cause: error,
    });
  }
}
