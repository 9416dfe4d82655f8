// Swaps between two wallets of one account. The service executes a swap when the client confirms
// it.
import { endUnpaid, executeSwap } from '../service/engine.js';
import { plannedEndingOf } from '../service/endings.js';
import { price } from '../service/pricing.js';
import { badRequest } from '../wire/refusal.js';
import { requestedAmount, type Kind } from './kind.js';

export const swap: Kind = {
  name: 'swap',
  flow: 'swap',
  serves: (source, dest, wallet) => source === wallet && dest === wallet,
  quote(_ctx, request) {
    const { source, dest } = request;
    if (source.ccy === dest.ccy) throw badRequest('a swap must have two different currencies');
    return price(request, { ...requestedAmount(request), fee: 'swap' });
  },
  confirm(ctx, txn) {
    const ending = plannedEndingOf(txn, 'settle');
    return ending === undefined ? executeSwap(ctx, txn) : endUnpaid(ctx, 'swap', txn, ending);
  },
  due: {},
};
