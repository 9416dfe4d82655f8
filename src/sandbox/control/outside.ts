// Pays a transaction, an invoice or an address of the service, as an external payer, and funds
// wallets in this way, so that the list of transactions explains every wallet balance.
import type { Paid, Unserialized } from '../../formats/sandbox/answers.js';
import { detectDestination } from '../../formats/destination.js';
import type { Invoice } from '../../formats/bolt11/decode.js';
import { chainCurrency, findOwnAddress, requireTransfer } from '../world/chain.js';
import type { Context } from '../world/context.js';
import { payAddress } from '../kinds/receives.js';
import { addConfirmations, kindOf } from '../kinds/index.js';
import { findInvoice } from '../world/lightning.js';
import { badRequest, notFound, orRefuse } from '../wire/refusal.js';
import { findTransaction, requireTransaction, type Transaction } from '../service/transactions.js';
import { readAmount } from '../wire/values.js';
import type Big from 'big.js';
import type { Account } from '../world/accounts.js';
import { createTransaction } from '../kinds/create-transaction.js';

/**
 * Pays the given target: a transaction by its id, an invoice, an address or a `bitcoin:` URI. Only
 * a payment to an address can have an amount, and the amount is optional if the address belongs to
 * a receive request.
 */
export function payFromOutside(
  ctx: Context,
  target: string,
  amount: string | undefined,
): Unserialized<Paid> {
  const txn = findTransaction(ctx.store, target);
  if (txn !== undefined) return payTransaction(ctx, txn, amount);
  if (/^[0-9a-f-]{36}$/i.test(target)) throw notFound();
  const found = orRefuse(() => detectDestination(target));
  switch (found.kind) {
    case 'bolt11':
      return payTransaction(ctx, receiveOf(ctx, found.value), amount);
    case 'bip21':
      return payOwnAddress(ctx, found.value.bitcoin?.address ?? '', amount);
    case 'bitcoin-address':
    case 'tron-address':
    case 'evm-address':
      return payOwnAddress(ctx, found.value.address, amount);
    default:
      throw badRequest('only a transaction, an invoice or an address of this service can be paid');
  }
}

function payTransaction(
  ctx: Context,
  txn: Transaction,
  amount: string | undefined,
): Unserialized<Paid> {
  const { payFromOutside: payIt } = kindOf(txn);
  if (payIt === undefined) throw badRequest(`transaction ${txn.id} is not a payment request`);
  if (amount !== undefined)
    throw badRequest('amount must not be set, because this transaction has a fixed amount');
  return show(payIt(ctx, txn));
}

function receiveOf({ store }: Context, { invoice, paymentHash }: Invoice): Transaction {
  const stored = findInvoice(store, paymentHash);
  if (stored?.txnId == null || stored.invoice !== invoice)
    throw badRequest('the invoice is not from this service');
  return requireTransaction(store, stored.txnId);
}

function payOwnAddress(
  ctx: Context,
  address: string,
  amount: string | undefined,
): Unserialized<Paid> {
  const own = findOwnAddress(ctx.store, address);
  if (own === undefined) throw badRequest('the address does not belong to this service');
  if (amount === undefined) {
    if (own.txnId === null)
      throw badRequest('amount must be set, because this address accepts any amount');
    return payTransaction(ctx, requireTransaction(ctx.store, own.txnId), undefined);
  }
  const ccy = chainCurrency[own.chain];
  const value = readAmount(ccy, amount);
  const id = payAddress(ctx, own, value);
  const txn = findTransaction(ctx.store, id);
  if (txn !== undefined) return show(txn);
  const { confirmations, needed } = requireTransfer(ctx.store, id);
  return { depositId: id, ccy, amount: value, confirmations, needed };
}

const show = ({ id, state }: Transaction): Paid => ({ txnId: id, txnState: state });

export function fund(ctx: Context, account: Account, ccy: string, amount: Big): void {
  const quoted = createTransaction(ctx, account, {
    sourceReq: { ccy: 'BTC', method: 'on-chain', reqDetails: {} },
    destReq: { ccy, method: ctx.wireNames.method, amtRequested: amount, reqDetails: {} },
    note: 'Sandbox money',
    deductNetworkFeesFromDest: false,
    deductNetworkFees: false,
  });
  const kind = kindOf(quoted);
  kind.payFromOutside?.(ctx, kind.confirm(ctx, quoted));
  const transfer = requireTransfer(ctx.store, quoted.id);
  addConfirmations(ctx, transfer, transfer.needed);
}
