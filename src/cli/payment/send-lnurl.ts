// Pays to a Lightning Address or an LNURL, which the service resolves. Specification: endpoint 6, rule 3.
import { paymentFields } from '../../terminal/views/transaction-fields.js';
import { defineCommand } from '../define.js';
import { currency, phrase, text } from '../values.js';
import { deductFees, paymentOptions } from './payment-options.js';
import { runSend } from './send-flow.js';

export const sendLnurl = defineCommand({
  fields: paymentFields,
  arguments: {
    address: text('ADDRESS').optional().describe('a Lightning Address or an LNURL, or - to read it from stdin'),
    amount: phrase('AMOUNT').describe('what leaves the wallet, as in 50000sat or 5usdt'),
  },
  options: {
    from: currency().optional().describe('wallet to pay from (default: that of the amount)'),
    deductFees: deductFees(),
    ...paymentOptions,
  },
  examples: [
    ['svcpay send lnurl satoshi@example.com 50000sat', 'shows the full cost, then asks'],
    ['svcpay send lnurl LNURL1… 5usdt --yes --json', 'paid from the USDT wallet, in a script'],
  ],
  run: ({ address, amount, ...flags }, context) => runSend('lnurl', address, amount, flags, context),
});
