// Lightning send: pays a BOLT11 invoice, once.
import Big from 'big.js';
import * as v from 'valibot';
import { btcFromMsat } from '../../formats/amount.js';
import { decodeInvoice, type Invoice } from '../../formats/bolt11.js';
import { Failure } from '../../formats/failure.js';
import type { Context } from '../context.js';
import { completeSend, confirmSend, failSend, move } from '../engine.js';
import { findInvoice, isLocalNode, markPaid, rememberPaid } from '../lightning.js';
import { price } from '../pricing.js';
import { badRequest } from '../refusal.js';
import { schedule } from '../schedule.js';
import { findTransaction, requireTransaction, type Transaction } from '../transactions.js';
import { durations, lightningNetworkFeeOf } from '../unspecified.js';
import type { Kind } from './kind.js';
import { payReceive } from './lightning-receive.js';

const start = 'lightning-send.start';
const settle = 'lightning-send.settle';

/** What the payment needs of the invoice later. */
const payment = v.object({
  paymentHash: v.string(),
  payee: v.string(),
  invoice: v.string(),
  amountMsat: v.string(),
  invoiceExpiresAt: v.string(),
});

export const lightningSend: Kind = {
  name: 'lightning-send',
  flow: 'send',
  serves: (source, dest, wallet) => source === wallet && dest === 'lightning',
  quote(ctx, request) {
    const { source, dest } = request;
    if (dest.ccy !== 'BTC') throw badRequest('Lightning carries BTC');
    if (source.amtRequested !== undefined || dest.amtRequested !== undefined) {
      throw badRequest('amtRequested must not be set: the invoice says the amount');
    }
    if (request.deductFees) throw badRequest('fees cannot be taken out of an invoice');
    const paymentRequest = dest.reqDetails['paymentRequest'];
    if (typeof paymentRequest !== 'string') throw badRequest('destReq.reqDetails.paymentRequest is required');
    const { amount, ...invoice } = readInvoice(paymentRequest, ctx.now);
    return {
      ...price({
        sourceCcy: source.ccy, destCcy: 'BTC', side: 'dest', amount, fee: 'send', networkFee: lightningNetworkFeeOf,
      }),
      sourceDetails: { reqDetails: {} },
      destDetails: { reqDetails: { paymentRequest } },
      extra: invoice,
    };
  },
  confirm(ctx, txn) {
    const confirmed = confirmSend(ctx, txn);
    if (confirmed.state === 'srccreated') schedule(ctx, start, txn.id, ctx.now + durations.lightningStart);
    return confirmed;
  },
  due: {
    [start](ctx, txnId) {
      const txn = requireTransaction(ctx.store, txnId);
      const obstacle = findObstacle(ctx, txn);
      if (obstacle !== undefined) return void failSend(ctx, txn, obstacle);
      move(ctx, 'send', txn, 'start');
      schedule(ctx, settle, txnId, ctx.now + durations.lightningSettle);
    },
    [settle](ctx, txnId) {
      const txn = requireTransaction(ctx.store, txnId);
      const obstacle = findObstacle(ctx, txn);
      if (obstacle !== undefined) return void failSend(ctx, txn, obstacle);
      deliver(ctx, txn);
      completeSend(ctx, txn);
    },
  },
};

/** Decodes an invoice that can be paid now. A fraction of a satoshi is charged as a whole one. */
function readInvoice(text: string, now: number) {
  const invoice = decode(text);
  if (!['mainnet', 'testnet'].includes(invoice.network)) throw badRequest('the invoice is of another network');
  if (invoice.amountMsat === null) throw badRequest('the invoice has no amount');
  if (invoice.expiresAt <= now) throw badRequest('invoice expired');
  return {
    amount: btcFromMsat(invoice.amountMsat).round(8, Big.roundUp),
    paymentHash: invoice.paymentHash,
    payee: invoice.payee,
    invoice: invoice.invoice,
    amountMsat: String(invoice.amountMsat),
    invoiceExpiresAt: String(invoice.expiresAt),
  };
}

function decode(text: string): Invoice {
  try {
    return decodeInvoice(text);
  } catch (error) {
    if (error instanceof Failure) throw badRequest(error.message);
    throw error;
  }
}

/** Why the payment cannot arrive, if it cannot. */
function findObstacle({ store, now }: Context, txn: Transaction): string | undefined {
  const { paymentHash, payee, invoice, invoiceExpiresAt } = v.parse(payment, txn.extra);
  const known = findInvoice(store, paymentHash);
  // An invoice of a node here must be one that it made, not merely one with the payment hash of another.
  if (known === undefined ? isLocalNode(store, payee) : known.invoice !== invoice) return 'invoice unknown to its node';
  if (known?.paidAt != null) return 'invoice already paid';
  if (txn.state === 'srccreated' && Number(invoiceExpiresAt) <= now) return 'invoice expired';
  if (known?.txnId == null) return undefined;
  return findTransaction(store, known.txnId)?.state === 'srccreated' ? undefined : 'invoice expired';
}

/** Hands the payment to whoever made the invoice. */
function deliver(ctx: Context, txn: Transaction): void {
  const { paymentHash, invoice, amountMsat, invoiceExpiresAt } = v.parse(payment, txn.extra);
  const known = findInvoice(ctx.store, paymentHash);
  if (known === undefined) rememberPaid(ctx, { paymentHash, invoice, amountMsat, expiresAt: Number(invoiceExpiresAt) });
  else if (known.txnId === null) markPaid(ctx, paymentHash);
  else payReceive(ctx, requireTransaction(ctx.store, known.txnId));
}
