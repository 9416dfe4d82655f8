// Orders as tests compare them: in a line, and as the bodies that ask the service for them.
import Big from 'big.js';
import type { Sandbox } from '../../src/sandbox/index.js';
import type { Order } from '../../src/wallet/order/orders.js';

/** What leaves, what arrives, by which method. */
export function shownOrder({ body }: Order): string {
  const { sourceReq, destReq, deductNetworkFeesFromDest } = body;
  const amount = (value: Big.BigSource | undefined): string =>
    value === undefined ? '' : ` ${new Big(value).toFixed()}`;
  const sides = `${sourceReq.ccy}${amount(sourceReq.amtRequested)} -> ${destReq.ccy}${amount(destReq.amtRequested)} ${destReq.method}`;
  return deductNetworkFeesFromDest === true ? `${sides}, less fees` : sides;
}

/** A wallet of the account as one side of a create request. */
export const walletSide = (ccy: string, amtRequested?: number) => ({
  ccy,
  method: 'servicepay',
  reqDetails: {},
  ...(amtRequested !== undefined && { amtRequested }),
});

/** The bodies of all transactions that the sandbox was asked for. */
export const createRequests = (sandbox: Pick<Sandbox, 'requests'>): unknown[] =>
  sandbox
    .requests('POST', '/api/v2/transaction')
    .map(({ requestBody }): unknown => JSON.parse(requestBody ?? ''));
