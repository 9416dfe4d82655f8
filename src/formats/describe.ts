// Describes a destination offline, as the JSON object that `decode` prints.
import { fixed } from './amount.js';
import type { Invoice } from './bolt11/decode.js';
import type { Bip21Destination, Destination } from './destination.js';

/**
 * Returns the fields of a destination, which depend on the kind of destination. A field that the
 * destination does not contain is `null`. The field `expired` shows whether an invoice has expired
 * at `now` (epoch ms).
 */
export function describeDestination({ kind, value }: Destination, now: number) {
  switch (kind) {
    case 'bolt11':
      return { kind, ...describeInvoice(value, now) };
    case 'bitcoin-address': {
      const { address, network, type } = value;
      return { kind, address, network, type };
    }
    case 'tron-address':
      return { kind, address: value.address };
    case 'bip21':
      return { kind, ...describeBip21(value) };
    case 'evm-address':
    case 'lnurl':
    case 'lightning-address':
      return { kind, ...value };
  }
}

function describeInvoice(invoice: Invoice, now: number) {
  const {
    network,
    paymentHash,
    payee,
    description,
    descriptionHash,
    timestamp,
    expiry,
    expiresAt,
  } = invoice;
  const { minFinalCltvExpiry, features, routeHints, fallbackAddress } = invoice;
  return {
    network,
    amountMsat: invoice.amountMsat === null ? null : String(invoice.amountMsat),
    paymentHash,
    payee,
    description,
    descriptionHash,
    timestamp,
    expiry,
    expiresAt,
    expired: now >= expiresAt,
    minFinalCltvExpiry,
    features,
    routeHints,
    fallbackAddress,
  };
}

function describeBip21({ bitcoin, invoice, amount, label, message }: Bip21Destination) {
  return {
    address: bitcoin?.address ?? null,
    amount: amount === undefined ? null : fixed(amount),
    label: label ?? null,
    message: message ?? null,
    lightning: invoice?.invoice ?? null,
  };
}
