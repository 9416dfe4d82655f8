// Reads create requests: their shape, the rules for every kind, and the resulting transaction.
import * as v from 'valibot';
import type { Account } from '../world/accounts.js';
import type { Context } from '../world/context.js';
import { formatAmount } from '../../formats/amount.js';
import { takeReferenceReuse } from '../world/faults.js';
import { findKind } from './index.js';
import { requestedSide, openQuote, type CreateRequest, type RequestedSide } from './kind.js';
import { balanceOf } from '../world/ledger.js';
import type { Deductions } from '../service/pricing.js';
import { badRequest, extRefIdUsed, notEnoughFunds } from '../wire/refusal.js';
import { extRefIdExists, type Quote, type Transaction } from '../service/transactions.js';
import { maxTextLength, networkFeeDeduction } from '../unspecified.js';
import { fields, text } from '../wire/values.js';

export const createRequestBody = v.pipe(
  v.objectWithRest(
    {
      sourceReq: requestedSide,
      destReq: requestedSide,
      extRefId: v.optional(v.pipe(text(maxTextLength.extRefId), v.nonEmpty())),
      note: v.optional(text(maxTextLength.note)),
      deductNetworkFeesFromDest: v.optional(v.boolean(), false),
      [networkFeeDeduction]: v.optional(v.boolean(), false),
      sourceOfFunds: v.optional(fields),
    },
    v.unknown(),
  ),
  v.check(
    ({ sourceReq, destReq }) =>
      sourceReq.amtRequested === undefined || destReq.amtRequested === undefined,
    'amtRequested must not be set in both sourceReq and destReq',
  ),
);

export type CreateRequestBody = v.InferOutput<typeof createRequestBody>;

export function createTransaction(
  ctx: Context,
  account: Account,
  body: CreateRequestBody,
): Transaction {
  const { sourceReq: source, destReq: dest, extRefId } = body;
  const kind = findKind(source.method, dest.method, ctx.wireNames.method);
  if (kind === undefined)
    throw badRequest(`transactions from ${source.method} to ${dest.method} are not supported`);
  if (
    extRefId !== undefined &&
    extRefIdExists(ctx.store, account.id, extRefId) &&
    !takeReferenceReuse(ctx.store)
  ) {
    throw extRefIdUsed();
  }
  const request: CreateRequest = {
    source,
    dest,
    deduct: deductionsOf(ctx, body),
    sourceOfFunds: body.sourceOfFunds,
  };
  const quote = kind.quote(ctx, request);
  assertFunded(ctx, account, source, quote);
  return openQuote(ctx, account, kind, request, quote, {
    extRefId: extRefId ?? null,
    note: body.note ?? null,
  });
}

/**
 * Reads the flags that deduct fees from the amount. The flag `deductNetworkFeesFromDest` from the
 * specification deducts both fees. The flag that deducts only the service fee, and the flag that
 * deducts only the network fee, are not in the specification.
 */
function deductionsOf(
  { wireNames: { feeDeduction } }: Context,
  body: CreateRequestBody,
): Deductions {
  const both = body.deductNetworkFeesFromDest;
  const ofService = body[feeDeduction] ?? false;
  if (typeof ofService !== 'boolean') throw badRequest(`${feeDeduction} must be true or false`);
  return { serviceFee: both || ofService, networkFee: both || body[networkFeeDeduction] };
}

function assertFunded(ctx: Context, account: Account, source: RequestedSide, quote: Quote): void {
  if (source.method !== ctx.wireNames.method) return;
  const available = balanceOf(ctx.store, account.id, source.ccy, 'available');
  if (available.gte(quote.charge)) return;
  const [needed, left] = [quote.charge, available].map((value) =>
    formatAmount({ ccy: source.ccy, value }),
  );
  throw notEnoughFunds(`${needed} needed, ${left} available`);
}
