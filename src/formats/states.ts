// The states of a transaction (specification: States and transitions).

/** All states of the specification, in its order. */
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

/** Further states seen in live services. */
const seenStates = [
  'userconfirmed',
  'srcsent',
  'srcpendconfirmfill',
  'srcconfirmfilled',
  'destpendsent',
  'canceled',
] as const;

/** Every known name of a state. */
export const knownStates: readonly string[] = [...transactionStates, ...seenStates];

/** The final states. Every other state, including an unknown state, is in flight. */
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
 * Final states without a refusal in which no money moved. A new attempt may start automatically.
 */
const lapsedStates: ReadonlySet<string> = new Set(['expired', 'usercanceled', 'canceled']);

/** Final states that svcpay reports again until `--retry`. */
const retriableStates: ReadonlySet<string> = new Set(['failed', 'rejected']);

export const isFinal = (txnState: string): boolean => finalStates.includes(txnState);
export const hasLapsed = (txnState: string): boolean => lapsedStates.has(txnState);
export const isRetriable = (txnState: string): boolean => retriableStates.has(txnState);

/**
 * Whether a state is final and, according to the service, no money moved. After a confirmation, an
 * expired or cancelled state may be a stale read.
 */
export const movedNothing = (txnState: string): boolean =>
  hasLapsed(txnState) || isRetriable(txnState);

/** Whether the transaction waits for a confirmation, so nothing was sent to the network. */
export const isQuoted = (txnState: string): boolean => txnState === 'quoted';
