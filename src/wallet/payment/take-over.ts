// Takes an intent over, or follows the process that is at work on it until its turn comes.
import type { Transaction } from '../../api/types.js';
import { Failure } from '../../formats/failure.js';
import type { Claim, Intent } from '../../store/journal/journal.js';
import { lastDoubt } from '../../store/journal/rules.js';
import type { PaymentDeps, PaymentOptions } from './contract.js';
import { readTransaction } from '../transaction/read-transaction.js';
import { differentPayment } from './references.js';
import { isLetGo, notTold, stillInDoubt } from './run.js';
import { isFinal, isQuoted } from '../../formats/states.js';

const followEveryMs = 150;
const followAtMostMs = 120_000;

export interface Taken {
  readonly claim: Claim;
  /** Whether another process was at work on it until now. */
  readonly followed: boolean;
}

/** Claims the intent; while another process drives it, waits for that one and then reports what it did. */
export async function takeOver(
  opened: Intent,
  { wait }: PaymentOptions,
  deps: PaymentDeps,
): Promise<Taken | { readonly txn: Transaction }> {
  const atMost = typeof wait === 'number' ? Math.min(wait, followAtMostMs) : followAtMostMs;
  let intent = opened;
  for (let turn = 0; ; turn += 1) {
    const isFollowing = turn > 0;
    const claim = await orNotTold(intent, isFollowing, deps.journal.claim(opened.id, deps.owner));
    if (claim !== undefined) return { claim: await sameIntent(claim, opened, deps), followed: isFollowing };
    intent = (await orNotTold(intent, isFollowing, deps.journal.read(opened.id))) ?? opened;
    if (!isFollowing) deps.on({ type: 'following', intent });
    if (wait === false && intent.step === 'confirmed' && intent.txnId !== null) {
      const txn = await readTransaction(deps.service, intent.txnId).catch((error: unknown) =>
        leaveTo(intent, 'temporary', 'the service does not answer.', error),
      );
      // How it ended is told once the other process has written it down; a read that still says quoted tells of nothing sent.
      if (!isFinal(txn.txnState) && !isQuoted(txn.txnState)) return { txn };
    }
    if (deps.signal.aborted) return leaveTo(intent, 'interrupted', 'you interrupted.');
    if (turn * followEveryMs >= atMost) return leaveTo(intent, 'temporary', 'it takes long.');
    await deps.sleep(followEveryMs, deps.signal).catch(() => undefined);
  }
}

const mayHaveMoved = (intent: Intent): boolean => isLetGo(intent) || intent.step === 'final';

/** @param isFollowing another process was at work on it a moment ago, which may let the money go out of sight. */
async function orNotTold<T>(intent: Intent, isFollowing: boolean, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    const doubt = lastDoubt(intent);
    if (mayHaveMoved(intent)) throw notTold(intent, error);
    if (doubt !== undefined) throw stillInDoubt(intent, doubt, error);
    if (isFollowing && error instanceof Failure) leaveTo(intent, 'pending', `it is out of sight. ${error.message}`, error);
    throw error;
  }
}

/** The draft of an intent that came to nothing can have been replaced since it was opened here. */
async function sameIntent(claim: Claim, opened: Intent, deps: PaymentDeps): Promise<Claim> {
  if (claim.intent.fingerprint === opened.fingerprint) return claim;
  await deps.journal.release(claim);
  throw differentPayment(opened.ref, claim.intent.txnId);
}

/** @param otherwise what it is where the money had not been let go when the journal was last read */
function leaveTo(intent: Intent, otherwise: 'temporary' | 'interrupted' | 'pending', why: string, cause?: unknown): never {
  // An attempt before this one may be in doubt still.
  const kind = mayHaveMoved(intent) || intent.attempt > 1 ? 'pending' : otherwise;
  throw new Failure(kind, `${kind === 'pending' ? 'Not known yet' : 'Nothing moved here'}: another process is at work on ${intent.ref}, and ${why}`, {
    next: { do: 'resume', id: intent.txnId ?? intent.ref },
    txnId: intent.txnId ?? undefined,
    cause,
  });
}
