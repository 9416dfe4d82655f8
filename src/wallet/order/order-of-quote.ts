// Derives the order of a quote of unknown origin from the service's transaction. Pure.
import type { Transaction } from '../../api/types.js';
import { fromWire, money } from '../../formats/amount.js';
import { decodeInvoice, type Invoice } from '../../formats/bolt11/decode.js';
import { entryOf } from '../../formats/unknown.js';
import { payoutDestination } from '../payout/order.js';
import { notObeyed } from './echo.js';
import type { Order } from './orders.js';

/**
 * Derives an order from a quote. A quote has the amounts of both sides, but an order states only
 * the amounts that its destination method requires.
 */
export function orderOf(txn: Transaction): Order {
  const { note, deductNetworkFeesFromDest } = txn;
  const [sourceReq, destReq] = [named(txn.sourceReq, txn), named(txn.destReq, txn)];
  const invoice = invoiceOf(destReq.reqDetails);
  const [source, dest] = entryOf(amountSides, destReq.method) ?? [false, true];
  const side = (
    { ccy, method, reqDetails, amtRequested }: typeof sourceReq,
    withAmount: boolean,
  ) => ({
    ccy,
    method,
    reqDetails: reqDetails ?? {},
    ...(withAmount && amtRequested != null && { amtRequested: fromWire(amtRequested) }),
  });
  const amount = destReq.amtRequested;
  return {
    kind: destReq.method === 'servicepay' ? 'swap' : `send ${destReq.method}`,
    body: {
      sourceReq: side(sourceReq, source),
      destReq: side(destReq, dest),
      ...(typeof note === 'string' && { note }),
      ...(deductNetworkFeesFromDest === true && { deductNetworkFeesFromDest }),
    },
    idempotencyKey: invoice === undefined ? null : `bolt11:${invoice.paymentHash}`,
    destination: invoice?.payee ?? destinationOf(destReq),
    receives: dest && amount != null ? money(destReq.ccy, fromWire(amount)) : undefined,
  };
}

/**
 * Reads one side of a quote, with its currency and method. Throws Failure `refused` if the currency
 * or the method is missing, because an incomplete quote must not be confirmed.
 */
function named({ ccy, method, ...side }: Transaction['sourceReq'], { txnId }: Transaction) {
  if (typeof ccy === 'string' && typeof method === 'string') return { ...side, ccy, method };
  throw notObeyed('one side of the quote has no currency or no method', txnId);
}

/**
 * For each destination method, whether an order states the source amount and whether it states the
 * destination amount (endpoint 6, rules 2 to 8).
 */
const amountSides: Readonly<Record<string, readonly [source: boolean, dest: boolean]>> = {
  lightning: [false, false],
  lnurl: [true, false],
  servicepay: [true, false],
};

function invoiceOf(details: Transaction['destReq']['reqDetails']): Invoice | undefined {
  const text = details?.['paymentRequest'];
  return typeof text === 'string' ? decodeInvoice(text) : undefined;
}

function destinationOf(destReq: ReturnType<typeof named>): string {
  const { address, institutionCode } = destReq.reqDetails ?? {};
  if (typeof address === 'string') return address;
  return typeof institutionCode === 'string' ? payoutDestination(destReq) : destReq.ccy;
}
