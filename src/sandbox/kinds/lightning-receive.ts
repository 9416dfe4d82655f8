// Receives bitcoin over Lightning: the confirmation creates an invoice, and the payment of the
// invoice credits the wallet.
import Big from 'big.js';
import * as v from 'valibot';
import type { Account } from '../world/accounts.js';
import { readAutoPay } from '../storage/settings.js';
import type { Context } from '../world/context.js';
import { completeReceive, move, scheduleLapse } from '../service/engine.js';
import { createInvoice, markPaid, type InvoiceTerms } from '../world/lightning.js';
import { openQuote, receiveQuote, type CreateRequest, type Kind } from './kind.js';
import { badRequest } from '../wire/refusal.js';
import { schedule } from '../world/schedule.js';
import { requireTransaction, type Transaction } from '../service/transactions.js';
import { durations } from '../unspecified.js';

const autoPay = 'lightning-receive.auto-pay';

const own = v.object({ paymentHash: v.string() });

export const lightningReceive: Kind = {
  name: 'lightning-receive',
  flow: 'lightning-receive',
  serves: (source, dest, wallet) => source === 'lightning' && dest === wallet,
  quote: (_ctx, request) => receiveQuote(request, 'Lightning', 'paymentRequest'),
  confirm(ctx, txn) {
    const moved = issueInvoice(ctx, txn, {
      amount: txn.charge,
      description: txn.accountDisplayName,
    });
    const payAfter = readAutoPay(ctx.store);
    if (payAfter !== undefined) schedule(ctx, autoPay, txn.id, ctx.now + payAfter);
    return moved;
  },
  payFromOutside(ctx, txn) {
    if (txn.state !== 'srccreated')
      throw badRequest(`transaction ${txn.id} is ${txn.state} and cannot be paid`);
    return payReceive(ctx, txn);
  },
  due: {
    [autoPay]: (ctx, txnId) => void payReceive(ctx, requireTransaction(ctx.store, txnId)),
  },
};

function issueInvoice(
  ctx: Context,
  txn: Transaction,
  terms: Pick<InvoiceTerms, 'amount' | 'description'>,
): Transaction {
  const made = createInvoice(ctx, { ...terms, expiryMs: durations.invoice, txnId: txn.id });
  const { invoice, paymentHash, expiresAt } = made;
  const reqDetails = { paymentRequest: invoice, invoicePageUrl: `/pay/${txn.id}` };
  const moved = move(ctx, 'lightning-receive', txn, 'confirm', {
    sourceDetails: { reqDetails },
    extra: { paymentHash },
    expiresAt,
  });
  scheduleLapse(ctx, moved);
  return moved;
}

/**
 * Creates and confirms a receive request for an LNURL payer. A receive request for an LNURL payer
 * credits the amount in whole satoshis, rounded down. The automatic payer ignores a receive request
 * for an LNURL payer.
 */
export function invoicePayer(
  ctx: Context,
  account: Account,
  terms: Pick<InvoiceTerms, 'amount' | 'description'>,
): Transaction {
  const request: CreateRequest = {
    source: { ccy: 'BTC', method: 'lightning', reqDetails: {} },
    dest: {
      ccy: 'BTC',
      method: ctx.wireNames.method,
      amtRequested: terms.amount.round(8, Big.roundDown),
      reqDetails: {},
    },
    deduct: { serviceFee: false, networkFee: false },
  };
  const quote = lightningReceive.quote(ctx, request);
  const txn = openQuote(ctx, account, lightningReceive, request, quote, {
    extRefId: null,
    note: null,
  });
  return issueInvoice(ctx, txn, terms);
}

/** Pays the invoice of a waiting receive request and credits the wallet. */
export function payReceive(ctx: Context, txn: Transaction): Transaction {
  markPaid(ctx, v.parse(own, txn.extra).paymentHash);
  return completeReceive(ctx, 'lightning-receive', txn);
}
