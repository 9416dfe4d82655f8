// What a payment asks the service for: the creation body of each kind, by the rules of specification endpoint 6.
import type { CreateTransaction } from '../../api/types.js';
import type Big from 'big.js';
import { btcFromMsat, type Money } from '../../formats/amount.js';
import type { Invoice } from '../../formats/bolt11/decode.js';
import { describeDuration } from '../../formats/duration.js';
import { Failure } from '../../formats/failure.js';
import { railOf, type SendKind } from '../../formats/rails.js';

/** A payment as it was asked for, before the service has quoted it. */
export interface Order {
  /** In words, as in `send lightning`. */
  readonly kind: string;
  readonly body: CreateTransaction;
  /** What can be paid once only: a payment hash. */
  readonly idempotencyKey: string | null;
  /** Where the money goes, for limits on destinations. */
  readonly destination: string;
  /** Epoch ms before which it cannot have been paid: when an invoice was made. */
  readonly notBefore?: number | undefined;
  /** Epoch ms after which it cannot be paid any more. */
  readonly expiresAt?: number | undefined;
  /** The exact amount that the recipient must get, where the order fixes it. */
  readonly receives: Money | undefined;
  /** The service returned it for an imported payment, perhaps without a part of what was asked: nothing is created from it. */
  readonly isImported?: boolean | undefined;
}

const servicepay = 'servicepay';

/** Rule 2: no amount on either side, the invoice carries it. */
export function lightningOrder(invoice: Invoice, from: string): Order {
  return {
    kind: 'send lightning',
    body: {
      sourceReq: { ccy: from, method: servicepay, reqDetails: {} },
      destReq: { ccy: 'BTC', method: 'lightning', reqDetails: { paymentRequest: invoice.invoice } },
    },
    idempotencyKey: `bolt11:${invoice.paymentHash}`,
    notBefore: invoice.timestamp * 1000,
    expiresAt: invoice.expiresAt,
    destination: invoice.payee,
    receives: invoice.amountMsat === null ? undefined : { ccy: 'BTC', value: btcFromMsat(invoice.amountMsat) },
  };
}

/**
 * Rule 3: the amount stands on the source, in the currency of the wallet that pays.
 *
 * @param address a Lightning Address or an LNURL, which the service resolves
 */
export const lnurlOrder = (address: string, amount: Money): Order =>
  spendOrder('lnurl', 'BTC', address, amount);

/** Rule 5: the amount, in BTC, stands on the destination. */
export const onchainOrder = (address: string, amount: Money, from: string): Order =>
  addressOrder('onchain', address, amount, from);

/** The same order with the fees taken out of the amount, so that the recipient gets it less the fees. */
export function deducting({ body, ...order }: Order): Order {
  return { ...order, body: { ...body, deductNetworkFeesFromDest: true } };
}

/** Rule 6: USDT over TRON; the amount is what the recipient gets. */
export const usdtOrder = (address: string, amount: Money, from: string): Order =>
  addressOrder('usdt', address, amount, from);

/** Rule 6 with the amount on the source (rule 1): so much leaves the wallet, whatever arrives. */
export const usdtSpendOrder = (address: string, amount: Money): Order =>
  spendOrder('usdt', 'USDT', address, amount);

/** So much leaves the wallet; what arrives is fixed where it is the same currency. */
function spendOrder(kind: SendKind, ccy: string, address: string, spent: Money): Order {
  return {
    kind: `send ${kind}`,
    body: {
      sourceReq: { ccy: spent.ccy, method: servicepay, reqDetails: {}, ...onSide(spent.value) },
      destReq: { ccy, method: railOf(kind).method, reqDetails: { address } },
    },
    idempotencyKey: null,
    destination: address,
    receives: spent.ccy === ccy ? spent : undefined,
  };
}

/** So much arrives, in the currency of the amount. */
function addressOrder(kind: SendKind, address: string, amount: Money, from: string): Order {
  return {
    kind: `send ${kind}`,
    body: {
      sourceReq: { ccy: from, method: servicepay, reqDetails: {} },
      destReq: { ccy: amount.ccy, method: railOf(kind).method, reqDetails: { address }, ...onSide(amount.value) },
    },
    idempotencyKey: null,
    destination: address,
    receives: amount,
  };
}

/** Rule 8: both methods are the internal wallet; rule 1: the amount stands on one side only. */
export function swapOrder(from: string, to: string, amount: Money, side: 'source' | 'dest'): Order {
  return {
    kind: 'swap',
    body: {
      sourceReq: { ccy: from, method: servicepay, reqDetails: {}, ...(side === 'source' && onSide(amount.value)) },
      destReq: { ccy: to, method: servicepay, reqDetails: {}, ...(side === 'dest' && onSide(amount.value)) },
    },
    idempotencyKey: null,
    destination: to,
    receives: side === 'dest' ? amount : undefined,
  };
}

/** Rule 4: the amount stands on the destination, whose method is the internal wallet. */
export function receiveBody(method: 'lightning' | 'on-chain', amount: Money): CreateTransaction {
  return {
    sourceReq: { ccy: amount.ccy, method, reqDetails: {} },
    destReq: { ccy: amount.ccy, method: servicepay, reqDetails: {}, ...onSide(amount.value) },
  };
}

const onSide = (amtRequested: Big): { amtRequested: Big } => ({ amtRequested });

/** Throws Failure `usage` for an invoice that can no longer be paid. */
export function checkNotExpired({ expiresAt }: Order, now: number): void {
  if (expiresAt === undefined || expiresAt > now) return;
  throw new Failure('usage', `Not sent: the invoice expired ${describeDuration(now - expiresAt)} ago. Ask for a new one.`);
}
