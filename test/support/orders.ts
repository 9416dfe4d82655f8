// Orders in the forms that tests compare: as a line of text, and as the body of a create request.
import Big from 'big.js';
import type { Sandbox } from '../../src/sandbox/server.js';
import type { PaymentDraft } from '../../src/store/journal/payment.js';
import type { Money } from '../../src/formats/amount.js';
import { detectDestination } from '../../src/formats/destination.js';
import {
  instructionOfOrder,
  invoiceOrder,
  pricedOrder,
  sendSide,
} from '../../src/wallet/instruction/order.js';
import { askedColumns } from '../../src/wallet/instruction/instruction.js';
import { encodeOrder, type Order, walletSide as sideOf } from '../../src/wallet/order/orders.js';

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

function orderTo(address: string, amount: Money, from: string, side: 'gets' | 'debits'): Order {
  const to = sendSide(detectDestination(address), [], { now: 0 });
  return 'invoice' in to ? invoiceOrder(to, from) : pricedOrder(to, sideOf(from), amount, side);
}

export { invoiceOrder as lightningOrder };

export const lnurlOrder = (address: string, amount: Money): Order =>
  orderTo(address, amount, amount.ccy, 'debits');

export const onchainOrder = (address: string, amount: Money, from: string): Order =>
  orderTo(address, amount, from, 'gets');

export const usdtOrder = (address: string, amount: Money, from: string): Order =>
  orderTo(address, amount, from, 'gets');

export const usdtSpendOrder = (address: string, amount: Money): Order =>
  orderTo(address, amount, amount.ccy, 'debits');

export const swapOrder = (
  from: string,
  to: string,
  amount: Money,
  side: 'source' | 'dest',
): Order => pricedOrder(sideOf(to), sideOf(from), amount, side === 'source' ? 'debits' : 'gets');

/** Changes an order so that the service takes the fees out of the amount. */
export const deducting = ({ body, ...order }: Order): Order => ({
  ...order,
  body: { ...body, deductNetworkFeesFromDest: true },
});
