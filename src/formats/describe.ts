// Describes a destination offline, as the JSON object that `decode` prints.
import { fixed } from './amount.js';
import type { Invoice } from './bolt11/decode.js';
import type { Bip21Destination, Destination } from './destination.js';

/**
 * Returns the fields of a destination, which depend on the kind of destination. A field that the
 * destination does not contain is `null`. The field `expired` shows whether an invoice has expired
 * at `now` (epoch ms).
 */
export function describeDestination(destination: Destination, now: number) {
  switch (destination.kind) {
    case 'bolt11':
      return { kind: destination.kind, ...describeInvoice(destination.value, now) };
    case 'bitcoin-address': {
      const { address, network, type } = destination.value;
      return { kind: destination.kind, address, network, type };
    }
    case 'tron-address':
      return { kind: destination.kind, address: destination.value.address };
    case 'evm-address':
      return {
        kind: destination.kind,
        address: destination.value.address,
        checksummed: destination.value.checksummed,
      };
    case 'lnurl':
      return { kind: destination.kind, url: destination.value.url };
    case 'lightning-address':
      return { kind: destination.kind, ...destination.value };
    case 'bip21':
      return { kind: destination.kind, ...describeBip21(destination.value) };
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
