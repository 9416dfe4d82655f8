// Pays a BOLT11 invoice.
import { defineCommand } from '../define.js';
import { record } from '../show.js';
import { currency, text } from '../values.js';
import { paymentOptions } from '../payment/payment-options.js';
import { paidView } from '../payment/payment-flow.js';
import { runSend } from '../payment/send-flow.js';

export const sendLightning = defineCommand({
  arguments: {
    invoice: text('INVOICE').optional().describe('a BOLT11 invoice, or - to read it from stdin'),
  },
  options: {
    from: currency()
      .optional()
      .describe(
        'wallet that pays (default BTC); svcpay converts from a USDT or fiat wallet at the ' +
          'quoted rate',
      ),
    ...paymentOptions,
  },
  changes: true,
  examples: [
    ['svcpay send lightning lnbc25u1…', 'shows the full cost, then asks for approval'],
    [
      'svcpay send lightning lnbc25u1… --ref order-118 --max-fee 1% --yes --json',
      'pays in a script that can safely run again',
    ],
    ['cat invoice.txt | svcpay send lightning - --yes', 'reads the invoice from a pipe'],
  ],
  run: ({ invoice, ...flags }, context) => runSend('lightning', invoice, undefined, flags, context),
  view: record(paidView),
});
