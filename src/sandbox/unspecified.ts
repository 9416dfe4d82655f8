// The sandbox's choices for everything that the specification leaves open ("not shown"). Where the
// specification is silent, the sandbox chooses the simplest behaviour.
import { STATUS_CODES } from 'node:http';
import Big from 'big.js';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** The lifetimes of tokens and quotes, and the durations of payments, in milliseconds. */
export const durations = {
  /** The lifetime of an access token. The specification says "Token lifetime: not shown." */
  token: hour,
  /**
   * The lifetime of a quote. The specification does not state the lifetime of a quote, only that
   * `sourceReq.expiresAt` contains the expiry.
   */
  quote: minute,
  /**
   * The lifetime of a Lightning invoice, for which the specification says "Default typically 1
   * hour."
   */
  invoice: hour,
  /**
   * The lifetime of an address for an on-chain receive request, counted from the time at which the
   * client confirms the request.
   */
  address: hour,
  /**
   * The time from the client's confirmation of a Lightning send until the payment is in flight. A
   * Lightning payment in flight settles after another `lightningSettle` ms.
   */
  lightningStart: 200,
  lightningSettle: 800,
  /**
   * The time from the client's confirmation of a blockchain send until the broadcast of its
   * transfer.
   */
  broadcast: 2 * second,
  /**
   * The time from the client's confirmation of a payout until the bank or mobile-money service
   * receives the payment.
   */
  payoutStart: 5 * second,
  /**
   * The time from the start of a payout until its arrival. The value `payoutInstant` stands for the
   * specification's "within minutes", and `payoutStandard` for "1 to 3 business days".
   */
  payoutInstant: 2 * minute,
  payoutStandard: day,
  /** The time from the creation of an invoice until the automatic payer pays the invoice. */
  autoPay: 3 * second,
} as const;

/** The time between two confirmations on each chain. */
export const blockTimes = {
  bitcoin: 10 * minute,
  tron: 3 * second,
  ethereum: 2.5 * minute,
} as const;

/**
 * The number of confirmations that an incoming or outgoing transfer needs: 1 on TRON ("about 3 s"),
 * 6 on Ethereum ("about 15 min"), and 1 to 6 on Bitcoin, depending on the amount.
 */
export function confirmationsNeeded(chain: keyof typeof blockTimes, amount: Big): number {
  if (chain !== 'bitcoin') return chain === 'tron' ? 1 : 6;
  if (amount.lt('0.01')) return 1;
  return amount.lt('0.1') ? 3 : 6;
}

/**
 * The names of the confirmation fields in `reqDetails`. The blockchain side of a transaction has
 * the confirmation fields after the broadcast.
 */
export const confirmationFields = {
  seen: 'confirmations',
  needed: 'requiredConfirmations',
} as const;

/**
 * The timing of webhook deliveries, which the specification does not show. Every state change of a
 * transaction causes a delivery, including the creation of its quote. If the receiver's response is
 * not a 2xx or comes too late, the service repeats the delivery after the pauses in `retries`.
 */
export const deliveries = {
  /** The time in which the receiver must respond to a delivery, by the machine's clock. */
  timeout: 10 * second,
  /**
   * The pause before each retry of a delivery in ms, by the service's clock, so that advancing the
   * clock causes the retries.
   */
  retries: [5 * second, 30 * second, 2 * minute, 10 * minute, hour, 6 * hour, day],
  /** The delay of an event that a fault delivers out of order. */
  heldBack: 10 * second,
} as const;

/**
 * The lengths of the periods that the `time` parameter of the transaction list accepts. The
 * specification gives the names of the periods, and the sandbox chooses the number of days in a
 * month and a year.
 */
export const timeWindows: ReadonlyMap<string, number> = new Map([
  ['1d', day],
  ['7d', 7 * day],
  ['30d', 30 * day],
  ['3m', 90 * day],
  ['6m', 180 * day],
  ['1y', 365 * day],
]);

/**
 * The largest page size, which the specification does not show. The service reduces a larger
 * `limit` to the largest page size, and reports this size in `pagination.limit`.
 */
export const maxPageSize = 100;

/**
 * Reads the values of a query parameter that accepts several values. The specification does not
 * show how to separate several values of a parameter, so `listValues` accepts commas and repeated
 * parameters, including parameter names with brackets.
 */
export function listValues(query: URLSearchParams, name: string): string[] {
  const values = [...query.getAll(name), ...query.getAll(`${name}[]`)];
  return values
    .flatMap((value) => value.split(','))
    .map((value) => value.trim())
    .filter((value) => value !== '');
}

/** The longest body that the service reads, in bytes. */
export const maxBodyLength = 256 * 1024;
export const maxTextLength = { extRefId: 255, note: 1000, callback: 2048, secret: 1000 } as const;

/**
 * The maximum amount of a transaction, in the smallest unit of the currency. The specification does
 * not limit amounts, but larger amounts could make sums inexact.
 */
export const maxAmountUnits = 1e13;

/** The service fee of each kind of transaction, as a fraction of the source amount. */
const serviceFee = { receive: '0', send: '0.002', swap: '0.0025', payout: '0.005' } as const;
const lightningNetworkFee = '0.0005';

