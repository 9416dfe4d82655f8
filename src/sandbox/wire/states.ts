// The states of a transaction and the transitions between them, as in the specification's table.

const finalStates = [
  'completed',
  'failed',
  'expired',
  'rejected',
  'error',
  'usercanceled',
] as const;
export const states = ['quoted', 'srcintent', 'srccreated', 'destsent', ...finalStates] as const;
/** The state of a transaction at the service. */
export type State =
  | 'quoted'
  | 'srcintent'
  | 'srccreated'
  | 'destsent'
  | 'completed'
  | 'expired'
  | 'failed'
  | 'usercanceled'
  | 'rejected'
  | 'error';

export const isFinal = (state: State): boolean => finalStates.some((each) => each === state);

/** The groups of transaction kinds that have the same states. */
export type Flow = 'lightning-receive' | 'onchain-receive' | 'send' | 'swap';

export type Trigger =
  /** The client confirmed the transaction (PUT confirm). */
  | 'confirm'
  /** The client cancelled the transaction (PUT cancel). */
  | 'cancel'
  /** The quote, invoice or address expired. */
  | 'lapse'
  /** The service detected an on-chain payment, which awaits confirmations. */
  | 'detect'
  /** The transfer was sent or broadcast. */
  | 'start'
  /** The payment arrived, and has all its confirmations if it is an on-chain payment. */
  | 'settle'
  | 'fail'
  /** A fault rejected the transaction. The service itself never rejects a transaction. */
  | 'reject'
  | 'break';

interface Transition {
  readonly flows: readonly Flow[];
  readonly from: State;
  readonly trigger: Trigger;
  readonly to: State;
}

const everyFlow: readonly Flow[] = ['lightning-receive', 'onchain-receive', 'send', 'swap'];

const transitions: readonly Transition[] = [
  { flows: everyFlow, from: 'quoted', trigger: 'lapse', to: 'expired' },
  { flows: everyFlow, from: 'quoted', trigger: 'cancel', to: 'usercanceled' },

  { flows: ['lightning-receive'], from: 'quoted', trigger: 'confirm', to: 'srccreated' },
  { flows: ['lightning-receive'], from: 'srccreated', trigger: 'settle', to: 'completed' },
  { flows: ['lightning-receive'], from: 'srccreated', trigger: 'lapse', to: 'expired' },

  { flows: ['onchain-receive'], from: 'quoted', trigger: 'confirm', to: 'srcintent' },
  { flows: ['onchain-receive'], from: 'srcintent', trigger: 'detect', to: 'srccreated' },
  { flows: ['onchain-receive'], from: 'srcintent', trigger: 'lapse', to: 'expired' },
  { flows: ['onchain-receive'], from: 'srccreated', trigger: 'settle', to: 'completed' },

  { flows: ['send'], from: 'quoted', trigger: 'confirm', to: 'srccreated' },
  { flows: ['send'], from: 'srccreated', trigger: 'start', to: 'destsent' },
  { flows: ['send'], from: 'destsent', trigger: 'settle', to: 'completed' },
  { flows: ['send'], from: 'srccreated', trigger: 'fail', to: 'failed' },
  { flows: ['send'], from: 'destsent', trigger: 'fail', to: 'failed' },

  { flows: ['swap'], from: 'quoted', trigger: 'confirm', to: 'completed' },

  // The specification does not show which states can change to `failed`. A quoted send or swap
  // fails if the balance no longer covers the amount at the confirmation.
  { flows: ['send', 'swap'], from: 'quoted', trigger: 'fail', to: 'failed' },

  // The specification does not show the transitions to `rejected` and `error`. After the
  // confirmation and before the money arrives, a fault can cause a transition to `rejected` or
  // `error`.
  { flows: ['swap'], from: 'quoted', trigger: 'reject', to: 'rejected' },
  { flows: ['swap'], from: 'quoted', trigger: 'break', to: 'error' },
  { flows: ['send', 'onchain-receive'], from: 'srccreated', trigger: 'reject', to: 'rejected' },
  { flows: ['send', 'onchain-receive'], from: 'srccreated', trigger: 'break', to: 'error' },
  { flows: ['send'], from: 'destsent', trigger: 'reject', to: 'rejected' },
  { flows: ['send'], from: 'destsent', trigger: 'break', to: 'error' },

  // A final state normally never changes. Only an injected fault makes the recipient return the
  // money of a completed send.
  { flows: ['send'], from: 'completed', trigger: 'fail', to: 'failed' },
  { flows: ['send'], from: 'completed', trigger: 'reject', to: 'rejected' },
];

/**
 * Returns the next state of a transaction. Throws if the table `transitions` lacks the transition,
 * because only a bug in the engine can request a missing transition.
 */
export function nextState(flow: Flow, from: State, trigger: Trigger): State {
  const found = transitions.find(
    (row) => row.from === from && row.trigger === trigger && row.flows.includes(flow),
  );
  if (found === undefined) throw new Error(`A ${flow} in ${from} cannot ${trigger}.`);
  return found.to;
}
