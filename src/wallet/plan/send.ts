// Plans a send from destination, amount and flags, for every command that sends.
import type { BitcoinAddress } from '../../formats/address/bitcoin-address.js';
import type { Rates } from '../../api/types.js';
import {
  btcFromMsat,
  currencyOf,
  fixed,
  formatAmount,
  money,
  parseAmount,
  type Money,
} from '../../formats/amount.js';
import type { Invoice } from '../../formats/bolt11/decode.js';
import {
  detectDestination,
  type Bip21Destination,
  type Destination,
} from '../../formats/destination.js';
import { Failure } from '../../formats/failure.js';
import { railProperties, railTo, type Rail } from '../../formats/rails.js';
import type { Network } from '../../store/profile/profiles.js';
import { inBtc, isForeign, type RequestedAmount } from '../receive/asked.js';
import { isAll } from './spend-all.js';
import {
  decodeOrder,
  deducting,
  lightningOrder,
  lnurlOrder,
  onchainOrder,
  usdtOrder,
  usdtSpendOrder,
  type Order,
} from '../order/orders.js';
import {
  checkBitcoinAddress,
  checkInvoice,
  checkOnchainAmount,
  checkTronAddress,
  isOnNetwork,
} from './destinations.js';
import Big from 'big.js';
import type { Payment } from '../../store/journal/payment.js';

/** The rails that a `bitcoin:` URI can offer. */
export const uriRails = ['lightning', 'onchain'] as const;
export type UriRail = (typeof uriRails)[number];

/** The payment that a person requests, as the text of arguments and flags. */
export interface SendWords {
  /** The rail that the person names, or undefined if svcpay should detect the rail. */
  readonly rail?: Rail | undefined;
  readonly to?: string | undefined;
  /**
   * The amount that arrives, or the amount to debit if the destination is a Lightning Address or an
   * LNURL.
   */
  readonly amount?: string | undefined;
  /** The amount to debit, if the person specifies the debit instead of the amount that arrives. */
  readonly spend?: string | undefined;
  /** The wallet that pays, or undefined for the default wallet of the rail. */
  readonly from?: string | undefined;
  readonly via?: UriRail | undefined;
  readonly deductFees?: boolean | undefined;
}

/** The payable destination, which svcpay extracts from a URI if necessary. */
export type Payable = Exclude<Destination, { kind: 'bip21' | 'evm-address' }>;

export interface SendPlan {
  readonly order: Order;
  readonly pays: Payable;
  /** The label and message of the `bitcoin:` URI. */
  readonly uriTexts: readonly string[];
  /** The requested amount before its conversion to bitcoin. */
  readonly worth?: RequestedAmount['worth'];
  /**
   * Whether the payment settles only after hours or days, so that svcpay waits for the settlement
   * only on request.
   */
  readonly slow: boolean;
}

/** The answer that svcpay still needs from the person to plan the payment. */
export type Missing = 'destination' | 'way' | 'amount';

export type Planned =
  | { readonly missing?: undefined; readonly plan: SendPlan }
  | {
      readonly missing: Missing;
      /** The currency of the missing amount, or undefined if any wallet may pay. */
      readonly ccy?: string | undefined;
    }
  /** The wallet whose balance svcpay must read, because the amount is `all`. */
  | { readonly missing: 'balance'; readonly ccy: string };

export interface PlanEnvironment {
  readonly network: Network;
  /** The current time in epoch ms. */
  readonly now: number;
  /** The rates for converting an amount in a different currency to bitcoin. */
  readonly rates?: Rates | undefined;
  /** The balance of the paying wallet, for the amount `all`. */
  readonly held?: Money | undefined;
}

/** Plans a payment. Throws Failure `usage` for an invalid or impossible payment. */
export function planSend(words: SendWords, environment: PlanEnvironment): Planned {
  if (words.to === undefined) return { missing: 'destination' };
  const found = detectDestination(words.to);
  if (found.kind === 'bip21') return planUri(found.value, words, environment);
  if (words.via !== undefined)
    throw refused('only a bitcoin: URI lets you choose between Lightning and on-chain.');
  return planFound(found, words, environment);
}

/**
 * Plans a payment without prompts. Throws Failure `usage` if the plan needs an answer from the
 * person. If a `bitcoin:` URI offers two rails, svcpay uses Lightning.
 */
