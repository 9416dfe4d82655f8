// The last card before a payout: who gets it, how much of which currency, when it arrives, what it costs.
import { formatAmount, type Money } from '../formats/amount.js';
import { factLines, moneyLines, type Fact } from './card.js';
import { feeShare, rateText, type Rate } from './quote-card.js';
import { sanitize } from './sanitize.js';
import type { Canvas } from './terminal.js';
import { wrap } from './text.js';

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
  const { style, columns } = canvas;
  const to = [payout.recipient, payout.institution, payout.account].map(sanitize).join(' · ');
  const fees = { ccy: payout.pays.ccy, value: payout.serviceFee.value.plus(payout.networkFee.value) };
  const share = feeShare(payout);
  return [
    ...wrap(to, columns - 2).map((line) => `  ${style.bold(line)}`),
    ...factLines(payout.about ?? [], canvas),
    '',
    ...moneyLines([{ label: 'They get', amount: payout.gets, note: sanitize(payout.arrives) }], canvas),
    ...factLines([{ label: 'Rate', value: rateText(payout.rate) }], canvas),
    ...moneyLines(
      [
        { label: 'You pay', amount: payout.pays, note: fees.value.eq(0) ? share : `of it ${formatAmount(fees)} fees` },
        ...(payout.left === undefined ? [] : [{ label: 'Left in wallet', amount: payout.left }]),
      ],
      canvas,
    ),
  ];
}
