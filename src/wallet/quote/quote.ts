// Calculates the cost of a quote from its order and the service's response, compares the cost with
// what was approved and with the service's rates, and refuses impossible amounts.
import Big from 'big.js';
import type { Transaction, Rates } from '../../api/types.js';
import {
  currencyOf,
  parseAmount,
  decimalsOf,
  fixed,
  formatAmount,
  givenFromWire,
  money,
  type Money,
  exchangeRate,
  fromWire,
} from '../../formats/amount.js';
import { Failure, unlessFailure, invalid } from '../../formats/failure.js';
import { beforeDeduction, notObeyed, type Order } from '../order/orders.js';
import { didYouMean } from '../../formats/text.js';
import type { PaymentTerms } from '../../store/journal/payment.js';

interface PairRate {
  readonly pair: string;
  readonly base: string | null;
  readonly quote: string | null;
  /** The price of one unit of `base`, in `quote`. */
  readonly rate: Big;
  /**
   * The service's own pair, such as `BTCUSD` for `USDBTC`, if svcpay inverted the rate of that
   * pair.
   */
  readonly from?: string;
}

/** The number of significant digits to which svcpay rounds an inverted rate. */
const significantDigits = 12;

export const allRates = (rates: Rates): PairRate[] =>
  Object.entries(rates).map(([pair, rate]) => ({ pair, ...sidesOf(pair), rate: fromWire(rate) }));

/**
 * Reads a pair such as `BTCUSD`, `btc/usd` or `BTC-USD`. Throws Failure `usage` for an invalid
 * pair, and `not-found` for a pair that has no rate.
 */
export function findRate(rates: Rates, given: string): PairRate {
  const pair = given.toUpperCase().replace(/[/\-_: ]/, '');
  const { base, quote } = sidesOf(pair);
  if (base === null || quote === null || base === quote) {
    throw invalid(`"${given}" is not a currency pair. Write a pair such as BTCUSD or BTC/USD.`);
  }
  const all = allRates(rates);
  const usable = (wanted: string) => all.find((each) => each.pair === wanted && each.rate.gt(0));
  const direct = usable(pair);
  if (direct !== undefined) return direct;
  const inverse = usable(quote + base);
  if (inverse === undefined) {
    const names = all.map((each) => each.pair);
    throw new Failure(
      'not-found',
      `The service has no rate for ${base} and ${quote}.${didYouMean(pair, names)}`,
      { next: { do: 'see-rates' } },
    );
  }
  return {
    pair,
    base,
    quote,
    rate: inverse.rate.pow(-1).prec(significantDigits),
    from: inverse.pair,
  };
}

/**
 * Splits a pair into its two currencies. The first currency of a pair has three letters, unless it
 * is USDC, USDT, EURC or EURT. The second currency of a pair may have three or four letters.
 */
function sidesOf(pair: string): { readonly base: string | null; readonly quote: string | null } {
  const [, base = null, quote = null] = /^((?:USD|EUR)[CT]|[A-Z]{3})([A-Z]{3,4})$/.exec(pair) ?? [];
  return { base, quote };
}

/** The amounts and costs of a payment, as the service quoted them. */
export interface Quote {
  readonly txnId: string;
  /** The amount debited from the wallet, including all fees. */
  readonly total: Money;
  readonly serviceFee: Money;
  readonly networkFee: Money;
  /**
   * Whether the service reports a fee, even a fee of zero. If the service reports no fee, the
   * service fee and the network fee count as zero.
   */
  readonly namesFees: boolean;
  /**
   * The amount that arrives, or undefined if neither the order nor the service states that amount.
   */
  readonly receives: Money | undefined;
  /**
   * The number of units of the destination currency for one unit of the source currency, or
   * undefined if both sides have the same currency.
   */
  readonly rate: Big | undefined;
  /**
   * Whether svcpay computed the amount of one side from the rate, because the service reported only
   * the amount of the other side.
   */
  readonly derived: boolean;
  /** The expiry of the quote in epoch ms, by the service's clock. */
  readonly expiresAt: number | undefined;
}

