// A shop that takes Lightning payments: an order gets an invoice, and a webhook reports its payment.
//
//   SVCPAY_BASE_URL=… SVCPAY_API_KEY=… SVCPAY_API_SECRET=… SVCPAY_WEBHOOK_SECRET=… node shop.mjs
//   curl -X POST localhost:8080/orders/coffee
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { argv, env } from 'node:process';
import { pathToFileURL } from 'node:url';
import { fromWire, parseAmount, readWebhook, ServiceError, WalletClient } from 'svcpay';

/**
 * Returns status 401 for a webhook that the service has not signed, 400 for an invalid request, 502
 * for an error response from the service, and 500 for any other error.
 */
const statusOf = (error) =>
  error instanceof ServiceError ? 502 : ({ authentication: 401, usage: 400 }[error?.kind] ?? 500);

const prices = new Map([
  ['coffee', parseAmount('2500sat')],
  ['cake', parseAmount('4000sat')],
]);

/** @param {{ client: WalletClient, webhookSecret: string }} options */
export function createShop({ client, webhookSecret }) {
  /** The orders by id. A real shop stores its orders in a database. */
  const orders = new Map();

  async function order(product) {
    const price = prices.get(product);
    if (price === undefined) return [404, { error: 'no such product' }];
    const id = randomUUID();
    // The shop stores the order before the request, so that the shop recognizes its webhook even if
    // the response to the request is lost.
    orders.set(id, { id, product, state: 'unpaid' });
    // The reference of the transaction is the order's id. The service refuses a second request with
    // the same reference, so no order has two invoices.
    const quote = await client.createTransaction({
      sourceReq: { ccy: price.ccy, method: 'lightning' },
      destReq: { ccy: price.ccy, method: 'servicepay', amtRequested: price.value },
      extRefId: id,
    });
    const { sourceReq } = await client.confirmTransaction(quote.txnId);
    const { paymentRequest: invoice, invoicePageUrl: page } = sourceReq.reqDetails ?? {};
    Object.assign(orders.get(id), { txnId: quote.txnId, invoice, page });
    return [201, orders.get(id)];
  }

  /**
   * A webhook only reports that a transaction has changed, so the shop reads the current state of
   * the transaction from the service.
   */
  async function settle({ txnId, extRefId }) {
    const found = orders.get(extRefId);
    if (found === undefined || (found.txnId ?? txnId) !== txnId || found.state === 'paid') return;
    const { txnState, destReq } = await client.transaction(txnId);
    const arrived = fromWire(destReq.amtSettled ?? 0);
    if (txnState === 'completed' && arrived.gte(prices.get(found.product).value))
      found.state = 'paid';
    if (txnState === 'expired') found.state = 'expired';
  }

  async function answer(request) {
    const [, collection, name] = request.url.split('/');
    if (request.method === 'POST' && collection === 'orders') return order(name);
    if (request.method === 'GET' && collection === 'orders') {
      return orders.has(name) ? [200, orders.get(name)] : [404, { error: 'no such order' }];
    }
    if (request.method === 'POST' && collection === 'webhook') {
      const signature = request.headers['x-servicepay-signature'];
      await settle(readWebhook(await bytesOf(request), signature, webhookSecret));
      return [200, {}];
    }
    return [404, { error: 'not found' }];
  }

  return createServer(async (request, response) => {
    // After a status of 500, the service delivers the event again.
    const [status, body] = await answer(request).catch((error) => [statusOf(error), {}]);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
}

/** Reads the raw bytes of the body, because the signature covers exactly these bytes. */
async function bytesOf(request) {
  const chunks = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    if (length > 65_536) throw new Error('too large for an event');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

if (import.meta.url === pathToFileURL(argv[1] ?? '').href) {
  const client = new WalletClient({
    baseUrl: env.SVCPAY_BASE_URL ?? '',
    apiKey: env.SVCPAY_API_KEY ?? '',
    apiSecret: env.SVCPAY_API_SECRET ?? '',
    userAgent: 'shop/1.0',
  });
  createShop({ client, webhookSecret: env.SVCPAY_WEBHOOK_SECRET ?? '' }).listen(env.PORT ?? 8080);
}
