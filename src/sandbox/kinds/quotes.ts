// Turns what a kind has worked out into a stored transaction in the `quoted` state.
import type { Account } from '../world/accounts.js';
import type { Context } from '../world/context.js';
import { recordState, scheduleLapse } from '../service/engine.js';
import type { CreationRequest, Kind } from './kind.js';
import { insertTransaction, type Quote, type Transaction } from '../service/transactions.js';
import { durations } from '../unspecified.js';

/** Stores a quote, which lapses by itself. Reserves nothing: that is for the confirmation. */
export function openQuote(
  ctx: Context, account: Account, kind: Kind, { source, dest }: CreationRequest, quote: Quote,
  labels: Pick<Transaction, 'extRefId' | 'note'>,
): Transaction {
  const txn = insertTransaction(ctx, {
    ...quote,
    ...labels,
    accountId: account.id,
    accountDisplayName: account.displayName,
    kind: kind.name,
    sourceMethod: source.method,
    destMethod: dest.method,
    expiresAt: ctx.now + durations.quote,
  });
  recordState(ctx, txn);
  scheduleLapse(ctx, txn);
  return txn;
}