/**
 * Reads a quote. The total is the amount plus both fees, unless the service takes the fees out of
 * the received amount (endpoint 6). Throws Failure `refused` if the amounts are impossible or
 * inconsistent.
 */
export function readQuote(order: Order, answered: Transaction): Quote {
  const txn = beforeDeduction(order, answered);
  // The currency can come from the order, because `checkEcho` has already compared the response
  // with the order.
  const { ccy } = order.body.sourceReq;
  const toCcy = order.body.destReq.ccy;
  const { sourceReq } = txn;
  checkSigns(txn);
  const [serviceFee, networkFee] = reportedFees(txn);
  const fees = serviceFee.plus(networkFee);
  const rate = ccy === toCcy ? undefined : exchangeRate(txn);
  checkRate(order, txn, rate, fees);
  const { sent, gets, derived } = bothSides(order, txn, rate);
  const deducted = order.body.deductNetworkFeesFromDest === true;
  const deduction = deducted ? atRate(fees, toCcy, rate) : new Big(0);
  const arrives = gets?.minus(deduction);
  if (arrives?.lte(0)) {
    const all = formatAmount(money(ccy, fees));
    throw new Failure('limit', `the fees of ${all} would take the whole amount.`, {
      money: 'Nothing moved',
      hint: 'Send more, or pay the fees in addition to the amount.',
      txnId: txn.txnId,
    });
  }
  return {
    txnId: txn.txnId,
    total: money(ccy, deducted ? sent : sent.plus(fees)),
    serviceFee: money(ccy, serviceFee),
    networkFee: money(ccy, networkFee),
    namesFees: sourceReq.servicepayFees != null || sourceReq.networkFees != null,
    receives: arrives === undefined ? undefined : money(toCcy, arrives),
    rate,
    derived: derived || (rate !== undefined && deduction.gt(0)),
    expiresAt: sourceReq.expiresAt ?? undefined,
  };
}

const reportedFees = ({ sourceReq }: Transaction): [service: Big, network: Big] => [
  givenFromWire(sourceReq.servicepayFees) ?? new Big(0),
  givenFromWire(sourceReq.networkFees) ?? new Big(0),
];

/** Refuses a negative amount in a quote. */
function checkSigns({ txnId, fxRate, sourceReq, destReq }: Transaction): void {
  const figures = {
    servicepayFees: sourceReq.servicepayFees,
    networkFees: sourceReq.networkFees,
    'amount that leaves': sourceReq.amtRequested,
    'amount that arrives': destReq.amtRequested,
    fxRate,
  };
  for (const [name, value] of Object.entries(figures)) {
    const figure = givenFromWire(value);
    if (figure?.lt(0))
      throw notObeyed(`the ${name} is ${fixed(figure)}, which is impossible`, txnId);
  }
}

/** The rounding tolerance of a rate, as a fraction of the amount that arrives. */
const rateTolerance = new Big('0.01');

/**
 * Checks that the amounts agree with the rate. If both sides have the same currency, the rate must
 * be 1, 0 or missing.
 */
function checkRate(
  { body }: Order,
  { txnId, fxRate, sourceReq, destReq }: Transaction,
  rate: Big | undefined,
  fees: Big,
): void {
  const given = givenFromWire(fxRate);
  const { ccy } = body.sourceReq;
  const toCcy = body.destReq.ccy;
  if (ccy === toCcy) {
    if (given === undefined || given.eq(1) || given.eq(0)) return;
    throw notObeyed(`the rate from ${ccy} to ${toCcy} is ${fixed(given)}`, txnId);
  }
  if (given?.eq(0)) throw notObeyed(`the rate from ${ccy} to ${toCcy} is 0`, txnId);
  const [sent, gets] = [givenFromWire(sourceReq.amtRequested), givenFromWire(destReq.amtRequested)];
  if (rate === undefined || sent === undefined || gets === undefined) return;
  const rounding = unitOf(toCcy).plus(unitOf(ccy).times(rate));
  const tolerance = gets.times(rateTolerance).plus(rounding);
  // Accepts an amount with or without fees, because the specification does not define whether the
  // debited amount includes the fees.
  const agrees = [sent, sent.minus(fees), sent.plus(fees)].some((each) =>
    each.times(rate).minus(gets).abs().lte(tolerance),
  );
  if (!agrees)
    throw notObeyed(
      `${fixed(sent)} ${ccy} does not equal ${fixed(gets)} ${toCcy} at the rate ` +
        `${fixed(given ?? rate)}`,
      txnId,
    );
}

