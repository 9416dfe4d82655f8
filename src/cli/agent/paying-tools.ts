// What a model may do only where a person has allowed it: let money go, within the limits of the profile.
import type { Context } from '../context.js';
import { parseMaxFee, reference } from '../payment/payment-options.js';
import { word } from '../values.js';
import { payOrder, plannedSend, plannedSwap, sendArguments, swapArguments } from './orders.js';
import { defineTool, type Tool } from './tool.js';

const terms = {
  reference: reference().describe('a name for this payment, such as order-118; the same one never pays twice'),
  maxFee: word('AMOUNT|PERCENT', parseMaxFee).optional().describe('highest total fee, as in 100sat or 1%'),
};

export function payingTools(context: Context): Tool[] {
  return [
    defineTool({
      name: 'pay',
      title: 'Pay',
      description:
        'Pays an invoice, address, LNURL or Lightning Address, once, within the limits. Irreversible. ' +
        'Answers with the transaction, or with outcome pending while it is on its way.',
      effect: 'pays',
      arguments: { ...sendArguments, ...terms },
      run: async ({ reference, maxFee, ...words }, signal) =>
        payOrder({ planned: plannedSend(words, context), ref: reference, maxFee }, signal, context),
    }),
    defineTool({
      name: 'swap',
      title: 'Swap',
      description: 'Exchanges between two own wallets, once, within the limits. Irreversible.',
      effect: 'pays',
      arguments: { ...swapArguments, ...terms },
      run: async ({ reference, maxFee, ...words }, signal) =>
        payOrder({ planned: plannedSwap(words), ref: reference, maxFee }, signal, context),
    }),
  ];
}
