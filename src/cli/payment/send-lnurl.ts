// Pays to a Lightning Address or an LNURL, which the service resolves. Specification: endpoint 6, rule 3.
import type { Money } from '../../formats/amount.js';
import type { Destination } from '../../formats/destination.js';
import type { Fact } from '../../terminal/cards/card.js';
import { sanitize } from '../../terminal/sanitize.js';
import { lnurlOrder } from '../../wallet/payment/orders.js';
import type { Context } from '../context.js';
import { defineCommand } from '../define.js';
import { neededAmount, readDestination } from './destination.js';
import { runPayment } from './payment-flow.js';
import { paymentOptions, type PaymentFlags } from './payment-options.js';
import { currency, text } from '../values.js';

export const sendLnurl = defineCommand({
  arguments: {
    address: text('ADDRESS').describe('a Lightning Address or an LNURL, or - to read it from stdin'),
    amount: text('AMOUNT').describe('what to send, in the currency of the wallet, as in 50000sat'),
  },
  options: { from: currency().otherwise('BTC').describe('wallet to pay from'), ...paymentOptions },
  examples: [
    ['svcpay send lnurl satoshi@example.com 50000sat', 'shows the full cost, then asks'],
    ['svcpay send lnurl LNURL1… 5usdt --from USDT --yes --json', 'paid from the USDT wallet, in a script'],
  ],
  async run({ address, amount, from, ...flags }, context) {
    const found = await readDestination(address, ['lightning-address', 'lnurl'], context);
    await payLnurl(found, neededAmount(amount, from), flags, context);
  },
});

export type LnurlDestination = Extract<Destination, { kind: 'lightning-address' | 'lnurl' }>;

/** @param amount in the currency of the wallet that pays */
export async function payLnurl(
  destination: LnurlDestination,
  amount: Money,
  flags: PaymentFlags,
  context: Context,
): Promise<void> {
  await runPayment(lnurlOrder(destination.text, amount), flags, { about: aboutDestination(destination) }, context);
}

function aboutDestination(destination: LnurlDestination): Fact[] {
  if (destination.kind === 'lightning-address') return [{ label: 'To', value: destination.text, whole: true }];
  return [
    { label: 'To', value: sanitize(new URL(destination.value.url).host), note: 'where the LNURL leads' },
    { label: 'LNURL', value: destination.text, whole: true },
  ];
}
