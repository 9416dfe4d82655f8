// Receives bitcoin: the confirmation creates an invoice or an address, and the payment credits the
// wallet. A blockchain payment to an address belongs to a waiting receive request, or becomes a
// deposit.
import Big from 'big.js';
import * as v from 'valibot';
import type { Account } from '../world/accounts.js';
import { readAutoPay, type Store } from '../storage/database.js';
import { type Context, randomId } from '../world/context.js';
import { completeReceive, credit, endUnpaid, move, scheduleLapse } from '../service/engine.js';
import { createInvoice, type InvoiceTerms, markPaid } from '../world/lightning.js';
import { type CreateRequest, type Kind, openQuote, receiveQuote } from './kind.js';
import { badRequest } from '../wire/refusal.js';
import { schedule } from '../world/schedule.js';
import { requireTransaction, type Transaction } from '../service/transactions.js';
import { durations } from '../unspecified.js';
import { formatBip21 } from '../../formats/destination.js';
import {
  broadcast,
  type Chain,
  chainCurrency,
  findOwnAddress,
  issueAddress,
  type OwnAddress,
} from '../world/chain.js';
import { plannedEndingOf } from '../service/endings.js';
import { convert } from '../service/pricing.js';
import { chains } from '../../formats/sandbox/answers.js';
import { fromUnits, toUnits } from '../wire/values.js';

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
export function payReceive(ctx: Context, txn: Transaction): Transaction {
  markPaid(ctx, v.parse(own, txn.extra).paymentHash);
  return completeReceive(ctx, 'lightning-receive', txn);
}

const name = 'onchain-receive';
const payOnchain = 'onchain-receive.auto-pay';

export const onchainReceive: Kind = {
  name,
  flow: name,
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
    const moved = move(ctx, name, txn, 'confirm', { sourceDetails: { reqDetails }, expiresAt });
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
    if (ending === undefined || ending.state === 'failed') completeReceive(ctx, name, txn);
    else endUnpaid(ctx, name, txn, ending);
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
  const detected = move(ctx, name, txn, 'detect', { charge: amount, arrives });
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
export const sendOn =
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
