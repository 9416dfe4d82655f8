// Checks the addresses and invoices that the service gives for payers, before svcpay shows them,
// and finds the Lightning Address of an account.
import { isOnNetwork, type Network } from '../../formats/rails.js';
import type Big from 'big.js';
import { decimal, instant } from '../../api/reading.js';
import type {
  BitcoinAddress as DepositAddress,
  Transaction,
  UsdtAddress,
  UsdtChain,
} from '../../api/types.js';
import { fromWire, type Money, msatOf } from '../../formats/amount.js';
import {
  formatBip21,
  parseBip21,
  type LightningAddress,
  parseLightningAddress,
} from '../../formats/destination.js';
import {
  parseBitcoinAddress,
  parseEvmAddress,
  parseTronAddress,
  tronUsdtContract,
} from '../../formats/address.js';
import { Failure } from '../../formats/failure.js';
import { type Fields, messageOf } from '../../formats/text.js';
import { decodeInvoice, type Invoice } from '../../formats/bolt11/decode.js';

interface OnchainRequest {
  readonly address: string;
  /** A BIP21 URI that has only this address and amount, and no other payment method. */
  readonly uri: string;
  /** The expiry of the request in epoch ms, by the service's clock. */
  readonly expiresAt: number | undefined;
}

/**
 * Checks the checksum and the network of the address, and checks that the BIP21 URI has the same
 * address and amount. Throws Failure `refused` for a request that must not be shown to a payer.
 * @param now epoch ms by the service's clock
 */
export function checkedOnchainRequest(
  txn: Transaction,
  asked: Money,
  network: Network,
  now: number,
): OnchainRequest {
  const { address: given, amount, invoice, expiredAt } = txn.sourceReq.reqDetails ?? {};
  const unusable = (why: string): Failure => notUsable(why, txn.txnId);
  if (typeof given !== 'string') throw unusable('the service returned no address.');
  const address = checkedAddress(given, network, txn.txnId);
  const uri = invoice ?? formatBip21(address, asked.value);
  if (typeof uri !== 'string') throw unusable('the service returned no URI.');
  const named = amount === undefined || amount === null ? asked.value : figure(amount);
  if (named?.eq(asked.value) !== true)
    throw unusable('the service returned a request for a different amount.');

  const read = attempt(() => parseBip21(uri), txn.txnId);
  const inUri = attempt(() => parseBitcoinAddress(read.address ?? ''), txn.txnId);
  if (inUri.address !== address)
    throw unusable('the service returned a URI with a different address.');
  if (read.amount === undefined || !read.amount.eq(asked.value))
    throw unusable('the service returned a URI with a different amount.');
  if (
    read.lightning !== undefined ||
    read.segwitAddresses.length > 0 ||
    read.otherMethods.length > 0
  ) {
    throw unusable('the service returned a URI with additional ways to pay.');
  }
  const expiresAt = instant.read(expiredAt);
  if (txn.txnState === 'srcintent' && expiresAt !== undefined && expiresAt <= now)
    throw unusable('the service returned an expired address.');
  return { address, uri, expiresAt };
}

function figure(value: unknown): Big | undefined {
  const read = decimal.read(value);
  return read === undefined ? undefined : fromWire(read);
}

/**
 * Reads the account's permanent Bitcoin address (endpoint 4). Throws Failure `refused` if the
 * address is invalid or on a different network.
 */
export const checkedBitcoinDeposit = (
  { staticOnchainAddress }: DepositAddress,
  network: Network,
): string => checkedAddress(staticOnchainAddress, network);

/**
 * Reads the account's permanent USDT address on a chain (endpoint 5). Throws Failure `refused` if
 * the response is for a different chain or account.
 */
