// Computes the figures of a quote: rate, both amounts, fees, charge and arriving amount.
import Big from 'big.js';
import { decimalsOf } from '../../formats/amount.js';
import { badRequest } from '../wire/refusal.js';
import type { Quote } from './transactions.js';
import { serviceFeeOf, foreignUnitsPerDollar, rateBases, unitsPerDollar } from '../unspecified.js';
import { isMovable } from '../wire/values.js';

interface PricedRequest {
  readonly source: { readonly ccy: string };
  readonly dest: { readonly ccy: string };
  /** The fees that the service deducts from the amount instead of adding them. */
  readonly deduct: Deductions;
}

interface PriceTerms {
  /**
   * The side for which the client requested an amount. For the side without a requested amount,
   * `price` computes the amount.
   */
  readonly side: 'source' | 'dest';
  readonly amount: Big;
  readonly fee: Parameters<typeof serviceFeeOf>[0];
  /**
   * A fixed fee in the destination currency, or a function of the source amount that returns a fee
   * in the source currency.
   */
  readonly networkFee?: Big | ((sourceAmount: Big, decimals: number) => Big);
}

/** The fees that the recipient bears. */
export interface Deductions {
  readonly serviceFee: boolean;
  readonly networkFee: boolean;
}

/**
 * Computes a quote without details, rounded in favour of the service. Throws a `Refusal` for an
 * amount that is too small or too large, has too many decimals, or does not cover the fees.
 */
export function price(
  { source, dest, deduct }: PricedRequest,
  { side, amount, fee, networkFee: networkFeeRule = new Big(0) }: PriceTerms,
): Quote {
  const [sourceCcy, destCcy] = [source.ccy, dest.ccy];
  const fxRate = rateBetween(sourceCcy, destCcy);
  const [sourceDecimals, destDecimals] = [decimalsOf(sourceCcy), decimalsOf(destCcy)];
  const sourceAmount =
    side === 'source' ? amount : amount.div(fxRate).round(sourceDecimals, Big.roundUp);
  const destAmount = side === 'dest' ? amount : convert(amount, fxRate, destCcy);
  if (!isMovable(sourceCcy, sourceAmount) || !isMovable(destCcy, destAmount)) {
    throw badRequest('the amount is too small or too large, or has too many decimals');
  }

  const serviceFee = serviceFeeOf(fee, sourceAmount, sourceDecimals);
  const networkFee =
    typeof networkFeeRule === 'function'
      ? networkFeeRule(sourceAmount, sourceDecimals)
      : networkFeeRule.div(fxRate).round(sourceDecimals, Big.roundUp);
  const deducted = new Big(0)
    .plus(deduct.serviceFee ? serviceFee : 0)
    .plus(deduct.networkFee ? networkFee : 0);
  const arrives = destAmount.minus(deducted.times(fxRate).round(destDecimals, Big.roundUp));
  if (arrives.lte(0)) throw badRequest('the amount does not cover the fees');
  const charge = sourceAmount.plus(serviceFee).plus(networkFee).minus(deducted);
  return {
    sourceCcy,
    sourceAmount,
    destCcy,
    destAmount,
    charge,
    arrives,
    serviceFee,
    networkFee,
    fxRate,
    sourceDetails: { reqDetails: {} },
    destDetails: { reqDetails: {} },
    extra: {},
  };
}

/** Converts an amount to another currency, rounded down. */
export function convert(amount: Big, fxRate: Big, destCcy: string): Big {
  return amount.times(fxRate).round(decimalsOf(destCcy), Big.roundDown);
}

/**
 * The number of significant digits to which the service rounds a rate, so that `fxRate` shows
 * exactly the applied rate.
 */
const significantDigits = 12;

/** Returns the number of units of `to` for one unit of `from`. */
export function rateBetween(from: string, to: string): Big {
  if (from === to) return new Big(1);
  return perDollar(to).div(perDollar(from)).prec(significantDigits, Big.roundHalfUp);
}

/** The rates of every currency pair in the response of `GET /rate`, by a name such as `BTCUSD`. */
export function rateTable(): Record<string, Big> {
  const currencies = [unitsPerDollar, foreignUnitsPerDollar].flatMap(Object.keys);
  const pairs = rateBases.flatMap((base) => currencies.map((ccy) => [base, ccy] as const));
  const changes = pairs.filter(([base, ccy]) => base !== ccy);
  return Object.fromEntries(changes.map(([base, ccy]) => [base + ccy, rateBetween(base, ccy)]));
}

function perDollar(ccy: string): Big {
  const units = unitsPerDollar[ccy] ?? foreignUnitsPerDollar[ccy];
  if (units === undefined) throw new RangeError(`${ccy} has no rate.`);
  return new Big(units);
}
