// The endpoints from the specification: the method, path, access and answer of each endpoint, and
// the shape of a transaction in responses.
import * as v from 'valibot';
import { reachAccount, reachWallets, assertReach, walletsOf } from './accounts.js';
import { staticAddress, type Context, findTransfer } from './world.js';
import {
  type AccountCall,
  bodyText,
  type Call,
  endpointsOf,
  issueToken,
  openEndpoints,
  type Route,
} from './routing.js';
import { createTransaction, createRequestBody, kindOf } from './kinds.js';
import { move, plan } from './engine.js';
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
  reqStatusOf,
  omittedInLists,
} from './unspecified.js';
import {
  createWebhook,
  reachWebhook,
  removeWebhook,
  showWebhook,
  updateWebhook,
  webhookOf,
} from './deliveries.js';

export const base = '/api/v2';

const callback = v.pipe(text(maxTextLength.callback), v.nonEmpty());
const secret = v.pipe(text(maxTextLength.secret), v.nonEmpty());
const newWebhook = v.object({ callback, secret });
const webhookChange = v.object({ callback: v.optional(callback), secret: v.optional(secret) });

export const endpoints: readonly Route[] = [
  ...openEndpoints(`${base}/authentication/`, { 'POST token-signature': createToken }),
  ...endpointsOf(`${base}/`, {
    'GET account/:accountId/wallet/': ({ ctx: { store }, account, param }) => ({
      data: walletsOf(store, reachWallets(store, account, param('accountId')).id),
    }),
    'GET account/onchain-address': ({ ctx, account }) => ({
      staticOnchainAddress: staticAddress(ctx.store, account.id, 'bitcoin'),
    }),
    'GET account/stablecoin-onchain-address': getUsdtAddress,
    'GET account/:accountId': ({ ctx, account, param }) =>
      accountRecord(reachAccount(ctx.store, account, param('accountId'))),
    'POST transaction/?': ({ ctx, account, read }) =>
      showTransaction(ctx, createTransaction(ctx, account, read(createRequestBody))),
    'PUT transaction/:txnId/confirm': (call) =>
      change(call, (ctx, txn) => kindOf(txn).confirm(ctx, plan(ctx, txn))),
    [`PUT transaction/:txnId/${cancelSuffix}`]: (call) =>
      change(call, (ctx, txn) => move(ctx, txn, 'cancel')),
    'GET transaction/:txnId'(call) {
      const txn = asSeen(call, reachTransaction(call));
      if (txn === undefined) throw notFound();
      return showTransaction(call.ctx, txn);
    },
    'GET transaction': getTransactions,
    'GET reference/fiat-institution/by-country/:countryCode'({ param }) {
      const country = param('countryCode');
      if (!/^[a-z]{2}$/i.test(country)) throw badRequest('countryCode must be two letters');
      return institutionsOf(country.toUpperCase());
    },
    'POST webhook': ({ ctx, account, read }) =>
      showWebhook(createWebhook(ctx, account.id, read(newWebhook))),
    'GET webhook'({ ctx, account }) {
      const webhook = webhookOf(ctx.store, account.id);
      return { data: webhook === undefined ? [] : [showWebhook(webhook)] };
    },
    'PUT webhook/:webhookId'({ ctx, account, param, read }) {
      const webhook = reachWebhook(ctx.store, account, param('webhookId'));
      const wanted = read(webhookChange);
      if (wanted.callback === undefined && wanted.secret === undefined)
        throw badRequest('callback or secret is required');
      return showWebhook(updateWebhook(ctx, webhook, wanted));
    },
    'DELETE webhook/:webhookId'({ ctx, account, param }) {
      const webhook = reachWebhook(ctx.store, account, param('webhookId'));
      removeWebhook(ctx, webhook.id);
      return showWebhook(webhook);
    },
    'GET rate': () => ({ data: rateTable() }),
  }),
];

/**
 * Issues a token. The specification allows "any valid JSON" in a token request, so the sandbox does
 * not apply the limits that it applies to the bodies of other requests.
 */
function createToken({ ctx, incoming }: Call): unknown {
  const body = bodyText(incoming);
  const token = issueToken(ctx, incoming, body);
  try {
    JSON.parse(body);
  } catch {
    throw badRequest('the body is not JSON');
  }
  return token;
}

