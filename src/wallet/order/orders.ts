// Builds orders: the body of the create request for each kind of payment, by the rules of endpoint
// 6. Stores an order in the journal as JSON with exact decimals, so that svcpay restores the order
// completely after a crash.
import type { CreateSide, CreateTransaction } from '../../api/types.js';
import Big from 'big.js';
import { btcFromMsat, fixed, type Money } from '../../formats/amount.js';
import type { Invoice } from '../../formats/bolt11/decode.js';
import { describeDuration } from '../../formats/duration.js';
import { Failure } from '../../formats/failure.js';
import { railProperties, type Rail } from '../../formats/rails.js';
import * as v from 'valibot';
import { isFields } from '../../formats/unknown.js';
import type { Payment, PaymentDraft } from '../../store/journal/payment.js';

/** A requested payment that the service has not quoted yet. */
export interface Order {
  /** The kind of the payment in words, such as `send lightning`. */
  readonly kind: string;
  readonly body: CreateTransaction;
  /** The key of a single-use destination, such as a payment hash. */
  readonly idempotencyKey: string | null;
  /** The destination, which svcpay compares with the allow-list. */
  readonly destination: string;
  /**
   * The payment's second destination: the address of the `bitcoin:` URI that contains the invoice.
   */
  readonly alsoPays?: string | undefined;
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
  /**
   * Whether the order comes from an imported payment and may be incomplete. svcpay creates no
   * transaction from an incomplete order.
   */
  readonly isImported?: boolean | undefined;
}

const servicepay = 'servicepay';

/**
 * Creates an order that pays an invoice. Neither side of the order has an amount, because the
 * invoice contains the amount (endpoint 6, rule 2).
 */
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
  addressOrder('onchain', address, amount, from);

/**
 * Changes an order so that the service takes the fees out of the amount and the recipient gets
 * less.
 */
export function deducting({ body, ...order }: Order): Order {
  return { ...order, body: { ...body, deductNetworkFeesFromDest: true } };
}

/**
 * Creates an order for a USDT payment over TRON that fixes the amount that the recipient gets
 * (endpoint 6, rules 1 and 6).
 */
export const usdtOrder = (address: string, amount: Money, from: string): Order =>
  addressOrder('usdt', address, amount, from);

/**
 * Creates an order for a USDT payment that states its amount on the source side, so that the
 * service debits exactly this amount (endpoint 6, rules 1 and 6).
 */
export const usdtSpendOrder = (address: string, amount: Money): Order =>
  spendOrder('usdt', 'USDT', address, amount);

/**
 * Creates an order that fixes the debit of the wallet. If both sides have the same currency, the
 * recipient gets the debited amount.
 */
function spendOrder(rail: Rail, ccy: string, address: string, spent: Money): Order {
  return {
    kind: `send ${rail}`,
    body: {
      sourceReq: { ccy: spent.ccy, method: servicepay, reqDetails: {}, ...onSide(spent.value) },
      destReq: { ccy, method: railProperties(rail).method, reqDetails: { address } },
    },
    idempotencyKey: null,
    destination: address,
    receives: spent.ccy === ccy ? spent : undefined,
  };
}

/** Creates an order with a fixed amount for the recipient. */
function addressOrder(rail: Rail, address: string, amount: Money, from: string): Order {
  return {
    kind: `send ${rail}`,
    body: {
      sourceReq: { ccy: from, method: servicepay, reqDetails: {} },
      destReq: {
        ccy: amount.ccy,
        method: railProperties(rail).method,
        reqDetails: { address },
        ...onSide(amount.value),
      },
    },
    idempotencyKey: null,
    destination: address,
    receives: amount,
  };
}

/**
 * Creates an order for a swap. Both sides of a swap use the method of the internal wallet, but only
 * one side states an amount (endpoint 6, rules 1 and 8).
 */
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

/**
 * Creates the body of a receive request, whose destination side states the amount and uses the
 * method of the internal wallet (endpoint 6, rule 4).
 */
export function receiveBody(method: 'lightning' | 'on-chain', amount: Money): CreateTransaction {
  return {
    sourceReq: { ccy: amount.ccy, method, reqDetails: {} },
    destReq: { ccy: amount.ccy, method: servicepay, reqDetails: {}, ...onSide(amount.value) },
  };
}

const onSide = (amtRequested: Big): { amtRequested: Big } => ({ amtRequested });

/** Throws Failure `usage` if the invoice has expired. */
export function checkNotExpired({ expiresAt }: Order, now: number): void {
  if (expiresAt === undefined || expiresAt > now) return;
  throw new Failure(
    'usage',
    `Not sent: the invoice expired ${describeDuration(now - expiresAt)} ago. Ask for a new one.`,
  );
}

