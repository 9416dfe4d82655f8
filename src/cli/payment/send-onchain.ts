// Pays to a Bitcoin address; checksum, network, kind and smallest amount are checked here. Endpoint 6, rule 5.
import { paymentFields } from '../../terminal/views/transaction-fields.js';
import { defineCommand } from '../define.js';
import { currency, phrase, text } from '../values.js';
import { deductFees, paymentOptions } from './payment-options.js';
import { runSend } from './send-flow.js';

export const sendOnchain = defineCommand({
  fields: paymentFields,
  arguments: {
    address: text('ADDRESS').optional().describe('a Bitcoin address, or - to read it from stdin'),
    amount: phrase('AMOUNT').describe('what the recipient gets, as in 0.01btc; at least 1000sat'),
  },
  options: {
    from: currency().optional().describe('wallet to pay from (default BTC)'),
    deductFees: deductFees(),
    ...paymentOptions,
  },
  examples: [
    ['svcpay send onchain bc1q… 0.01btc', 'shows the full cost, then asks'],
    ['svcpay send onchain bc1q… 0.01btc --deduct-fees --yes --no-wait --json', 'in a script, without waiting'],
  ],
  run: ({ address, amount, ...flags }, context) => runSend('onchain', address, amount, flags, context),
});
