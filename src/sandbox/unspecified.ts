// Decides every behaviour that the specification leaves open ("not shown"), in the plainest way.
import { STATUS_CODES } from 'node:http';
import Big from 'big.js';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** Durations in milliseconds. */
export const durations = {
  /** Access token. "Token lifetime: not shown." */
  token: hour,
  /** Quote. "Quotes expire. The duration is in `sourceReq.expiresAt`." */
  quote: minute,
  /** Lightning invoice. "Default typically 1 hour." */
  invoice: hour,
  /** Address of an on-chain receive, counted from the user's confirmation. */
  address: hour,
  /** Lightning send: from the confirmation until in flight, and from there until settled. */
  lightningStart: 200,
  lightningSettle: 800,
  /** Blockchain send: from the confirmation until the broadcast. */
  broadcast: 2 * second,
  /** Payout: from the confirmation until the bank or mobile-money service has the payment. */
  payoutStart: 5 * second,
  /** From there until the payment arrives: "within minutes", and "1 to 3 business days". */
  payoutInstant: 2 * minute,
  payoutStandard: day,
  /** The automatic payer, counted from the creation of an invoice. */
  autoPay: 3 * second,
} as const;

/** Between confirmations. */
export const blockTimes = {
  bitcoin: 10 * minute,
  tron: 3 * second,
  ethereum: 2.5 * minute,
} as const;

/**
 * The number of confirmations that a transfer needs, in or out. TRON 1 ("about 3 s"), Ethereum 6
 * ("about 15 min"), Bitcoin "typically 1 to 6", growing with the amount.
 */
export function confirmationsNeeded(chain: keyof typeof blockTimes, amount: Big): number {
  if (chain !== 'bitcoin') return chain === 'tron' ? 1 : 6;
  if (amount.lt('0.01')) return 1;
  return amount.lt('0.1') ? 3 : 6;
}

/** Fields in `reqDetails` of the blockchain side, from the broadcast on. */
export const confirmationFields = {
  seen: 'confirmations',
  needed: 'requiredConfirmations',
} as const;

/**
 * "Which state changes trigger a delivery, and retry or time-out behaviour: not shown." All state
 * changes trigger a delivery, including the quote. After a response other than 2xx, or without a
 * response in time, the delivery is repeated after these pauses.
 */
export const deliveries = {
  /** By the machine's clock. */
  timeout: 10 * second,
  /** By the service's clock, so that advancing the clock triggers the retries. */
  retries: [5 * second, 30 * second, 2 * minute, 10 * minute, hour, 6 * hour, day],
  /** Delay of an event that arrives out of order. */
  heldBack: 10 * second,
} as const;

/**
 * Windows of the list's `time` parameter. The specification names them. Months and years count as
 * days.
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
 * "Maximum page size: not shown." Larger limits are reduced to this limit, and `pagination.limit`
 * reports it.
 */
export const maxPageSize = 100;

/**
 * "Separator for several values: not shown." Commas, or repeated parameters, also with brackets
 * after the name. If a parameter has only one value, the first counts.
 */
export function listValues(query: URLSearchParams, name: string): string[] {
  const values = [...query.getAll(name), ...query.getAll(`${name}[]`)];
  return values
    .flatMap((value) => value.split(','))
    .map((value) => value.trim())
    .filter((value) => value !== '');
}

/** The longest body that is read, in bytes, and the longest texts in it. */
export const maxBodyLength = 256 * 1024;
export const maxTextLength = { extRefId: 255, note: 1000, callback: 2048, secret: 1000 } as const;

/** "Maximum transaction amounts: not shown." In the smallest unit, so that sums stay exact. */
export const maxAmountUnits = 1e13;

/** Fractions of the source amount. */
const serviceFee = { receive: '0', send: '0.002', swap: '0.0025', payout: '0.005' } as const;
const lightningNetworkFee = '0.0005';

/** Network fees that do not depend on the amount: BTC for a Bitcoin transaction, USDT on TRON. */
export const chainNetworkFee = { bitcoin: new Big('0.000003'), tron: new Big(1) } as const;

/** The service fee in the source currency, rounded up to its smallest unit. */
export function serviceFeeOf(kind: keyof typeof serviceFee, amount: Big, decimals: number): Big {
  return amount.times(serviceFee[kind]).round(decimals, Big.roundUp);
}

