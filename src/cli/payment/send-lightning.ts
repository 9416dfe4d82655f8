// Pays a BOLT11 invoice: decoded and checked here, quoted, agreed to, confirmed once, followed to its end.
import { formatAmount, money, btcFromMsat } from '../../formats/amount.js';
import type { Invoice } from '../../formats/bolt11/decode.js';
import { describeDuration } from '../../formats/duration.js';
import type { Fact } from '../../terminal/cards/card.js';
import { sanitize } from '../../terminal/sanitize.js';
import { checkInvoice, checkNotExpired } from '../../wallet/plan/destinations.js';
import { lightningOrder } from '../../wallet/payment/orders.js';
import type { Context } from '../context.js';
import { defineCommand } from '../define.js';
import { readDestination } from './destination.js';
import { runPayment } from './payment-flow.js';
import { paymentOptions, type PaymentFlags } from './payment-options.js';
import { currency, text } from '../values.js';

export const sendLightning = defineCommand({
  arguments: { invoice: text('INVOICE').describe('a BOLT11 invoice, or - to read it from stdin') },
  options: { from: currency().otherwise('BTC').describe('wallet to pay from'), ...paymentOptions },
  examples: [
    ['svcpay send lightning lnbc25u1…', 'shows the full cost, then asks'],
    ['svcpay send lightning lnbc25u1… --ref order-118 --max-fee 1% --yes --json', 'in a script, safe to run again'],
    ['cat invoice.txt | svcpay send lightning - --yes', 'the invoice from a pipe'],
  ],
  async run({ invoice, from, ...flags }, context) {
    const { value } = await readDestination(invoice, ['bolt11'], context);
    await payInvoice(value, from, flags, context);
  },
});

/** Pays an invoice that was decoded already. */
export async function payInvoice(invoice: Invoice, from: string, flags: PaymentFlags, context: Context): Promise<void> {
  checkInvoice(invoice, context.settings.network);
  checkNotExpired(invoice, context.now());
  await runPayment(lightningOrder(invoice, from), flags, { about: aboutInvoice(invoice, context.now()) }, context);
}

const payeeEnds = 8;

/** Whom an invoice pays, what for and until when, for the card above the figures. */
export function aboutInvoice(invoice: Invoice, now: number): Fact[] {
  const { payee, description, amountMsat } = invoice;
  const short = `${payee.slice(0, payeeEnds)}…${payee.slice(-payeeEnds)}`;
  const amount = amountMsat === null ? '' : formatAmount(money('BTC', btcFromMsat(amountMsat)));
  return [
    {
      label: 'Pay',
      value: description === null || description === '' ? amount : sanitize(description),
      ...(description !== null && description !== '' && { note: 'as the invoice says' }),
    },
    { label: 'To', value: short },
    { label: 'Expires', value: `in ${describeDuration(invoice.expiresAt - now)}` },
  ];
}
