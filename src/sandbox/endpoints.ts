// The endpoints from the specification: the method, path, access and answer of each endpoint, and
// the shape of a transaction in responses.
import * as v from 'valibot';
import { reachAccount, reachWallets, assertReach, findAccount, walletsOf } from './accounts.js';
import { staticAddress, type Context, findTransfer } from './world.js';
import {
  issueToken,
  bodyText,
  readBody,
  type AccountCall,
  type RoutedRequest,
  type Route,
} from './routing.js';
import { createTransaction, createRequestBody, kindOf } from './kinds.js';
import { move, plan, settledSourceOf } from './engine.js';
import { institutionsOf } from './payout.js';
import {
  listTransactions,
  findPastTransaction,
  findTransaction,
  type Transaction,
  type SideDetails,
} from './transactions.js';
import { rateTable } from './kind.js';
import { alreadyFinal, badRequest, notFound, text } from './wire.js';
import { withoutMissingRow } from './faults.js';
import {
  accountRecord,
  cancelSuffix,
  maxTextLength,
  confirmationFields,
  reducedSideFields,
  reqStatusOf,
} from './unspecified.js';
import {
  createWebhook,
  reachWebhook,
  removeWebhook,
  showWebhook,
  updateWebhook,
  webhookOf,
} from './deliveries.js';
import type Big from 'big.js';

export const base = '/api/v2';

export function endpoints({
  allowSignatureReuse,
}: {
  readonly allowSignatureReuse: boolean;
}): Route[] {
  const token = (call: RoutedRequest): unknown => createToken(call, allowSignatureReuse);
  return [
    {
      method: 'POST',
      path: `${base}/authentication/token-signature`,
      access: 'open',
      answer: token,
    },
    endpoint('GET', 'account/:accountId/wallet/', getWallets),
    endpoint('GET', 'account/onchain-address', getBitcoinAddress),
    endpoint('GET', 'account/stablecoin-onchain-address', getUsdtAddress),
    endpoint('GET', 'account/:accountId', getAccount),
    endpoint('POST', 'transaction/?', postTransaction),
    endpoint('PUT', 'transaction/:txnId/confirm', confirm),
    endpoint('PUT', `transaction/:txnId/${cancelSuffix}`, cancel),
    endpoint('GET', 'transaction/:txnId', getTransaction),
    endpoint('GET', 'transaction', getTransactions),
    endpoint('GET', 'reference/fiat-institution/by-country/:countryCode', getInstitutions),
    endpoint('POST', 'webhook', postWebhook),
    endpoint('GET', 'webhook', getWebhooks),
    endpoint('PUT', 'webhook/:webhookId', putWebhook),
    endpoint('DELETE', 'webhook/:webhookId', deleteWebhook),
    endpoint('GET', 'rate', () => ({ data: rateTable() })),
  ];
}

const endpoint = (
  method: Route['method'],
  path: string,
  answer: (call: AccountCall) => unknown,
): Route => ({ method, path: `${base}/${path}`, access: 'token', answer });

function createToken({ ctx, incoming }: RoutedRequest, allowReuse: boolean): unknown {
  const text = bodyText(incoming);
  const token = issueToken(
    ctx,
    incoming.headers['x-api-key'],
    incoming.headers['x-api-signature'],
    Buffer.from(text),
    allowReuse,
  );
  assertJson(text);
  return token;
}

/**
 * Checks that the body of a token request is JSON. The specification allows "any valid JSON" in a
 * token request, so the sandbox does not apply the limits that it applies to the bodies of other
 * requests.
 */
function assertJson(text: string): void {
  try {
    JSON.parse(text);
  } catch {
    throw badRequest('the body is not JSON');
  }
}

function getWallets({ ctx, account, params }: AccountCall): unknown {
  const { id } = reachWallets(ctx.store, account, params['accountId'] ?? '');
  return { data: walletsOf(ctx.store, id) };
}

function getAccount({ ctx, account, params }: AccountCall): unknown {
  return accountRecord(reachAccount(ctx.store, account, params['accountId'] ?? ''));
}

function getBitcoinAddress({ ctx, account }: AccountCall): unknown {
  return { staticOnchainAddress: staticAddress(ctx.store, account.id, 'bitcoin') };
}

function getUsdtAddress({ ctx, account, query }: AccountCall): unknown {
  const [walletCcy, chainId] = [query.get('walletCcy'), query.get('chainId')];
  if (walletCcy !== 'USDT') throw badRequest('walletCcy must be USDT');
  if (chainId !== 'TRON' && chainId !== 'ETH') throw badRequest('chainId must be TRON or ETH');
  const staticOnchainAddress = staticAddress(
    ctx.store,
    account.id,
    chainId === 'TRON' ? 'tron' : 'ethereum',
  );
  return {
    resultStatus: 'success',
    data: { staticOnchainAddress, walletCcy, chainId, accountId: account.id },
  };
}

