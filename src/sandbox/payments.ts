// The kinds of transaction that receive and send bitcoin and USDT: over Lightning, to Lightning
// Addresses, and on blockchains.
import Big from 'big.js';
import * as v from 'valibot';
import { type Account, findAccount } from './accounts.js';
import { readAutoPay, type Store } from './database.js';
import {
  type Context,
  randomId,
  createInvoice,
  type InvoiceTerms,
  markPaid,
  schedule,
  broadcast,
  type Chain,
  chainCurrency,
  findOwnAddress,
  issueAddress,
  type OwnAddress,
  findInvoice,
  isLocalNode,
  rememberPaid,
} from './world.js';
import {
  completeReceive,
  credit,
  endUnpaid,
  move,
  scheduleLapse,
  plannedEndingOf,
} from './engine.js';
import {
  type CreateRequest,
  type Kind,
  openQuote,
  receiveQuote,
  convert,
  price,
  amountOn,
  requestedAmount,
  requiredDetail,
  sending,
} from './kind.js';
import { badRequest, fromUnits, toUnits, orRefuse } from './wire.js';
import { requireTransaction, type Transaction, findTransaction } from './transactions.js';
import {
  durations,
  chainNetworkFee,
  endingOfAddress,
  endingOfInvoice,
  endingOfLnurlUser,
  lightningNetworkFeeOf,
  unknownLnurlUser,
} from './unspecified.js';
import { formatBip21, decodeLnurl, parseLightningAddress } from '../formats/destination.js';
import { chains } from '../formats/sandbox/answers.js';
import { btcFromMsat } from '../formats/amount.js';
import { decodeInvoice } from '../formats/bolt11/decode.js';
import { takeDoublePayment } from './faults.js';
import { parseBitcoinAddress, parseTronAddress, tronUsdtContract } from '../formats/address.js';

