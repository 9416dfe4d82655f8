// Refuses destinations that must not be paid, before svcpay requests a quote.
import type { Network } from '../../formats/rails.js';
import Big from 'big.js';
import { ServiceError } from '../../api/errors.js';
import { formatSats, satsOf, type Money } from '../../formats/amount.js';
import {
  type BitcoinAddress,
  tronUsdtContract,
  type BitcoinNetwork,
} from '../../formats/address.js';
import type { Invoice } from '../../formats/bolt11/decode.js';
import { ifAvailable, notSent } from '../../formats/failure.js';
import type { Instruction } from './instruction.js';

export const isOnNetwork = (actual: BitcoinNetwork, wanted: Network): boolean =>
  wanted === 'any' || actual === wanted;

/**
 * Throws Failure `usage` for a destination on a different network, where the money would be lost.
 * @param noun a noun such as `invoice`
 */
function checkNetwork(noun: string, actual: BitcoinNetwork, wanted: Network): void {
  if (isOnNetwork(actual, wanted)) return;
  throw notSent(`this is a ${actual} ${noun}, but your payments are on ${wanted}`, {
    hint: `Ask for an ${noun} on ${wanted}, or choose another network.`,
  });
}

/** The minimum on-chain send, in BTC (specification, section Limits). */
const smallestOnchain = new Big('0.00001');

/** Throws Failure `usage` for an invoice for a different network or without an amount. */
export function checkInvoice(invoice: Invoice, wanted: Network): void {
  checkNetwork('invoice', invoice.network, wanted);
  if (invoice.amountMsat !== null) return;
  throw notSent('this invoice has no amount, and the service pays only invoices with an amount', {
    hint: 'Ask for an invoice with an amount.',
  });
}

/** Throws Failure `usage` for an address on a different network or of an unsupported type. */
export function checkBitcoinAddress({ network, type }: BitcoinAddress, wanted: Network): void {
  checkNetwork('address', network, wanted);
  if (type !== 'witness') return;
  throw notSent('this address has an undefined witness version', {
    hint:
      'Anyone could take money sent to this address. Ask for an address that begins with bc1q, ' +
      'bc1p, 3 or 1.',
  });
}

/** Throws Failure `usage` for an amount below the on-chain minimum (endpoint 6, rule 5). */
export function checkOnchainAmount({ value }: Money): void {
  if (value.gte(smallestOnchain)) return;
  throw notSent(
    `${formatSats(value)} is too little. ` +
      `An on-chain payment must be at least ${formatSats(smallestOnchain)}`,
    {
      hint: `Send at least ${satsOf(smallestOnchain)}sat, or ask for a Lightning invoice.`,
    },
  );
}

/** Throws Failure `usage` for the address of the USDT contract, where the money would be lost. */
export function checkTronAddress(address: string): void {
  if (address !== tronUsdtContract) return;
  throw notSent('this is the address of the USDT contract. Money sent to it would be lost', {
    hint: "Ask for the recipient's own address.",
  });
}

/** The requests that read the permanent addresses of this account from the service. */
export interface OwnAddresses {
  bitcoinAddress(): Promise<{ readonly staticOnchainAddress: string }>;
  usdtAddress(chain: 'TRON'): Promise<{ readonly staticOnchainAddress: string }>;
}

/** Whether the account has a permanent address of the same type as a destination. */
export const mayBeOwn = ({ keys }: Instruction): boolean => keys.some((key) => isAddress.test(key));

const isAddress = /^(?:onchain|tron):/;

/**
 * Refuses instructions that pay to the account's own permanent addresses. Calls `say` if svcpay
 * cannot read the account's addresses.
 */
export function ownAddressGuard(
  open: () => Promise<{ readonly client: OwnAddresses }>,
  say: (line: string) => void,
): (instruction: Instruction) => Promise<void> {
  const accounts = new Map<string, Promise<{ readonly staticOnchainAddress: string }>>();
  return async ({ keys }) => {
    const key = keys.find((each) => isAddress.test(each));
    if (key === undefined) return;
    const isTron = key.startsWith('tron:');
    const method = isTron ? 'tron' : 'on-chain';
    const { client } = await open();
    const isFirst = !accounts.has(method);
    const own =
      accounts.get(method) ?? (isTron ? client.usdtAddress('TRON') : client.bitcoinAddress());
    accounts.set(method, own);
    own.catch(() => accounts.delete(method));
    await refuseOwnAddress(key, () => own, isFirst ? say : () => undefined);
  };
}

/**
 * Throws Failure `usage` for the account's own deposit address, because the money would return
 * minus the fees. Does not throw if the account has no deposit address, or if svcpay cannot read
 * it.
 */
export async function refuseOwnAddress(
  key: string,
  ownAddress: () => Promise<{ readonly staticOnchainAddress: string }>,
  say: (line: string) => void,
): Promise<void> {
  const asked = ownAddress().catch((error: unknown) => {
    if (error instanceof ServiceError && (error.kind === 'refused' || error.kind === 'not-found'))
      return undefined;
    throw error;
  });
  const own = await ifAvailable(asked, (why) =>
    say(`svcpay could not check whether this is your own deposit address. ${why}`),
  );
  const address = own?.staticOnchainAddress ?? '';
  if (key !== `tron:${address}` && key.toLowerCase() !== `onchain:${address.toLowerCase()}`) return;
  throw notSent('this is your own deposit address. The money would return to you minus the fees', {
    hint: "Ask for the recipient's address.",
  });
}
