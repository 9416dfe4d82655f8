// What a quote may cost: the highest fee and the worst rate that were agreed to, and what only a person can agree to.
import Big from 'big.js';
import type { Rates } from '../../api/types.js';
import { formatAmount, money, type Money } from '../../formats/amount.js';
import { Failure } from '../../formats/failure.js';
import type { PaymentTerms } from '../../store/journal/journal.js';
import { findRate } from './rates.js';
import type { Quote } from './quote.js';

/** Throws Failure `limit` when the fees are above the highest that was agreed to, or are not told. */
export function checkMaxFee({ maxFee }: PaymentTerms, quote: Quote): void {
  if (maxFee === undefined) return;
  if (!quote.namesFees) {
    throw new Failure('limit', 'Nothing moved: the quote does not say its fees, which must not be above the highest that you allow.', {
      txnId: quote.txnId,
    });
  }
  const fees = money(quote.total.ccy, quote.serviceFee.value.plus(quote.networkFee.value));
  const highest = 'percent' in maxFee ? percentOf(quote, fees, maxFee.percent) : feeLimitIn(maxFee, fees.ccy);
  if (fees.value.lte(highest)) return;
  const allowed = 'percent' in maxFee ? `${maxFee.percent}%` : formatAmount(money(fees.ccy, highest));
  throw new Failure('limit', `Nothing moved: the fee is ${formatAmount(fees)}, more than ${allowed}.`, {
    hint: 'Allow a higher fee, or try again later.',
    txnId: quote.txnId,
  });
}

/** A percentage of the amount without the fees. */
function percentOf({ total }: Quote, fees: Money, percent: string): Big {
  return total.value.minus(fees.value).times(percent).div(100);
}

function feeLimitIn(maxFee: { readonly amount: string; readonly ccy: string }, ccy: string): Big {
  if (maxFee.ccy !== ccy) {
    throw new Failure('usage', `Nothing moved: the highest fee is in ${maxFee.ccy}, but the fees are in ${ccy}.`);
  }
  return new Big(maxFee.amount);
}

/** Percent that a conversion may lose against the service's own rates where nothing else was agreed to. */
const usualRateLoss = '5';

/** Below this, in BTC, a fee may be above the amount: the smallest payments cost more than they move. */
const smallFee = new Big('0.00001');

/** The service's rate between the two currencies of a quote; undefined within one, and where it shows none. */
export function marketRate(quote: Quote, rates: Rates | undefined): Big | undefined {
  const [from, to] = [quote.total.ccy, quote.receives?.ccy];
  if (to === undefined || from === to || rates === undefined) return undefined;
  return rateBetween(from, to, rates);
}

function rateBetween(from: string, to: string, rates: Rates): Big | undefined {
  try {
    return findRate(rates, from + to).rate;
  } catch (error) {
    if (error instanceof Failure) return undefined;
    throw error;
  }
}

export const isConversion = ({ total, receives }: Quote): boolean => receives !== undefined && receives.ccy !== total.ccy;

/** Percent of its worth that the money loses in the conversion, fees apart; below zero for a gain. */
function rateLoss({ total, receives, serviceFee, networkFee }: Quote, market: Big): Big {
  const converted = total.value.minus(serviceFee.value).minus(networkFee.value).times(market);
  if (converted.lte(0)) return new Big(0);
  return converted.minus(receives?.value ?? 0).div(converted).times(100);
}

/** Throws Failure `limit` where the conversion loses more than `--max-rate-loss`, or where it and the fees are above the highest that was agreed to. */
export function checkRateLoss({ maxRateLoss }: PaymentTerms, quote: Quote, market: Big): void {
  if (maxRateLoss === undefined) return;
  const loss = rateLoss(quote, market);
  if (loss.lte(maxRateLoss)) return;
  throw new Failure('limit', `Nothing moved: ${lossText(loss)}, more than ${maxRateLoss} %.`, {
    hint: 'Allow a higher loss, or try again later.',
    txnId: quote.txnId,
  });
}

const lossText = (loss: Big): string => `the rate loses ${loss.round(1, Big.roundUp).toFixed()} % against the service's own rates`;

/** What a standing yes does not cover, in words: a person has to see it. */
export function unusualOf({ maxRateLoss }: PaymentTerms, quote: Quote, market: Big | undefined, rates: Rates | undefined): string[] {
  const found: string[] = [];
  const fees = money(quote.total.ccy, quote.serviceFee.value.plus(quote.networkFee.value));
  const amount = quote.total.value.minus(fees.value);
  if (fees.value.gt(amount) && fees.value.gt(smallFeeIn(fees.ccy, rates))) {
    found.push(`the fee of ${formatAmount(fees)} is more than the ${formatAmount(money(fees.ccy, amount))} that it moves`);
  }
  if (market !== undefined && maxRateLoss === undefined) {
    const loss = rateLoss(quote, market);
    if (loss.gt(usualRateLoss)) found.push(lossText(loss));
  }
  return found;
}

/** The worth of a small fee in a currency; nothing where the service shows no rate for it. */
function smallFeeIn(ccy: string, rates: Rates | undefined): Big {
  if (ccy === 'BTC') return smallFee;
  const rate = rates === undefined ? undefined : rateBetween('BTC', ccy, rates);
  return rate === undefined ? new Big(0) : smallFee.times(rate);
}

/** Throws Failure `limit`: nobody is there to agree to it. */
export function refuseUnusual(unusual: readonly string[], { txnId }: Quote): void {
  const [first] = unusual;
  if (first === undefined) return;
  throw new Failure('limit', `Nothing moved: ${first}.`, { hint: 'Run it at a terminal, where you can look at it and agree.', txnId });
}
