// The interface of a kind of transaction, and the create request that a kind receives.
import type Big from 'big.js';
import * as v from 'valibot';
import type { Context } from '../world/context.js';
import { price, type Deductions } from '../service/pricing.js';
import type { DueAction } from '../world/schedule.js';
import { insertTransaction, type Quote, type Transaction } from '../service/transactions.js';
import { badRequest } from '../wire/refusal.js';
import type { Flow } from '../wire/states.js';
import { currency, fields, isMovable, number } from '../wire/values.js';
import type { Account } from '../world/accounts.js';
import { recordState, scheduleLapse } from '../service/engine.js';
import { durations } from '../unspecified.js';

export const requestedSide = v.pipe(
  v.object({
    ccy: currency,
    method: v.string(),
    amtRequested: v.optional(number),
    reqDetails: v.optional(fields, {}),
    kyc: v.optional(fields),
  }),
  v.check(
    ({ ccy, amtRequested }) => amtRequested === undefined || isMovable(ccy, amtRequested),
    'amtRequested is not a valid amount in this currency',
  ),
);

export type RequestedSide = v.InferOutput<typeof requestedSide>;

/** A valid create request, which has known currencies and at most one amount. */
export interface CreateRequest {
  readonly source: RequestedSide;
  readonly dest: RequestedSide;
  /** The fees that the recipient bears. */
  readonly deduct: Deductions;
  readonly sourceOfFunds?: Readonly<Record<string, unknown>> | undefined;
}

export interface Kind {
  /** The name of the kind, which the service stores with each transaction of the kind. */
  readonly name: string;
  readonly flow: Flow;
  /**
   * Whether this kind of transaction serves a create request with these payment methods. The
   * argument `wallet` is the method of the internal wallet, which contains the service name.
   */
  readonly serves: (sourceMethod: string, destMethod: string, wallet: string) => boolean;
  /** Computes a quote. Throws a `Refusal` for requests that this kind does not support. */
  readonly quote: (ctx: Context, request: CreateRequest) => Quote;
  readonly confirm: (ctx: Context, txn: Transaction) => Transaction;
  /**
   * Pays the transaction as an external payer. Throws a `Refusal` if the transaction does not wait
   * for a payment.
   */
  readonly payFromOutside?: (ctx: Context, txn: Transaction) => Transaction;
  /** Called when the blockchain transfer of a transaction has all its confirmations. */
  readonly onConfirmed?: (ctx: Context, txn: Transaction) => void;
  readonly due: Readonly<Record<string, DueAction>>;
}

export function requestedAmount({ source, dest }: CreateRequest): {
  side: 'source' | 'dest';
  amount: Big;
} {
  if (source.amtRequested !== undefined) return { side: 'source', amount: source.amtRequested };
  if (dest.amtRequested !== undefined) return { side: 'dest', amount: dest.amtRequested };
  throw badRequest('amtRequested is required');
}

/**
 * The amount on one side of a create request. Throws a `Refusal` if the create request has no
 * amount for `side`.
 */
export function amountOn(side: 'source' | 'dest', request: CreateRequest) {
  const amount = request[side].amtRequested;
  if (amount === undefined) throw badRequest(`${side}Req.amtRequested is required`);
  return { side, amount };
}

/**
 * Computes the quote for receiving bitcoin.
 * @param detail the field that the confirmation fills: the invoice or the address
 */
export function receiveQuote(
  request: CreateRequest,
  carrier: string,
  detail: 'paymentRequest' | 'address',
): Quote {
  if (request.source.ccy !== 'BTC') throw badRequest(`${carrier} carries BTC`);
  return {
    ...price(request, { ...amountOn('dest', request), fee: 'receive' }),
    sourceDetails: { reqDetails: { [detail]: null, invoicePageUrl: null } },
  };
}

export function requiredDetail({ dest }: CreateRequest, name: string): string {
  const value = dest.reqDetails[name];
  if (typeof value !== 'string' || value === '')
    throw badRequest(`destReq.reqDetails.${name} is required`);
  return value;
}

/**
 * Stores a quote, which expires if the client does not confirm the quote. The service reserves the
 * money for a quote only when the client confirms the quote.
 */
export function openQuote(
  ctx: Context,
  account: Account,
  kind: Kind,
  { source, dest }: CreateRequest,
  quote: Quote,
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
