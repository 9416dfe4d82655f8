// What a model may do only where a person has allowed it: let money go, within the limits of the profile.
import type { Context } from '../context.js';
import Big from 'big.js';
import { Failure } from '../../formats/failure.js';
import { parseMaxFee, reference, type MaxFeeOf } from '../payment/payment-options.js';
import { word } from '../values.js';
import { payOrder, plannedSend, plannedSwap, sendArguments, swapArguments } from './orders.js';
import { defineTool, type Tool } from './tool.js';

const terms = {
  reference: reference().describe('a name for this payment, such as order-118; the same one means the same payment'),
  maxFee: word('AMOUNT|PERCENT', parseMaxFee).optional().describe('a lower highest fee than the one that holds here, written like it: 100sat or 1%'),
};

/** @param most the fee that no payment may exceed, whatever the model says */
export function payingTools(most: MaxFeeOf, context: Context): Tool[] {
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
        payOrder({ planned: plannedSend(words, context), ref: reference, maxFee: lowerOf(most, maxFee) }, signal, context),
    }),
    defineTool({
      name: 'swap',
      title: 'Swap',
      description: 'Exchanges between two own wallets, once, within the limits. Irreversible.',
      effect: 'pays',
      arguments: { ...swapArguments, ...terms },
      run: async ({ reference, maxFee, ...words }, signal) =>
        payOrder({ planned: plannedSwap(words), ref: reference, maxFee: lowerOf(most, maxFee) }, signal, context),
    }),
  ];
}

/** What comes of it throws Failure `usage` for two that cannot be compared. */
function lowerOf(most: MaxFeeOf, asked: MaxFeeOf | undefined): MaxFeeOf {
  if (asked === undefined) return most;
  return (ccy) => {
    const [a, b] = [most(ccy), asked(ccy)];
    if ('percent' in a && 'percent' in b) return new Big(b.percent).lt(a.percent) ? b : a;
    if ('amount' in a && 'amount' in b) return new Big(b.amount).lt(a.amount) ? b : a;
    const limit = 'percent' in a ? `${a.percent}%` : `${a.amount} ${a.ccy}`;
    throw new Failure('usage', `Not sent: the highest fee here is ${limit}; write maxFee in the same way, or leave it out.`);
  };
}