/**
 * The network fees that do not depend on the amount: in BTC for a Bitcoin transaction, in USDT for
 * a TRON transaction.
 */
export const chainNetworkFee = { bitcoin: new Big('0.000003'), tron: new Big(1) } as const;

/** The service fee in the source currency, rounded up to the currency's smallest unit. */
export function serviceFeeOf(kind: keyof typeof serviceFee, amount: Big, decimals: number): Big {
  return amount.times(serviceFee[kind]).round(decimals, Big.roundUp);
}

/**
 * The network fee of a Lightning payment in the source currency, rounded up to the currency's
 * smallest unit.
 */
export function lightningNetworkFeeOf(amount: Big, decimals: number): Big {
  return amount.times(lightningNetworkFee).round(decimals, Big.roundUp);
}

/**
 * The name of the flag that deducts the network fee. The specification names only the flag that
 * deducts both fees, not the flags for the network fee and for the service fee (see `WireNames`).
 */
export const networkFeeDeduction = 'deductNetworkFees';

/**
 * The reason why a payment to an address fails, or undefined if the address is reachable. An
 * address or account number is unreachable if it consists of zeroes (after the country code of a
 * mobile number). The argument `hash` is the hash of the address in hex, of which only the first 20
 * bytes count.
 */
export const refusalOfAddress = (hash: string): string | undefined =>
  /^0{40}/.test(hash) ? 'the network refused the transfer' : undefined;

export const refusalOfAccount = (number: string): string | undefined =>
  /^0+$/.test(number) ? 'the recipient account does not exist' : undefined;

/** No route leads to a Lightning invoice with the description `no route`. */
export const refusalOfInvoice = (description: string | null): string | undefined =>
  description === 'no route' ? 'no route' : undefined;

/** No route leads to the Lightning user `no-route`. */
export const refusalOfLnurlUser = (user: string): string | undefined =>
  user === 'no-route' ? 'no route' : undefined;

/** The limits of an LNURL-pay request, in millisatoshis. */
export const lnurlSendable = { min: 1_000, max: 100_000_000_000 } as const;

/**
 * The user name of the Lightning Address or LNURL that never resolves. All external user names
 * except `nobody` resolve.
 */
export const unknownLnurlUser = 'nobody';

/** The number of units of each currency for one US dollar, as round numbers. */
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

/**
 * The base currencies of `GET /rate`, which returns the rate of each base against every currency.
 */
export const rateBases: readonly string[] = ['BTC', 'USDT'];

/** Currencies that have rates but no wallets, each with its units per US dollar. */
export const foreignUnitsPerDollar: Readonly<Record<string, string>> = { USDC: '1' };

/**
 * The last segment of the cancellation path. The response to `PUT /transaction/{txnId}/cancel` has
 * the same format as the response to a confirmation.
 */
export const cancelSuffix = 'cancel';

/** The response to a create request whose `extRefId` is already used. */
export const duplicateExtRefId = {
  status: 400,
  error: 'bad request',
  message: 'extRefId has already been used',
} as const;
export const insufficientBalance = { status: 400, error: 'insufficient balance' } as const;

/**
 * Returns the HTTP reason phrase as the error text, for statuses whose body the specification does
 * not show. The service answers an unknown path or method with 404, and a body that is too long or
 * not JSON with 400.
 */
export const otherError = (status: number): string =>
  (STATUS_CODES[status] ?? 'unknown').toLowerCase();

/**
 * The response to a token request whose signature was already used for an earlier token request.
 * The `error` text for a reused signature is the same as for a wrong signature, and the `message`
 * text says that the signature was reused.
 */
export const reusedSignature = {
  error: 'invalid api signature',
  message:
    'this signature was used before. Sign a different body, or start the sandbox with ' +
    '--allow-signature-reuse',
} as const;

/** Returns `errorMetadata.params` of code 2005, with the field names of live services. */
export function finalStateParams(txnId: string, txnState: string): Record<string, string> {
  return { State: txnState, TxnID: txnId };
}

/**
 * Returns `reqStatus`. The specification shows only 0 for pending and 2 for completed, so
 * `reqStatus` stays 0 for failed transactions.
 */
export const reqStatusOf = (txnState: string): string => (txnState === 'completed' ? '2' : '0');

/** The fields that a list item, with its "reduced sourceReq and destReq", omits from both sides. */
export const omittedInLists: ReadonlySet<string> = new Set([
  'reqDetails',
  'kyc',
  'expiresAt',
  'createAt',
  'updatedAt',
]);

/**
 * Returns an account record, with fields that appear in other responses of the specification and in
 * live services.
 */
export function accountRecord(account: {
  id: string;
  displayName: string;
  parentId: string | null;
  createdAt: number;
}) {
  return {
    accountId: account.id,
    accountDisplayName: account.displayName,
    displayName: account.displayName,
    status: 'ACTIVE',
    country: 'CA',
    extId: `sandbox-${account.id}`,
    parentAccountId: account.parentId,
    createdAt: new Date(account.createdAt).toISOString(),
  };
}

/** The age of the transactions that create the first balances of a new sandbox. */
export const demoAge = 60 * day;
export const demoBalances: Readonly<Record<string, string>> = {
  BTC: '1',
  USDT: '10000',
  USD: '5000',
  CAD: '5000',
  VND: '50000000',
};
