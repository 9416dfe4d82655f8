// An order in a line, as tests compare it: what leaves, what arrives, by which method.
import Big from 'big.js';
import type { Order } from '../../src/wallet/payment/orders.js';

export function shownOrder({ body }: Order): string {
  const { sourceReq, destReq, deductNetworkFeesFromDest } = body;
  const amount = (value: Big.BigSource | undefined): string => (value === undefined ? '' : ` ${new Big(value).toFixed()}`);
  const sides = `${sourceReq.ccy}${amount(sourceReq.amtRequested)} -> ${destReq.ccy}${amount(destReq.amtRequested)} ${destReq.method}`;
  return deductNetworkFeesFromDest === true ? `${sides}, less fees` : sides;
}
