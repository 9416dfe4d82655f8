// The kinds of transaction that receive and send bitcoin and USDT: over Lightning, to Lightning
// Addresses, and on blockchains.
import Big from 'big.js';
import { type Account, findAccount } from './accounts.js';
import { readAutoPay } from './database.js';
import {
  type Context,
  randomId,
  createInvoice,
  type InvoiceTerms,
  markPaid,
  schedule,
  broadcast,
  type Chain,
  findOwnAddress,
  issueAddress,
  type OwnAddress,
  findInvoice,
  isLocalNode,
} from './world.js';
import { completeReceive, move, scheduleLapse } from './engine.js';
import {
  type CreateRequest,
  type Kind,
  openQuote,
  convert,
  requiredDetail,
  sending,
} from './kind.js';
import { badRequest, orRefuse } from './wire.js';
import {
  findTransaction,
  requireTransaction,
  type SideDetails,
  type Transaction,
} from './transactions.js';
import {
  durations,
  chainNetworkFee,
  refusalOfAddress,
  refusalOfInvoice,
  refusalOfLnurlUser,
  lightningNetworkFeeOf,
  unknownLnurlUser,
} from './unspecified.js';
import { formatBip21, decodeLnurl, parseLightningAddress } from '../formats/destination.js';
import { btcFromMsat } from '../formats/amount.js';
import { decodeInvoice } from '../formats/bolt11/decode.js';
import { pays, takeFault } from './faults.js';
import { parseBitcoinAddress, parseTronAddress, tronUsdtContract } from '../formats/address.js';

const lightning = { network: 'Lightning', ccy: 'BTC' };
const onChain = { network: 'on-chain', ccy: 'BTC' };

export const lightningReceive: Kind = {
  name: 'lightning-receive',
  from: 'lightning',
  carries: lightning,
  fee: 'receive',
  amountOn: 'dest',
  read: () => ({ sourceDetails: { reqDetails: { paymentRequest: null, invoicePageUrl: null } } }),
  confirm(ctx, txn) {
    const { charge: amount, accountDisplayName: description } = txn;
    return withPayer(ctx, issueInvoice(ctx, txn, { amount, description }));
  },
  payable: { state: 'srccreated', pay: payReceive },
};

/** Lets the automatic payer pay the payment request, unless the automatic payer is off. */
function withPayer(ctx: Context, txn: Transaction): Transaction {
  const after = readAutoPay(ctx.store);
  if (after !== undefined) schedule(ctx, autoPay, txn.id, ctx.now + after);
  return txn;
}

/** The scheduled action of the automatic payer. */
export const autoPay = 'auto-pay';

/** Opens a payment request to payers until it expires. */
function open(
  ctx: Context,
  txn: Transaction,
  reqDetails: SideDetails['reqDetails'],
  expiresAt: number,
): Transaction {
  const invoicePageUrl = `/pay/${txn.id}`;
  const sourceDetails = { reqDetails: { ...reqDetails, invoicePageUrl } };
  const opened = move(ctx, txn, 'confirm', { sourceDetails, expiresAt });
  scheduleLapse(ctx, opened);
  return opened;
}

function issueInvoice(
  ctx: Context,
  txn: Transaction,
  terms: Pick<InvoiceTerms, 'amount' | 'description'>,
): Transaction {
  const made = createInvoice(ctx, { ...terms, expiryMs: durations.invoice, txnId: txn.id });
  const { invoice: paymentRequest, expiresAt } = made;
  return open(ctx, txn, { paymentRequest }, expiresAt);
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
  return issueInvoice(ctx, openQuote(ctx, account, lightningReceive, request), terms);
}

/** Pays the invoice of a waiting receive request and credits the wallet. */
function payReceive(ctx: Context, txn: Transaction): Transaction {
  markPaid(ctx, { txnId: txn.id });
  return completeReceive(ctx, txn);
}

export const onchainReceive: Kind = {
  name: 'onchain-receive',
  from: 'on-chain',
  carries: onChain,
  fee: 'receive',
  amountOn: 'dest',
  read: () => ({ sourceDetails: { reqDetails: { address: null, invoicePageUrl: null } } }),
  confirm(ctx, txn) {
    const { charge: amount } = txn;
    const address = issueAddress(ctx, 'bitcoin', txn.accountId, txn.id);
    const expiresAt = ctx.now + durations.address;
    const invoice = formatBip21(address, amount);
    const expiredAt = new Date(expiresAt).toISOString();
    return withPayer(ctx, open(ctx, txn, { address, amount, invoice, expiredAt }, expiresAt));
  },
  payable: { state: 'srcintent', pay: (ctx, txn) => detectPayment(ctx, txn, txn.charge) },
  arrive: completeReceive,
};

/**
 * Records a payment to the address of a receive request. The service credits the received amount,
 * even if the received amount differs from the requested amount.
 */
