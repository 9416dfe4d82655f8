// What an intent in the journal says about money: pure, and the same for every journal.
import * as v from 'valibot';
import { isRetriable, movedNothing } from '../../formats/states.js';
import type { Doubt, Intent, Spend } from './journal.js';

/** A confirmation was or may have been sent for the present attempt, here or elsewhere. */
export const wasConfirmed = ({ step, approvedAt }: Intent): boolean =>
  step === 'confirming' || step === 'confirmed' || approvedAt !== null;

/** The same of one transaction, of the present attempt or of one that may have paid before it. */
export const wasConfirmedAs = (intent: Intent, txnId: string): boolean =>
  (intent.txnId === txnId && wasConfirmed(intent)) || intent.doubts.some((doubt) => doubt.txnId === txnId);

/** A lapsed state means nothing where a confirmation was sent: reads that lag say it of money that has left. */
const isBack = (intent: Intent): boolean =>
  intent.step === 'final' &&
  intent.txnState !== null &&
  (wasConfirmed(intent) ? isRetriable(intent.txnState) : movedNothing(intent.txnState));

/** Paid, or still able to: it stands in the way of another payment for the same thing. */
export const mayHavePaid = (intent: Intent): boolean => (!isBack(intent) && !intent.closed) || intent.doubts.length > 0;

/** Its money was let go and has not come back. */
export const wasLetGo = (intent: Intent): boolean =>
  !isBack(intent) && ['confirming', 'confirmed', 'final'].includes(intent.step);

/** Its money, or that of an attempt before it which may have paid. */
export const wasEverLetGo = (intent: Intent): boolean => wasLetGo(intent) || intent.doubts.length > 0;

/** The attempt before the present one that may have paid as well. */
export const lastDoubt = ({ attempt, doubts }: Intent): Doubt | undefined => doubts.findLast((each) => each.attempt < attempt);

/** What it let go, and when, is in the sums. */
export const isAccounted = (intent: Intent): boolean => wasLetGo(intent) && intent.approvedAt !== null;

/** Over before anything was created under its reference, so that the reference is still free. */
export const neverCreated = ({ closed, step, attempt }: Intent): boolean =>
  closed && step === 'intent' && attempt === 1;

const requestSchema = v.object({
  receives: v.optional(v.object({ ccy: v.string(), value: v.string() })),
  body: v.optional(v.object({ destReq: v.object({ ccy: v.string() }) })),
});

/** What a payment brings, and how much of it where its order says so. */
export function arrivalOf({ request }: Pick<Intent, 'request'>): { readonly ccy: string | null; readonly total: string | null } {
  const { receives, body } = v.parse(requestSchema, JSON.parse(request));
  return { ccy: receives?.ccy ?? body?.destReq.ccy ?? null, total: receives?.value ?? null };
}

/** What counts of an attempt, see `Journal.spent`. Where the order fixes only what leaves, the quote says the rest. */
export function spendsOf(intent: Intent): Spend[] {
  const { kind, spendCcy, approvedTotal, approvedReceives } = intent;
  if (spendCcy === null || approvedTotal === null) return [];
  const { ccy, total } = arrivalOf(intent);
  const arrived = total ?? approvedReceives;
  const isElsewhere = kind !== 'swap' && ccy !== null && ccy !== spendCcy && arrived !== null;
  return [{ ccy: spendCcy, total: approvedTotal }, ...(isElsewhere ? [{ ccy, total: arrived }] : [])];
}