export function checkedUsdtDeposit(
  answer: UsdtAddress,
  chain: UsdtChain,
  own: string | undefined,
): string {
  const { staticOnchainAddress: given, walletCcy, chainId, accountId } = answer;
  // svcpay compares the currency and the chain only if the response contains them.
  if ((walletCcy ?? 'USDT') !== 'USDT' || (chainId ?? chain).toUpperCase() !== chain) {
    throw notUsable(
      `the service returned an address for ${walletCcy ?? 'USDT'} on ${chainId ?? chain}.`,
    );
  }
  if (own !== undefined && (accountId ?? own) !== own)
    throw notUsable(`the service returned an address of the account ${accountId}.`);
  const parse = chain === 'TRON' ? parseTronAddress : parseEvmAddress;
  const { address } = attempt(() => parse(given));
  if (address === tronUsdtContract)
    throw notUsable('the service returned the address of the USDT contract.');
  return address;
}

function checkedAddress(given: string, wanted: Network, txnId?: string): string {
  const { address, network, type } = attempt(() => parseBitcoinAddress(given), txnId);
  if (!isOnNetwork(network, wanted))
    throw notUsable(`the service returned an address on ${network}.`, txnId);
  if (type === 'witness')
    throw notUsable('the service returned an address with an undefined witness version.', txnId);
  return address;
}

/**
 * Converts a parse error to Failure `refused`, because the unreadable text comes from the service.
 */
function attempt<T>(parse: () => T, txnId?: string): T {
  try {
    return parse();
  } catch (error) {
    throw notUsable(`the service returned an invalid address. ${messageOf(error)}`, txnId);
  }
}

function notUsable(why: string, txnId?: string): Failure {
  return new Failure('refused', `Not usable: ${why}`, {
    next: txnId === undefined ? { do: 'check-installation' } : { do: 'show', id: txnId },
    txnId,
  });
}

/**
 * Checks the signature, the network, the amount and the expiry of an invoice. Throws Failure
 * `refused` if the invoice must not be shown to a payer.
 * @param now epoch ms by the service's clock
 */
export function checkedInvoice(
  txn: Transaction,
  amount: Money,
  network: Network,
  now: number,
): Invoice {
  const invoice = readInvoice(txn, invoiceText(txn));
  if (!isOnNetwork(invoice.network, network))
    throw unusable(txn, `the service returned an invoice for ${invoice.network}.`);
  if (invoice.amountMsat !== msatOf(amount.value))
    throw unusable(txn, 'the service returned an invoice for a different amount.');
  if (invoice.expiresAt <= now) throw unusable(txn, 'the service returned an expired invoice.');
  return invoice;
}

/**
 * Returns the invoice in the service's transaction. Throws Failure `refused` if the transaction has
 * no invoice.
 */
export function invoiceText(txn: Transaction): string {
  const text = txn.sourceReq.reqDetails?.['paymentRequest'];
  if (typeof text !== 'string') throw unusable(txn, 'the service returned no invoice.');
  return text;
}

function readInvoice(txn: Transaction, text: string): Invoice {
  try {
    return decodeInvoice(text);
  } catch (error) {
    throw unusable(txn, `the service returned an invalid invoice. ${messageOf(error)}`);
  }
}

function unusable({ txnId }: Transaction, why: string): Failure {
  return new Failure('refused', `Not usable: ${why}`, {
    next: { do: 'show', id: txnId },
    txnId,
  });
}

const addressNames = /^(ln|lightning|lnurl)_?(pay)?_?(address|identifier)$/i;

/**
 * Finds the Lightning Address of an account by field name and value, because the specification does
 * not define the fields of account records. Throws Failure `not-found` if the account record has no
 * Lightning Address.
 */
export function lightningAddressOf(account: Fields): LightningAddress {
  const found = Object.entries(account).find(
    ([name, value]) => addressNames.test(name) && typeof value === 'string' && value !== '',
  );
  if (typeof found?.[1] === 'string') return parseLightningAddress(found[1]);
  throw new Failure('not-found', 'The account record has no Lightning Address.', {
    hint: 'Ask the service for a Lightning Address.',
  });
}