const payInvoice = 'lightning-receive.auto-pay';

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
    if (payAfter !== undefined) schedule(ctx, payInvoice, txn.id, ctx.now + payAfter);
    return moved;
  },
  payFromOutside(ctx, txn) {
    if (txn.state !== 'srccreated')
      throw badRequest(`transaction ${txn.id} is ${txn.state} and cannot be paid`);
    return payReceive(ctx, txn);
  },
  due: {
    [payInvoice]: (ctx, txnId) => void payReceive(ctx, requireTransaction(ctx.store, txnId)),
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
function payReceive(ctx: Context, txn: Transaction): Transaction {
  markPaid(ctx, v.parse(own, txn.extra).paymentHash);
  return completeReceive(ctx, 'lightning-receive', txn);
}

const payOnchain = 'onchain-receive.auto-pay';

export const onchainReceive: Kind = {
  name: 'onchain-receive',
  flow: 'onchain-receive',
  serves: (source, dest, wallet) => source === 'on-chain' && dest === wallet,
  quote: (_ctx, request) => receiveQuote(request, 'on-chain', 'address'),
  confirm(ctx, txn) {
    const address = issueAddress(ctx, 'bitcoin', txn.accountId, txn.id);
    const expiresAt = ctx.now + durations.address;
    const reqDetails = {
      address,
      amount: txn.charge,
      invoice: formatBip21(address, txn.charge),
      invoicePageUrl: `/pay/${txn.id}`,
      expiredAt: new Date(expiresAt).toISOString(),
    };
    const moved = move(ctx, 'onchain-receive', txn, 'confirm', {
      sourceDetails: { reqDetails },
      expiresAt,
    });
    scheduleLapse(ctx, moved);
    const payAfter = readAutoPay(ctx.store);
    if (payAfter !== undefined) schedule(ctx, payOnchain, txn.id, ctx.now + payAfter);
    return moved;
  },
  payFromOutside(ctx, txn) {
    if (txn.state !== 'srcintent')
      throw badRequest(`transaction ${txn.id} is ${txn.state} and cannot be paid`);
    return detectPayment(ctx, txn, txn.charge);
  },
  onConfirmed(ctx, txn) {
    const ending = plannedEndingOf(txn, 'settle');
    // Ignores a planned `failed` ending, because a payment that the chain has confirmed cannot
    // fail.
    if (ending === undefined || ending.state === 'failed')
      completeReceive(ctx, 'onchain-receive', txn);
    else endUnpaid(ctx, 'onchain-receive', txn, ending);
  },
  due: {
    [payOnchain](ctx, txnId) {
      const txn = requireTransaction(ctx.store, txnId);
      detectPayment(ctx, txn, txn.charge);
    },
  },
};

/**
 * Records a payment to the address of a receive request. The service credits the received amount,
 * even if the received amount differs from the requested amount.
 */
function detectPayment(ctx: Context, txn: Transaction, amount: Big): Transaction {
  const arrives = amount.eq(txn.charge) ? txn.destAmount : convert(amount, txn.fxRate, txn.destCcy);
  const detected = move(ctx, 'onchain-receive', txn, 'detect', { charge: amount, arrives });
  broadcast(ctx, txn.id, 'bitcoin', amount);
  return detected;
}

const depositRow = v.object({
  id: v.string(),
  accountId: v.string(),
  chain: v.picklist(chains),
  amount: v.number(),
});

type Deposit = v.InferOutput<typeof depositRow>;

/** Pays an address of the service, and returns the id of the transaction or deposit. */
export function payAddress(ctx: Context, own: OwnAddress, amount: Big): string {
  const txn = own.txnId === null ? undefined : requireTransaction(ctx.store, own.txnId);
  return txn?.state === 'srcintent'
    ? detectPayment(ctx, txn, amount).id
    : openDeposit(ctx, own, amount);
}

/**
 * The data that an on-chain or USDT send stores in `extra`: the address in its canonical spelling.
 */
const target = v.object({ address: v.string() });

/** Broadcasts a transfer, and credits it if its address belongs to a user of the service. */
const sendOn =
  (chain: Chain) =>
  (ctx: Context, { id, extra, arrives }: Transaction): void => {
    broadcast(ctx, id, chain, arrives);
    const own = findOwnAddress(ctx.store, v.parse(target, extra).address);
    if (own !== undefined) payAddress(ctx, own, arrives);
  };

export function findDeposit(store: Store, id: string): Deposit | undefined {
  return store.one(
    depositRow,
    'SELECT id, account_id, chain, amount FROM deposit JOIN address USING (address) WHERE id = ?',
    id,
  );
}

export function creditDeposit(
  ctx: Context,
  { id, accountId, chain, amount: units }: Deposit,
): void {
  const ccy = chainCurrency[chain];
  credit(ctx, { subject: id, accountId, ccy, amount: fromUnits(ccy, units) });
}

/**
 * Records a deposit and broadcasts its transfer. Permanent addresses and the addresses of paid or
 * expired receive requests accept any amount.
 */
function openDeposit(ctx: Context, { address, chain }: OwnAddress, amount: Big): string {
  const id = randomId(ctx.random);
  ctx.store.insert('deposit', { id, address, amount: toUnits(chainCurrency[chain], amount) });
  broadcast(ctx, id, chain, amount);
  return id;
}

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

/** The path prefix of a user's LNURL-pay endpoint (LUD-16). */
export const payPath = '/.well-known/lnurlp/';

/**
 * Resolves a Lightning Address or LNURL. In the result, `account` is set if the recipient is a user
 * of this service. Throws a `Refusal` for an invalid text and for an unknown recipient.
 */
function resolveLnurl(ctx: Context, text: string) {
  const { lnurlAddress, host, user } = text.includes('@')
    ? placeOfAddress(text)
    : placeOfLnurl(text);
  const isOwn = host === new URL(ctx.baseUrl).host;
  const account = isOwn ? findAccount(ctx.store, user) : undefined;
  if (user === unknownLnurlUser || (isOwn && account === undefined))
    throw badRequest('there is no such Lightning Address');
  return { lnurlAddress, user, account };
}

function placeOfAddress(text: string) {
  const { user, domain, address } = orRefuse(() => parseLightningAddress(text));
  return { lnurlAddress: address, host: domain, user };
}

function placeOfLnurl(text: string) {
  const url = new URL(orRefuse(() => decodeLnurl(text)));
  const user = url.pathname.replace(payPath, '').split('/').at(-1) ?? '';
  return { lnurlAddress: text.toUpperCase(), host: url.host, user };
}
