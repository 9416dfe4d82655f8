// Every behaviour that the specification leaves open ("not shown"), decided here and nowhere else: the plain thing.
import { STATUS_CODES } from 'node:http';
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
  /** Address of an on-chain receive, from its confirmation by the user. */
  address: hour,
  /** From the confirmation of a Lightning send until the payment is in flight, and from there until it settles. */
  lightningStart: 200,
  lightningSettle: 800,
  /** From the confirmation of a blockchain send until it is broadcast. */
  broadcast: 2 * second,
  /** From the confirmation of a fiat payout until it is handed to the bank or the mobile-money service. */
  payoutStart: 5 * second,
  /** From there until it has arrived: "within minutes", and "1 to 3 business days", where every day counts as one. */
  payoutInstant: 2 * minute,
  payoutStandard: day,
  /** The automatic payer, counted from the creation of an invoice. */
  autoPay: 3 * second,
} as const;

/** From one confirmation to the next. */
export const blockTimes = { bitcoin: 10 * minute, tron: 3 * second, ethereum: 2.5 * minute } as const;

/**
 * How many confirmations a transfer needs, in or out. TRON 1 ("about 3 s"), Ethereum 6 ("about 15 min"), Bitcoin "typically
 * 1 to 6": the more is at stake, the more of them.
 */
export function confirmationsNeeded(chain: keyof typeof blockTimes, amount: Big): number {
  if (chain !== 'bitcoin') return chain === 'tron' ? 1 : 6;
  if (amount.lt('0.01')) return 1;
  return amount.lt('0.1') ? 3 : 6;
}

/** Names in `reqDetails` of the side that is on a chain, from its broadcast on: how many there are, how many it takes. */
export const confirmationFields = { seen: 'confirmations', needed: 'requiredConfirmations' } as const;

/**
 * "Which state changes trigger a delivery, and retry or time-out behaviour: not shown." Every one does, the quote too.
 * An answer other than 2xx, or none in time, is followed by further attempts, each so long after the one before.
 */