function getUsdtAddress({ ctx, account, query }: AccountCall): unknown {
  const [walletCcy, chainId] = [query.get('walletCcy'), query.get('chainId')];
  if (walletCcy !== 'USDT') throw badRequest('walletCcy must be USDT');
  if (chainId !== 'TRON' && chainId !== 'ETH') throw badRequest('chainId must be TRON or ETH');
  const chain = chainId === 'TRON' ? 'tron' : 'ethereum';
  const staticOnchainAddress = staticAddress(ctx.store, account.id, chain);
  return {
    resultStatus: 'success',
    data: { staticOnchainAddress, walletCcy, chainId, accountId: account.id },
  };
}

/** Confirms or cancels the quoted transaction that the path names. */
function change(call: AccountCall, act: (ctx: Context, txn: Transaction) => Transaction): unknown {
  const txn = reachTransaction(call);
  if (txn.state !== 'quoted') throw alreadyFinal(txn.id, txn.state);
  const changed = act(call.ctx, txn);
  return showTransaction(call.ctx, asSeen(call, changed) ?? changed);
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
function reachTransaction({ ctx: { store }, account, param }: AccountCall): Transaction {
  const txn = findTransaction(store, param('txnId'));
  if (txn === undefined) throw notFound();
  assertReach(store, account, txn.accountId);
  return txn;
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Returns the full shape of a transaction, for the responses to create, confirm, cancel and read
 * requests.
 */
function showTransaction(ctx: Context, txn: Transaction): object {
  const [sourceReq, destReq] = sidesOf(ctx, txn, confirmationsOf(ctx, txn));
  return shape(txn, sourceReq, destReq);
}

/**
 * Returns the confirmation fields of a blockchain transfer, or an empty object before the broadcast
 * and for methods without a blockchain transfer.
 */
function confirmationsOf({ store }: Context, txn: Transaction): Fields {
  const transfer = findTransfer(store, txn.id);
  if (transfer === undefined || txn.state === 'quoted' || txn.state === 'srcintent') return {};
  return {
    [confirmationFields.seen]: transfer.confirmations,
    [confirmationFields.needed]: transfer.needed,
  };
}

function showListItem(ctx: Context, txn: Transaction): object {
  const [sourceReq, destReq] = sidesOf(ctx, txn).map((side) =>
    Object.fromEntries(Object.entries(side).filter(([field]) => !omittedInLists.has(field))),
  );
  return shape(txn, sourceReq, destReq);
}

const shape = (txn: Transaction, sourceReq?: Fields, destReq?: Fields): object => ({
  txnId: txn.id,
  accountId: txn.accountId,
  accountDisplayName: txn.accountDisplayName,
  extRefId: txn.extRefId,
  note: txn.note,
  txnState: txn.state,
  sourceReq,
  destReq,
  sourceOfFunds: txn.sourceOfFunds,
  fxRate: txn.fxRate,
  createdAt: txn.createdAt,
});

/**
 * Returns both sides of a transaction.
 * @param chainDetails details of the side that is not the internal wallet
 */
function sidesOf(
  { wireNames, baseUrl }: Context,
  txn: Transaction,
  chainDetails: Fields = {},
): readonly [source: Fields, dest: Fields] {
  const isSend = txn.sourceMethod === wireNames.method;
  const isCompleted = txn.state === 'completed';
  // A payment from outside may differ from the requested amount.
  const settled = isCompleted
    ? isSend
      ? (txn.settledSource ?? txn.sourceAmount)
      : txn.charge
    : null;
  const end = {
    reqStatus: reqStatusOf(txn.state),
    createAt: txn.createdAt,
    updatedAt: txn.updatedAt,
  };
  return [
    {
      ccy: txn.sourceCcy,
      method: txn.sourceMethod,
      amtRequested: txn.sourceAmount,
      amtSettled: settled,
      ...detailsOf(txn.sourceDetails, baseUrl, isSend ? {} : chainDetails),
      [wireNames.feeField]: txn.serviceFee,
      networkFees: txn.networkFee,
      expiresAt: txn.expiresAt,
      ...end,
    },
    {
      ccy: txn.destCcy,
      method: txn.destMethod,
      amtRequested: txn.destAmount,
      amtSettled: isCompleted ? txn.arrives : null,
      ...detailsOf(txn.destDetails, baseUrl, isSend ? chainDetails : {}),
      ...end,
    },
  ];
}

/**
 * Returns the details of a side, and completes the URL of its payment page. The database stores
 * only the path of the page, because the base URL may change.
 */
function detailsOf({ reqDetails, kyc }: SideDetails, baseUrl: string, more: Fields): Fields {
  const { invoicePageUrl: page } = reqDetails;
  const shown = typeof page === 'string' && { invoicePageUrl: baseUrl + page };
  return { reqDetails: { ...reqDetails, ...shown, ...more }, kyc };
}