const unitOf = (ccy: string): Big => new Big(10).pow(-decimalsOf(ccy));

/**
 * Converts fees to the destination currency, rounded up, because the service reports fees in the
 * source currency.
 */
const atRate = (fees: Big, ccy: string, rate: Big | undefined): Big =>
  rate === undefined ? fees : fees.times(rate).round(decimalsOf(ccy), Big.roundUp);

function bothSides(order: Order, { sourceReq, destReq }: Transaction, rate: Big | undefined) {
  const { ccy, amtRequested: asked } = order.body.sourceReq;
  const toCcy = order.body.destReq.ccy;
  const sameCcy = ccy === toCcy;
  if (asked !== undefined) {
    const sent = new Big(asked);
    const named = givenFromWire(destReq.amtRequested) ?? (sameCcy ? sent : undefined);
    const gets = named ?? (rate === undefined ? undefined : roundDown(sent.times(rate), toCcy));
    return { sent, gets, derived: named === undefined };
  }
  const gets = order.receives?.value ?? givenFromWire(destReq.amtRequested);
  const named = sameCcy ? gets : givenFromWire(sourceReq.amtRequested);
  const sent =
    named ?? (rate?.gt(0) ? gets?.div(rate).round(decimalsOf(ccy), Big.roundUp) : undefined);
  if (sent === undefined) throw notObeyed('the amount debited is missing');
  return { sent, gets, derived: named === undefined };
}

const roundDown = (value: Big, ccy: string): Big => value.round(decimalsOf(ccy), Big.roundDown);

/** Whether a new quote costs more than the approved quote, or credits less. */
export function isWorse(
  quote: Quote,
  approved: { readonly total: Big; readonly receives: Big | undefined },
): boolean {
  const less =
    approved.receives !== undefined && (quote.receives?.value.lt(approved.receives) ?? true);
  return quote.total.value.gt(approved.total) || less;
}

/** The refusal of a quote whose cost exceeds what was approved. */
const overTerms = (reason: string, { txnId }: Quote, hint?: string): Failure =>
  new Failure('limit', `${reason}.`, { money: 'Nothing moved', hint, txnId });

/**
 * Throws Failure `limit` if the total or the fees of a quote exceed what was approved, or if the
 * service reports no fees to compare with the approved maximum.
 */
export function checkTerms({ maxTotal, maxFee }: PaymentTerms, quote: Quote): void {
  const { total, namesFees } = quote;
  if (maxTotal !== undefined && (total.ccy !== maxTotal.ccy || total.value.gt(maxTotal.amount))) {
    const highest = formatAmount(money(maxTotal.ccy, maxTotal.amount));
    const text = `the total is ${formatAmount(total)}, but at most ${highest} is approved`;
    throw overTerms(text, quote);
  }
  if (maxFee === undefined) return;
  if (!namesFees)
    throw overTerms(
      'the quote does not state its fees, so svcpay cannot check your fee limit',
      quote,
    );
  const fees = feesOf(quote);
  const highest = highestFee(maxFee, quote);
  if (fees.value.lte(highest.value)) return;
  const isPercent = 'percent' in maxFee && maxFee.floor === undefined;
  const allowed = isPercent ? `${maxFee.percent}%` : formatAmount(highest);
  throw overTerms(
    `the fee is ${formatAmount(fees)}, but your limit is ${allowed}`,
    quote,
    'Allow a higher fee, or try again later.',
  );
}

