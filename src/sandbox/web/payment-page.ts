// Serves the hosted payment page of a receive request. The payment page reloads itself until the
// receive request has ended.
import type { Context } from '../world/context.js';
import type { RoutedRequest, Outgoing, Route } from '../http/routing.js';
import { kindOf } from '../kinds/index.js';
import { notFound, permissionDenied } from '../wire/refusal.js';
import { findTransaction, type Transaction } from '../service/transactions.js';
import type { State } from '../wire/states.js';
import { lostPage, paymentPage, type Phase } from './page-html.js';

const page = '/pay/:txnId';

export const pageRoutes: readonly Route[] = [
  { method: 'GET', path: page, access: 'public', answer: showPage },
  { method: 'POST', path: `${page}/pay`, access: 'public', answer: payNow },
];

const phases: Readonly<Record<State, Phase>> = {
  quoted: 'unopened',
  srcintent: 'waiting',
  srccreated: 'waiting',
  destsent: 'waiting',
  completed: 'paid',
  expired: 'expired',
  failed: 'closed',
  rejected: 'closed',
  error: 'closed',
  usercanceled: 'closed',
};

const phaseOf = ({ sourceMethod, state }: Transaction): Phase =>
  sourceMethod === 'on-chain' && state === 'srccreated' ? 'seen' : phases[state];

function showPage(call: RoutedRequest): Outgoing {
  const txn = findPayable(call);
  if (txn === undefined) return lostPage();
  const { reqDetails } = txn.sourceDetails;
  const onChain = txn.sourceMethod === 'on-chain';
  const code = reqDetails[onChain ? 'invoice' : 'paymentRequest'];
  return paymentPage({
    phase: phaseOf(txn),
    leftMs: leftMs(call.ctx, txn),
    payee: txn.accountDisplayName,
    ccy: txn.sourceCcy,
    amount: txn.charge,
    txnId: txn.id,
    ...(typeof code === 'string' && {
      request: { uri: onChain ? code : `lightning:${code}`, shown: shownOf(txn, code) },
    }),
  });
}

/** The text that the payer copies: the invoice or the address. */
function shownOf({ sourceDetails }: Transaction, code: string): string {
  const { address } = sourceDetails.reqDetails;
  return typeof address === 'string' ? address : code;
}

/**
 * The time until the expiry, rounded up to whole seconds, so that the page shows 0 s only at the
 * expiry.
 */
const leftMs = ({ now }: Context, { expiresAt }: Transaction): number =>
  Math.ceil((expiresAt - now) / 1000) * 1000;

/**
 * Pays a payment request if the request is waiting, and always redirects to the page of the
 * request.
 */
function payNow(call: RoutedRequest): Outgoing {
  const txn = findPayable(call);
  if (txn === undefined) throw notFound();
  if (isFromElsewhere(call)) throw permissionDenied();
  if (phaseOf(txn) === 'waiting') kindOf(txn).payFromOutside?.(call.ctx, txn);
  return { status: 303, headers: { location: `/pay/${txn.id}` }, body: '' };
}

/**
 * Whether the browser reports that a form comes from another website. Only a form on the payment
 * page may trigger a payment.
 */
const isFromElsewhere = ({ incoming }: RoutedRequest): boolean =>
  (incoming.headers['sec-fetch-site'] ?? 'same-origin') !== 'same-origin';

function findPayable({ ctx, params }: RoutedRequest): Transaction | undefined {
  const txn = findTransaction(ctx.store, params['txnId'] ?? '');
  return txn !== undefined && kindOf(txn).payFromOutside !== undefined ? txn : undefined;
}