export function planSendNow(words: SendWords, environment: PlanEnvironment): SendPlan {
  const planned = planSend(words, environment);
  if (planned.missing === undefined) return planned.plan;
  if (planned.missing === 'way') return planSendNow({ ...words, via: 'lightning' }, environment);
  throw missingFailure(planned);
}

function missingFailure({
  missing,
  ccy = 'BTC',
}: Exclude<Planned, { missing?: undefined }>): Failure {
  if (missing === 'balance')
    return refused('"all" is not allowed here. Write an amount with its unit.');
  if (missing === 'destination') return refused('the destination is missing.');
  if (missing === 'way')
    return refused('the URI can be paid in two ways. Choose lightning or onchain.');
  const example = ccy === 'BTC' ? '50000sat' : `25${ccy.toLowerCase()}`;
  return refused(`the amount is missing. Add an amount after the destination, such as ${example}.`);
}

const names: Readonly<Record<Destination['kind'], string>> = {
  bolt11: 'a Lightning invoice',
  'bitcoin-address': 'a Bitcoin address',
  'tron-address': 'a TRON address',
  'evm-address': 'an Ethereum address',
  lnurl: 'an LNURL',
  'lightning-address': 'a Lightning Address',
  bip21: 'a bitcoin: URI',
};

type Found = Exclude<Destination, { kind: 'bip21' }>;

function planFound(found: Found, words: SendWords, environment: PlanEnvironment): Planned {
  const { rail } = words;
  if (rail !== undefined && !railProperties(rail).paysTo.includes(found.kind))
    throw otherDestination(found, rail);
  switch (found.kind) {
    case 'bolt11':
      return planInvoice(found, words, environment);
    case 'lnurl':
    case 'lightning-address':
      return planLnurl(found, words, environment);
    case 'bitcoin-address':
      return planOnchain(found, words, environment);
    case 'tron-address':
      return planUsdt(found, words, environment);
    case 'evm-address':
      throw notYetAvailable();
  }
}

const otherDestination = (found: Destination, rail: Rail): Failure =>
  refused(
    `this is ${names[found.kind]}, but send ${rail} requires ${railProperties(rail).destination}.`,
    `Omit "${rail}", and svcpay detects the kind of payment from the destination.`,
  );

/** Plans the payment of an invoice, which fixes the amount (endpoint 6, rule 2). */
function planInvoice(
  pays: Payable & { kind: 'bolt11' },
  words: SendWords,
  { network }: PlanEnvironment,
): Planned {
  const invoice = pays.value;
  checkInvoice(invoice, network);
  if (words.deductFees === true)
    throw refused('an invoice fixes the amount received, so fees cannot be deducted from it.');
  if (words.spend !== undefined)
    throw refused('an invoice fixes the amount received, so you cannot fix the amount debited.');
  if (invoice.amountMsat !== null)
    checkSameAmount(words.amount, money('BTC', btcFromMsat(invoice.amountMsat)), 'this invoice');
  return planned({ order: lightningOrder(invoice, words.from ?? 'BTC'), pays });
}

/**
 * Plans a payment to an LNURL. The requested amount is the amount to debit (endpoint 6, rule 3), so
 * without `from`, the currency of this amount decides which wallet pays.
 */
function planLnurl(
  pays: Payable & { kind: 'lnurl' | 'lightning-address' },
  words: SendWords,
  environment: PlanEnvironment,
): Planned {
  const { from, deductFees } = words;
  if (words.amount !== undefined && words.spend !== undefined) throw twoAmounts();
  const given = words.amount ?? words.spend;
  if (given === undefined) return { missing: 'amount', ccy: from };
  if (isAll(given))
    return planAll(from ?? 'BTC', pays, environment, (held) => lnurlOrder(pays.text, held));
  const { amount, worth } = readIn(given, from ?? currencyOf(given) ?? 'BTC', environment);
  return planned({ order: lessFees(lnurlOrder(pays.text, amount), deductFees), pays, worth });
}

