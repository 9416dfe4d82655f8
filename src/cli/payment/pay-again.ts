// Makes a payment of the history again: its card with the same answers, and a question.
import { methodFacts } from '../../formats/rails.js';
import { findMethod } from '../../wallet/payout/methods.js';
import type { Order } from '../../wallet/order/orders.js';
import type { Context } from '../context.js';
import { runPayoutOrder } from '../payout/payout-flow.js';
import { readAll } from '../values.js';
import { repeatable } from './known-destinations.js';
import { runPayment } from './payment-flow.js';
import { swapPresentation } from './payment-model.js';
import { paymentOptions } from './payment-options.js';

/**
 * The order of a payment of this home; undefined if it cannot be made again, or is not known here.
 */
export async function orderAgain(txnId: string, context: Context): Promise<Order | undefined> {
  if (context.settings.accountId !== undefined) return undefined;
  const { scope, journal } = await context.account();
  const payment = await (await journal()).find(scope, txnId);
  return payment && repeatable(payment);
}

export async function payAgain(order: Order, context: Context): Promise<void> {
  const flags = readAll(paymentOptions, {});
  const { sourceReq, destReq } = order.body;
  if (order.kind === 'payout')
    return runPayoutOrder(order, findMethod(destReq.method), flags, context);
  const about =
    order.kind === 'swap'
      ? { label: 'Swap', value: `${sourceReq.ccy} to ${destReq.ccy}` }
      : {
          label: 'To',
          value: order.destination,
          note: methodFacts(destReq.method)?.route,
          whole: true,
        };
  const presentation = order.kind === 'swap' ? swapPresentation : {};
  await runPayment(order, flags, { about: [about], ...presentation }, context);
}
