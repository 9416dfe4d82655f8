// The states of a transaction as a client needs to know them (specification: States and transitions): the one place.

/** All states of the specification, in the order it names them. */
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

/** States that services have been seen to tell beside those of the specification. */
const seenStates = [
  'userconfirmed',
  'srcsent',
  'srcpendconfirmfill',
  'srcconfirmfilled',
  'destpendsent',
  'canceled',
] as const;

/** Every word that a transaction's state is known by. */
export const knownStates: readonly string[] = [...transactionStates, ...seenStates];

/** Nothing comes after these. Every other state, a new one too, is on its way. */
export const finalStates: readonly string[] = [
  'completed',
  'failed',
  'expired',
  'rejected',
  'error',
  'usercanceled',
  'canceled',
];

/** Final and certain to have moved nothing, without anybody having refused: a new attempt may follow by itself. */
const lapsedStates: ReadonlySet<string> = new Set(['expired', 'usercanceled', 'canceled']);

/** Final and reported again until a person says `--retry`. */
const retriableStates: ReadonlySet<string> = new Set(['failed', 'rejected']);

export const isFinal = (txnState: string): boolean => finalStates.includes(txnState);
export const hasLapsed = (txnState: string): boolean => lapsedStates.has(txnState);
export const isRetriable = (txnState: string): boolean => retriableStates.has(txnState);

/** Final, and the service says that nothing moved. Where a confirmation was sent, a lapsed state may be a read that lags. */
export const movedNothing = (txnState: string): boolean => hasLapsed(txnState) || isRetriable(txnState);

/** Nothing was asked of the network yet: it waits for a confirmation. */
export const isQuoted = (txnState: string): boolean => txnState === 'quoted';
