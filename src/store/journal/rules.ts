// What an intent in the journal says about money: pure, and the same for every journal.
import type { Intent } from './journal.js';

/** Final states in which the service says that nothing moved. */
const cameBack: ReadonlySet<string> = new Set(['failed', 'rejected', 'expired', 'usercanceled']);

const isBack = ({ txnState }: Intent): boolean => txnState !== null && cameBack.has(txnState);

/** Paid, or still able to: it stands in the way of another payment for the same thing. */
export const mayHavePaid = (intent: Intent): boolean =>
  !isBack(intent) && (!intent.closed || intent.step === 'confirming');

/** Its money was let go and has not come back. */
export const wasLetGo = (intent: Intent): boolean =>
  !isBack(intent) && ['confirming', 'confirmed', 'final'].includes(intent.step);

/** Over before anything was created under its reference, so that the reference is still free. */
export const neverCreated = ({ closed, step, attempt }: Intent): boolean =>
  closed && step === 'intent' && attempt === 1;
