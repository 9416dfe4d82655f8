// Builds orders: the body of the create request for each kind of payment, by the rules of endpoint
// 6. Stores an order in the journal as JSON with exact decimals, so that svcpay restores the order
// completely after a crash. Checks whether a response from the service matches the order:
// currencies, methods, amounts, the parties, and every field that identifies the destination. Pure.
import {
  type CreateSide,
  type CreateTransaction,
  misread,
  type MisreadField,
  type RequestSide,
  type Transaction,
} from '../../api/types.js';
import Big from 'big.js';
import {
  btcFromMsat,
  type Money,
  decimalsOf,
  fixed,
  givenFromWire,
  readDecimal,
} from '../../formats/amount.js';
import type { Invoice } from '../../formats/bolt11/decode.js';
import { describeDuration } from '../../formats/calendar.js';
import { Failure, notSent, orFailure } from '../../formats/failure.js';
import * as v from 'valibot';
import {
  canonicalJson,
  decimal,
  bodySchema,
  invoiceKey,
  nodeKey,
  type WrittenAmount,
} from '../instruction/instruction.js';
import { misreadText, deductions } from '../../api/reading.js';
import { lnurlTarget } from '../../formats/destination.js';
import { clip, type Fields } from '../../formats/text.js';
import { isQuoted } from '../../formats/states.js';

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

/** A side of an order that an internal wallet pays or gets. */
export const walletSide = (ccy: string, amount?: Big): CreateSide => ({
  ccy,
  method: 'servicepay',
  reqDetails: {},
  ...(amount !== undefined && { amtRequested: amount }),
});

/**
 * Creates an order that pays an invoice. Neither side of the order has an amount, because the
 * invoice contains the amount (endpoint 6, rule 2).
 */
export const invoiceOrder = (invoice: Invoice, from: string): Order => ({
  kind: 'send lightning',
  body: {
    sourceReq: walletSide(from),
    destReq: { ccy: 'BTC', method: 'lightning', reqDetails: { paymentRequest: invoice.invoice } },
  },
  idempotencyKey: invoiceKey(invoice),
  notBefore: invoice.timestamp * 1000,
  expiresAt: invoice.expiresAt,
  destination: invoice.payee,
  key: nodeKey(invoice.payee),
  receives:
    invoice.amountMsat === null
      ? undefined
      : { ccy: 'BTC', value: btcFromMsat(invoice.amountMsat) },
});

/** The destination of an order that states an amount. */
export interface Target extends Pick<Order, 'kind' | 'destination' | 'key'> {
  readonly destReq: CreateSide;
}

/**
 * Creates an order that states its amount on one side (endpoint 6, rule 1). The rate decides what
 * the recipient gets for a debit in another currency, so the order does not define it.
 */
