// Every behaviour that the specification leaves open ("not shown"), decided here and nowhere else: the plain thing.
import Big from 'big.js';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** How long things last, in milliseconds. */
export const durations = {
  /** Access token. "Token lifetime: not shown." */
  token: hour,
  /** Quote. "Quotes expire. The duration is in `sourceReq.expiresAt`." */
  quote: minute,
  /** Lightning invoice. "Default typically 1 hour." */
  invoice: hour,
  /** From the confirmation of a Lightning send until the payment is in flight, and from there until it settles. */
  lightningStart: 200,
  lightningSettle: 800,
  /** The automatic payer, counted from the creation of an invoice. */
  autoPay: 3 * second,
} as const;

/** Windows of the list's `time` parameter. The specification names them; months and years are taken as days. */
export const timeWindows: ReadonlyMap<string, number> = new Map([
  ['1d', day],
  ['7d', 7 * day],
  ['30d', 30 * day],
  ['3m', 90 * day],
  ['6m', 180 * day],
  ['1y', 365 * day],
]);

/** "Maximum page size: not shown." A larger limit is answered with this many, and `pagination.limit` says so. */
export const maxPageSize = 100;

/** Separator of several values in a list filter: commas, and the parameter may be repeated. */
export function listValues(values: readonly string[]): string[] {
  return values.flatMap((value) => value.split(',')).map((value) => value.trim()).filter((value) => value !== '');
}

/** Longest texts taken. */
export const maxTextLength = { extRefId: 255, note: 1000 } as const;

/** "Maximum transaction amounts: not shown." Per currency's smallest unit, so that every sum stays an exact number. */
export const maxAmountUnits = 1e13;

/** Fees as fractions of the source amount; the receiver of a payment pays none. */
const serviceFee = { receive: '0', send: '0.002', swap: '0.0025' } as const;
const lightningNetworkFee = '0.0005';

/** The service's fee in the source currency, rounded up to its smallest unit. */
export function serviceFeeOf(kind: keyof typeof serviceFee, amount: Big, decimals: number): Big {
  return amount.times(serviceFee[kind]).round(decimals, Big.roundUp);
}

/** The routing fee of a Lightning payment in the source currency, rounded up to its smallest unit. */
export function lightningNetworkFeeOf(amount: Big, decimals: number): Big {
  return amount.times(lightningNetworkFee).round(decimals, Big.roundUp);
}

/** Units of each currency for one US dollar. Round numbers, so that a person can check a quote in the head. */
export const unitsPerDollar: Readonly<Record<string, string>> = {
  BTC: '0.00001',
  USDT: '1',
  USD: '1',
  CAD: '1.4',
  EUR: '0.9',
  GHS: '12',
  IDR: '16000',
  INR: '85',
  KES: '130',
  KRW: '1400',
  MYR: '4.4',
  NGN: '1500',
  PHP: '57',
  RWF: '1400',
  SGD: '1.3',
  THB: '33',
  TWD: '32',
  VND: '25000',
  XOF: '600',
};

/** Exchange rates operation: `GET /rate` answers `{ data: { BTCUSD: … } }`, these bases against every currency. */
export const rateBases: readonly string[] = ['BTC', 'USDT'];

/** Cancel operation: `PUT /transaction/{txnId}/cancel`, answered like a confirmation. */
export const cancelSuffix = 'cancel';

/** An `extRefId` that was used before, and a send without the funds, are refused at the quote with status 400. */
export const duplicateExtRefId = {
  status: 400, error: 'bad request', message: 'extRefId has already been used',
} as const;
export const insufficientBalance = { status: 400, error: 'insufficient balance' } as const;

/** A signature that was used before is answered as one that does not match. */
export const reusedSignature = 'invalid api signature';

/** Names inside `errorMetadata.params` of code 2005: "holds the state and transaction id". */
export function finalStateParams(txnId: string, txnState: string): Record<string, string> {
  return { txnId, txnState };
}

/** Fields kept in the "reduced sourceReq and destReq" of a list item. */
export const reducedSideFields: ReadonlySet<string> = new Set([
  'ccy', 'method', 'amtRequested', 'amtSettled', 'servicepayFees', 'networkFees', 'reqStatus',
]);

/** Account record fields: those that the other answers use for accounts and wallets. */
export interface AccountRecord {
  readonly accountId: string;
  readonly accountDisplayName: string;
  readonly parentAccountId: string | null;
  /** ISO 8601, as in a wallet. */
  readonly createdAt: string;
}

/** Balances of a fresh sandbox's main account. */
export const demoBalances: Readonly<Record<string, string>> = {
  BTC: '1',
  USDT: '10000',
  USD: '5000',
  CAD: '5000',
  VND: '50000000',
};
