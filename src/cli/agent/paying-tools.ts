// What a model may do only where a person has allowed it: let money go, within the limits of the profile.
import type { Context } from '../context.js';
import { parseMaxFee, reference } from '../payment/payment-options.js';
import { planSend } from '../payment/plan-send.js';
import { readSwap } from '../payment/plan-swap.js';
import { word } from '../values.js';
import { payOrder, sendArguments, swapArguments, swapOrderOf } from './orders.js';
import { defineTool, type Tool } from './tool.js';

const terms = {
  reference: reference().describe('a name for this payment, such as order-118; the same one never pays twice'),
  maxFee: word('AMOUNT|PERCENT', parseMaxFee).optional().describe('highest total fee, as in 100sat or 1%'),
};

export function payingTools(context: Context): Tool[] {
  const { network } = context.settings;
  return [
    defineTool({
      name: 'pay',
      title: 'Pay',
      description:
        'Pays an invoice, address, LNURL or Lightning Address, once, within the limits. Irreversible. ' +
        'Answers with the transaction, or with outcome pending while it is on its way.',
      effect: 'pays',
      arguments: { ...sendArguments, ...terms },
      run: ({ destination, amount, from, reference, maxFee }, signal) =>
        payOrder(
          { planned: planSend({ to: destination, amount, from }, network), ref: reference, maxFee },
          signal,
          context,
        ),
    }),
    defineTool({
      name: 'swap',
      title: 'Swap',
      description: 'Exchanges between two own wallets, once, within the limits. Irreversible.',
      effect: 'pays',
      arguments: { ...swapArguments, ...terms },
      run: ({ amount, from, to, reference, maxFee }, signal) => {
        const order = swapOrderOf(readSwap(amount, from, to, false));
        return payOrder({ planned: { order, slow: false }, ref: reference, maxFee }, signal, context);
      },
    }),
  ];
}