/** The network fee in the source currency, rounded up to its smallest unit. */
export function lightningNetworkFeeOf(amount: Big, decimals: number): Big {
  return amount.times(lightningNetworkFee).round(decimals, Big.roundUp);
}

/**
 * "Two further booleans. Their names: not shown." The documented flag deducts both fees from the
 * sent amount. Each of these flags deducts one fee. The other flag contains the service name, see
 * `WireNames`.
 */
export const networkFeeDeduction = 'deductNetworkFees';

/**
 * Unreachable destinations: an address or account number of only zeroes (after the country code of
 * a mobile number), a Lightning invoice described as "no route", a Lightning Address or LNURL of
 * the user `no-route`.
 */
const unreachable = {
  address: { state: 'failed', instead: 'start', msg: 'the network refused the transfer' },
  account: { state: 'failed', instead: 'settle', msg: 'the recipient account does not exist' },
  route: { state: 'failed', instead: 'settle', msg: 'no route' },
} as const;

type UnreachableEnding = (typeof unreachable)[keyof typeof unreachable];

/** The ending for an address. `hash` is hex, and only its first 20 bytes count. */
export const endingOfAddress = (hash: string): UnreachableEnding | undefined =>
  /^0{40}/.test(hash) ? unreachable.address : undefined;

export const endingOfAccount = (number: string): UnreachableEnding | undefined =>
  /^0+$/.test(number) ? unreachable.account : undefined;

export const endingOfInvoice = (description: string | null): UnreachableEnding | undefined =>
  description === 'no route' ? unreachable.route : undefined;

export const endingOfLnurlUser = (user: string): UnreachableEnding | undefined =>
  user === 'no-route' ? unreachable.route : undefined;

/** Limits of LNURL-pay in millisatoshis. The user name is the account id. */
export const lnurlSendable = { min: 1_000, max: 100_000_000_000 } as const;

/** The Lightning Address or LNURL of this user never resolves. All other external ones resolve. */
export const unknownLnurlUser = 'nobody';

/** Units of each currency for one US dollar, as round numbers. */
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
 * Exchange rates operation: `GET /rate` answers `{ data: { BTCUSD: … } }`, these bases against
 * every currency.
 */
export const rateBases: readonly string[] = ['BTC', 'USDT'];

/** Currencies with rates but without wallets, for one US dollar. */
export const foreignUnitsPerDollar: Readonly<Record<string, string>> = { USDC: '1' };

/** `PUT /transaction/{txnId}/cancel` is answered like a confirmation. */
export const cancelSuffix = 'cancel';

/** A used `extRefId` and a send without funds are refused at the quote with status 400. */
export const duplicateExtRefId = {
  status: 400,
  error: 'bad request',
  message: 'extRefId has already been used',
} as const;
export const insufficientBalance = { status: 400, error: 'insufficient balance' } as const;

/**
 * Error texts of the statuses whose bodies the specification does not show: the words of HTTP. An
 * unknown path or method is a 404. A content type other than JSON, or a body that is too long, is a
 * 400.
 */
export const otherError = (status: number): string =>
  (STATUS_CODES[status] ?? 'unknown').toLowerCase();

/** The error of a used signature, which equals that of a wrong signature, with the cause. */
export const reusedSignature = {
  error: 'invalid api signature',
  message:
    'this signature was used before: sign another body, or start the sandbox with ' +
    '--allow-signature-reuse',
} as const;

/**
 * Names inside `errorMetadata.params` of code 2005, as live services use them: "holds the state and
 * transaction id".
 */
export function finalStateParams(txnId: string, txnState: string): Record<string, string> {
  return { State: txnState, TxnID: txnId };
}

/** "0 means pending, 2 completed. Other values: not shown." Failed transactions keep the 0. */
export const reqStatusOf = (txnState: string): string => (txnState === 'completed' ? '2' : '0');

/** Fields that stay in the "reduced sourceReq and destReq" of a list item. */
export const reducedSideFields: ReadonlySet<string> = new Set([
  'ccy',
  'method',
  'amtRequested',
  'amtSettled',
  'servicepayFees',
  'networkFees',
  'reqStatus',
]);

/**
 * The fields of an account record: those in other responses of the specification, and those of live
 * services.
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

/** The age of the transactions that bring a new sandbox's first balances. */
export const demoAge = 60 * day;
export const demoBalances: Readonly<Record<string, string>> = {
  BTC: '1',
  USDT: '10000',
  USD: '5000',
  CAD: '5000',
  VND: '50000000',
};
