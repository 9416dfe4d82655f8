// Builds orders: the body of the create request for each kind of payment, by the rules of endpoint
// 6. Stores an order in the journal as JSON with exact decimals, so that svcpay restores the order
// completely after a crash. Checks whether a response from the service matches the order:
// currencies, methods, amounts, the parties, and every field that identifies the destination. Pure.
import {
  type CreateSide,
  type CreateTransaction,
  type Kyc,
  misread,
  type MisreadField,
  type RequestSide,
  type Transaction,
} from '../../api/types.js';
import Big from 'big.js';
import { type Money, decimalsOf, fixed, givenFromWire, readDecimal } from '../../formats/amount.js';
import { describeDuration } from '../../formats/calendar.js';
import { Failure, notSent, orFailure, invalid } from '../../formats/failure.js';
import * as v from 'valibot';
import { canonicalJson, decimal, bodySchema } from '../instruction/instruction.js';
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
    throw invalid('The payment journal contains an order that this version cannot read.', {
      hint: 'Use the version of svcpay that wrote the order.',
      cause,
    });
  }
}

/**
 * Compares the transaction in a response with the order, whatever its state. Throws Failure
 * `refused` if the transaction differs from the order.
 * @param account the account to which the transaction must belong, if the response names an account
 */
export function checkEcho(order: Order, answered: Transaction, account?: string): void {
  const txn = beforeDeduction(order, answered);
  const { sourceReq, destReq } = order.body;
  const isOther = account !== undefined && !isOfAccount(txn, account);
  const difference =
    (isOther ? different('the account', txn.accountId, account) : undefined) ??
    misreadDifference(order, txn) ??
    firstDifference([
      ...sideFields('source', sourceReq, txn.sourceReq),
      ...sideFields('destination', destReq, txn.destReq),
    ]) ??
    detailDifference(sourceReq, txn.sourceReq, txn) ??
    detailDifference(destReq, txn.destReq, txn) ??
    amountDifference(order, txn) ??
    firstDifference(deductionFields(order, txn));
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

/**
 * Whether a transaction belongs to the account. The service's list of transactions may include the
 * transactions of subaccounts.
 */
export const isOfAccount = (
  { accountId }: Pick<Transaction, 'accountId'>,
  account: string,
): boolean => accountId == null || accountId === account;

/** A field of a response, with the value that the order requires. */
type Field = readonly [name: string, got: unknown, wanted: unknown];

function firstDifference(
  fields: readonly Field[],
  isSame: (got: unknown, wanted: unknown) => boolean = Object.is,
): string | undefined {
  const found = fields.find(([, got, wanted]) => !isSame(got, wanted));
  return found && different(...found);
}

function sideFields(name: string, asked: AskedSide, given: RequestSide): Field[] {
  const amount = givenFromWire(given.amtRequested);
  const { ccy, method, amtRequested, kyc } = asked;
  return [
    [`the ${name} currency`, given.ccy, ccy],
    [`the ${name} method`, given.method, method],
    ...(amtRequested === undefined
      ? []
      : [[`the ${name} amount`, amount && fixed(amount), fixed(new Big(amtRequested))] as const]),
    ...(kyc === undefined ? [] : kycFields(kyc, given)),
  ];
}

/** The payer or the payee, of which a response may omit parts. */
function kycFields({ type, details }: Kyc, { kyc }: RequestSide): Field[] {
  const got: Fields = kyc?.details ?? {};
  const fields: Field[] = [
    ['kyc type', kyc?.type?.toLowerCase(), type],
    ...Object.entries(details).map(([name, wanted]) => [`kyc ${name}`, got[name], wanted] as const),
  ];
  return fields.filter(([, each]) => each != null);
}

const deductionFields = ({ body }: Order, txn: Transaction): Field[] =>
  deductions.flatMap((field): Field[] =>
    txn[field] == null ? [] : [[field, txn[field], body[field] ?? false]],
  );

/** The names under which services return an account number. */
const otherNames: Readonly<Record<string, readonly string[]>> = {
  acctNum: ['bankAcctNum', 'accountNumber'],
  bankAcctNum: ['acctNum', 'accountNumber'],
  accountNumber: ['acctNum', 'bankAcctNum'],
};

const lnurlNames = ['address', 'lnurlAddress', 'lnurl'];

/**
 * Describes the first detail that differs from the order, or a destination that the order does not
 * request. A service may add the invoice to an LNURL payment after the confirmation.
 */
function detailDifference(
  { method, reqDetails = {} }: AskedSide,
  given: RequestSide,
  { txnState }: Transaction,
): string | undefined {
  const asked: Fields = reqDetails;
  const answered: Fields = given.reqDetails ?? {};
  const isLnurl = method === 'lnurl';
  const details = isLnurl ? { address: asked['address'] } : asked;
  const fields = Object.entries(details).flatMap(([field, wanted]): Field[] => {
    const names = isLnurl ? lnurlNames : [field, ...(otherNames[field] ?? [])];
    const echoed = names.filter((name) => answered[name] != null);
    // The response may omit the institution's name, because the institution's code determines the
    // recipient. A different home may have created the transaction without the institution's name.
    const isOptional = isLnurl ? echoed.length > 0 : field === 'institutionName';
    const compared = new Set(isOptional ? echoed : [field, ...echoed]);
    return [...compared].map((name) => [name, answered[name], wanted]);
  });
  const isAsked = (field: string): boolean =>
    [field, ...(otherNames[field] ?? [])].some((each) => asked[each] !== undefined);
  const isResolved = (field: string): boolean =>
    isLnurl && (field.startsWith('lnurl') || (field === 'paymentRequest' && !isQuoted(txnState)));
  const extra = targets.find(
    (each) =>
      answered[each] != null && answered[each] !== '' && !isAsked(each) && !isResolved(each),
  );
  return (
    firstDifference(fields, isLnurl ? sameTarget : sameText) ??
    (extra && `${extra} was not requested but is ${shown(answered[extra])}`)
  );
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

/** Whether two Lightning Addresses or LNURLs lead to the same address. */
const sameTarget = (got: unknown, wanted: unknown): boolean => targetOf(got) === targetOf(wanted);

const targetOf = (value: unknown): unknown =>
  typeof value === 'string' ? lnurlTarget(value) : value;

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
