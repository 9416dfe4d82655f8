// One transaction as it is now; where the service cannot tell, since when what is known here has been known.
import type { Transaction } from '../../api/types.js';
import { Failure } from '../../formats/failure.js';
import { isFinal } from '../../formats/states.js';
import { dateTime } from '../../terminal/time.js';
import { sendWord } from '../../terminal/views/state-words.js';
import type { Needs } from '../context.js';
import { journalScope, type PaymentNeeds } from '../payment/payment-flow.js';
import { lookAt } from './open-payments.js';
import { transactionId } from './seen.js';

/**
 * Reads the transaction that is named, and lets the journal know when it is over. Throws Failure `temporary` that says
 * what was seen last where the service does not answer.
 */
export async function lookUp(
  name: string, context: PaymentNeeds & Needs<'terminal' | 'live' | 'home' | 'client'>,
): Promise<Transaction> {
  const client = await context.client();
  const txnId = await transactionId(name, context);
  try {
    const txn = await client.transaction(txnId);
    if (isFinal(txn.txnState)) await noteEnd(txn, context);
    return txn;
  } catch (error) {
    throw error instanceof Failure && error.kind === 'temporary' ? await lastSeen(txnId, error, context) : error;
  }
}

/** What ended is written down by the payment it belongs to, if that was begun here and is open. */
export async function noteEnd({ txnId }: Transaction, context: PaymentNeeds): Promise<void> {
  const intent = await intentOf(txnId, context).catch(() => undefined);
  if (intent?.step === 'confirmed' && !intent.closed) await lookAt(intent, context).catch(() => undefined);
}

async function lastSeen(txnId: string, failure: Failure, context: Needs<'journal' | 'ownClient' | 'settings'>): Promise<Failure> {
  const intent = await intentOf(txnId, context).catch(() => undefined);
  if (intent?.txnState == null) return failure;
  const known = `It was last seen as ${sendWord(intent.txnState)}, as of ${dateTime(intent.updatedAt)}.`;
  return new Failure('temporary', `${failure.message} ${known}`, { ...failure, txnId, cause: failure });
}

/** Of the key's own account: with `--account` there is none. */
async function intentOf(txnId: string, context: Needs<'journal' | 'ownClient' | 'settings'>) {
  if (context.settings.accountId !== undefined) return undefined;
  const intent = await (await context.journal()).find(await journalScope(context), txnId);
  return intent?.txnId === txnId ? intent : undefined;
}
