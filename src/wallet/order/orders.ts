// Orders: the body of the create request of each kind of payment, by the rules of endpoint 6 of the
// specification, and its record in the journal: JSON with exact decimals, restored completely after
// a crash.
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

/** The amount is received, in its currency. */
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

/** Throws unless the text is read back as an equal order: a crash must not change a payment. */
function encodeOrder(order: Order): string {
  const text = JSON.stringify(plain(order));
  if (JSON.stringify(plain(decodeOrder(text))) !== text)
    throw new Error('An order cannot be stored in the journal.');
  return text;
}

/** Throws Failure `usage` for a text that is not an order of this version. */
export function decodeOrder(text: string): Order {
  try {
    const { receives, ...order } = v.parse(orderSchema, withPresentNames(JSON.parse(text)));
    return { ...order, receives };
  } catch (cause) {
    throw new Failure(
      'usage',
      'The payment journal holds an order that this version cannot read.',
      {
        hint: 'Use the version that wrote it.',
        cause,
      },
    );
  }
}

/** Renames fields of journals of versions 1 to 3. */
function withPresentNames(record: unknown): unknown {
  if (!isFields(record)) return record;
  const { onceKey, told, ...order } = record;
  return {
    ...order,
    ...(onceKey !== undefined && { idempotencyKey: onceKey }),
    ...(told !== undefined && { isImported: told }),
  };
}

/** Equal for equivalent orders. A note does not matter. */
export const fingerprint = ({ body }: Order): string =>
  JSON.stringify(
    plain({ ...body, destReq: asAsked(body.destReq), note: undefined, extRefId: undefined }),
  );

/**
 * A side without data from the service's list of institutions, which may be unavailable or
 * different the next time.
 */
export function asAsked({ reqDetails = {}, ...side }: CreateSide): CreateSide {
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
 * Whether the journal's payment matches the order. A record of an earlier version may have more
 * fields.
 */
export function isForOrder(
  payment: Pick<Payment, 'fingerprint' | 'request'>,
  order: Order,
): boolean {
  const asked = fingerprint(order);
  return payment.fingerprint === asked || fingerprint(decodeOrder(payment.request)) === asked;
}

/** A value with decimals as fixed text and keys in order, so that equal orders give equal text. */
function plain(value: unknown): unknown {
  if (value instanceof Big) return fixed(value);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, each]) => [name, plain(each)]));
}