const feesOf = ({ total, serviceFee, networkFee }: Quote): Money =>
  money(total.ccy, serviceFee.value.plus(networkFee.value));

/** The amount that remains of the total after the fees. */
const amountOf = (quote: Quote): Big => quote.total.value.minus(feesOf(quote).value);

/**
 * Returns the highest fee that the limit allows for a quote. A percentage applies to the amount
 * that remains after subtracting the fees from the quote's total.
 */
export function highestFee(maxFee: NonNullable<PaymentTerms['maxFee']>, quote: Quote): Money {
  const { ccy } = quote.total;
  if ('percent' in maxFee) {
    const { percent, floor = '0' } = maxFee;
    const share = amountOf(quote).times(percent).div(100);
    return money(ccy, share.lt(floor) ? new Big(floor) : share);
  }
  if (maxFee.ccy === ccy) return money(ccy, new Big(maxFee.amount));
  throw invalid(`your fee limit is in ${maxFee.ccy}, but the fees are in ${ccy}.`, {
    money: 'Nothing moved',
  });
}

/** The default limit on the loss of a conversion against the service's own rates, in percent. */
const usualRateLoss = '5';

/** The highest fee in BTC that `--yes` accepts if the fee exceeds the amount of the payment. */
const smallFee = new Big('0.00001');

/** The comparison of a quote with the service's own rates. */
interface RateCheck {
  readonly rates?: Rates | undefined;
  /** The service's rate: units of the destination currency for one unit of the source currency. */
  readonly rate?: Big | undefined;
  /** The reason why svcpay did not check the loss of the conversion. */
  readonly unchecked?: string | undefined;
}

/**
 * Whether an order converts money, so that svcpay must compare its quote with the service's rates.
 */
export const isConverted = ({ body }: Order): boolean => body.sourceReq.ccy !== body.destReq.ccy;

/**
 * Compares the quote of a conversion with the service's rates. Throws Failure `limit` if the loss
 * exceeds `--max-rate-loss`. Also throws if `--max-rate-loss` is set and svcpay cannot calculate
 * the loss: Failure `temporary` if the rates are temporarily unavailable, otherwise Failure
 * `limit`. Without `--max-rate-loss`, the payment continues even if svcpay cannot compare the quote
 * with the rates. For a payment within one currency, reads the rates only if the fees exceed the
 * amount.
 */
export async function checkMarket(
  terms: PaymentTerms,
  { body }: Order,
  quote: Quote,
  readRates: () => Promise<Rates | Failure>,
): Promise<RateCheck> {
  const [from, to] = [body.sourceReq.ccy, body.destReq.ccy];
  if (from === to && (from === 'BTC' || !isCostly(quote))) return {};
  const read = await readRates();
  const failure = read instanceof Failure ? read : undefined;
  if (failure?.kind === 'interrupted') throw failure;
  const rates = read instanceof Failure ? undefined : read;
  if (from === to) return { rates };
  const { maxRateLoss: bound } = terms;
  const rate = rates && rateBetween(from, to, rates);
  if (rate !== undefined && quote.receives !== undefined) {
    const loss = rateLoss(quote, rate);
    if (bound === undefined || loss.lte(bound)) return { rates, rate };
    throw overTerms(
      `${lossText(loss)}, but your limit is ${bound} %`,
      quote,
      'Allow a higher loss, or try again later.',
    );
  }
  const missing =
    rate === undefined
      ? `The service shows no usable rate for ${from}/${to}`
      : 'The quote does not state the amount received';
  if (bound === undefined)
    return {
      rates,
      unchecked:
        failure === undefined
          ? `${missing}, so svcpay did not check the conversion's loss.`
          : "svcpay did not check the conversion's loss, because it could not read the rates. " +
            failure.message,
    };
  const isTemporary = failure?.kind === 'temporary';
  throw new Failure(
    isTemporary ? 'temporary' : 'limit',
    `svcpay could not check the conversion's loss against your limit of ${bound} %. ` +
      (failure?.message ?? `${missing}.`),
    {
      money: 'Nothing moved',
      hint: isTemporary
        ? 'Try again later.'
        : 'Run the command without --max-rate-loss to convert at an unchecked rate.',
      txnId: quote.txnId,
      cause: failure,
    },
  );
}

