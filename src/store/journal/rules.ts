// What an intent in the journal says about money: pure, and the same for every journal.
import type { Intent } from './journal.js';

/** Final states in which the service says that nothing moved. */
const cameBack: ReadonlySet<string> = new Set(['failed', 'rejected', 'expired', 'usercanceled', 'canceled']);

/** States that mean nothing where a confirmation was sent: reads that lag say them of money that has left. */
const doubtful: ReadonlySet<string> = new Set(['expired', 'usercanceled', 'canceled']);

/** A confirmation was or may have been sent for the present attempt, here or elsewhere. */
export const wasConfirmed = ({ step, approvedAt }: Intent): boolean =>
  step === 'confirming' || step === 'confirmed' || approvedAt !== null;

const isBack = (intent: Intent): boolean =>
  intent.step === 'final' &&
  cameBack.has(intent.txnState ?? '') &&
  !(wasConfirmed(intent) && doubtful.has(intent.txnState ?? ''));

/** Paid, or still able to: it stands in the way of another payment for the same thing. */
export const mayHavePaid = (intent: Intent): boolean => !isBack(intent) && !intent.closed;

/** Its money was let go and has not come back. */
export const wasLetGo = (intent: Intent): boolean =>
  !isBack(intent) && ['confirming', 'confirmed', 'final'].includes(intent.step);

/** What it let go, and when, is in the sums. */
export const isAccounted = (intent: Intent): boolean => wasLetGo(intent) && intent.approvedAt !== null;

/** Over before anything was created under its reference, so that the reference is still free. */
export const neverCreated = ({ closed, step, attempt }: Intent): boolean =>
  closed && step === 'intent' && attempt === 1;
