// Pays a BOLT11 invoice. The service pays each invoice only once, unless a fault allows a second
// payment.
import Big from 'big.js';
import * as v from 'valibot';
import { btcFromMsat } from '../../formats/amount.js';
import { decodeInvoice } from '../../formats/bolt11/decode.js';
import type { Context } from '../world/context.js';
import { takeDoublePayment } from '../world/faults.js';
import { findInvoice, isLocalNode, markPaid, rememberPaid } from '../world/lightning.js';
import { price } from '../service/pricing.js';
import { badRequest, orRefuse } from '../wire/refusal.js';
import { findTransaction, requireTransaction, type Transaction } from '../service/transactions.js';
import { durations, endingOfInvoice, lightningNetworkFeeOf } from '../unspecified.js';
import { requiredDetail, type Kind } from './kind.js';
import { payReceive } from './lightning-receive.js';
import { sending } from './sending.js';

const name = 'lightning-send';

/** The data that a Lightning send stores in `extra` about the invoice that it pays. */
const payment = v.object({
  paymentHash: v.string(),
  payee: v.string(),
  invoice: v.string(),
  amountMsat: v.string(),
  invoiceExpiresAt: v.string(),
});

export const lightningSend: Kind = {
  name,
  serves: (source, dest, wallet) => source === wallet && dest === 'lightning',
  quote(ctx, request) {
    const { source, dest, deduct } = request;
    if (dest.ccy !== 'BTC') throw badRequest('Lightning carries BTC');
    if (source.amtRequested !== undefined || dest.amtRequested !== undefined) {
      throw badRequest('amtRequested must not be set, because the invoice fixes the amount');
    }
    if (deduct.serviceFee || deduct.networkFee)
      throw badRequest('fees cannot be deducted from the amount of an invoice');
    const paymentRequest = requiredDetail(request, 'paymentRequest');
    const { amount, ...invoice } = readInvoice(paymentRequest, ctx.now);
    return {
      ...price(request, { side: 'dest', amount, fee: 'send', networkFee: lightningNetworkFeeOf }),
      destDetails: { reqDetails: { paymentRequest } },
      extra: invoice,
    };
  },
  ...sending({
    name,
    startAfter: durations.lightningStart,
    settleAfter: () => durations.lightningSettle,
    obstacle: findObstacle,
    deliver,
  }),
};

/** Decodes a payable invoice, and rounds its amount up to whole satoshis. */
function readInvoice(text: string, now: number) {
  const invoice = orRefuse(() => decodeInvoice(text));
  if (!['mainnet', 'testnet'].includes(invoice.network))
    throw badRequest('the invoice is for another network');
  if (invoice.amountMsat === null) throw badRequest('the invoice has no amount');
  if (invoice.expiresAt <= now) throw badRequest('invoice expired');
  return {
    amount: btcFromMsat(invoice.amountMsat).round(8, Big.roundUp),
    paymentHash: invoice.paymentHash,
    payee: invoice.payee,
    invoice: invoice.invoice,
    amountMsat: String(invoice.amountMsat),
    invoiceExpiresAt: String(invoice.expiresAt),
    planned: endingOfInvoice(invoice.description),
  };
}

function findObstacle({ store, now }: Context, txn: Transaction): string | undefined {
  const { paymentHash, payee, invoice, invoiceExpiresAt } = v.parse(payment, txn.extra);
  const external = findInvoice(store, paymentHash);
  // Compares the complete invoice with the stored invoice, because anyone can copy a payment hash.
  if (external === undefined ? isLocalNode(store, payee) : external.invoice !== invoice)
    return "the recipient's node does not have this invoice";
  if (external?.paidAt != null) {
    const isAllowed =
      external.txnId === null &&
      takeDoublePayment(store, invoice, { onlyAsk: txn.state === 'srccreated' });
    return isAllowed ? undefined : 'invoice already paid';
  }
  if (txn.state === 'srccreated' && Number(invoiceExpiresAt) <= now) return 'invoice expired';
  if (external?.txnId == null) return undefined;
  return findTransaction(store, external.txnId)?.state === 'srccreated'
    ? undefined
    : 'invoice expired';
}

function deliver(ctx: Context, txn: Transaction): void {
  const { paymentHash, invoice, amountMsat, invoiceExpiresAt } = v.parse(payment, txn.extra);
  const stored = findInvoice(ctx.store, paymentHash);
  if (stored === undefined)
    rememberPaid(ctx, { paymentHash, invoice, amountMsat, expiresAt: Number(invoiceExpiresAt) });
  // An invoice that is already paid stays unchanged. Only a fault allows a second payment of an
  // invoice.
  else if (stored.paidAt !== null) return;
  else if (stored.txnId === null) markPaid(ctx, paymentHash);
  else payReceive(ctx, requireTransaction(ctx.store, stored.txnId));
}
