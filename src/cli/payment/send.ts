// Pays to whatever the destination is: an invoice, an address, an LNURL, a Lightning Address or a URI of those.
import { ways } from '../../wallet/plan/send.js';
import { paymentFields } from '../../terminal/views/transaction-fields.js';
import { defineCommand } from '../define.js';
import { choice, currency, phrase, text } from '../values.js';
import { deductFees, paymentOptions, spend } from './payment-options.js';
import { runSend } from './send-flow.js';

export const send = defineCommand({
  fields: paymentFields,
  arguments: {
    destination: text('DESTINATION').optional().describe('an invoice, any address, LNURL or bitcoin: URI; - for stdin'),
    amount: phrase('AMOUNT').describe('what to send, where the destination does not say'),
  },
  options: {
    from: currency().optional().describe('wallet to pay from (default BTC; for a TRON address USDT)'),
    spend: spend(),
    via: choice(ways, 'WAY').optional().describe('lightning or onchain, for a bitcoin: URI that offers both'),
    deductFees: deductFees(),
    ...paymentOptions,
  },
  examples: [
    ['svcpay send', 'asks for everything, one question at a time; Esc goes back'],
    ['svcpay send lnbc25u1…', 'an invoice says the amount itself'],
    ['svcpay send satoshi@example.com 50000sat', 'a Lightning Address'],
    ["svcpay send 'bitcoin:bc1q…&lightning=lnbc10m1…' --via onchain", 'one of two ways; unasked it goes over Lightning'],
  ],
  run: ({ destination, amount, ...flags }, context) => runSend(undefined, destination, amount, flags, context),
});
