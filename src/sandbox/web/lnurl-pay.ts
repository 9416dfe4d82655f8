// Answers LNURL-pay requests for the service's own users (LUD-06, LUD-16).
import { btcFromMsat } from '../../formats/amount.js';
import { findAccount, type Account } from '../world/accounts.js';
import { sha256Hex, type Context } from '../world/context.js';
import { jsonAnswer, type RoutedRequest, type Outgoing, type Route } from '../http/routing.js';
import { invoicePayer } from '../kinds/receives.js';
import { payPath } from '../world/lightning.js';
import { Refusal } from '../wire/refusal.js';
import { lnurlSendable } from '../unspecified.js';

export const lnurlRoutes: readonly Route[] = [
  { method: 'GET', path: `${payPath}:user`, access: 'public', answer: guarded(showPayRequest) },
  {
    method: 'GET',
    path: `${payPath}:user/callback`,
    access: 'public',
    answer: guarded(giveInvoice),
  },
];

/** The header that allows any origin, for wallets that run in a browser. */
const anyOrigin = { 'access-control-allow-origin': '*' };

/** Wraps an endpoint: answers refusals in the error format of LUD-06, and allows any origin. */
function guarded(
  step: (call: RoutedRequest, account: Account) => object,
): (call: RoutedRequest) => Outgoing {
  return (call) => {
    const answer = attempt(call, step);
    return { ...answer, headers: { ...answer.headers, ...anyOrigin } };
  };
}

function attempt(
  call: RoutedRequest,
  step: (call: RoutedRequest, account: Account) => object,
): Outgoing {
  const { store } = call.ctx;
  const account = findAccount(store, (call.params['user'] ?? '').toLowerCase());
  if (account === undefined) return lnurlError(404, 'There is no such user.');
  try {
    return jsonAnswer(
      200,
      store.attempt(() => step(call, account)),
    );
  } catch (error) {
    if (error instanceof Refusal) return lnurlError(error.status, reasonOf(error));
    throw error;
  }
}

const reasonOf = ({ body }: Refusal): string => ('message' in body && body.message) || body.error;
const lnurlError = (status: number, reason: string): Outgoing =>
  jsonAnswer(status, { status: 'ERROR', reason });

function showPayRequest({ ctx }: RoutedRequest, account: Account): object {
  return {
    tag: 'payRequest',
    callback: `${ctx.baseUrl}${payPath}${account.id}/callback`,
    minSendable: lnurlSendable.min,
    maxSendable: lnurlSendable.max,
    metadata: metadataOf(ctx, account),
  };
}

function giveInvoice({ ctx, query }: RoutedRequest, account: Account): object {
  const amountText = query.get('amount') ?? '';
  const { min, max } = lnurlSendable;
  const amount = /^\d{1,15}$/.test(amountText) ? Number(amountText) : Number.NaN;
  if (!(amount >= min && amount <= max)) {
    throw new Refusal(400, {
      error: `amount must be a whole number of millisatoshis from ${min} to ${max}`,
    });
  }
  const { sourceDetails } = invoicePayer(ctx, account, {
    amount: btcFromMsat(BigInt(amount)),
    description: { sha256: sha256Hex(Buffer.from(metadataOf(ctx, account))) },
  });
  return { pr: sourceDetails.reqDetails['paymentRequest'], routes: [] };
}

/**
 * The metadata text of an LNURL-pay user. The metadata text must not change, because invoices
 * contain the hash of the text.
 */
function metadataOf({ baseUrl }: Context, account: Account): string {
  return JSON.stringify([
    ['text/plain', `Payment to ${account.displayName}`],
    ['text/identifier', `${account.id}@${new URL(baseUrl).host}`],
  ]);
}
