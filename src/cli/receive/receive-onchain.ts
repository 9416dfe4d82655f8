// Asks for an on-chain payment: the address, checked, with its QR code, and the wait until the payment is confirmed.
import { paymentFields } from '../../terminal/views/transaction-fields.js';
import { back } from '../../terminal/ask/ask.js';
import { defineCommand } from '../define.js';
import { leftAtOnce } from '../exit-with.js';
import { phrase } from '../values.js';
import { receiveOptions, runReceive } from './receive-flow.js';

export const receiveOnchain = defineCommand({
  fields: [...paymentFields, 'payTo'],
  arguments: { amount: phrase('AMOUNT').describe('what to ask for, as in 0.01btc') },
  options: receiveOptions,
  examples: [
    ['svcpay receive onchain 0.01btc', 'shows a QR code and waits until the payment is confirmed'],
    ['svcpay receive onchain 0.01btc -q', 'prints the address alone'],
  ],
  async run({ amount, ...flags }, context) {
    if ((await runReceive('on-chain', amount, flags, context)) === back) throw leftAtOnce(context, 'Nothing was asked for');
  },
});
