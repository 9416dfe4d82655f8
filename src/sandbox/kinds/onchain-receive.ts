// Receives bitcoin on-chain: the confirmation creates an address, and the service credits a payment
// once the chain has confirmed the payment.
import type Big from 'big.js';
import { formatBip21 } from '../../formats/bip21.js';
import { broadcast, issueAddress } from '../world/chain.js';
import { readAutoPay } from '../storage/settings.js';
import type { Context } from '../world/context.js';
import { completeReceive, endUnpaid, move, scheduleLapse } from '../service/engine.js';
import { plannedEndingOf } from '../service/endings.js';
import { convert } from '../service/pricing.js';
import { badRequest } from '../wire/refusal.js';
import { schedule } from '../world/schedule.js';
import { requireTransaction, type Transaction } from '../service/transactions.js';
import { durations } from '../unspecified.js';
import { receiveQuote, type Kind } from './kind.js';

const name = 'onchain-receive';
const autoPay = `${name}.auto-pay`;

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
    if (payAfter !== undefined) schedule(ctx, autoPay, txn.id, ctx.now + payAfter);
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
    [autoPay](ctx, txnId) {
      const txn = requireTransaction(ctx.store, txnId);
      detectPayment(ctx, txn, txn.charge);
    },
  },
};

/**
 * Records a payment to the address of a receive request. The service credits the received amount,
 * even if the received amount differs from the requested amount.
 */
export function detectPayment(ctx: Context, txn: Transaction, amount: Big): Transaction {
  const arrives = amount.eq(txn.charge) ? txn.destAmount : convert(amount, txn.fxRate, txn.destCcy);
  const detected = move(ctx, name, txn, 'detect', { charge: amount, arrives });
  broadcast(ctx, txn.id, 'bitcoin', amount);
  return detected;
}
