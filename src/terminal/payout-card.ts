// The last card before a payout: who gets it, how much of which currency, when it arrives, what it costs.
import { formatAmount, type Money } from '../formats/amount.js';
import { factLines, heading, moneyLines, type Fact } from './card.js';
import { leftLines, rateText, type Rate } from './quote-card.js';
import type { Canvas } from './terminal.js';

export interface PayoutCard {
  readonly recipient: string;
  /** Name and code: `Vietcombank (970436)`. */
  readonly institution: string;
  readonly account: string;
  /** More to check before the yes: purpose, parties. */
  readonly about?: readonly Fact[];
  readonly gets: Money;
  /** `within minutes (vnd-instant)`. */
  readonly arrives: string;
  readonly rate: Rate;
  readonly serviceFee: Money;
  readonly networkFee: Money;
  readonly pays: Money;
  /** Available in the wallet after this payout. */
  readonly left?: Money | undefined;
}

export function payoutCard(payout: PayoutCard, canvas: Canvas): string[] {
  const to = [payout.recipient, payout.institution, payout.account].join(' · ');
  return [
    ...heading(to, canvas),
    ...factLines(payout.about ?? [], canvas),
    '',
    ...moneyLines(
      [
        { label: 'They get', amount: payout.gets, note: payout.arrives },
        { label: 'Rate', amount: rateText(payout.rate) },
        { label: 'You pay', amount: payout.pays, note: feesText(payout) },
        ...leftLines(payout.left),
      ],
      canvas,
    ),
  ];
}

function feesText({ serviceFee, networkFee }: PayoutCard): string {
  const fees = serviceFee.value.plus(networkFee.value);
  return fees.eq(0) ? 'no fee' : `of it ${formatAmount({ ccy: serviceFee.ccy, value: fees })} fees`;
}
