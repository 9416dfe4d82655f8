// Swaps between two of the account's own wallets. Specification: endpoint 6, rule 8.
import { swapOrder } from '../../wallet/payment/orders.js';
import { defineCommand } from '../define.js';
import { runPayment } from './payment-flow.js';
import { paymentOptions } from './payment-options.js';
import { readSwap } from './plan-swap.js';
import { currency, flag, text } from '../values.js';

export const swap = defineCommand({
  arguments: {
    amount: text('AMOUNT').describe('what to swap, as in 25usdt; a bare number where FROM names the currency'),
    first: currency('FROM').describe('the wallet to take it from; may be left out when AMOUNT names it'),
    second: currency('TO').optional().describe('the wallet to put it in'),
  },
  options: {
    receive: flag().describe('AMOUNT is what shall arrive in TO, not what leaves FROM'),
    ...paymentOptions,
  },
  examples: [
    ['svcpay swap 25 USDT BTC', 'sell 25 USDT for bitcoin'],
    ['svcpay swap 25usdt BTC --yes --json', 'the same, in a script'],
    ['svcpay swap 100000sat USDT BTC --receive', 'buy exactly 100 000 sat'],
  ],
  async run({ amount, first, second, receive, ...flags }, context) {
    const { from, to, value } = readSwap(amount, first, second, receive);
    await runPayment(
      swapOrder(from, to, value, receive ? 'dest' : 'source'),
      flags,
      { about: [{ label: 'Swap', value: `${from} to ${to}` }], getsLabel: 'You get' },
      context,
    );
  },
});
