// The recipient and purpose of a payment, for the quote card.
import { btcFromMsat, formatAmount, money } from '../../formats/amount.js';
import type { Invoice } from '../../formats/bolt11/decode.js';
import { railTo } from '../../formats/rails.js';
import { optionalFact, type Fact } from '../../terminal/cards/card.js';
import { rateText } from '../../terminal/cards/quote-card.js';
import type { SendPlan } from '../../wallet/plan/send.js';

/** @param contact the saved name of the destination */
export function aboutSend(plan: SendPlan, contact?: string): Fact[] {
  const { worth } = plan;
  const asked =
    worth === undefined
      ? []
      : [
          {
            label: 'Worth',
            value: formatAmount(worth.given),
            note: `at ${rateText({ base: 'BTC', quote: worth.given.ccy, value: worth.rate })}`,
          },
        ];
  return [...optionalFact('Contact', contact), ...aboutDestination(plan), ...asked];
}

function aboutDestination({ pays, uriTexts, order }: SendPlan): Fact[] {
  const texts = uriTexts.map((value) => ({ label: 'Pay', value, note: 'as the URI says' }));
  const fees =
    order.body.deductNetworkFeesFromDest === true
      ? [{ label: 'Fees', value: 'deducted from the amount' }]
      : [];
  switch (pays.kind) {
    case 'bolt11':
      return aboutInvoice(pays.value);
    case 'lnurl':
      return [
        { label: 'To', value: new URL(pays.value.url).host, note: 'where the LNURL leads' },
        { label: 'LNURL', value: pays.text, whole: true },
        ...fees,
      ];
    default:
      return [
        ...texts,
        { label: 'To', value: order.destination, note: railTo(pays.kind)?.note, whole: true },
        ...fees,
      ];
  }
}

const payeeEnds = 8;

export function aboutInvoice({ payee, description, amountMsat }: Invoice): Fact[] {
  const short = `${payee.slice(0, payeeEnds)}…${payee.slice(-payeeEnds)}`;
  const amount = amountMsat === null ? '' : formatAmount(money('BTC', btcFromMsat(amountMsat)));
  return [
    {
      label: 'Pay',
      value: description === null || description === '' ? amount : description,
      ...(description !== null && description !== '' && { note: 'as the invoice says' }),
    },
    { label: 'To', value: short },
  ];
}
