// Checks the cost of a quote against the approved highest fee and the limit on the loss, and finds
// costs that only a person can approve.
import Big from 'big.js';
import type { Rates } from '../../api/types.js';
import { formatAmount, money, type Money } from '../../formats/amount.js';
import { Failure } from '../../formats/failure.js';
import type { PaymentTerms } from '../../store/journal/payment.js';
import type { Order } from '../order/orders.js';
import { findRate } from './rates.js';
import type { Quote } from './quote.js';

/** The refusal of a quote whose cost exceeds what was approved. */
const overTerms = (reason: string, { txnId }: Quote, hint?: string): Failure =>
  new Failure('limit', `${reason}.`, { money: 'Nothing moved', hint, txnId });

/** Throws Failure `limit` if the total or the fees of a quote exceed what was approved. */
export function checkTerms(terms: PaymentTerms, quote: Quote): void {
  checkMaxTotal(terms, quote);
  checkMaxFee(terms, quote);
}

function checkMaxTotal({ maxTotal }: PaymentTerms, quote: Quote): void {
  if (maxTotal === undefined) return;
  const { total } = quote;
  if (total.ccy === maxTotal.ccy && total.value.lte(maxTotal.amount)) return;
  const highest = formatAmount(money(maxTotal.ccy, maxTotal.amount));
  throw overTerms(`the total is ${formatAmount(total)}, but at most ${highest} is approved`, quote);
}

/**
 * Throws Failure `limit` if the fees exceed the approved maximum, or if the service reports no
 * fees.
 */
function checkMaxFee({ maxFee }: PaymentTerms, quote: Quote): void {
  if (maxFee === undefined) return;
  if (!quote.namesFees) {
    throw overTerms(
      'the quote does not state its fees, so svcpay cannot check your fee limit',
      quote,
    );
  }
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

/**
 * Returns the highest fee that the limit allows for a quote. A percentage applies to the amount
 * that remains after subtracting the fees from the quote's total.
 */
export function highestFee(maxFee: NonNullable<PaymentTerms['maxFee']>, quote: Quote): Money {
  const { ccy, value: fees } = feesOf(quote);
  if ('percent' in maxFee) {
    const { percent, floor = '0' } = maxFee;
    const share = quote.total.value.minus(fees).times(percent).div(100);
    return money(ccy, share.lt(floor) ? new Big(floor) : share);
  }
  if (maxFee.ccy === ccy) return money(ccy, new Big(maxFee.amount));
  throw new Failure('usage', `your fee limit is in ${maxFee.ccy}, but the fees are in ${ccy}.`, {
    money: 'Nothing moved',
  });
}

/** The default limit on the loss of a conversion against the service's own rates, in percent. */
const usualRateLoss = '5';

/** The highest fee in BTC that `--yes` accepts if the fee exceeds the amount of the payment. */
const smallFee = new Big('0.00001');

/** The comparison of a quote with the service's own rates. */
export interface RateCheck {
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
  readRates: () => Promise<Rates>,
): Promise<RateCheck> {
  const [from, to] = [body.sourceReq.ccy, body.destReq.ccy];
  if (from === to && (from === 'BTC' || !isCostly(quote))) return {};
  const bound = from === to ? undefined : terms.maxRateLoss;
  const refuse = (kind: 'limit' | 'temporary', why: string, cause?: Failure): Failure =>
    new Failure(
      kind,
      `svcpay could not check the conversion's loss against your limit of ${bound} %. ${why}`,
      {
        money: 'Nothing moved',
        hint:
          kind === 'limit'
            ? 'Run the command without --max-rate-loss to convert at an unchecked rate.'
            : 'Try again later.',
        txnId: quote.txnId,
        cause,
      },
    );
  let rates: Rates;
  try {
    rates = await readRates();
  } catch (error) {
    if (!(error instanceof Failure) || error.kind === 'interrupted') throw error;
    if (bound !== undefined)
      throw refuse(error.kind === 'temporary' ? 'temporary' : 'limit', error.message, error);
    return from === to
      ? {}
      : {
          unchecked:
            "svcpay did not check the conversion's loss, because it could not read the rates. " +
            `${error.message}`,
        };
  }
  if (from === to) return { rates };
  const rate = rateBetween(from, to, rates);
  if (rate === undefined || quote.receives === undefined) {
    const missing =
      rate === undefined
        ? `The service shows no usable rate for ${from}/${to}`
        : 'The quote does not state the amount received';
    if (bound !== undefined) throw refuse('limit', `${missing}.`);
    return { rates, unchecked: `${missing}, so svcpay did not check the conversion's loss.` };
  }
  checkRateLoss(terms, quote, rate);
  return { rates, rate };
}

/** Whether the fees of a quote exceed the amount of the payment. */
function isCostly(quote: Quote): boolean {
  const fees = feesOf(quote).value;
  return fees.gt(quote.total.value.minus(fees));
}

function rateBetween(from: string, to: string, rates: Rates): Big | undefined {
  try {
    return findRate(rates, from + to).rate;
  } catch (error) {
    if (error instanceof Failure) return undefined;
    throw error;
  }
}

/**
 * Returns the loss of value in the conversion, in percent, without fees. A negative loss is a gain.
 */
function rateLoss({ total, receives, serviceFee, networkFee }: Quote, market: Big): Big {
  const converted = total.value.minus(serviceFee.value).minus(networkFee.value).times(market);
  if (converted.lte(0)) return new Big(0);
  return converted
    .minus(receives?.value ?? 0)
    .div(converted)
    .times(100);
}

/** Throws Failure `limit` if the conversion loses more than `--max-rate-loss`. */
function checkRateLoss({ maxRateLoss }: PaymentTerms, quote: Quote, market: Big): void {
  if (maxRateLoss === undefined) return;
  const loss = rateLoss(quote, market);
  if (loss.lte(maxRateLoss)) return;
  throw overTerms(
    `${lossText(loss)}, but your limit is ${maxRateLoss} %`,
    quote,
    'Allow a higher loss, or try again later.',
  );
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
  const amount = quote.total.value.minus(fees.value);
  if (isCostly(quote) && fees.value.gt(smallFeeIn(fees.ccy, rates))) {
    found.push(
      `the fee of ${formatAmount(fees)} is more than the amount of ` +
        formatAmount(money(fees.ccy, amount)),
    );
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
