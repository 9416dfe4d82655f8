// The quote before a payment: what it is, what arrives, what it costs, what is left.
import type { Big } from 'big.js';
import { formatAmount, money, type Money } from '../../formats/amount.js';
import { describeDuration } from '../../formats/duration.js';
import { factLines, moneyLines, worthText, type Fact, type MoneyLine } from './card.js';
import type { Canvas } from '../terminal.js';
import { wrap } from '../text.js';

const significantDigits = 6;

/** One unit of `base` costs `value` of `quote`. */
export interface Rate {
  readonly base: string;
  readonly quote: string;
  readonly value: Big;
}

export interface QuoteCard {
  /** What the payment is, before the money: payee, description, expiry. */
  readonly about: readonly Fact[];
  readonly gets: Money;
  /** Who gets it; "Recipient gets" unless said otherwise. */
  readonly getsLabel?: string | undefined;
  readonly serviceFee: Money;
  readonly networkFee: Money;
  readonly namesFees: boolean;
  /** Everything that leaves the wallet, fees included. */
  readonly pays: Money;
  readonly rate?: Rate | undefined;
  /** Available in the wallet after this payment. */
  readonly left?: Money | undefined;
  readonly validForMs?: number | undefined;
  /** What such payments from here have cost so far, as a share in percent and in the currency that leaves. */
  readonly usual?: { readonly percent: Big; readonly fees: Big } | undefined;
  /** What an amount is worth in fiat, roughly; undefined where nobody tells. */
  readonly worth?: ((amount: Money) => Money | undefined) | undefined;
}

export function quoteCard(quote: QuoteCard, canvas: Canvas): string[] {
  const facts: Fact[] = [
    ...quote.about,
    ...(quote.rate === undefined ? [] : [rateFact(quote.rate)]),
    ...(quote.validForMs === undefined
      ? []
      : [{ label: 'Quote', value: `valid ${describeDuration(quote.validForMs)}` }]),
  ];
  const lines: MoneyLine[] = [
    { label: quote.getsLabel ?? 'Recipient gets', amount: quote.gets, note: worthText(quote.worth?.(quote.gets)) },
    ...(quote.namesFees ? [{ label: 'Service fee', amount: quote.serviceFee }] : []),
    ...(quote.networkFee.value.eq(0) ? [] : [{ label: 'Network fee', amount: quote.networkFee }]),
    { label: 'You pay', amount: quote.pays, note: noteOf(feeShare(quote), quote), total: true, warns: dearness(quote) !== undefined },
    ...(quote.left === undefined ? [] : [{ label: 'Left in wallet', amount: quote.left, aside: true }]),
  ];
  return [
    ...factLines(facts, canvas),
    ...(facts.length === 0 ? [] : ['']),
    ...feeWarning(quote, canvas),
    ...moneyLines(lines, canvas),
  ];
}

/** With what is paid in fiat, where that is known. */
const noteOf = (note: string, { worth, pays }: Pick<QuoteCard, 'worth' | 'pays'>): string =>
  [note, worthText(worth?.(pays))].filter((part) => part !== '').join('   ');

/** Percent of what is paid for, whatever is usual. */
const dearFrom = 5;
const timesUsual = 10;

type Fees = Pick<QuoteCard, 'serviceFee' | 'networkFee' | 'namesFees' | 'pays' | 'usual'>;

/** Both fees, and their share of what is paid for; undefined where all of it is fees. */
function feesOf({ serviceFee, networkFee, pays }: Fees): { readonly fees: Big; readonly percent: Big | undefined } {
  const fees = serviceFee.value.plus(networkFee.value);
  const rest = pays.value.minus(fees);
  return { fees, percent: rest.lte(0) ? undefined : fees.times(100).div(rest) };
}

/** What makes a fee a dear one, in words; undefined for one that is not. */
function dearness(quote: Fees): string | undefined {
  const { fees, percent } = feesOf(quote);
  if (fees.lte(0)) return undefined;
  const { usual } = quote;
  // A small payment has a high share in any case: then the fee itself is no higher than usual.
  if (usual !== undefined && fees.gt(usual.fees) && percent?.gte(usual.percent.times(timesUsual)) === true) {
    return `${percent.div(usual.percent).toFixed(0)} times the usual ${usual.percent.toFixed(2)} %`;
  }
  return percent === undefined || percent.gt(dearFrom) ? 'a high share' : undefined;
}

/** A fee that is dear is said before all amounts, its share first. */
function feeWarning(quote: Fees, { style, columns }: Canvas): string[] {
  const why = dearness(quote);
  if (why === undefined) return [];
  const { fees, percent } = feesOf(quote);
  const share = percent === undefined ? 'All of it' : `${percent.toFixed(2)} %`;
  const text = `${share} goes to fees: ${formatAmount({ ccy: quote.pays.ccy, value: fees })}, ${why}`;
  return [...wrap(text, columns - 2).map((line) => `  ${style.yellow(line)}`), ''];
}

/** `fee 0.28 %`. */
function feeShare(quote: Fees): string {
  const { fees, percent } = feesOf(quote);
  if (!quote.namesFees) return 'fee not told';
  if (fees.eq(0)) return 'no fee';
  if (percent === undefined) return 'all of it fees';
  return percent.lt('0.01') ? 'fee below 0.01 %' : `fee ${percent.toFixed(2)} %`;
}

/** `1 BTC = 70 796.85 USDT`. */
export const rateText = ({ base, quote, value }: Rate): string => `1 ${base} = ${formatAmount(money(quote, value))}`;

/** `1 USDT ≈ 0.0000141250 BTC`: rounded, and it says so. */
export const inverseText = ({ base, quote, value }: Rate): string =>
  value.lte(0) ? '' : `1 ${quote} ≈ ${formatAmount(money(base, value.pow(-1).prec(significantDigits)))}`;

const rateFact = (rate: Rate): Fact => ({ label: 'Rate', value: rateText(rate), note: inverseText(rate) || undefined });
