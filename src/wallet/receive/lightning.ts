// Receives over Lightning. Checks an invoice before svcpay shows it, and finds the Lightning
// Address of an account.
import { msatOf, type Money } from '../../formats/amount.js';
import { decodeInvoice, type Invoice } from '../../formats/bolt11/decode.js';
import { Failure } from '../../formats/failure.js';
import { messageOf, type Fields } from '../../formats/unknown.js';
import type { Transaction } from '../../api/types.js';
import type { Network } from '../../formats/address/network.js';
import { isOnNetwork } from '../instruction/destinations.js';
import { parseLightningAddress, type LightningAddress } from '../../formats/lnurl.js';

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