function getInstitutions({ params }: AccountCall): unknown {
  const country = params['countryCode'] ?? '';
  if (!/^[a-z]{2}$/i.test(country)) throw badRequest('countryCode must be two letters');
  return institutionsOf(country.toUpperCase());
}

function postTransaction({ ctx, account, incoming }: AccountCall): unknown {
  return showTransaction(
    ctx,
    createTransaction(ctx, account, readBody(incoming, createRequestBody)),
  );
}

function confirm(call: AccountCall): unknown {
  const txn = quotedTransaction(call);
  const confirmed = kindOf(txn).confirm(call.ctx, plan(call.ctx, txn));
  return showTransaction(call.ctx, asSeen(call, confirmed) ?? confirmed);
}

function cancel(call: AccountCall): unknown {
  const txn = quotedTransaction(call);
  const canceled = move(call.ctx, txn, 'cancel');
  return showTransaction(call.ctx, asSeen(call, canceled) ?? canceled);
}

function getTransaction(call: AccountCall): unknown {
  const txn = asSeen(call, reachTransaction(call));
  if (txn === undefined) throw notFound();
  return showTransaction(call.ctx, txn);
}

function getTransactions({ ctx, account, query, readFault, incoming }: AccountCall): unknown {
  const { items, pagination } = listTransactions(ctx, account, query, readFault?.lag);
  return {
    data: withoutMissingRow(ctx.store, incoming, items).map((txn) =>
      showListItem(ctx, { ...txn, state: readFault?.state ?? txn.state }),
    ),
    pagination,
  };
}

/**
 * Returns the transaction with the changes that a fault injects into reads, such as an earlier
 * state. Returns undefined if a fault shows an earlier time, at which the transaction did not
 * exist.
 */
function asSeen({ ctx, readFault }: AccountCall, txn: Transaction): Transaction | undefined {
  const was = readFault?.lag === undefined ? txn : findPastTransaction(ctx, txn.id, readFault.lag);
  return was && { ...was, state: readFault?.state ?? was.state };
}

/**
 * Returns the transaction that the path names. Throws a `Refusal` if the caller may not act on the
 * transaction.
 */
function reachTransaction({ ctx, account, params }: AccountCall): Transaction {
  const txn = findTransaction(ctx.store, params['txnId'] ?? '');
  if (txn === undefined) throw notFound();
  assertReach(account, txn.accountId, findAccount(ctx.store, txn.accountId)?.parentId);
  return txn;
}

function quotedTransaction(call: AccountCall): Transaction {
  const txn = reachTransaction(call);
  if (txn.state !== 'quoted') throw alreadyFinal(txn.id, txn.state);
  return txn;
}

const callback = v.pipe(text(maxTextLength.callback), v.nonEmpty());
const secret = v.pipe(text(maxTextLength.secret), v.nonEmpty());

const newWebhook = v.object({ callback, secret });
const webhookChange = v.object({ callback: v.optional(callback), secret: v.optional(secret) });

function postWebhook({ ctx, account, incoming }: AccountCall): unknown {
  const wanted = readBody(incoming, newWebhook);
  return showWebhook(createWebhook(ctx, account.id, wanted.callback, wanted.secret));
}

function getWebhooks({ ctx, account }: AccountCall): unknown {
  const webhook = webhookOf(ctx.store, account.id);
  return { data: webhook === undefined ? [] : [showWebhook(webhook)] };
}

function putWebhook({ ctx, account, params, incoming }: AccountCall): unknown {
  const webhook = reachWebhook(ctx.store, account, params['webhookId'] ?? '');
  const wanted = readBody(incoming, webhookChange);
  if (wanted.callback === undefined && wanted.secret === undefined)
    throw badRequest('callback or secret is required');
  return showWebhook(updateWebhook(ctx, webhook, wanted));
}

function deleteWebhook({ ctx, account, params }: AccountCall): unknown {
  const webhook = reachWebhook(ctx.store, account, params['webhookId'] ?? '');
  removeWebhook(ctx.store, webhook.id);
  return showWebhook(webhook);
}

type Fields = Readonly<Record<string, unknown>>;
type ShownSide = Fields & { readonly reqDetails: Fields };

/**
 * Returns the full shape of a transaction, for the responses to create, confirm, cancel and read
 * requests.
 */
function showTransaction(ctx: Context, txn: Transaction): object {
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

function showListItem(ctx: Context, txn: Transaction): object {
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
