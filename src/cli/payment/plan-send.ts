// A destination and an amount as the payment that they stand for, where nobody can be asked: rows of a batch, agents.
import { fixed, parseAmount } from '../../formats/amount.js';
import type { BitcoinAddress } from '../../formats/address/bitcoin-address.js';
import type { Invoice } from '../../formats/bolt11/decode.js';
import { detectDestination, type Bip21Destination } from '../../formats/destination.js';
import { Failure } from '../../formats/failure.js';
import type { Network } from '../../store/profile/profiles.js';
import {
  checkBitcoinAddress,
  checkInvoice,
  checkOnchainAmount,
  checkTronAddress,
  refuseOwnAddress,
} from '../../wallet/plan/destinations.js';
import { lightningOrder, lnurlOrder, onchainOrder, usdtOrder, type Order } from '../../wallet/payment/orders.js';
import type { Context } from '../context.js';
import { checkSameAmount, invoiceAmount, neededAmount, notYetAvailable } from './destination.js';

/** What is to be paid, as it was written. */
export interface Send {
  readonly to: string;
  readonly amount: string | undefined;
  /** The wallet that pays, where it is not the usual one of the destination. */
  readonly from: string | undefined;
}

export interface PlannedOrder {
  readonly order: Order;
  /** It settles within hours or days, so that nobody waits for it. */
  readonly slow: boolean;
  /** Epoch ms after which it cannot be paid any more. */
  readonly expiresAt?: number;
  /** The destination, where the order itself names another one: an invoice for the node it pays. */
  readonly to?: string;
}

type Terms = Pick<Send, 'amount' | 'from'>;

/** Throws Failure `usage` for what is no payment, or none that can be made. */
export function planSend({ to, ...terms }: Send, network: Network): PlannedOrder {
  const { amount, from } = terms;
  const found = detectDestination(to);
  switch (found.kind) {
    case 'bolt11':
      return planInvoice(found.value, terms, network);
    case 'lnurl':
    case 'lightning-address':
      return { order: lnurlOrder(found.text, neededAmount(amount, from ?? currencyOf(amount) ?? 'BTC')), slow: false };
    case 'bitcoin-address':
      return planOnchain(found.value, terms, network);
    case 'tron-address': {
      const { address } = found.value;
      checkTronAddress(address);
      return { order: usdtOrder(address, neededAmount(amount, 'USDT'), from ?? 'USDT'), slow: true };
    }
    case 'evm-address':
      throw notYetAvailable();
    case 'bip21':
      return planUri(found.value, terms, network);
  }
}

function planInvoice(invoice: Invoice, { amount, from }: Terms, network: Network): PlannedOrder {
  checkInvoice(invoice, network);
  const named = invoiceAmount(invoice);
  if (named !== undefined) checkSameAmount(amount, named, 'this invoice');
  const order = lightningOrder(invoice, from ?? 'BTC');
  return { order, slow: false, expiresAt: invoice.expiresAt, to: invoice.invoice };
}

function planOnchain(address: BitcoinAddress, { amount, from }: Terms, network: Network): PlannedOrder {
  const sent = neededAmount(amount, 'BTC');
  checkBitcoinAddress(address, network);
  checkOnchainAmount(sent);
  return { order: onchainOrder(address.address, sent, from ?? 'BTC', false), slow: true };
}

/** Which of two ways is meant is for a person to say. */
function planUri({ bitcoin, invoice, amount: named }: Bip21Destination, terms: Terms, network: Network): PlannedOrder {
  if (bitcoin !== null && invoice !== null) {
    throw new Failure('usage', 'This URI can be paid in two ways: give its address or its invoice alone.');
  }
  if (invoice !== null) return planInvoice(invoice, terms, network);
  if (bitcoin === null) throw new Failure('usage', 'This URI has no address.');
  if (named === undefined) return planOnchain(bitcoin, terms, network);
  checkSameAmount(terms.amount, { ccy: 'BTC', value: named }, 'this bitcoin: URI');
  return planOnchain(bitcoin, { ...terms, amount: `${fixed(named)}btc` }, network);
}

const currencyOf = (amount: string | undefined): string | undefined =>
  amount === undefined ? undefined : parseAmount(amount).ccy;

/** Refuses orders that pay to the account's own permanent addresses, which are asked for once. */
export function ownAddressGuard({ ownClient }: Pick<Context, 'ownClient'>): (order: Order) => Promise<void> {
  const known = new Map<string, Promise<{ readonly staticOnchainAddress: string }>>();
  return async (order) => {
    const { method } = order.body.destReq;
    if (method !== 'on-chain' && method !== 'tron') return;
    const client = await ownClient();
    const own = known.get(method) ?? (method === 'tron' ? client.usdtAddress('TRON') : client.bitcoinAddress());
    known.set(method, own);
    await refuseOwnAddress(order.destination, () => own);
  };
}
