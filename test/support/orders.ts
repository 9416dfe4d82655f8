// Orders in the forms that tests compare: as a line of text, and as the body of a create request.
import Big from 'big.js';
import type { Sandbox } from '../../src/sandbox/server.js';
import type { PaymentDraft } from '../../src/store/journal/payment.js';
import { instructionOfOrder } from '../../src/wallet/instruction/order.js';
import { askedColumns } from '../../src/wallet/instruction/instruction.js';
import { encodeOrder, type Order } from '../../src/wallet/order/orders.js';

/** Returns the amount debited, the amount received and the method as a line of text. */
export function shownOrder({ body }: Order): string {
  const { sourceReq, destReq, deductNetworkFeesFromDest } = body;
  const amount = (value: Big.BigSource | undefined): string =>
    value === undefined ? '' : ` ${new Big(value).toFixed()}`;
  const sides = `${sourceReq.ccy}${amount(sourceReq.amtRequested)} -> ${destReq.ccy}${amount(destReq.amtRequested)} ${destReq.method}`;
  return deductNetworkFeesFromDest === true ? `${sides}, less fees` : sides;
}

/** Returns a wallet of the account as one side of a create request. */
export const walletSide = (ccy: string, amtRequested?: number) => ({
  ccy,
  method: 'servicepay',
  reqDetails: {},
  ...(amtRequested !== undefined && { amtRequested }),
});

/** Returns the bodies of all create requests that the sandbox received. */
export const createRequests = (sandbox: Pick<Sandbox, 'requests'>): unknown[] =>
  sandbox
    .requests('POST', '/api/v2/transaction')
    .map(({ requestBody }): unknown => JSON.parse(requestBody ?? ''));

/** Returns the draft of a payment of an order, for tests of stored payments. */
export const paymentDraft = (order: Order, ref: string): PaymentDraft => ({
  id: 'i',
  scope: 's',
  account: 's',
  ref,
  ...askedColumns(instructionOfOrder(order, false), order.kind),
  request: encodeOrder(order),
  terms: {},
});
