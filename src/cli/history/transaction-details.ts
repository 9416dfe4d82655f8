// One transaction as it is now; where the service cannot tell, since when what is known here has been known.
import type { Transaction } from '../../api/types.js';
import { Failure } from '../../formats/failure.js';
import { hasLapsed, isQuoted } from '../../formats/states.js';
import type { Intent } from '../../store/journal/journal.js';
import { receipt } from '../../terminal/cards/receipt.js';
import { sendWord } from '../../terminal/views/state-words.js';
import { doubtAbout } from '../../wallet/payment/references.js';
import { isLetGo } from '../../wallet/payment/run.js';
import type { Context } from '../context.js';
import { eventsOf } from '../payment/payment-flow.js';
import { asTransaction, isNotReached, lastCheckedText } from './offline-list.js';
import { recordRead } from './open-payments.js';
import { resolveId } from './resolve-id.js';

/**
 * Reads the transaction that is named, and lets the journal know when it is over. Throws Failure `temporary` that says
 * what was seen last where the service does not answer.
 *
 * @param letGo the kind of that failure for a payment that was let go here: who waits for its end does not know it yet
 */
export async function readDetails(
  name: string,
  context: Context,
  letGo: 'temporary' | 'pending' = 'temporary',
): Promise<Transaction> {
  const { client } = await context.account();
  const txnId = await resolveId(name, context);
  try {
    const txn = await client.transaction(txnId);
    await recordState(txn, context);
    return txn;
  } catch (error) {
    throw isNotReached(error) ? await lastSeen(txnId, error, letGo, context) : error;
  }
}

/** What became of it is written down by the payment it belongs to, if that was begun here. */
export async function recordState(txn: Transaction, context: Context): Promise<void> {
  if (isQuoted(txn.txnState)) return;
  const intent = await intentOf(txn.txnId, context).catch(() => undefined);
  if (intent !== undefined) await recordRead(intent, txn, context).catch(() => undefined);
}

/** Where a payment of this home was let go and is called lapsed, it is not known what became of it. */
export async function unresolvedFailure(txn: Transaction, context: Context): Promise<Failure | undefined> {
  if (!hasLapsed(txn.txnState)) return undefined;
  return doubtAbout(await paymentOf(txn.txnId, context).catch(() => undefined), txn);
}

/** People are shown what is known here of a payment that was begun here; everybody is told since when. */
async function lastSeen(
  txnId: string,
  failure: Failure,
  letGo: 'temporary' | 'pending',
  context: Context,
): Promise<Failure> {
  const intent = await intentOf(txnId, context).catch(() => undefined);
  if (intent?.txnState == null) return failure;
  const seen = lastCheckedText([intent]);
  context.out.card((canvas) => receipt(asTransaction(intent), { now: context.now(), seen }, canvas));
  const known = `It was last seen as ${sendWord(intent.txnState)} (${seen}).`;
  const message = `${failure.message} ${known}`;
  if (letGo === 'temporary' || !isLetGo(intent)) return new Failure('temporary', message, { ...failure, txnId, cause: failure });
  return new Failure('pending', `Not known yet: ${message}`, { next: { do: 'resume', id: txnId }, txnId, cause: failure });
}

/** When states were reached, as far as the journal and the inbox of webhook events know. */
export async function stateTimes(txnId: string, context: Context): Promise<ReadonlyMap<string, number>> {
  const [intent, events] = await Promise.all([intentOf(txnId, context).catch(() => undefined), eventsOf(txnId, context)]);
  const told = events.flatMap(({ txnState, updatedAt }) => (txnState === null || updatedAt === null ? [] : [[txnState, updatedAt] as const]));
  return new Map([...(intent?.approvedAt == null ? [] : [['srccreated', intent.approvedAt] as const]), ...told]);
}

async function intentOf(txnId: string, context: Context): Promise<Intent | undefined> {
  const intent = await paymentOf(txnId, context);
  return intent?.txnId === txnId ? intent : undefined;
}

/** Of the key's own account: with `--account` there is none. */
async function paymentOf(txnId: string, context: Context): Promise<Intent | undefined> {
  if (context.settings.accountId !== undefined) return undefined;
  const { scope, journal } = await context.account();
  return (await journal()).find(scope, txnId);
}
