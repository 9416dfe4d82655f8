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

/** Every name of a state. */
export const knownStates: readonly string[] = [...transactionStates, ...seenStates];

/** The final states. Every other state, including an unknown one, is in flight. */
export const finalStates: readonly string[] = [
  'completed',
  'failed',
  'expired',
  'rejected',
  'error',
  'usercanceled',
  'canceled',
];

/** Final without a refusal and without moving money: a new attempt may start automatically. */
const lapsedStates: ReadonlySet<string> = new Set(['expired', 'usercanceled', 'canceled']);

/** Final, and reported again until `--retry`. */
const retriableStates: ReadonlySet<string> = new Set(['failed', 'rejected']);

export const isFinal = (txnState: string): boolean => finalStates.includes(txnState);
export const hasLapsed = (txnState: string): boolean => lapsedStates.has(txnState);
export const isRetriable = (txnState: string): boolean => retriableStates.has(txnState);

/**
 * Final, and nothing moved according to the service. After a confirmation, a lapsed state may be a
 * stale read.
 */
export const movedNothing = (txnState: string): boolean =>
  hasLapsed(txnState) || isRetriable(txnState);

/** Waits for a confirmation; nothing was sent to the network. */
export const isQuoted = (txnState: string): boolean => txnState === 'quoted';
