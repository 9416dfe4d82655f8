// Orders: the body of the create request of each kind of payment, by the rules of endpoint 6 of the
// specification.
import type { CreateTransaction } from '../../api/types.js';
import type Big from 'big.js';
import { btcFromMsat, type Money } from '../../formats/amount.js';
import type { Invoice } from '../../formats/bolt11/decode.js';
import { describeDuration } from '../../formats/duration.js';
import { Failure } from '../../formats/failure.js';
import { railOf, type SendKind } from '../../formats/rails.js';

/** A requested payment, before the service has quoted it. */
export interface Order {
  /** The kind in words, such as `send lightning`. */
  readonly kind: string;
  readonly body: CreateTransaction;
  /** Identifies a single-use destination: a payment hash. */
  readonly idempotencyKey: string | null;
  /** The destination, for the allow-list. */
  readonly destination: string;
  /** Another destination of the same payment: the address of the URI that contains the invoice. */
  readonly alsoPays?: string | undefined;
  /** The earliest possible time of the payment in epoch ms: the creation of an invoice. */
  readonly notBefore?: number | undefined;
  /** The latest possible time of the payment in epoch ms. */
  readonly expiresAt?: number | undefined;
  /** The exact amount that the recipient must get, if the order defines it. */
  readonly receives: Money | undefined;
  /**
   * Whether the order comes from an imported payment and may be incomplete. Nothing is created from
   * it.
   */
  readonly isImported?: boolean | undefined;
}

const servicepay = 'servicepay';

/** Rule 2: no amount on either side, because the invoice has it. */
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
    receives:
      invoice.amountMsat === null
        ? undefined
        : { ccy: 'BTC', value: btcFromMsat(invoice.amountMsat) },
  };
}

/**
 * Rule 3: the amount is on the source side, in the currency of the paying wallet.
 *
 * @param address a Lightning Address or an LNURL, which the service resolves
 */
export const lnurlOrder = (address: string, amount: Money): Order =>
  spendOrder('lnurl', 'BTC', address, amount);

/** Rule 5: the amount, in BTC, is on the destination side. */
export const onchainOrder = (address: string, amount: Money, from: string): Order =>
  addressOrder('onchain', address, amount, from);

/** An order with the fees taken out of the amount, so that the recipient gets less. */
export function deducting({ body, ...order }: Order): Order {
  return { ...order, body: { ...body, deductNetworkFeesFromDest: true } };
}

/** Rule 6: USDT over TRON; the recipient gets the amount. */
export const usdtOrder = (address: string, amount: Money, from: string): Order =>
  addressOrder('usdt', address, amount, from);

/** Rule 6 with the amount on the source side (rule 1): debited from the wallet. */
export const usdtSpendOrder = (address: string, amount: Money): Order =>
  spendOrder('usdt', 'USDT', address, amount);

/** The amount is debited from the wallet. Within one currency, the received amount is equal. */
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

/** The amount is received, in its currency. */
function addressOrder(kind: SendKind, address: string, amount: Money, from: string): Order {
  return {
    kind: `send ${kind}`,
    body: {
      sourceReq: { ccy: from, method: servicepay, reqDetails: {} },
      destReq: {
        ccy: amount.ccy,
        method: railOf(kind).method,
        reqDetails: { address },
        ...onSide(amount.value),
      },
    },
    idempotencyKey: null,
    destination: address,
    receives: amount,
  };
}

/** Rule 8: both methods are the internal wallet; rule 1: the amount is on one side only. */
export function swapOrder(from: string, to: string, amount: Money, side: 'source' | 'dest'): Order {
  return {
    kind: 'swap',
    body: {
      sourceReq: {
        ccy: from,
        method: servicepay,
        reqDetails: {},
        ...(side === 'source' && onSide(amount.value)),
      },
      destReq: {
        ccy: to,
        method: servicepay,
        reqDetails: {},
        ...(side === 'dest' && onSide(amount.value)),
      },
    },
    idempotencyKey: null,
    destination: to,
    receives: side === 'dest' ? amount : undefined,
  };
}

/** Rule 4: the amount is on the destination side, whose method is the internal wallet. */
export function receiveBody(method: 'lightning' | 'on-chain', amount: Money): CreateTransaction {
  return {
    sourceReq: { ccy: amount.ccy, method, reqDetails: {} },
    destReq: { ccy: amount.ccy, method: servicepay, reqDetails: {}, ...onSide(amount.value) },
  };
}

const onSide = (amtRequested: Big): { amtRequested: Big } => ({ amtRequested });

/** Throws Failure `usage` for an invoice that has expired. */
export function checkNotExpired({ expiresAt }: Order, now: number): void {
  if (expiresAt === undefined || expiresAt > now) return;
  throw new Failure(
    'usage',
    `Not sent: the invoice expired ${describeDuration(now - expiresAt)} ago. Ask for a new one.`,
  );
}