export function pricedOrder(
  { destReq, ...target }: Target,
  sourceReq: CreateSide,
  amount: Money,
  side: WrittenAmount['side'],
): Order {
  const isDebit = side === 'debits';
  const stated = { amtRequested: amount.value };
  return {
    ...target,
    body: {
      sourceReq: { ...sourceReq, ...(isDebit && stated) },
      destReq: { ...destReq, ...(!isDebit && stated) },
    },
    idempotencyKey: null,
    receives: isDebit && sourceReq.ccy !== destReq.ccy ? undefined : amount,
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

/**
 * Compares the transaction in a response with the order, whatever its state. Throws Failure
 * `refused` if the transaction differs from the order.
 * @param account the account to which the transaction must belong, if the response names an account
 */
export function checkEcho(order: Order, answered: Transaction, account?: string): void {
  const txn = beforeDeduction(order, answered);
  const difference =
    accountDifference(txn, account) ??
    misreadDifference(order, txn) ??
    sideDifference('source', order.body.sourceReq, txn.sourceReq) ??
    sideDifference('destination', order.body.destReq, txn.destReq) ??
    extraTarget(order.body.sourceReq, txn.sourceReq, txn) ??
    extraTarget(order.body.destReq, txn.destReq, txn) ??
    amountDifference(order, txn) ??
    deductionDifference(order, txn);
  if (difference !== undefined) throw notObeyed(difference, txn.txnId);
}

/**
 * Returns the transaction with the recipient's amount before the fees are taken out of it. If an
 * order deducts the fees, a service may repeat the amount of the order, or return it less the fees.
 */
export function beforeDeduction({ body, receives }: Order, txn: Transaction): Transaction {
  const { sourceReq, destReq } = txn;
  const isDeducted =
    body.deductNetworkFeesFromDest === true && body.sourceReq.ccy === receives?.ccy;
  const gets = givenFromWire(destReq.amtRequested);
  if (!isDeducted || gets?.eq(receives.value.minus(feesOf(sourceReq))) !== true) return txn;
  return { ...txn, destReq: { ...destReq, amtRequested: readDecimal(fixed(receives.value)) } };
}

const feesOf = ({ servicepayFees, networkFees }: RequestSide): Big =>
  (givenFromWire(servicepayFees) ?? new Big(0)).plus(givenFromWire(networkFees) ?? 0);

/** Whether the transaction matches this order and belongs to this account. */
export const echoes = (order: Order, txn: Transaction, account: string): boolean =>
  orFailure(() => checkEcho(order, txn, account)) === undefined;

/**
 * The fields that decide how much money goes to whom. svcpay ignores an unreadable field that is
 * not in `deciding`.
 */
const deciding: ReadonlySet<string> = new Set([
  'accountId',
  'ccy',
  'method',
  'amtRequested',
  'amtSettled',
  'servicepayFees',
  'networkFees',
  'fxRate',
  'reqDetails',
  'extRefId',
  'sourceReq',
  'destReq',
  ...deductions,
]);

/** Describes the first unreadable field that decides how much money goes to whom. */
function misreadDifference({ body }: Order, txn: Transaction): string | undefined {
  const isDeciding = ({ path }: MisreadField): boolean =>
    path.includes('.kyc')
      ? body.destReq.kyc !== undefined
      : deciding.has(path.split('.').at(-1) ?? '');
  const field = txn[misread]?.find(isDeciding);
  return field && misreadText(field);
}

export function notObeyed(difference: string, txnId?: string): Failure {
  return new Failure('refused', `the quote differs from the order: ${difference}.`, {
    money: 'Nothing moved',
    next: { do: 'check-installation' },
    txnId,
  });
}

type AskedSide = Order['body']['sourceReq'];

const accountDifference = (
  { accountId }: Transaction,
  account: string | undefined,
): string | undefined =>
  account === undefined || isOfAccount({ accountId }, account)
    ? undefined
    : different('the account', accountId, account);

/**
 * Whether a transaction belongs to the account. The service's list of transactions may include the
 * transactions of subaccounts.
 */
export const isOfAccount = (
  { accountId }: Pick<Transaction, 'accountId'>,
  account: string,
): boolean => accountId == null || accountId === account;

function sideDifference(name: string, asked: AskedSide, given: RequestSide): string | undefined {
  if (asked.ccy !== given.ccy) return different(`the ${name} currency`, given.ccy, asked.ccy);
  if (asked.method !== given.method)
    return different(`the ${name} method`, given.method, asked.method);
  if (asked.amtRequested !== undefined) {
    const answered = givenFromWire(given.amtRequested);
    if (answered === undefined || !answered.eq(asked.amtRequested)) {
      return (
        `the ${name} amount is ${answered === undefined ? 'missing' : fixed(answered)}, ` +
        `not ${fixed(new Big(asked.amtRequested))}`
      );
    }
  }
  return (
    (asked.method === 'lnurl' ? lnurlDifference(asked, given) : detailDifference(asked, given)) ??
    kycDifference(asked, given)
  );
}

/** The names under which services return an account number. */
const otherNames: Readonly<Record<string, readonly string[]>> = {
  acctNum: ['bankAcctNum', 'accountNumber'],
  bankAcctNum: ['acctNum', 'accountNumber'],
  accountNumber: ['acctNum', 'bankAcctNum'],
};

function detailDifference(asked: AskedSide, given: RequestSide): string | undefined {
  const answered: Fields = given.reqDetails ?? {};
  for (const [field, wanted] of Object.entries(asked.reqDetails ?? {})) {
    const got = answered[field];
    // The response may omit the institution's name, because the institution's code determines the
    // recipient. A different home may have created the transaction without the institution's name.
    if (field === 'institutionName' && got == null) continue;
    if (!sameText(got, wanted)) return different(field, got, wanted);
    const resolved = (otherNames[field] ?? []).find(
      (name) => answered[name] != null && !sameText(answered[name], wanted),
    );
    if (resolved !== undefined) return different(resolved, answered[resolved], wanted);
  }
  return undefined;
}

/** The `reqDetails` fields that decide who gets the money. */
const targets = [
  'paymentRequest',
  'address',
  'lnurl',
  'lnurlAddress',
  'acctNum',
  'bankAcctNum',
  'accountNumber',
  'iban',
  'institutionCode',
] as const;

/**
 * Describes the difference if the response has a destination that the order does not request. A
 * service may add the invoice to an LNURL payment after the confirmation.
 */
function extraTarget(
  { method, reqDetails = {} }: AskedSide,
  given: RequestSide,
  { txnState }: Transaction,
): string | undefined {
  const asked: Fields = reqDetails;
  const answered: Fields = given.reqDetails ?? {};
  const isAsked = (field: string): boolean =>
    [field, ...(otherNames[field] ?? [])].some((each) => asked[each] !== undefined);
  const isResolved = (field: string): boolean =>
    method === 'lnurl' &&
    (field.startsWith('lnurl') || (field === 'paymentRequest' && !isQuoted(txnState)));
  const field = targets.find(
    (each) =>
      answered[each] != null && answered[each] !== '' && !isAsked(each) && !isResolved(each),
  );
  return field === undefined
    ? undefined
    : `${field} was not requested but is ${shown(answered[field])}`;
}

const longest = 1_000;

const shown = (value: unknown): string =>
  typeof value === 'object'
    ? `not a text but ${Array.isArray(value) ? 'a list' : 'an object'}`
    : clip(String(value), longest);

const different = (field: string, got: unknown, wanted: unknown): string =>
  `${field} is ${got === undefined || got === null ? 'missing' : shown(got)}, not ${shown(wanted)}`;

/**
 * Whether two texts are equal. Letter case matters, except in invoices, LNURLs, Lightning Addresses
 * and Bech32 addresses.
 */
function sameText(got: unknown, wanted: unknown): boolean {
  if (typeof got !== 'string' || typeof wanted !== 'string') return got === wanted;
  if (got === wanted) return true;
  const caseless = /^(ln|bc1|tb1|bcrt1|.+@)/i.test(wanted);
  return caseless && got.toLowerCase() === wanted.toLowerCase();
}

/**
 * Describes the difference if the response has a different LNURL than the order. Every LNURL field
 * in the response must have the requested destination.
 */
function lnurlDifference(asked: AskedSide, given: RequestSide): string | undefined {
  const wanted = asked.reqDetails?.['address'];
  const { address, lnurlAddress, lnurl } = given.reqDetails ?? {};
  const echoed = Object.entries({ address, lnurlAddress, lnurl }).filter(
    ([, value]) => value != null,
  );
  if (echoed.length === 0) return different('address', undefined, wanted);
  const [field, got] = echoed.find(([, value]) => targetOf(value) !== targetOf(wanted)) ?? [];
  return field === undefined ? undefined : different(field, got, wanted);
}

const targetOf = (value: unknown): unknown =>
  typeof value === 'string' ? lnurlTarget(value) : value;

/** Describes the difference if the response has a different payer or payee than the order. */
function kycDifference(asked: AskedSide, given: RequestSide): string | undefined {
  const { type, details = {} } = given.kyc ?? {};
  if (asked.kyc === undefined) return undefined;
  if (type != null && type.toLowerCase() !== asked.kyc.type)
    return different('kyc type', type, asked.kyc.type);
  const got: Fields = details ?? {};
  const field = Object.entries(asked.kyc.details).find(
    ([name, value]) => got[name] != null && got[name] !== value,
  );
  return field && different(`kyc ${field[0]}`, got[field[0]], field[1]);
}

/**
 * Describes the difference if the recipient would get a different amount than the order requires.
 * The order of an invoice payment requests no amount (endpoint 6, rule 2), so svcpay also compares
 * the amount that the service computed.
 */
function amountDifference(order: Order, { sourceReq, destReq }: Transaction): string | undefined {
  const { receives } = order;
  if (receives === undefined) return undefined;
  const gets = givenFromWire(destReq.amtRequested);
  if (gets !== undefined && !gets.eq(receives.value)) {
    return `the recipient would get ${fixed(gets)}, not ${fixed(receives.value)}`;
  }
  const sent = givenFromWire(sourceReq.amtRequested);
  if (sourceReq.ccy !== receives.ccy || sent === undefined) return undefined;
  // Accepts the computed amount with or without fees, because the specification does not define
  // whether the amount that the service computed includes the fees.
  const fees = feesOf(sourceReq);
  const whole = receives.value.round(decimalsOf(receives.ccy), Big.roundUp);
  if (
    [receives.value, whole].some(
      (each) => sent.eq(each) || sent.eq(each.plus(fees)) || sent.eq(each.minus(fees)),
    )
  )
    return undefined;
  const paid = `a payment of ${fixed(receives.value)} ${receives.ccy}`;
  return `${fixed(sent)} ${sourceReq.ccy} would leave the wallet for ${paid}`;
}

/** Describes the difference if the response and the order disagree about who pays the fees. */
function deductionDifference({ body }: Order, txn: Transaction): string | undefined {
  for (const field of deductions) {
    const answered = txn[field];
    const asked = body[field] ?? false;
    if (typeof answered === 'boolean' && answered !== asked)
      return `${field} is ${answered}, not ${asked}`;
  }
  return undefined;
}
