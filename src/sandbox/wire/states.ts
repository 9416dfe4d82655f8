// The states of a transaction and the moves between them, as the specification's table.

const finalStates = [
  'completed',
  'failed',
  'expired',
  'rejected',
  'error',
  'usercanceled',
] as const;
export const states = ['quoted', 'srcintent', 'srccreated', 'destsent', ...finalStates] as const;
/** A transaction's state. */
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

/** Kinds of transaction with the same states. */
export type Flow = 'lightning-receive' | 'onchain-receive' | 'send' | 'swap';

export type Trigger =
  /** The client confirmed (PUT confirm). */
  | 'confirm'
  /** The client cancelled (PUT cancel). */
  | 'cancel'
  /** The quote, invoice or address expired. */
  | 'lapse'
  /** A payment was seen on-chain and awaits confirmations. */
  | 'detect'
  /** The transfer is in flight or broadcast. */
  | 'start'
  /** The payment arrived: paid, or confirmed on-chain. */
  | 'settle'
  | 'fail'
  /** Only a fault causes this. */
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

  // "Source state of each move into `failed`: not shown." The balance may have become too low
  // between quote and confirmation.
  { flows: ['send', 'swap'], from: 'quoted', trigger: 'fail', to: 'failed' },

  // "Transitions into `rejected` and `error`: not shown." The moves start from every state before
  // money moves.
  { flows: ['swap'], from: 'quoted', trigger: 'reject', to: 'rejected' },
  { flows: ['swap'], from: 'quoted', trigger: 'break', to: 'error' },
  { flows: ['send', 'onchain-receive'], from: 'srccreated', trigger: 'reject', to: 'rejected' },
  { flows: ['send', 'onchain-receive'], from: 'srccreated', trigger: 'break', to: 'error' },
  { flows: ['send'], from: 'destsent', trigger: 'reject', to: 'rejected' },
  { flows: ['send'], from: 'destsent', trigger: 'break', to: 'error' },

  // Final states stay. Only a fault makes the service return a completed send.
  { flows: ['send'], from: 'completed', trigger: 'fail', to: 'failed' },
  { flows: ['send'], from: 'completed', trigger: 'reject', to: 'rejected' },
];

/** The next state. Throws if the table has no such move, which is a bug in the engine. */
export function nextState(flow: Flow, from: State, trigger: Trigger): State {
  const found = transitions.find(
    (row) => row.from === from && row.trigger === trigger && row.flows.includes(flow),
  );
  if (found === undefined) throw new Error(`A ${flow} in ${from} cannot ${trigger}.`);
  return found.to;
}
