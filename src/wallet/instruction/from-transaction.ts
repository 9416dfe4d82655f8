// Derives the order and the instruction of a quote of unknown origin from the service's
// transaction. Pure.
import type { Transaction } from '../../api/types.js';
import { fixed, fromWire, money } from '../../formats/amount.js';
import { decodeInvoice, type Invoice } from '../../formats/bolt11/decode.js';
import { detectDestination } from '../../formats/destination.js';
import { Failure } from '../../formats/failure.js';
import { entryOf } from '../../formats/text.js';
import { notObeyed } from '../order/echo.js';
import type { Order } from '../order/orders.js';
import { payoutDestination } from '../payout/order.js';
import { bankKey, payeeOf } from '../payout/methods.js';
import type { Instruction, WrittenAmount } from './instruction.js';
import { keysOf, nodeKey, walletKey } from './keys.js';

/**
 * Derives an order from a quote. A quote has the amounts of both sides, but an order states only
 * the amounts that its destination method requires.
 */
export function orderOfQuote(txn: Transaction): Order {
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
    key: keyOf(destReq, invoice),
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

function keyOf(destReq: ReturnType<typeof named>, invoice: Invoice | undefined): string {
  if (invoice !== undefined) return nodeKey(invoice.payee);
  const { address } = destReq.reqDetails ?? {};
  if (destReq.method === 'servicepay') return walletKey(destReq.ccy);
  if (typeof address !== 'string') return bankKey(destReq);
  try {
    return keysOf(detectDestination(address))[0] ?? address;
  } catch (error) {
    // The service may report an address that svcpay cannot read. It is its own key.
    if (error instanceof Failure) return `${destReq.method}:${address}`;
    throw error;
  }
}

/**
 * The instruction that an order of unknown origin carries out.
 * @param isImported whether the order may lack parts of what was asked
 */
export function instructionOfOrder(order: Order, isImported: boolean): Instruction {
  const { kind, body, key, idempotencyKey, destination } = order;
  const { sourceReq, destReq, note, sourceOfFunds, deductNetworkFeesFromDest } = body;
  const { address, paymentRequest, acctNum, bankAcctNum } = destReq.reqDetails ?? {};
  const isPayout = acctNum !== undefined || bankAcctNum !== undefined;
  const asked = amountOf(sourceReq, 'debits') ?? amountOf(destReq, 'gets');
  const to = [paymentRequest, address].find((each) => typeof each === 'string');
  return {
    verb: isPayout ? 'payout' : kind === 'swap' ? 'swap' : 'send',
    to: typeof to === 'string' ? to : isPayout ? payeeOf(body).account : destination,
    keys: [key],
    once: idempotencyKey,
    amount: asked ?? 'invoice',
    from: sourceReq.ccy,
    deductFees: deductNetworkFeesFromDest === true,
    ...(isPayout && {
      payout: { sourceReq, destReq, ...(sourceOfFunds !== undefined && { sourceOfFunds }) },
    }),
    ...(note !== undefined && { note }),
    ...(isImported && { isImported }),
  };
}

function amountOf(
  { ccy, amtRequested }: Order['body']['sourceReq'],
  side: WrittenAmount['side'],
): WrittenAmount | undefined {
  if (amtRequested === undefined) return undefined;
  const amount = money(ccy, amtRequested);
  return { ...amount, written: `${fixed(amount.value)}${ccy.toLowerCase()}`, side };
}
