// Asks for a Lightning payment: the invoice, checked, with its QR code, and the wait until it is paid.
import { paymentFields } from '../../terminal/views/transaction-fields.js';
import { back } from '../../terminal/ask/ask.js';
import { defineCommand } from '../define.js';
import { leftAtOnce } from '../exit-with.js';
import { phrase } from '../values.js';
import { receiveOptions, runReceive } from './receive-flow.js';

export const receiveLightning = defineCommand({
  fields: [...paymentFields, 'payTo'],
  arguments: { amount: phrase('AMOUNT').describe('what to ask for, as in 50000sat, or converted at the rate of now: 10usd') },
  options: receiveOptions,
  examples: [
    ['svcpay receive lightning 50000sat', 'shows a QR code and waits for the payment'],
    ['svcpay receive lightning 10usd', 'asks for so much bitcoin as 10 USD are worth'],
    ['svcpay receive lightning 50000sat -q', 'prints the invoice alone'],
    ['svcpay receive lightning 50000sat --wait --json', 'ends when it is paid'],
  ],
  async run({ amount, ...flags }, context) {
    if ((await runReceive('lightning', amount, flags, context)) === back) throw leftAtOnce(context, 'Nothing was asked for');
  },
});
