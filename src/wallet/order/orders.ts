// Builds orders: the body of the create request for each kind of payment, by the rules of endpoint
// 6. Stores an order in the journal as JSON with exact decimals, so that svcpay restores the order
// completely after a crash.
import type { CreateSide, CreateTransaction } from '../../api/types.js';
import type Big from 'big.js';
import { btcFromMsat, type Money } from '../../formats/amount.js';
import type { Invoice } from '../../formats/bolt11/decode.js';
import { describeDuration } from '../../formats/calendar.js';
import { Failure, notSent } from '../../formats/failure.js';
import { railProperties, type Rail } from '../../formats/rails.js';
import * as v from 'valibot';
import { canonicalJson, decimal } from '../../formats/canonical.js';
import {
  bodySchema,
  lnurlKey,
  nodeKey,
  onchainKey,
  tronKey,
  walletKey,
} from '../instruction/instruction.js';

/** A requested payment that the service has not quoted yet. */
export interface Order {
  /** The kind of the payment in words, such as `send lightning`. */
  readonly kind: string;
  readonly body: CreateTransaction;
  /** The key of a single-use destination, such as a payment hash. */
  readonly idempotencyKey: string | null;
  /** The destination in words, such as an address or a node. */
  readonly destination: string;
  /** The destination key of the payee (see instruction/instruction.ts). */
  readonly key: string;
  /**
   * The earliest possible time of the payment in epoch ms: the time at which its invoice was
   * created.
   */
  readonly notBefore?: number | undefined;
  /** The latest possible time of the payment in epoch ms. */
  readonly expiresAt?: number | undefined;
  /**
   * The exact amount that the recipient must get, or undefined if the order does not define that
   * amount.
   */
  readonly receives: Money | undefined;
  /** The amount before its conversion to bitcoin, and the price of one bitcoin at that moment. */
  readonly worth?: Worth | undefined;
  /**
   * Whether the order comes from an imported payment and may be incomplete. svcpay creates no
   * transaction from an incomplete order.
   */
  readonly isImported?: boolean | undefined;
}

export interface Worth extends Money {
  readonly rate: Big;
}

const servicepay = 'servicepay';

/** A side of an order that an internal wallet pays or gets. */
const walletSide = (ccy: string, amount?: Big): CreateSide => ({
  ccy,
  method: servicepay,
  reqDetails: {},
  ...(amount !== undefined && { amtRequested: amount }),
});

/**
 * Creates an order that pays an invoice. Neither side of the order has an amount, because the
 * invoice contains the amount (endpoint 6, rule 2).
 */
export const lightningOrder = (invoice: Invoice, from: string): Order => ({
  kind: 'send lightning',
  body: {
    sourceReq: walletSide(from),
    destReq: { ccy: 'BTC', method: 'lightning', reqDetails: { paymentRequest: invoice.invoice } },
  },
  idempotencyKey: `bolt11:${invoice.paymentHash}`,
  notBefore: invoice.timestamp * 1000,
  expiresAt: invoice.expiresAt,
  destination: invoice.payee,
  key: nodeKey(invoice.payee),
  receives:
    invoice.amountMsat === null
      ? undefined
      : { ccy: 'BTC', value: btcFromMsat(invoice.amountMsat) },
});

/**
 * Creates an order that pays to an LNURL and states its amount on the source side, in the currency
 * of the paying wallet (endpoint 6, rule 3).
 * @param address a Lightning Address or an LNURL, which the service resolves
 */
export const lnurlOrder = (address: string, amount: Money): Order =>
  spendOrder('lnurl', 'BTC', address, amount);

/**
 * Creates an order for an on-chain payment. The order states the amount on its destination side, in
 * BTC (endpoint 6, rule 5).
 */
export const onchainOrder = (address: string, amount: Money, from: string): Order =>
  addressOrder('onchain', address, walletSide(from), amount.ccy, amount);

/**
 * Changes an order so that the service takes the fees out of the amount and the recipient gets
 * less.
 */
export const deducting = ({ body, ...order }: Order): Order => ({
  ...order,
  body: { ...body, deductNetworkFeesFromDest: true },
});

/**
 * Creates an order for a USDT payment over TRON that fixes the amount that the recipient gets
 * (endpoint 6, rules 1 and 6).
 */
