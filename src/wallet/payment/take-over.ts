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
    const claim = await orNotTold(intent, deps.journal.claim(opened.id, deps.owner));
    if (claim !== undefined) return { claim: await sameIntent(claim, opened, deps), followed: turn > 0 };
    intent = (await orNotTold(intent, deps.journal.read(opened.id))) ?? opened;
    if (turn === 0) deps.on({ type: 'following', intent });
    if (wait === false && intent.step === 'confirmed' && intent.txnId !== null) {
      const txn = await readTransaction(deps.service, intent.txnId).catch((error: unknown) =>
        leaveTo(intent, 'the service does not answer', error),
      );
      // How it ended is told once the other process has written it down; a read that still says quoted tells of nothing sent.
      if (!isFinal(txn.txnState) && !isQuoted(txn.txnState)) return { txn };
    }
    if (deps.signal.aborted) return leaveTo(intent, 'you interrupted');
    if (turn * followEveryMs >= atMost) return leaveTo(intent, 'it takes long');
    await deps.sleep(followEveryMs, deps.signal).catch(() => undefined);
  }
}

const mayHaveMoved = (intent: Intent): boolean => isLetGo(intent) || intent.step === 'final';

async function orNotTold<T>(intent: Intent, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    const doubt = lastDoubt(intent);
    if (mayHaveMoved(intent)) throw notTold(intent, error);
    throw doubt === undefined ? error : stillInDoubt(intent, doubt, error);
  }
}

/** The draft of an intent that came to nothing can have been replaced since it was opened here. */
async function sameIntent(claim: Claim, opened: Intent, deps: PaymentDeps): Promise<Claim> {
  if (claim.intent.fingerprint === opened.fingerprint) return claim;
  await deps.journal.release(claim);
  throw differentPayment(opened.ref, claim.intent.txnId);
}

function leaveTo(intent: Intent, why: string, cause?: unknown): never {
  const message = `another process is at work on ${intent.ref}, and ${why}.`;
  const next = { do: 'resume', id: intent.txnId ?? intent.ref } as const;
  const details = { next, txnId: intent.txnId ?? undefined, cause };
  // An attempt before this one may be in doubt still.
  throw mayHaveMoved(intent) || intent.attempt > 1
    ? new Failure('pending', `Not known yet: ${message}`, details)
    : new Failure('temporary', `Nothing moved here: ${message}`, details);
}