/** Whether the fees of a quote exceed the amount of the payment. */
const isCostly = (quote: Quote): boolean => feesOf(quote).value.gt(amountOf(quote));

const rateBetween = (from: string, to: string, rates: Rates): Big | undefined =>
  unlessFailure(() => findRate(rates, from + to).rate);

/**
 * Returns the loss of value in the conversion, in percent, without fees. A negative loss is a gain.
 */
function rateLoss(quote: Quote, market: Big): Big {
  const converted = amountOf(quote).times(market);
  if (converted.lte(0)) return new Big(0);
  return converted
    .minus(quote.receives?.value ?? 0)
    .div(converted)
    .times(100);
}

const lossText = (loss: Big): string =>
  `the rate of the quote is ${loss.round(1, Big.roundUp).toFixed()} % worse than the rate that ` +
  'the service publishes';

/** Returns, in words, the costs that a person must approve because `--yes` does not cover them. */
export function unusualOf(
  { maxRateLoss }: PaymentTerms,
  quote: Quote,
  { rate, rates }: RateCheck,
): string[] {
  const found: string[] = [];
  const fees = feesOf(quote);
  if (isCostly(quote) && fees.value.gt(smallFeeIn(fees.ccy, rates))) {
    const amount = formatAmount(money(fees.ccy, amountOf(quote)));
    found.push(`the fee of ${formatAmount(fees)} is more than the amount of ${amount}`);
  }
  if (rate !== undefined && maxRateLoss === undefined) {
    const loss = rateLoss(quote, rate);
    if (loss.gt(usualRateLoss)) found.push(lossText(loss));
  }
  return found;
}

/**
 * Returns the value of `smallFee` in a currency, or zero if the service has no rate for the
 * currency.
 */
function smallFeeIn(ccy: string, rates: Rates | undefined): Big {
  if (ccy === 'BTC') return smallFee;
  const rate = rates === undefined ? undefined : rateBetween('BTC', ccy, rates);
  return rate === undefined ? new Big(0) : smallFee.times(rate);
}

/**
 * Throws Failure `limit` if a cost requires a person's approval. svcpay calls this function in a
 * run in which no person can answer.
 */
export function refuseUnusual(unusual: readonly string[], quote: Quote): void {
  const [first] = unusual;
  if (first === undefined) return;
  throw overTerms(first, quote, 'Run the command at a terminal to review and approve this cost.');
}

export interface RequestedAmount {
  /** The requested amount, in BTC. */
  readonly amount: Money;
  /** The amount before its conversion to bitcoin, and the price of one bitcoin. */
  readonly worth?: { readonly given: Money; readonly rate: Big };
}

/**
 * Reads the requested amount, which may be in another currency for a Lightning request. Throws
 * Failure `usage` for an invalid amount, and `not-found` for a currency that has no rate.
 */
export const readAsked = async (
  method: 'lightning' | 'on-chain',
  text: string,
  rates: () => Promise<Rates>,
): Promise<RequestedAmount> =>
  method === 'lightning' && isForeign(text)
    ? inBtc(parseAmount(text), await rates())
    : { amount: parseAmount(text, 'BTC') };

/** Whether the amount is in a currency other than bitcoin. */
export function isForeign(text: string): boolean {
  const named = currencyOf(text);
  return named !== undefined && named !== 'BTC';
}

/**
 * Converts an amount to bitcoin, rounded up, so that the result is worth at least the given amount.
 */
export function inBtc(given: Money, rates: Rates): RequestedAmount {
  const { rate } = findRate(rates, `BTC${given.ccy}`);
  return {
    amount: { ccy: 'BTC', value: given.value.div(rate).round(decimalsOf('BTC'), Big.roundUp) },
    worth: { given, rate },
  };
}
