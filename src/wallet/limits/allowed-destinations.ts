// Reads, names and matches the destinations of the allow-list.
import { detectDestination, type Destination } from '../../formats/destination.js';
import { Failure } from '../../formats/failure.js';

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

/** Whether the destination of an order matches a stored name. */
export const isAllowed = (destination: string, names: readonly string[]): boolean =>
  names.some((name) => isSame(destination, name) || isSame(allowedName(destination), name));

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

/**
 * Whether two names of destinations are equal. The letter case matters only in a base58 address.
 */
const isSame = (one: string, other: string): boolean =>
  one === other || (!isBase58(one) && one.toLowerCase() === other.toLowerCase());

const isBase58 = (text: string): boolean => /^[123mnT][1-9A-HJ-NP-Za-km-z]{24,}$/.test(text);
