// The states of a transaction (see "States and transitions" in the specification).

/** All states from the specification, in the specification's order. */
export const transactionStates = [
  'quoted',
  'srcintent',
  'srccreated',
  'destsent',
  'completed',
  'expired',
  'failed',
  'usercanceled',
  'rejected',
  'error',
] as const;

/** The states that live services return in addition to the states from the specification. */
const seenStates = [
  'userconfirmed',
  'srcsent',
  'srcpendconfirmfill',
  'srcconfirmfilled',
  'destpendsent',
  'canceled',
] as const;

export const knownStates: readonly string[] = [...transactionStates, ...seenStates];

/** The final states. Every other state counts as in flight, including an unrecognized state. */
export const finalStates: readonly string[] = [
  'completed',
  'failed',
  'expired',
  'rejected',
  'error',
  'usercanceled',
  'canceled',
];

/**
 * The final states in which no money moved and the service did not refuse the payment. After a
 * lapsed state, svcpay may start a new attempt automatically.
 */
const lapsedStates: ReadonlySet<string> = new Set(['expired', 'usercanceled', 'canceled']);

/** The final states after which svcpay starts a new attempt only with `--retry`. */
const retriableStates: ReadonlySet<string> = new Set(['failed', 'rejected']);

export const isFinal = (txnState: string): boolean => finalStates.includes(txnState);
export const hasLapsed = (txnState: string): boolean => lapsedStates.has(txnState);
export const isRetriable = (txnState: string): boolean => retriableStates.has(txnState);

/**
 * Whether a state is final and, according to the service, no money moved. After a confirmation, a
 * read of an expired or cancelled state may be stale.
 */
export const movedNothing = (txnState: string): boolean =>
  hasLapsed(txnState) || isRetriable(txnState);

/**
 * Whether the transaction is still a quote, which waits for the confirmation of the caller. Until
 * the confirmation, the service sends no payment to the network.
 */
export const isQuoted = (txnState: string): boolean => txnState === 'quoted';
