// Draws the card of a quote: description, received amount, cost and remaining balance.
import type { Big } from 'big.js';
import { formatAmount, money, type Money } from '../../formats/amount.js';
import { describeDuration } from '../../formats/calendar.js';
import { cardLines, worthText, type CardLine } from './card.js';
import type { Canvas } from '../terminal.js';
import { paragraph } from '../text.js';

const significantDigits = 6;

/** An exchange rate: one unit of `base` costs `value` units of `quote`. */
export interface Rate {
  readonly base: string;
  readonly quote: string;
  readonly value: Big;
}

export interface QuoteCard {
  /** The description of the payment, such as payee, text and expiry. */
  readonly about: readonly CardLine[];
  readonly receives: Money;
  /** The label of the received amount, by default "Recipient gets". */
  readonly getsLabel?: string | undefined;
  readonly serviceFee: Money;
  readonly networkFee: Money;
  readonly namesFees: boolean;
  /** The total debited from the wallet, including fees. */
  readonly total: Money;
  /** The number of units of the received currency for one unit of the paid currency. */
  readonly rate?: Big | undefined;
  /** The available balance of the wallet after this payment. */
  readonly left?: Money | undefined;
  /**
   * Whether the remaining balance is certain. If the wallet may already have reserved the cost of
   * this payment, svcpay knows only the minimum of the remaining balance.
   */
  readonly isLeftCertain?: boolean;
  readonly validForMs?: number | undefined;
  /**
   * Returns the approximate value of an amount in fiat, or undefined if no exchange rate is known.
   */
  readonly worth?: ((amount: Money) => Money | undefined) | undefined;
}

export function quoteCard(quote: QuoteCard, canvas: Canvas): string[] {
  const { about, validForMs, left, total, receives } = quote;
  const rate = quote.rate && { base: total.ccy, quote: receives.ccy, value: quote.rate };
  const { text, warning } = feesOf(quote);
  const details: CardLine[] = [
    ...about,
    { label: 'Rate', value: rate && rateText(rate), note: rate && inverseText(rate) },
    {
      label: 'Quote',
      value: validForMs === undefined ? '' : `valid ${describeDuration(validForMs)}`,
    },
  ];
  const lines: CardLine[] = [
    {
      label: quote.getsLabel ?? 'Recipient gets',
      value: receives,
      note: worthText(quote.worth?.(receives)),
    },
    { label: 'Service fee', value: quote.namesFees ? quote.serviceFee : undefined },
    {
      label: 'Network fee',
      value: quote.networkFee.value.eq(0) ? undefined : quote.networkFee,
    },
    {
      label: 'You pay',
      value: total,
      note: [text, worthText(quote.worth?.(total))].filter(Boolean).join('   '),
      total: true,
      warns: warning !== undefined,
    },
    {
      label: 'Left in wallet',
      value: left && quote.isLeftCertain === false ? `at least ${formatAmount(left)}` : left,
      aside: true,
    },
  ];
  const described = cardLines(details, canvas);
  return [
    ...described,
    ...(described.length === 0 ? [] : ['']),
    ...(warning === undefined ? [] : [...paragraph(warning, canvas, canvas.style.yellow), '']),
    ...cardLines(lines, canvas),
  ];
}

/** The share of the amount, in percent, above which the card warns of the fees. */
const expensiveFrom = 5;

/** The fees of a quote. `percent` is undefined if the debit consists only of fees. */
function feesOf({ serviceFee, networkFee, total, namesFees }: QuoteCard) {
  const fees = serviceFee.value.plus(networkFee.value);
  const rest = total.value.minus(fees);
  const percent = rest.lte(0) ? undefined : fees.times(100).div(rest);
  const share =
    percent === undefined
      ? 'all fees'
      : percent.lt('0.01')
        ? 'fee below 0.01 %'
        : `fee ${percent.toFixed(2)} %`;
  return {
    text: !namesFees ? 'fee not reported' : fees.eq(0) ? 'no fee' : share,
    warning:
      fees.gt(0) && percent?.lte(expensiveFrom) !== true
        ? `${percent === undefined ? '100 %' : `${percent.toFixed(2)} %`} goes to fees: ` +
          `${formatAmount({ ccy: total.ccy, value: fees })}, a high share`
        : undefined,
  };
}

/** Formats a rate such as `1 BTC = 70 796.85 USDT`. */
export const rateText = ({ base, quote, value }: Rate): string =>
  `1 ${base} = ${formatAmount(money(quote, value))}`;

/**
 * Formats the inverse of a rate, rounded and marked as approximate, such as `1 USDT ≈ 0.0000141250
 * BTC`.
 */
export const inverseText = ({ base, quote, value }: Rate): string =>
  value.lte(0)
    ? ''
    : `1 ${quote} ≈ ${formatAmount(money(base, value.pow(-1).prec(significantDigits)))}`;
