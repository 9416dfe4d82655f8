// Sends BTC over Lightning and on-chain, and USDT.
import Big from 'big.js';
import * as v from 'valibot';
import { btcFromMsat } from '../../formats/amount.js';
import { decodeInvoice } from '../../formats/bolt11/decode.js';
import type { Context } from '../world/context.js';
import { takeDoublePayment } from '../world/faults.js';
import {
  findInvoice,
  isLocalNode,
  markPaid,
  rememberPaid,
  resolveLnurl,
} from '../world/lightning.js';
import { price } from '../service/pricing.js';
import { badRequest, orRefuse } from '../wire/refusal.js';
import { findTransaction, requireTransaction, type Transaction } from '../service/transactions.js';
import {
  chainNetworkFee,
  durations,
  endingOfAddress,
  endingOfInvoice,
  endingOfLnurlUser,
  lightningNetworkFeeOf,
} from '../unspecified.js';
import { amountOn, type Kind, requestedAmount, requiredDetail } from './kind.js';
import { invoicePayer, payReceive, sendOn } from './receives.js';
import { sending } from './sending.js';
import { findAccount } from '../world/accounts.js';
import { parseBitcoinAddress, parseTronAddress, tronUsdtContract } from '../../formats/address.js';

/** The data that a Lightning send stores in `extra` about the invoice that it pays. */
const payment = v.object({
  paymentHash: v.string(),
  payee: v.string(),
  invoice: v.string(),
  amountMsat: v.string(),
  invoiceExpiresAt: v.string(),
});

/** Pays a BOLT11 invoice, each only once, unless a fault allows a second payment. */
export const lightningSend: Kind = {
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
    name: 'lightning-send',
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

/** The recipient's account, if the recipient is a user of this service. */
const recipient = v.object({ accountId: v.optional(v.string()) });

/**
 * Sends to a Lightning Address or LNURL. The recipient of an LNURL send is a user of the service or
 * an external user.
 */
export const lnurlSend: Kind = {
  serves: (source, dest, wallet) => source === wallet && dest === 'lnurl',
  quote(ctx, request) {
    if (request.dest.ccy !== 'BTC') throw badRequest('Lightning carries BTC');
    const address = requiredDetail(request, 'address');
    const { lnurlAddress, user, account } = resolveLnurl(ctx, address);
    return {
      ...price(request, {
        ...amountOn('source', request),
        fee: 'send',
        networkFee: lightningNetworkFeeOf,
      }),
      destDetails: { reqDetails: { address, lnurlAddress } },
      extra: { accountId: account?.id, planned: endingOfLnurlUser(user) },
    };
  },
  ...sending({
    name: 'lnurl-send',
    startAfter: durations.lightningStart,
    settleAfter: () => durations.lightningSettle,
    deliver(ctx, txn) {
      const account = findAccount(ctx.store, v.parse(recipient, txn.extra).accountId ?? '');
      if (account === undefined) return;
      payReceive(
        ctx,
        invoicePayer(ctx, account, { amount: txn.arrives, description: account.displayName }),
      );
    },
  }),
};

/** The smallest amount of an on-chain send, in BTC. */
const minimum = new Big('0.00001');

/**
 * Sends BTC to any Bitcoin address. An on-chain send is completed once the chain has confirmed the
 * transfer.
 */
export const onchainSend: Kind = {
  serves: (source, dest, wallet) => source === wallet && dest === 'on-chain',
  quote(_ctx, request) {
    if (request.dest.ccy !== 'BTC') throw badRequest('on-chain carries BTC');
    const text = requiredDetail(request, 'address');
    const { address, program } = readAddress(text);
    const { side, amount } = amountOn('dest', request);
    if (amount.lt(minimum)) throw badRequest(`the minimum is ${minimum.toFixed()} BTC`);
    return {
      ...price(request, { side, amount, fee: 'send', networkFee: chainNetworkFee.bitcoin }),
      destDetails: { reqDetails: { address: text } },
      extra: { address, planned: endingOfAddress(program) },
    };
  },
  ...sending({
    name: 'onchain-send',
    startAfter: durations.broadcast,
    send: sendOn('bitcoin'),
  }),
};

/** Reads an address of mainnet or testnet in one of the four formats from the specification. */
function readAddress(text: string) {
  const address = orRefuse(() => parseBitcoinAddress(text));
  if (address.network === 'regtest') throw badRequest('the address is on another network');
  if (address.type === 'witness') throw badRequest('the address has an undefined version');
  return address;
}

/**
 * Sends USDT to an address on TRON. The service refuses Ethereum addresses ("not available yet").
 */
export const usdtSend: Kind = {
  serves: (source, dest, wallet) => source === wallet && (dest === 'tron' || dest === 'eth'),
  quote(_ctx, request) {
    const { dest } = request;
    if (dest.method === 'eth') throw badRequest('eth is not available yet');
    if (dest.ccy !== 'USDT') throw badRequest('tron carries USDT');
    const address = requiredDetail(request, 'address');
    const { hex } = orRefuse(() => parseTronAddress(address));
    if (address === tronUsdtContract) throw badRequest('the address is the USDT contract');
    return {
      ...price(request, {
        ...requestedAmount(request),
        fee: 'send',
        networkFee: chainNetworkFee.tron,
      }),
      destDetails: { reqDetails: { address } },
      extra: { address, planned: endingOfAddress(hex.slice(2)) },
    };
  },
  ...sending({
    name: 'usdt-send',
    startAfter: durations.broadcast,
    send: sendOn('tron'),
  }),
};