/** Plans an on-chain payment by the amount that arrives (endpoint 6, rule 5). */
function planOnchain(
  pays: Payable & { kind: 'bitcoin-address' },
  words: SendWords,
  environment: PlanEnvironment,
): Planned {
  const { amount, from = 'BTC', deductFees } = words;
  checkBitcoinAddress(pays.value, environment.network);
  if (words.spend !== undefined)
    throw refused('an on-chain payment requires the amount received, not the amount debited.');
  if (amount === undefined) return { missing: 'amount', ccy: 'BTC' };
  if (isAll(amount)) {
    if (from !== 'BTC') throw notAllOf(from);
    return planAll(from, pays, environment, (held) => {
      checkOnchainAmount(held);
      return onchainOrder(pays.value.address, held, from);
    });
  }
  const { amount: sent, worth } = readIn(amount, 'BTC', environment);
  checkOnchainAmount(sent);
  return planned({
    order: lessFees(onchainOrder(pays.value.address, sent, from), deductFees),
    pays,
    worth,
  });
}

/** Plans a payment of the whole balance, from which the fees are deducted. */
function planAll(
  ccy: string,
  pays: Payable,
  { held }: PlanEnvironment,
  orderOf: (held: Money) => Order,
): Planned {
  return held?.ccy === ccy
    ? planned({ order: deducting(orderOf(held)), pays })
    : { missing: 'balance', ccy };
}

const notAllOf = (ccy: string): Failure =>
  refused(
    `an on-chain payment states its amount in BTC, so it cannot send all of your ${ccy}.`,
    `Swap your ${ccy} to BTC first.`,
  );

const readIn = (text: string, ccy: string, { rates }: PlanEnvironment): RequestedAmount =>
  rates !== undefined && ccy === 'BTC' && isForeign(text)
    ? inBtc(text, rates)
    : { amount: parseAmount(text, ccy) };

/**
 * Plans a USDT payment by the USDT amount that arrives. If the person fixes the debit with `spend`,
 * any wallet can pay.
 */
function planUsdt(
  pays: Payable & { kind: 'tron-address' },
  words: SendWords,
  environment: PlanEnvironment,
): Planned {
  const { amount, spend, from, deductFees } = words;
  const { address } = pays.value;
  checkTronAddress(address);
  if (amount !== undefined && spend !== undefined) throw twoAmounts();
  if (amount === undefined && spend === undefined) return { missing: 'amount', ccy: 'USDT' };
  if (isAll(amount))
    return planAll(from ?? 'USDT', pays, environment, (held) => usdtSpendOrder(address, held));
  const order =
    spend === undefined
      ? usdtOrder(address, usdtAmount(amount ?? ''), from ?? 'USDT')
      : usdtSpendOrder(address, parseAmount(spend, from ?? currencyOf(spend)));
  return planned({ order: lessFees(order, deductFees), pays });
}

/**
 * Reads a USDT amount. For an amount in a currency other than USDT, the hint of the failure
 * suggests specifying the amount to debit.
 */
function usdtAmount(text: string): Money {
  try {
    return parseAmount(text, 'USDT');
  } catch (error) {
    const ccy = currencyOf(text);
    if (!(error instanceof Failure) || ccy === undefined || ccy === 'USDT') throw error;
    throw new Failure('usage', error.message, {
      hint: `To debit exactly ${text}, give ${text} as the amount to spend.`,
    });
  }
}

/** Plans a payment to a `bitcoin:` URI, on a rail that the flags allow. */
function planUri(uri: Bip21Destination, words: SendWords, environment: PlanEnvironment): Planned {
  const { bitcoin, invoice } = uri;
  const { rail, via } = words;
  if (rail === 'lnurl' || rail === 'usdt')
    throw otherDestination({ kind: 'bip21', text: '', value: uri }, rail);
  if (rail !== undefined && via !== undefined && rail !== via)
    throw refused(`send ${rail} cannot pay ${via === 'onchain' ? 'on-chain' : 'over Lightning'}.`);
  const way = via ?? rail ?? onlyWay(bitcoin, invoice, words, environment);
  if (way === undefined) return { missing: 'way' };
  const rest = { ...words, to: undefined, via: undefined };
  if (way === 'lightning') {
    if (invoice === null) throw refused('this bitcoin: URI has no Lightning invoice.');
    const found = { kind: 'bolt11', text: invoice.invoice, value: invoice } as const;
    return withUriTexts(uri, withAddress(bitcoin, planInvoice(found, rest, environment)));
  }
  if (bitcoin === null) throw refused('this bitcoin: URI has no address.');
  return withUriTexts(
    uri,
    withInvoiceKey(invoice, planUriOnchain(bitcoin, uri, rest, environment)),
  );
}

