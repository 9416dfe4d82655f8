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
  requestedAmount,
  requiredDetail,
  sending,
} from './kind.js';
import { badRequest, fromUnits, toUnits, orRefuse } from './wire.js';
import {
  type Changes,
  findTransaction,
  requireTransaction,
  type SideDetails,
  type Transaction,
} from './transactions.js';
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
import { pays, takeFault } from './faults.js';
import { parseBitcoinAddress, parseTronAddress, tronUsdtContract } from '../formats/address.js';

const lightning = { network: 'Lightning', ccy: 'BTC' };
const onChain = { network: 'on-chain', ccy: 'BTC' };

const own = v.object({ paymentHash: v.string() });

export const lightningReceive: Kind = {
  name: 'lightning-receive',
  from: 'lightning',
  carries: lightning,
  quote: (_ctx, request) => receiveQuote(request, 'paymentRequest'),
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
  changes: Changes,
): Transaction {
  const invoicePageUrl = `/pay/${txn.id}`;
  const opened = move(ctx, txn, 'confirm', {
    ...changes,
    sourceDetails: { reqDetails: { ...reqDetails, invoicePageUrl } },
  });
  scheduleLapse(ctx, opened);
  return opened;
}

function issueInvoice(
  ctx: Context,
  txn: Transaction,
  terms: Pick<InvoiceTerms, 'amount' | 'description'>,
): Transaction {
  const made = createInvoice(ctx, { ...terms, expiryMs: durations.invoice, txnId: txn.id });
  const { invoice: paymentRequest, paymentHash, expiresAt } = made;
  return open(ctx, txn, { paymentRequest }, { extra: { paymentHash }, expiresAt });
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
  return completeReceive(ctx, txn);
}

export const onchainReceive: Kind = {
  name: 'onchain-receive',
  from: 'on-chain',
  carries: onChain,
  quote: (_ctx, request) => receiveQuote(request, 'address'),
  confirm(ctx, txn) {
    const { charge: amount } = txn;
    const address = issueAddress(ctx, 'bitcoin', txn.accountId, txn.id);
    const expiresAt = ctx.now + durations.address;
    const invoice = formatBip21(address, amount);
    const expiredAt = new Date(expiresAt).toISOString();
    return withPayer(ctx, open(ctx, txn, { address, amount, invoice, expiredAt }, { expiresAt }));
  },
  payable: { state: 'srcintent', pay: (ctx, txn) => detectPayment(ctx, txn, txn.charge) },
  onConfirmed(ctx, txn) {
    const ending = plannedEndingOf(txn, 'settle');
    // Ignores a planned `failed` ending, because a payment that the chain has confirmed cannot
    // fail.
    if (ending === undefined || ending.state === 'failed') completeReceive(ctx, txn);
    else endUnpaid(ctx, txn, ending);
  },
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
  credit(ctx, id, accountId, ccy, fromUnits(ccy, units));
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
  to: ['lightning'],
  carries: lightning,
  quote(ctx, request) {
    const { source, dest, deduct } = request;
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
    // The start of the payment only asks for the fault, and the settlement applies it.
    const isSettling = txn.state !== 'srccreated';
    const isAllowed =
      external.txnId === null &&
      takeFault(store, ['double-payment'], pays(invoice), isSettling) !== undefined;
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
  to: ['lnurl'],
  carries: lightning,
  quote(ctx, request) {
    const address = requiredDetail(request, 'address');
    const { lnurlAddress, user, account } = resolveLnurl(ctx, address);
    return {
      ...price(request, {
        ...requestedAmount(request, 'source'),
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
  to: ['on-chain'],
  carries: onChain,
  quote(_ctx, request) {
    const text = requiredDetail(request, 'address');
    const { address, program } = readAddress(text);
    const { side, amount } = requestedAmount(request, 'dest');
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
  to: ['tron', 'eth'],
  carries: { network: 'tron', ccy: 'USDT' },
  quote(_ctx, request) {
    if (request.dest.method === 'eth') throw badRequest('eth is not available yet');
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
