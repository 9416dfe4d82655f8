// Writes transactions for responses: the full shape, and the reduced shape of list items.
import type Big from 'big.js';
import type { Context } from '../world/context.js';
import { settledSourceOf } from '../service/endings.js';
import type { SideDetails, Transaction } from '../service/transactions.js';
import { findTransfer } from '../world/chain.js';
import { confirmationFields, reducedSideFields, reqStatusOf } from '../unspecified.js';

type Fields = Readonly<Record<string, unknown>>;
type ShownSide = Fields & { readonly reqDetails: Fields };

/**
 * Returns the full shape of a transaction, for the responses to create, confirm, cancel and read
 * requests.
 */
export function showTransaction(ctx: Context, txn: Transaction): object {
  const confirmations = confirmationsOf(ctx, txn);
  const [source, dest] = [sourceSide(ctx, txn), destSide(ctx, txn)];
  return txn.sourceMethod === ctx.wireNames.method
    ? shape(txn, source, { ...dest, reqDetails: { ...dest.reqDetails, ...confirmations } })
    : shape(txn, { ...source, reqDetails: { ...source.reqDetails, ...confirmations } }, dest);
}

/**
 * Returns the confirmation fields of a blockchain transfer, or an empty object before the broadcast
 * and for methods without a blockchain transfer.
 */
function confirmationsOf({ store }: Context, txn: Transaction): object {
  if (!chainMethods.has(txn.sourceMethod) && !chainMethods.has(txn.destMethod)) return {};
  const transfer = findTransfer(store, txn.id);
  if (transfer === undefined || txn.state === 'quoted' || txn.state === 'srcintent') return {};
  return {
    [confirmationFields.seen]: transfer.confirmations,
    [confirmationFields.needed]: transfer.needed,
  };
}

const chainMethods: ReadonlySet<string> = new Set(['on-chain', 'tron']);

export function showListItem(ctx: Context, txn: Transaction): object {
  return shape(txn, reduced(ctx, sourceSide(ctx, txn)), reduced(ctx, destSide(ctx, txn)));
}

function shape(txn: Transaction, sourceReq: Fields, destReq: Fields): object {
  return {
    txnId: txn.id,
    accountId: txn.accountId,
    accountDisplayName: txn.accountDisplayName,
    extRefId: txn.extRefId ?? undefined,
    note: txn.note ?? undefined,
    txnState: txn.state,
    sourceReq,
    destReq,
    sourceOfFunds: txn.extra['sourceOfFunds'],
    fxRate: txn.fxRate,
    createdAt: txn.createdAt,
  };
}

function sourceSide(ctx: Context, txn: Transaction): ShownSide {
  return {
    ccy: txn.sourceCcy,
    method: txn.sourceMethod,
    amtRequested: txn.sourceAmount,
    amtSettled: txn.state === 'completed' ? settledSource(ctx, txn) : null,
    ...details(ctx, txn.sourceDetails),
    [ctx.wireNames.feeField]: txn.serviceFee,
    networkFees: txn.networkFee,
    reqStatus: reqStatusOf(txn.state),
    expiresAt: txn.expiresAt,
    createAt: txn.createdAt,
    updatedAt: txn.updatedAt,
  };
}

function destSide(ctx: Context, txn: Transaction): ShownSide {
  return {
    ccy: txn.destCcy,
    method: txn.destMethod,
    amtRequested: txn.destAmount,
    amtSettled: txn.state === 'completed' ? txn.arrives : null,
    ...details(ctx, txn.destDetails),
    reqStatus: reqStatusOf(txn.state),
    createAt: txn.createdAt,
    updatedAt: txn.updatedAt,
  };
}

/**
 * Returns the settled amount of the source side, which may differ from the requested amount if the
 * payment came from outside.
 */
function settledSource({ wireNames }: Context, txn: Transaction): Big {
  return txn.sourceMethod === wireNames.method ? settledSourceOf(txn) : txn.charge;
}

/**
 * Returns the details of a side, and completes the URL of its payment page. The database stores
 * only the path of the page, because the base URL may change.
 */
function details({ baseUrl }: Context, { reqDetails, kyc }: SideDetails): ShownSide {
  const page = reqDetails['invoicePageUrl'];
  const shown =
    typeof page === 'string' ? { ...reqDetails, invoicePageUrl: baseUrl + page } : reqDetails;
  return { reqDetails: shown, kyc };
}

function reduced({ wireNames }: Context, side: ShownSide): Fields {
  const keeps = (field: string): boolean =>
    reducedSideFields.has(field === wireNames.feeField ? 'servicepayFees' : field);
  return Object.fromEntries(Object.entries(side).filter(([field]) => keeps(field)));
}
