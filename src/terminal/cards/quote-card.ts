// The quote before a payment: what it is, what arrives, what it costs, what is left.
import type { Big } from 'big.js';
import { formatAmount, money, type Money } from '../../formats/amount.js';
import { describeDuration } from '../../formats/duration.js';
import { factLines, moneyLines, type Fact, type MoneyLine } from './card.js';
import type { Canvas } from '../terminal.js';

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
  /** Everything that leaves the wallet, fees included. */
  readonly pays: Money;
  readonly rate?: Rate | undefined;
  /** Available in the wallet after this payment. */
  readonly left?: Money | undefined;
  readonly validForMs?: number | undefined;
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
    { label: quote.getsLabel ?? 'Recipient gets', amount: quote.gets },
    { label: 'Service fee', amount: quote.serviceFee },
    ...(quote.networkFee.value.eq(0) ? [] : [{ label: 'Network fee', amount: quote.networkFee }]),
    { label: 'You pay', amount: quote.pays, note: feeShare(quote), total: true },
    ...leftLines(quote.left),
  ];
  return [...factLines(facts, canvas), ...(facts.length === 0 ? [] : ['']), ...moneyLines(lines, canvas)];
}

export const leftLines = (left: Money | undefined): MoneyLine[] =>
  left === undefined ? [] : [{ label: 'Left in wallet', amount: left, aside: true }];

/** Both fees as a share of what is paid for: `fee 0.28 %`. */
function feeShare({
  serviceFee,
  networkFee,
  pays,
}: Pick<QuoteCard, 'serviceFee' | 'networkFee' | 'pays'>): string {
  const fees = serviceFee.value.plus(networkFee.value);
  const rest = pays.value.minus(fees);
  if (fees.eq(0)) return 'no fee';
  if (rest.lte(0)) return 'all of it fees';
  const percent = fees.times(100).div(rest);
  return percent.lt('0.01') ? 'fee below 0.01 %' : `fee ${percent.toFixed(2)} %`;
}

/** `1 BTC = 70 796.85 USDT`. */
export const rateText = ({ base, quote, value }: Rate): string => `1 ${base} = ${formatAmount(money(quote, value))}`;

/** `1 USDT ≈ 0.0000141250 BTC`: rounded, and it says so. */
export const inverseText = ({ base, quote, value }: Rate): string =>
  value.lte(0) ? '' : `1 ${quote} ≈ ${formatAmount(money(base, value.pow(-1).prec(significantDigits)))}`;

const rateFact = (rate: Rate): Fact => ({ label: 'Rate', value: rateText(rate), note: inverseText(rate) || undefined });
