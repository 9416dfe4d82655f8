// The table of the endpoints from the specification: the method, the path, the access and the
// answering function of each endpoint.
import * as v from 'valibot';
import {
  reachAccount,
  reachWallets,
  assertReach,
  findAccount,
  walletsOf,
} from '../world/accounts.js';
import { staticAddress } from '../world/chain.js';
import { issueToken } from '../http/auth.js';
import { createTransaction, createRequestBody } from '../kinds/create-transaction.js';
import { move } from '../service/engine.js';
import { plan } from '../service/endings.js';
import {
  bodyText,
  readBody,
  type AccountCall,
  type RoutedRequest,
  type Route,
} from '../http/routing.js';
import { institutionsOf } from '../kinds/institutions.js';
import { kindOf } from '../kinds/index.js';
import { listTransactions } from '../service/listing.js';
import { rateTable } from '../service/pricing.js';
import { alreadyFinal, badRequest, notFound } from '../wire/refusal.js';
import { withoutMissingRow } from '../world/faults.js';
import { findPastTransaction, findTransaction, type Transaction } from '../service/transactions.js';
import { accountRecord, cancelSuffix, maxTextLength } from '../unspecified.js';
import { text } from '../wire/values.js';
import {
  createWebhook,
  reachWebhook,
  removeWebhook,
  showWebhook,
  updateWebhook,
  webhookOf,
} from '../deliveries/webhooks.js';
import { showListItem, showTransaction } from './show-transaction.js';

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
  const canceled = move(call.ctx, kindOf(txn).flow, txn, 'cancel');
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
