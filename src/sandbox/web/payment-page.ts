// The hosted payment page of a receive, and its live state.
import { readClock } from '../world/clock.js';
import type { Context } from '../world/context.js';
import {
  assertContentType,
  jsonAnswer,
  type Call,
  type Outgoing,
  type Route,
} from '../http/routing.js';
import { kindOf } from '../kinds/index.js';
import { notFound } from '../wire/refusal.js';
import { findTransaction, type Transaction } from '../service/transactions.js';
import type { State } from '../wire/states.js';
import { lostPage, paymentPage, type PageState, type Phase } from './page-html.js';

const page = '/pay/:txnId';

export const pageRoutes: readonly Route[] = [
  { method: 'GET', path: page, access: 'public', answer: showPage },
  { method: 'GET', path: `${page}/state`, access: 'public', answer: showState },
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

function showPage(call: Call): Outgoing {
  const txn = findPayable(call);
  if (txn === undefined) return lostPage();
  const { reqDetails } = txn.sourceDetails;
  const onChain = txn.sourceMethod === 'on-chain';
  const code = reqDetails[onChain ? 'invoice' : 'paymentRequest'];
  return paymentPage({
    ...stateOf(call.ctx, txn),
    payee: txn.accountDisplayName,
    ccy: txn.sourceCcy,
    amount: txn.charge,
    txnId: txn.id,
    method: onChain ? 'on-chain' : 'lightning',
    ...(typeof code === 'string' && {
      request: { uri: onChain ? code : `lightning:${code}`, shown: shownOf(txn, code) },
    }),
  });
}

/** The text to copy: the invoice or the address. */
function shownOf({ sourceDetails }: Transaction, code: string): string {
  const { address } = sourceDetails.reqDetails;
  return typeof address === 'string' ? address : code;
}

function showState(call: Call): Outgoing {
  return jsonAnswer(200, stateOf(call.ctx, payable(call)));
}

function stateOf({ store, now }: Context, txn: Transaction): PageState {
  const seen = txn.sourceMethod === 'on-chain' && txn.state === 'srccreated';
  return {
    phase: seen ? 'seen' : phases[txn.state],
    expiresAt: txn.expiresAt,
    now,
    frozen: readClock(store, now).frozen,
  };
}

/** Requires JSON, so that no foreign page can send the request. */
function payNow(call: Call): Outgoing {
  assertContentType(call.incoming);
  const txn = payable(call);
  const { payFromOutside } = kindOf(txn);
  if (payFromOutside === undefined) throw notFound();
  return jsonAnswer(200, stateOf(call.ctx, payFromOutside(call.ctx, txn)));
}

function payable(call: Call): Transaction {
  const txn = findPayable(call);
  if (txn === undefined) throw notFound();
  return txn;
}

/** The receive in the path. */
function findPayable({ ctx, params }: Call): Transaction | undefined {
  const txn = findTransaction(ctx.store, params['txnId'] ?? '');
  return txn !== undefined && kindOf(txn).payFromOutside !== undefined ? txn : undefined;
}
