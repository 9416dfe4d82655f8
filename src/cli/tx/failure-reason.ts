// Finds the reason why a transaction failed, in the transaction itself or in the webhook event that
// reported the failure.
import type { ListedTransaction } from '../../api/types.js';
import { failureReasonOf } from '../../api/unspecified.js';
import { Failure, ifAvailable, type FailureKind } from '../../formats/failure.js';
import { clip } from '../../formats/text.js';
import { isFinal } from '../../formats/states.js';
import { readPayload } from '../../webhooks/events.js';
import type { Context } from '../context.js';
import { eventsOf, hasInbox } from '../payment/inbox.js';
import { withNotes } from './local-facts.js';

/** Adds the `msg` of the webhook event to a transaction that has no reason itself. */
export async function explained<T extends ListedTransaction>(txn: T, context: Context): Promise<T> {
  if (!hasFailed(txn) || failureReasonOf(txn) !== undefined) return txn;
  const events = await eventsOf(txn.txnId, context);
  const msg = events
    .filter(({ txnState }) => txnState === txn.txnState)
    .flatMap(({ body }) => readPayload(body)?.msg ?? [])
    .findLast((text) => text.trim() !== '');
  return msg === undefined ? txn : { ...txn, msg };
}

export async function allExplained<T extends ListedTransaction>(
  rows: readonly T[],
  context: Context,
): Promise<readonly T[]> {
  const noted = await withNotes(rows, context);
  if (!noted.some(hasFailed) || !(await hasInbox(context))) return noted;
  return Promise.all(noted.map((txn) => explained(txn, context)));
}

const hasFailed = ({ txnState }: ListedTransaction): boolean =>
  isFinal(txnState) && txnState !== 'completed';

const hasEnded: ReadonlySet<FailureKind> = new Set(['payment-failed', 'outcome-unknown']);

/**
 * Adds the reason to the failure of a payment, or returns the failure unchanged if svcpay cannot
 * read the reason.
 */
export async function withReason(error: unknown, context: Context): Promise<unknown> {
  if (!(error instanceof Failure) || !hasEnded.has(error.kind) || error.txnId === undefined)
    return error;
  try {
    const { client } = await context.account();
    const reason = failureReasonOf(await explained(await client.transaction(error.txnId), context));
    if (reason === undefined) return error;
    await ifAvailable(tellReason(error.txnId, reason, context));
    return error.saying(`${error.why} The service's reason: ${reason.replace(/\.$/, '')}.`);
  } catch {
    return error;
  }
}

/** Adds the reason to the trail of a payment whose steps lack it. */
async function tellReason(txnId: string, reason: string, context: Context): Promise<void> {
  const told = clip(reason, 300);
  const { scope, journal: open } = await context.account();
  const journal = await open();
  const payment = await journal.find(scope, txnId);
  const trail = payment === undefined ? [] : await journal.trails([payment.id]);
  if (payment === undefined || trail.some(({ detail }) => detail.reason === told)) return;
  const claim = await journal.claim(payment.id, context.owner);
  if (claim === undefined) return;
  const steps = [{ step: 'explained' as const, detail: { reason: told }, ago: 0 }];
  await journal.write(claim, { trail: { steps } }).finally(() => journal.release(claim));
}
