// confirming -> confirmed -> final: once the money was let go, nothing but the service's word ends the payment.
import type { Transaction } from '../../api/types.js';
import { Failure } from '../../formats/failure.js';
import type { Intent } from '../../store/journal/journal.js';
import { confirmOnce } from './confirm.js';
import { explainRefusal } from './create.js';
import { afterLapse, nextAttempt, reread, writeAfterMoney, type Run } from './run.js';
import { hasLapsed, isFinal, isRetriable } from '../../formats/states.js';
import { waitUntilFinal } from './wait.js';

export async function confirm(run: Run): Promise<void> {
  const { intent } = run.claim;
  run.deps.on({ type: 'let-go', intent });
  try {
    run.txn = await confirmOnce(intent.txnId ?? '', !run.confirmedHere, run.deps);
  } catch (error) {
    if (error instanceof Failure && error.kind === 'pending') throw error;
    // The service has refused, or was never reached: the quote will lapse, nothing moved.
    await writeAfterMoney(run, { step: 'created', closed: true, consent: 'none' });
    throw explainRefusal(error, undefined, intent.txnId ?? undefined);
  }
  run.witnessed = true;
  run.deps.on({ type: 'state', txn: run.txn });
  if (hasLapsed(run.txn.txnState) && !run.journalLost) {
    await afterLapse(run, run.txn);
    return;
  }
  const step = isFinal(run.txn.txnState) ? 'final' : 'confirmed';
  await writeAfterMoney(run, { step, txnState: run.txn.txnState });
}

/** Resolves with the transaction when it need not be waited for. */
export async function settle(run: Run): Promise<Transaction | undefined> {
  run.witnessed = true;
  const txn = run.txn ?? (await readLetGo(run));
  const { wait } = run.start.options;
  if (wait === false && !isFinal(txn.txnState)) return txn;
  const onChange = async (next: Transaction): Promise<void> => {
    run.txn = next;
    run.deps.on({ type: 'state', txn: next });
    if (!isFinal(next.txnState)) await writeAfterMoney(run, { txnState: next.txnState });
  };
  run.txn = await waitUntilFinal(
    txn,
    { atMostMs: typeof wait === 'number' ? wait : undefined, onChange, goOn: 'svcpay tx resume' },
    run.deps,
  );
  await writeAfterMoney(run, { step: 'final', txnState: run.txn.txnState });
  return undefined;
}

/** Reads a payment that goes on by itself: that it cannot be read does not mean that nothing moved. */
export async function readLetGo(run: Run): Promise<Transaction> {
  try {
    return await reread(run);
  } catch (error) {
    throw unread(run.claim.intent, error);
  }
}

function unread({ txnId, txnState, ref }: Intent, cause: unknown): Failure {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const last = txnState === null ? '' : `, last seen as ${txnState}`;
  return new Failure('pending', `Not known yet: the payment was let go${last}, and cannot be read now: ${reason}`, {
    hint: `svcpay tx resume ${txnId ?? ref}`,
    txnId: txnId ?? undefined,
    cause,
  });
}

/** A payment that is run again after it ended without paying: by itself where it lapsed, with `--retry` where it failed. */
export async function startAgain(run: Run): Promise<boolean> {
  if (run.witnessed) return false;
  const { txnState } = run.claim.intent;
  const again = txnState !== null && (hasLapsed(txnState) || (run.start.options.retry && isRetriable(txnState)));
  if (again) await nextAttempt(run);
  return again;
}

export async function reportFinal(run: Run): Promise<Transaction> {
  const txn = run.txn ?? (await readEnded(run));
  if (txn.txnState === 'completed') return txn;
  throw new Failure('payment-failed', endedText(txn.txnState), {
    hint: isRetriable(txn.txnState) && !run.start.resumed ? 'Add --retry to try once more.' : `svcpay tx get ${txn.txnId}`,
    txnId: txn.txnId,
  });
}

/** The specification does not say what `error` means for the money. */
const endedText = (txnState: string): string =>
  txnState === 'error'
    ? 'The transaction ended as error: ask the service what became of the money.'
    : `Not paid: the transaction ended as ${txnState}.`;

async function readEnded(run: Run): Promise<Transaction> {
  const { ref, txnId, txnState } = run.claim.intent;
  try {
    return await reread(run);
  } catch (error) {
    if (txnState !== 'completed' || !(error instanceof Failure)) throw error;
    throw new Failure(error.kind, `Paid before, under the reference ${ref}: the transaction cannot be read now. ${error.message}`, {
      hint: `svcpay tx get ${txnId}`,
      txnId: txnId ?? undefined,
      cause: error,
    });
  }
}