const decimal = v.pipe(
  v.string(),
  v.regex(/^\d+(\.\d+)?$/),
  v.transform((text) => new Big(text)),
);

const kycSchema = v.strictObject({
  type: v.picklist(['individual', 'business']),
  details: v.strictObject({
    legalFullName: v.string(),
    countryCode: v.string(),
    contactNumber: v.exactOptional(v.string()),
    address1: v.exactOptional(v.string()),
  }),
});

const sideSchema = v.strictObject({
  ccy: v.string(),
  method: v.string(),
  amtRequested: v.exactOptional(decimal),
  reqDetails: v.exactOptional(v.record(v.string(), v.unknown())),
  kyc: v.exactOptional(kycSchema),
});

const orderSchema = v.strictObject({
  kind: v.string(),
  body: v.strictObject({
    sourceReq: sideSchema,
    destReq: sideSchema,
    note: v.exactOptional(v.string()),
    deductNetworkFeesFromDest: v.exactOptional(v.boolean()),
    deductServicepayFees: v.exactOptional(v.boolean()),
    deductNetworkFees: v.exactOptional(v.boolean()),
    sourceOfFunds: v.exactOptional(
      v.object({ purpose: v.number(), source: v.number(), relationship: v.number() }),
    ),
  }),
  idempotencyKey: v.nullable(v.string()),
  notBefore: v.exactOptional(v.number()),
  expiresAt: v.exactOptional(v.number()),
  destination: v.string(),
  alsoPays: v.exactOptional(v.string()),
  receives: v.exactOptional(v.object({ ccy: v.string(), value: decimal })),
  isImported: v.exactOptional(v.boolean()),
});

/** The order's columns in the journal. */
export const recordOf = (
  order: Order,
): Pick<PaymentDraft, 'kind' | 'request' | 'fingerprint' | 'idempotencyKey'> => ({
  kind: order.kind,
  request: encodeOrder(order),
  fingerprint: fingerprint(order),
  idempotencyKey: order.idempotencyKey,
});

/**
 * Writes an order as text for the journal. Throws if svcpay would read back a different order,
 * because svcpay must resume the same payment after a crash.
 */
function encodeOrder(order: Order): string {
  const text = JSON.stringify(plain(order));
  if (JSON.stringify(plain(decodeOrder(text))) !== text)
    throw new Error('An order cannot be stored in the journal.');
  return text;
}

/**
 * Reads an order from the text that the journal stores. Throws Failure `usage` if the text is not
 * an order in the format of this version.
 */
export function decodeOrder(text: string): Order {
  try {
    const { receives, ...order } = v.parse(orderSchema, withPresentNames(JSON.parse(text)));
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

/** Renames fields of orders in journals of versions 1 to 3. */
function withPresentNames(record: unknown): unknown {
  if (!isFields(record)) return record;
  const { onceKey, told, ...order } = record;
  return {
    ...order,
    ...(onceKey !== undefined && { idempotencyKey: onceKey }),
    ...(told !== undefined && { isImported: told }),
  };
}

/**
 * Returns a text that is identical for two orders of the same payment, even if their notes differ.
 */
export const fingerprint = ({ body }: Order): string =>
  JSON.stringify(
    plain({
      ...body,
      destReq: withoutListData(body.destReq),
      note: undefined,
      extRefId: undefined,
    }),
  );

/**
 * Removes from one side of an order the data that came from the service's list of institutions,
 * because that list may later be unavailable or different.
 */
export function withoutListData({ reqDetails = {}, ...side }: CreateSide): CreateSide {
  const { institutionName: _name, institutionCode: code, ...details } = reqDetails;
  return {
    ...side,
    reqDetails: {
      ...details,
      ...(typeof code === 'string' && { institutionCode: code.toUpperCase() }),
    },
  };
}

/**
 * Whether the journal's payment matches the order. An earlier version of svcpay may have stored a
 * fingerprint that covers more fields, so svcpay also calculates the fingerprint of the stored
 * request again.
 */
export function isForOrder(
  payment: Pick<Payment, 'fingerprint' | 'request'>,
  order: Order,
): boolean {
  const asked = fingerprint(order);
  return payment.fingerprint === asked || fingerprint(decodeOrder(payment.request)) === asked;
}

/**
 * Converts a value to a form in which identical orders give identical text: decimals as fixed text,
 * and keys in order.
 */
function plain(value: unknown): unknown {
  if (value instanceof Big) return fixed(value);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, each]) => [name, plain(each)]));
}
