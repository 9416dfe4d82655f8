// The last card before a payout: who gets it, how much of which currency, when it arrives, what it costs.
import { formatAmount } from '../../formats/amount.js';
import { factLines, heading, moneyLines } from './card.js';
import { leftLines, rateText, type QuoteCard } from './quote-card.js';
import type { Canvas } from '../terminal.js';

/** Who gets a payout, where, and when. */
export interface Payee {
  readonly name: string;
  /** Name and code: `Vietcombank (970436)`. */
  readonly institution: string;
  readonly account: string;
  /** `within minutes (vnd-instant)`. */
  readonly arrives: string;
}

export function payoutCard(payee: Payee, quote: QuoteCard, canvas: Canvas): string[] {
  const to = [payee.name, payee.institution, payee.account].join(' · ');
  return [
    ...heading(to, canvas),
    ...factLines(quote.about, canvas),
    '',
    ...moneyLines(
      [
        { label: 'They get', amount: quote.gets, note: payee.arrives },
        ...(quote.rate === undefined ? [] : [{ label: 'Rate', amount: rateText(quote.rate) }]),
        { label: 'You pay', amount: quote.pays, note: feesText(quote) },
        ...leftLines(quote.left),
      ],
      canvas,
    ),
  ];
}

/** Both kinds of fee are named where there are two. */
function feesText({ serviceFee, networkFee }: QuoteCard): string {
  const fees = serviceFee.value.plus(networkFee.value);
  if (fees.eq(0)) return 'no fee';
  const all = `of it ${formatAmount({ ccy: serviceFee.ccy, value: fees })} fees`;
  return networkFee.value.eq(0) || serviceFee.value.eq(0) ? all : `${all} (network ${formatAmount(networkFee)})`;
}
