// Pays USDT to a TRON address, checked here. Specification: endpoint 6, rule 6.
import { notYetAvailable } from '../../wallet/plan/send.js';
import { paymentFields } from '../../terminal/views/transaction-fields.js';
import { defineCommand } from '../define.js';
import { choice, currency, phrase, text } from '../values.js';
import { deductFees, paymentOptions, spend } from './payment-options.js';
import { runSend } from './send-flow.js';

export const sendUsdt = defineCommand({
  fields: paymentFields,
  arguments: {
    address: text('ADDRESS').optional().describe('a TRON address, or - to read it from stdin'),
    amount: phrase('AMOUNT').describe('what the recipient gets, as in 25usdt'),
  },
  options: {
    spend: spend(),
    from: currency().optional().describe('wallet to pay from (default USDT, with --spend that of its amount)'),
    chain: choice(['tron', 'eth'], 'CHAIN').otherwise('tron').describe('tron; eth is announced, not yet available'),
    deductFees: deductFees(),
    ...paymentOptions,
  },
  examples: [
    ['svcpay send usdt TQn9… 25usdt', 'shows the full cost, then asks'],
    ['svcpay send usdt TQn9… 25usdt --from BTC --yes --json', 'paid from the bitcoin wallet, in a script'],
    ['svcpay send usdt TQn9… --spend 250000vnd', 'so much leaves the wallet, whatever arrives'],
  ],
  async run({ address, amount, chain, ...flags }, context) {
    if (chain === 'eth') throw notYetAvailable();
    await runSend('usdt', address, amount, flags, context);
  },
});
