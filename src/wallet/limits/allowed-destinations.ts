// Reads, names and matches the destinations of the allow-list.
import { detectDestination, type Destination } from '../../formats/destination.js';
import { Failure } from '../../formats/failure.js';
import { keysOf, nodeKey as keyOfNode } from '../instruction/keys.js';

const nodeKey = /^0[23][0-9a-f]{64}$/i;
const accountAtInstitution = /^([!-9;-~]+):([!-9;-~]+)$/;
const uriScheme = /^(lightning|bitcoin|lnurlp|https?):/i;

/**
 * Reads a destination: an invoice (which stands for its node), a node key, an address, an LNURL, a
 * Lightning Address, or `INSTITUTION:ACCOUNT` for payouts. Returns the names under which the
 * allow-list stores the destination (two for a `bitcoin:` URI with an address and an invoice).
 * Throws Failure `usage` for a text that is not a destination.
 */
export function readAllowed(text: string): string[] {
  const name = text.trim();
  if (nodeKey.test(name)) return [name.toLowerCase()];
  if (accountAtInstitution.test(name) && !uriScheme.test(name)) return [name];
  try {
    return namesOf(detectDestination(name));
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    throw new Failure('usage', error.message, {
      hint:
        'Use an invoice, a node key, an address, an LNURL, a Lightning Address, ' +
        'or INSTITUTION:ACCOUNT for payouts.',
    });
  }
}

function namesOf(found: Destination): string[] {
  if (found.kind === 'bolt11') return [found.value.payee];
  if (found.kind !== 'bip21') return [found.text];
  const { bitcoin, invoice } = found.value;
  return [bitcoin?.address, invoice?.payee].filter((name) => name !== undefined);
}

/** Whether the payee with a destination key is on the list of stored names. */
export const isAllowed = (key: string, names: readonly string[]): boolean =>
  names.some((name) => isPayee(key, name));

function isPayee(key: string, name: string): boolean {
  if (nodeKey.test(name)) return key === keyOfNode(name.toLowerCase());
  const [, institution = '', account] = accountAtInstitution.exec(name) ?? [];
  if (account !== undefined && !uriScheme.test(name))
    return key.startsWith('bank:') && key.endsWith(`/${institution.toUpperCase()}:${account}`);
  try {
    return keysOf(detectDestination(name)).includes(key);
  } catch (error) {
    // An entry that names no destination, such as `nowhere`, allows nothing.
    if (error instanceof Failure) return false;
    throw error;
  }
}

/**
 * Returns the name under which the allow-list stores a destination. The allow-list stores the
 * destination `method:institution:account` of a payout as `institution:account`.
 */
export function allowedName(destination: string): string {
  const [, institution, account, ...more] = destination.split(':');
  return institution === undefined || account === undefined || more.length > 0
    ? destination
    : `${institution}:${account}`;
}
