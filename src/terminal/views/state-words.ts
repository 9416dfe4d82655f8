// Describes the progress of a transaction in words. Scripts receive the service's states, not the
// words for people.
import { confirmationsOf, failureReasonOf } from '../../api/unspecified.js';
import { isFinal } from '../../formats/states.js';
import type { ListedTransaction } from '../../api/types.js';
import { entryOf } from '../../formats/text.js';
import { sanitize } from '../sanitize.js';

type Stated = Pick<ListedTransaction, 'txnState'> &
  Partial<Pick<ListedTransaction, 'sourceReq' | 'destReq'>>;

/** The kinds of transactions that have their own words for states. */
export type Kind = 'send' | 'swap' | 'lightning-receive' | 'onchain-receive' | 'unknown';

export function kindOf({
  sourceReq,
  destReq,
}: Partial<Pick<Stated, 'sourceReq' | 'destReq'>>): Kind {
  const [source, dest] = [sourceReq?.method ?? '', destReq?.method ?? ''];
  if (source === 'lightning') return 'lightning-receive';
  if (source === 'on-chain') return 'onchain-receive';
  if (source !== 'servicepay') return 'unknown';
  return dest === 'servicepay' ? 'swap' : 'send';
}

type Words = Readonly<Record<string, string>>;

const common: Words = {
  quoted: 'quoted',
  userconfirmed: 'confirmed',
  srccreated: 'confirmed',
  srcsent: 'confirmed',
  srcpendconfirmfill: 'confirming',
  srcconfirmfilled: 'confirmed',
  destpendsent: 'sending',
  destsent: 'sent',
  completed: 'done',
  failed: 'failed',
  expired: 'expired',
  rejected: 'refused',
  error: 'error',
  usercanceled: 'cancelled',
  canceled: 'cancelled',
};

const own: Readonly<Record<Kind, Words>> = {
  send: {},
  swap: {},
  'lightning-receive': { userconfirmed: 'preparing', srccreated: 'invoice ready' },
  'onchain-receive': { userconfirmed: 'preparing', srcintent: 'address ready', srccreated: 'seen' },
  unknown: { srcintent: 'waiting', srccreated: 'in flight' },
};

/**
 * Returns the word for a state, such as `invoice ready`, `sent`, `done` or `2 of 6`, and an unknown
 * state unchanged.
 */
export const stateWord = (txn: Stated): string => confirmationsText(txn) ?? uncountedWord(txn);

/**
 * Returns the word for a state, with the reason if the service reports a reason, such as `failed ·
 * no route`.
 */
export function stateWithReason(txn: ListedTransaction): string {
  const reason = isFinal(txn.txnState) && txn.txnState !== 'completed' && failureReasonOf(txn);
  return reason ? `${stateWord(txn)} · ${sanitize(reason)}` : stateWord(txn);
}

/** Returns the word for a state without the number of confirmations, such as `sent`. */
export const uncountedWord = (txn: Stated): string =>
  entryOf(own[kindOf(txn)], txn.txnState) ??
  entryOf(common, txn.txnState) ??
  (sanitize(txn.txnState) || 'not recognized');

/** Returns the word for the state of an outgoing payment if svcpay knows only the state. */
export const sendWord = (txnState: string): string =>
  stateWord({ txnState, sourceReq: { method: 'servicepay' }, destReq: {} });

/** Returns the number of confirmations, such as `2 of 6`, if the service reports the number. */
export function confirmationsText({ txnState, sourceReq, destReq }: Stated): string | undefined {
  if (
    !['srccreated', 'destsent', 'srcsent', 'srcpendconfirmfill', 'destpendsent'].includes(txnState)
  )
    return undefined;
  const confirmations = [destReq, sourceReq].flatMap((side) =>
    side === undefined ? [] : (confirmationsOf(side) ?? []),
  )[0];
  if (confirmations === undefined) return undefined;
  return confirmations.needed === undefined
    ? `${confirmations.seen} confirmed`
    : `${confirmations.seen} of ${confirmations.needed}`;
}