function planUriOnchain(
  bitcoin: BitcoinAddress,
  uri: Bip21Destination,
  words: SendWords,
  environment: PlanEnvironment,
): Planned {
  const pays = { kind: 'bitcoin-address', text: bitcoin.address, value: bitcoin } as const;
  if (uri.amount === undefined) return planOnchain(pays, words, environment);
  const named = money('BTC', uri.amount);
  checkSameAmount(words.amount, named, 'this bitcoin: URI');
  return planOnchain(pays, { ...words, amount: formatAmount(named) }, environment);
}

/**
 * Finds the only possible rail of a `bitcoin:` URI, or returns undefined if both rails are
 * possible. The service pays only invoices that have an amount.
 */
function onlyWay(
  bitcoin: BitcoinAddress | null,
  invoice: Invoice | null,
  { deductFees }: SendWords,
  { network, now }: PlanEnvironment,
): UriRail | undefined {
  if (bitcoin === null) return 'lightning';
  const isPayable =
    invoice !== null &&
    invoice.amountMsat !== null &&
    invoice.expiresAt > now &&
    isOnNetwork(invoice.network, network);
  return isPayable && deductFees !== true ? undefined : 'onchain';
}

/**
 * Adds the address of the `bitcoin:` URI to the order for the URI's invoice. svcpay then treats a
 * payment to the address and a payment of the invoice as the same payment.
 */
function withAddress(bitcoin: BitcoinAddress | null, planned: Planned): Planned {
  if (planned.missing !== undefined || bitcoin === null) return planned;
  const { plan } = planned;
  return { plan: { ...plan, order: { ...plan.order, alsoPays: bitcoin.address } } };
}

/**
 * Gives an on-chain order the idempotency key of the URI's invoice, so that svcpay pays either the
 * address or the invoice, but not both.
 */
function withInvoiceKey(invoice: Invoice | null, planned: Planned): Planned {
  if (planned.missing !== undefined || invoice === null) return planned;
  const { plan } = planned;
  return {
    plan: {
      ...plan,
      order: { ...plan.order, idempotencyKey: lightningOrder(invoice, 'BTC').idempotencyKey },
    },
  };
}

function withUriTexts({ label, message }: Bip21Destination, planned: Planned): Planned {
  if (planned.missing !== undefined) return planned;
  return {
    plan: { ...planned.plan, uriTexts: [label, message].flatMap((text) => (text ? [text] : [])) },
  };
}

const planned = (plan: Pick<SendPlan, 'order' | 'pays'> & Partial<SendPlan>): Planned => ({
  plan: { uriTexts: [], slow: railTo(plan.pays.kind)?.isSlow === true, ...plan },
});

const lessFees = (order: Order, deductFees: boolean | undefined): Order =>
  deductFees === true ? deducting(order) : order;

/** Throws Failure `usage` if the given amount differs from the destination's amount. */
function checkSameAmount(given: string | undefined, named: Money, where: string): void {
  if (given === undefined) return;
  if (!isAll(given) && parseAmount(given, named.ccy).value.eq(named.value)) return;
  throw refused(
    `${where} is for ${formatAmount(named)}, not for ${given}.`,
    'Omit the amount, or ask the recipient for a new request.',
  );
}

const twoAmounts = (): Failure =>
  refused('give either the amount received or the amount debited, not both.');

/** The refusal of USDT on Ethereum, which the service does not offer yet (specification: eth). */
export const notYetAvailable = (): Failure =>
  refused(
    'the service has announced USDT on Ethereum, but does not offer it yet.',
    'Ask the recipient for a TRON address, which begins with T.',
  );

const refused = (why: string, hint?: string): Failure =>
  new Failure('usage', `Not sent: ${why}`, { hint });

/** Whether the amount is converted to bitcoin, which needs the service's rates. */
export const isConverted = ({ amount, from }: Pick<SendWords, 'amount' | 'from'>): boolean =>
  from === 'BTC' && amount !== undefined && isForeign(amount);

/**
 * The amount of an earlier payment in bitcoin, or undefined if the payment was in a different
 * currency.
 */
export function submittedAmount({ request }: Payment): string | undefined {
  const { sourceReq, destReq } = decodeOrder(request).body;
  const side = sourceReq.amtRequested === undefined ? destReq : sourceReq;
  return side.ccy === 'BTC' && side.amtRequested !== undefined
    ? `${fixed(new Big(side.amtRequested))}btc`
    : undefined;
}