export const usdtOrder = (address: string, amount: Money, from: string): Order =>
  addressOrder('usdt', address, walletSide(from), amount.ccy, amount);

/**
 * Creates an order for a USDT payment that states its amount on the source side, so that the
 * service debits exactly this amount (endpoint 6, rules 1 and 6).
 */
export const usdtSpendOrder = (address: string, amount: Money): Order =>
  spendOrder('usdt', 'USDT', address, amount);

type AddressRail = Exclude<Rail, 'lightning'>;

const keyOn: Readonly<Record<AddressRail, (address: string) => string>> = {
  lnurl: lnurlKey,
  onchain: onchainKey,
  usdt: tronKey,
};

/**
 * Creates an order that fixes the debit of the wallet. If both sides have the same currency, the
 * recipient gets the debited amount.
 */
function spendOrder(rail: AddressRail, ccy: string, address: string, spent: Money): Order {
  const order = addressOrder(rail, address, walletSide(spent.ccy, spent.value), ccy);
  return { ...order, receives: spent.ccy === ccy ? spent : undefined };
}

/** Creates an order to an address. `amount` fixes what the recipient gets. */
function addressOrder(
  rail: AddressRail,
  address: string,
  sourceReq: CreateSide,
  ccy: string,
  amount?: Money,
): Order {
  const { method } = railProperties(rail);
  return {
    kind: `send ${rail}`,
    body: {
      sourceReq,
      destReq: { ...walletSide(ccy, amount?.value), method, reqDetails: { address } },
    },
    idempotencyKey: null,
    destination: address,
    key: keyOn[rail](address),
    receives: amount,
  };
}

/**
 * Creates an order for a swap. Both sides of a swap use the method of the internal wallet, but only
 * one side states an amount (endpoint 6, rules 1 and 8).
 */
export function swapOrder(from: string, to: string, amount: Money, side: 'source' | 'dest'): Order {
  const isSource = side === 'source';
  return {
    kind: 'swap',
    body: {
      sourceReq: walletSide(from, isSource ? amount.value : undefined),
      destReq: walletSide(to, isSource ? undefined : amount.value),
    },
    idempotencyKey: null,
    destination: to,
    key: walletKey(to),
    receives: isSource ? undefined : amount,
  };
}

/**
 * Creates the body of a receive request, whose destination side states the amount and uses the
 * method of the internal wallet (endpoint 6, rule 4).
 */
export const receiveBody = (
  method: 'lightning' | 'on-chain',
  { ccy, value }: Money,
): CreateTransaction => ({
  sourceReq: { ccy, method, reqDetails: {} },
  destReq: walletSide(ccy, value),
});

/** Throws Failure `usage` if the invoice has expired. */
export function checkNotExpired({ expiresAt }: Order, now: number): void {
  if (expiresAt === undefined || expiresAt > now) return;
  throw notSent(`the invoice expired ${describeDuration(now - expiresAt)} ago. Ask for a new one`);
}

const orderSchema = v.strictObject({
  kind: v.string(),
  body: bodySchema,
  idempotencyKey: v.nullable(v.string()),
  notBefore: v.exactOptional(v.number()),
  expiresAt: v.exactOptional(v.number()),
  destination: v.string(),
  key: v.string(),
  receives: v.exactOptional(v.object({ ccy: v.string(), value: decimal })),
  worth: v.exactOptional(v.object({ ccy: v.string(), value: decimal, rate: decimal })),
  isImported: v.exactOptional(v.boolean()),
});

/**
 * Writes an order as text for the journal. Throws if svcpay would read back a different order,
 * because svcpay must resume the same payment after a crash.
 */
export function encodeOrder(order: Order): string {
  const text = canonicalJson(order);
  if (canonicalJson(decodeOrder(text)) !== text)
    throw new Error('An order cannot be stored in the journal.');
  return text;
}

/**
 * Reads an order from the text that the journal stores. Throws Failure `usage` if the text is not
 * an order in the format of this version.
 */
export function decodeOrder(text: string): Order {
  try {
    const { receives, ...order } = v.parse(orderSchema, JSON.parse(text));
    return { ...order, receives };
  } catch (cause) {
    throw new Failure(
      'usage',
      'The payment journal contains an order that this version cannot read.',
      {
        hint: 'Use the version of svcpay that wrote the order.',
        cause,
      },
    );
  }
}