function detectPayment(ctx: Context, txn: Transaction, amount: Big): Transaction {
  const arrives = amount.eq(txn.charge) ? txn.destAmount : convert(amount, txn.fxRate, txn.destCcy);
  const detected = move(ctx, txn, 'detect', { charge: amount, arrives });
  broadcast(ctx, txn.id, 'bitcoin', amount);
  return detected;
}

/**
 * Pays an address of the service, and returns the id of the transaction or deposit. Permanent
 * addresses and the addresses of paid or expired receive requests accept any amount as a deposit.
 */
export function payAddress(
  ctx: Context,
  { txnId, accountId, chain }: OwnAddress,
  amount: Big,
): string {
  const txn = txnId === null ? undefined : requireTransaction(ctx.store, txnId);
  if (txn?.state === 'srcintent') return detectPayment(ctx, txn, amount).id;
  const id = randomId(ctx.random);
  broadcast(ctx, id, chain, amount, accountId);
  return id;
}

/**
 * Builds the steps of a blockchain send, which broadcasts a transfer, and credits the transfer if
 * its address belongs to a user of the service.
 * @param read returns the canonical spelling and the hash (hex) of an address
 */
const sendingOn = (chain: Chain, read: (text: string) => { address: string; hash: string }) =>
  sending({
    startAfter: durations.broadcast,
    obstacle: (_ctx, txn) =>
      txn.state === 'srccreated' ? refusalOfAddress(read(paidAddress(txn)).hash) : undefined,
    send(ctx, txn) {
      broadcast(ctx, txn.id, chain, txn.arrives);
      const own = findOwnAddress(ctx.store, read(paidAddress(txn)).address);
      if (own !== undefined) payAddress(ctx, own, txn.arrives);
    },
  });

/** The address or LNURL that the quote has checked. */
const paidAddress = ({ destDetails }: Transaction): string =>
  String(destDetails.reqDetails['address']);

/** Pays a BOLT11 invoice, each only once, unless a fault allows a second payment. */
export const lightningSend: Kind = {
  name: 'lightning-send',
  to: ['lightning'],
  carries: lightning,
  fee: 'send',
  networkFee: lightningNetworkFeeOf,
  read(ctx, request) {
    const { source, dest, deduct } = request;
    if (source.amtRequested !== undefined || dest.amtRequested !== undefined) {
      throw badRequest('amtRequested must not be set, because the invoice fixes the amount');
    }
    if (deduct.serviceFee || deduct.networkFee)
      throw badRequest('fees cannot be deducted from the amount of an invoice');
    const paymentRequest = requiredDetail(request, 'paymentRequest');
    const { amount, ...invoice } = readInvoice(paymentRequest, ctx.now);
    return { amount, invoice, destDetails: { reqDetails: { paymentRequest } } };
  },
  ...sending({
    startAfter: durations.lightningStart,
    settleAfter: () => durations.lightningSettle,
    obstacle: findObstacle,
    deliver,
  }),
};

/** Decodes a payable invoice, and rounds its amount up to whole satoshis. */
function readInvoice(text: string, now: number) {
  const decoded = orRefuse(() => decodeInvoice(text));
  const { invoice, network, amountMsat, paymentHash, payee, description, expiresAt } = decoded;
  if (!['mainnet', 'testnet'].includes(network))
    throw badRequest('the invoice is for another network');
  if (amountMsat === null) throw badRequest('the invoice has no amount');
  if (expiresAt <= now) throw badRequest('invoice expired');
  const amount = btcFromMsat(amountMsat).round(8, Big.roundUp);
  return { amount, invoice, paymentHash, payee, description, expiresAt };
}

/** The invoice that a Lightning send pays. */
function invoiceOf({ id, invoice }: Transaction): NonNullable<Transaction['invoice']> {
  if (invoice === undefined) throw new Error(`Transaction ${id} pays no invoice.`);
  return invoice;
}

function findObstacle({ store, now }: Context, txn: Transaction): string | undefined {
  const invoice = invoiceOf(txn);
  const isSettling = txn.state !== 'srccreated';
  const external = findInvoice(store, invoice.paymentHash);
  // Compares the complete invoice with the stored invoice, because anyone can copy a payment hash.
  if (
    external === undefined
      ? isLocalNode(store, invoice.payee)
      : external.invoice !== invoice.invoice
  )
    return "the recipient's node does not have this invoice";
  if (external?.paidAt != null) {
    // The start of the payment only asks for the fault, and the settlement applies it.
    const isAllowed =
      external.txnId === null &&
      takeFault(store, ['double-payment'], pays(invoice.invoice), isSettling) !== undefined;
    return isAllowed ? undefined : 'invoice already paid';
  }
  if (isSettling) {
    const refusal = refusalOfInvoice(invoice.description);
    if (refusal !== undefined) return refusal;
  } else if (invoice.expiresAt <= now) return 'invoice expired';
  if (external?.txnId == null) return undefined;
  return findTransaction(store, external.txnId)?.state === 'srccreated'
    ? undefined
    : 'invoice expired';
}

