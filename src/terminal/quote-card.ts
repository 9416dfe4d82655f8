// The quote before a payment: what it is, what arrives, what it costs, what is left.
import type { Big } from 'big.js';
import { formatNumber, money, type Money } from '../formats/amount.js';
import { describeDuration } from '../formats/duration.js';
import { factLines, moneyLines, type Fact, type MoneyLine } from './card.js';
import type { Canvas } from './terminal.js';

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
  const lines: MoneyLine[] = [
    { label: quote.getsLabel ?? 'Recipient gets', amount: quote.gets },
    { label: 'Service fee', amount: quote.serviceFee },
    ...(quote.networkFee.value.eq(0) ? [] : [{ label: 'Network fee', amount: quote.networkFee }]),
    { label: 'You pay', amount: quote.pays, note: feeShare(quote), total: true },
    ...(quote.left === undefined ? [] : [{ label: 'Left in wallet', amount: quote.left }]),
  ];
  const facts: Fact[] = [
    ...(quote.rate === undefined ? [] : rateFacts(quote.rate)),
    ...(quote.validForMs === undefined ? [] : [{ label: 'Quote', value: `valid ${describeDuration(quote.validForMs)}` }]),
  ];
  return [
    ...section(factLines(quote.about, canvas)),
    ...section(factLines(facts, canvas)),
    ...moneyLines(lines, canvas),
  ];
}

const section = (lines: readonly string[]): string[] => (lines.length === 0 ? [] : [...lines, '']);

/** Both fees as a share of what is paid for: `fee 0.28 %`. */
export function feeShare({ serviceFee, networkFee, pays }: Pick<QuoteCard, 'serviceFee' | 'networkFee' | 'pays'>): string {
  const fees = serviceFee.value.plus(networkFee.value);
  const rest = pays.value.minus(fees);
  if (fees.eq(0)) return 'no fee';
  if (rest.lte(0)) return 'all of it fees';
  const percent = fees.times(100).div(rest);
  return percent.lt('0.01') ? 'fee below 0.01 %' : `fee ${percent.toFixed(2)} %`;
}

function rateFacts(rate: Rate): Fact[] {
  return [{ label: 'Rate', value: rateText(rate), note: rateText(inverse(rate)) }];
}

/** `1 BTC = 70 796.85 USDT`. */
export function rateText({ base, quote, value }: Rate): string {
  return `1 ${base} = ${formatNumber(money(quote, value))} ${quote}`;
}

/** Eight significant digits: enough to compare, and plainly no exact figure. */
function inverse({ base, quote, value }: Rate): Rate {
  return { base: quote, quote: base, value: value.pow(-1).prec(8) };
}
