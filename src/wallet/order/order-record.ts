// An order in the journal: JSON with exact decimals, restored completely after a crash.
import Big from 'big.js';
import * as v from 'valibot';
import type { CreateSide } from '../../api/types.js';
import { fixed } from '../../formats/amount.js';
import { Failure } from '../../formats/failure.js';
import { isFields } from '../../formats/unknown.js';
import type { Payment, PaymentDraft } from '../../store/journal/payment.js';
import type { Order } from './orders.js';

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
    throw new Error('An order cannot be kept in the journal.');
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