function deliver(ctx: Context, txn: Transaction): void {
  const { paymentHash, invoice } = invoiceOf(txn);
  const stored = findInvoice(ctx.store, paymentHash);
  if (stored === undefined) ctx.store.insert('invoice', { paymentHash, invoice, paidAt: ctx.now });
  // An invoice that is already paid stays unchanged. Only a fault allows a second payment of an
  // invoice.
  else if (stored.paidAt !== null) return;
  else if (stored.txnId === null) markPaid(ctx, { paymentHash });
  else payReceive(ctx, requireTransaction(ctx.store, stored.txnId));
}

/**
 * Sends to a Lightning Address or LNURL. The recipient of an LNURL send is a user of the service or
 * an external user.
 */
export const lnurlSend: Kind = {
  name: 'lnurl-send',
  to: ['lnurl'],
  carries: lightning,
  fee: 'send',
  networkFee: lightningNetworkFeeOf,
  amountOn: 'source',
  read(ctx, request) {
    const address = requiredDetail(request, 'address');
    const { lnurlAddress, account } = resolveLnurl(ctx, address);
    return {
      destDetails: { reqDetails: { address, lnurlAddress } },
      recipientId: account?.id,
    };
  },
  ...sending({
    startAfter: durations.lightningStart,
    settleAfter: () => durations.lightningSettle,
    obstacle: (_ctx, txn) =>
      txn.state === 'srccreated' ? undefined : refusalOfLnurlUser(placeOf(paidAddress(txn)).user),
    deliver(ctx, txn) {
      const account = findAccount(ctx.store, txn.recipientId ?? '');
      if (account === undefined) return;
      payReceive(
        ctx,
        invoicePayer(ctx, account, { amount: txn.arrives, description: account.displayName }),
      );
    },
  }),
};

/**
 * Sends BTC to any Bitcoin address. An on-chain send is completed once the chain has confirmed the
 * transfer.
 */
export const onchainSend: Kind = {
  name: 'onchain-send',
  to: ['on-chain'],
  carries: onChain,
  fee: 'send',
  networkFee: chainNetworkFee.bitcoin,
  amountOn: 'dest',
  minimum: new Big('0.00001'),
  read(_ctx, request) {
    const address = requiredDetail(request, 'address');
    readBitcoinAddress(address);
    return { destDetails: { reqDetails: { address } } };
  },
  ...sendingOn('bitcoin', readBitcoinAddress),
};

/** Reads an address of mainnet or testnet in one of the four formats from the specification. */
function readBitcoinAddress(text: string) {
  const { address, network, type, program: hash } = orRefuse(() => parseBitcoinAddress(text));
  if (network === 'regtest') throw badRequest('the address is on another network');
  if (type === 'witness') throw badRequest('the address has an undefined version');
  return { address, hash };
}

/**
 * Sends USDT to an address on TRON. The service refuses Ethereum addresses ("not available yet").
 */
export const usdtSend: Kind = {
  name: 'usdt-send',
  to: ['tron', 'eth'],
  carries: { network: 'tron', ccy: 'USDT' },
  fee: 'send',
  networkFee: chainNetworkFee.tron,
  read(_ctx, request) {
    if (request.dest.method === 'eth') throw badRequest('eth is not available yet');
    const address = requiredDetail(request, 'address');
    readTronAddress(address);
    if (address === tronUsdtContract) throw badRequest('the address is the USDT contract');
    return { destDetails: { reqDetails: { address } } };
  },
  ...sendingOn('tron', readTronAddress),
};

function readTronAddress(address: string) {
  const { hex } = orRefuse(() => parseTronAddress(address));
  return { address, hash: hex.slice(2) };
}

/** The path prefix of a user's LNURL-pay endpoint (LUD-16). */
export const payPath = '/.well-known/lnurlp/';

/**
 * Resolves a Lightning Address or LNURL. In the result, `account` is set if the recipient is a user
 * of this service. Throws a `Refusal` for an invalid text and for an unknown recipient.
 */
function resolveLnurl(ctx: Context, text: string) {
  const { lnurlAddress, host, user } = placeOf(text);
  const isOwn = host === new URL(ctx.baseUrl).host;
  const account = isOwn ? findAccount(ctx.store, user) : undefined;
  if (user === unknownLnurlUser || (isOwn && account === undefined))
    throw badRequest('there is no such Lightning Address');
  return { lnurlAddress, account };
}

/** Returns the host and the user name in a Lightning Address or LNURL. */
function placeOf(text: string) {
  if (text.includes('@')) {
    const { user, domain, address } = orRefuse(() => parseLightningAddress(text));
    return { lnurlAddress: address, host: domain, user };
  }
  const url = new URL(orRefuse(() => decodeLnurl(text)));
  const user = url.pathname.replace(payPath, '').split('/').at(-1) ?? '';
  return { lnurlAddress: text.toUpperCase(), host: url.host, user };
}