export const deliveries = {
  /** On the machine's clock, since it waits for a receiver outside. */
  timeout: 10 * second,
  /** On the service's clock, so that moving it brings the attempts about. */
  retries: [5 * second, 30 * second, 2 * minute, 10 * minute, hour, 6 * hour, day],
  /** Delay of an event that arrives out of order. */
  heldBack: 10 * second,
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

/** "Maximum page size: not shown." A larger limit is answered with this many, and `pagination.limit` says so. Newest first. */
export const maxPageSize = 100;

/**
 * "Separator for several values: not shown." Commas, and the parameter may be repeated, with brackets behind its name too.
 * Of a parameter that has one value the first counts.
 */
export function listValues(query: URLSearchParams, name: string): string[] {
  const values = [...query.getAll(name), ...query.getAll(`${name}[]`)];
  return values.flatMap((value) => value.split(',')).map((value) => value.trim()).filter((value) => value !== '');
}

/** Longest body that is read, in bytes, and the longest texts in it. */
export const maxBodyLength = 256 * 1024;
export const maxTextLength = { extRefId: 255, note: 1000, callback: 2048, secret: 1000 } as const;

/** "Maximum transaction amounts: not shown." Per currency's smallest unit, so that every sum stays an exact number. */
export const maxAmountUnits = 1e13;

/** Fees as fractions of the source amount; the receiver of a payment pays none. */
const serviceFee = { receive: '0', send: '0.002', swap: '0.0025', payout: '0.005' } as const;
const lightningNetworkFee = '0.0005';

/** The fee of a blockchain, independent of the amount: BTC for a Bitcoin transaction, USDT for one on TRON. */
export const chainNetworkFee = { bitcoin: new Big('0.000003'), tron: new Big(1) } as const;

/** The service's fee in the source currency, rounded up to its smallest unit. */
export function serviceFeeOf(kind: keyof typeof serviceFee, amount: Big, decimals: number): Big {
  return amount.times(serviceFee[kind]).round(decimals, Big.roundUp);
}

/** The routing fee of a Lightning payment in the source currency, rounded up to its smallest unit. */
export function lightningNetworkFeeOf(amount: Big, decimals: number): Big {
  return amount.times(lightningNetworkFee).round(decimals, Big.roundUp);
}

/**
 * "Two further booleans. Their names: not shown." The documented one takes both fees out of the sent amount, these one
 * each; the first carries the maker's name, as the field of that fee does: see `Maker`.
 */
export const networkFeeDeduction = 'deductNetworkFees';

/**
 * Sends that the world outside cannot deliver, by rule of their destination: an address or an account number of nothing
 * but zeroes (after the country code of a mobile number), a Lightning invoice described as "no route", a Lightning
 * Address or LNURL of the user `no-route`.
 */
const unreachable = {
  address: { state: 'failed', instead: 'start', msg: 'the network refused the transfer' },
  account: { state: 'failed', instead: 'settle', msg: 'the recipient account does not exist' },
  route: { state: 'failed', instead: 'settle', msg: 'no route' },
} as const;

type Fate = (typeof unreachable)[keyof typeof unreachable];

/** The hash inside an address (hex), of which the first 20 bytes of a longer one count. */
export const fateOfAddress = (hash: string): Fate | undefined => (/^0{40}/.test(hash) ? unreachable.address : undefined);

export const fateOfAccount = (number: string): Fate | undefined => (/^0+$/.test(number) ? unreachable.account : undefined);

export const fateOfInvoice = (description: string | null): Fate | undefined =>
  description === 'no route' ? unreachable.route : undefined;

export const fateOfLnurlUser = (user: string): Fate | undefined => (user === 'no-route' ? unreachable.route : undefined);

/** What an LNURL-pay payer may send to a user of the service, in millisatoshis. Users are named by their account id. */
export const lnurlSendable = { min: 1_000, max: 100_000_000_000 } as const;

/** The Lightning Address or LNURL of this user never resolves, on any domain. All other external ones do. */
export const unknownLnurlUser = 'nobody';

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

/** Currencies that rates are shown for and no wallet holds, for one US dollar: pairs of four-letter codes such as BTCUSDC. */
export const foreignUnitsPerDollar: Readonly<Record<string, string>> = { USDC: '1' };

/** Cancel operation: `PUT /transaction/{txnId}/cancel`, answered like a confirmation. */
export const cancelSuffix = 'cancel';

/** An `extRefId` that the account used before, and a send without the funds, are refused at the quote with status 400. */
export const duplicateExtRefId = {
  status: 400, error: 'bad request', message: 'extRefId has already been used',
} as const;
export const insufficientBalance = { status: 400, error: 'insufficient balance' } as const;

/**
 * Error texts of the statuses whose bodies are not shown: the words of HTTP. A path or a method that the interface does not
 * have is a 404, a content type other than JSON and a body that is too long are a 400.
 */
export const otherError = (status: number): string => (STATUS_CODES[status] ?? 'unknown').toLowerCase();

/** A used signature is answered like a wrong signature, with a text that names the cause. */
export const reusedSignature = {
  error: 'invalid api signature',
  message: 'this signature was used before: sign another body, or start the sandbox with --allow-signature-reuse',
} as const;

/** Names inside `errorMetadata.params` of code 2005, as seen of live services: "holds the state and transaction id". */
export function finalStateParams(txnId: string, txnState: string): Record<string, string> {
  return { State: txnState, TxnID: txnId };
}

/** "0 means pending, 2 completed. Other values: not shown." Whatever is not completed keeps the 0, also where it has failed. */
export const reqStatusOf = (txnState: string): string => (txnState === 'completed' ? '2' : '0');

/** Fields kept in the "reduced sourceReq and destReq" of a list item. */
export const reducedSideFields: ReadonlySet<string> = new Set([
  'ccy', 'method', 'amtRequested', 'amtSettled', 'servicepayFees', 'networkFees', 'reqStatus',
]);

/** Account record fields: those that the other answers use for accounts and wallets, and those seen of live services. */
export function accountRecord(account: { id: string; displayName: string; parentId: string | null; createdAt: number }) {
  return {
    accountId: account.id,
    accountDisplayName: account.displayName,
    displayName: account.displayName,
    status: 'ACTIVE',
    country: 'CA',
    /** The owner's own id for it. */
    extId: `sandbox-${account.id}`,
    parentAccountId: account.parentId,
    /** ISO 8601, as in a wallet. */
    createdAt: new Date(account.createdAt).toISOString(),
  };
}

/** Balances of a fresh sandbox's main account. */
export const demoBalances: Readonly<Record<string, string>> = {
  BTC: '1',
  USDT: '10000',
  USD: '5000',
  CAD: '5000',
  VND: '50000000',
};
