// What a run adds to the trail of its payment: the events that change nothing in the journal, and
// the details of those that do. Pure.
import { ServiceError } from '../../api/errors.js';
import type { Transaction } from '../../api/types.js';
import { fixed } from '../../formats/amount.js';
import { Failure, type FailureKind } from '../../formats/failure.js';
import type { PaymentTerms } from '../../store/journal/payment.js';
import type { Detail, Telling } from '../../store/journal/steps.js';
import type { Order } from '../order/orders.js';
import { readQuote } from '../quote/quote.js';
import { failureReasonOf } from '../../api/unspecified.js';
import { OverBudget } from '../limits/limits.js';
import type { Consent, PaymentDeps } from './contract.js';
import { resultOf, type Run, type RunEventBody, type RunGoal } from './model.js';

/** The steps that an event adds to the trail before the change of the event. */
export function stepsBefore(
  { payment, attempt }: Run,
  event: RunEventBody,
  { consent, until }: RunGoal,
): Telling[] {
  switch (event.is) {
    case 'shown':
      return until === 'quoted' ? [{ step: 'shown' }] : [];
    case 'approved':
      return [{ step: 'approved', detail: { ...consentOf(consent), ...termsOf(payment.terms) } }];
    case 'declined':
      return [{ step: 'declined', detail: consentOf(consent) }];
    case 'create-refused':
      return [{ step: 'refused', detail: { request: 'create', ...failureOf(event.error) } }];
    case 'confirm-refused':
      return [{ step: 'refused', detail: { request: 'confirm', ...failureOf(event.error) } }];
    case 'create-unanswered':
      return [{ step: 'unanswered', detail: { request: 'create', ...failureOf(event.error) } }];
    case 'confirm-unanswered':
      return [{ step: 'unanswered', detail: { request: 'confirm', ...failureOf(event.error) } }];
    case 'stopped':
      return [stopOf(event.failure)];
    case 'interrupted':
      return [{ step: 'interrupted', detail: { state: attempt.state } }];
    default:
      return [];
  }
}

const consentOf = ({ by, proposal }: Consent): Detail => ({ consent: by, proposal });

/** The step of showing a quote. An approval in advance needs no look at the quote. */
export const shownSteps = ({ consent, until }: RunGoal): Telling[] =>
  until !== 'quoted' && (consent.by === 'person' || consent.by === 'program')
    ? [{ step: 'shown' }]
    : [];

/** A refusal by the limits, the terms, the balance or an earlier payment, or another failure. */
export const stopOf = (failure: Failure): Telling => ({
  step: refusals.has(failure.kind) ? 'refused' : 'stopped',
  detail: {
    ...failureOf(failure),
    ...(failure instanceof OverBudget && { budget: failure.budget }),
  },
});

const refusals: ReadonlySet<FailureKind> = new Set(['limit', 'usage', 'refused', 'already-paid']);

/**
 * Whether the journal records an event at once although it changes nothing, because money may have
 * moved and the process may be killed while it waits.
 */
export const isUrgent = ({ attempt }: Run, { is }: RunEventBody): boolean =>
  attempt.state === 'submitting' && (is === 'confirm-unanswered' || is === 'confirm-refused');

/** The details of the change that an event causes. */
export function detailOf(
  { order }: Run,
  event: RunEventBody,
  { service }: Pick<PaymentDeps, 'service'>,
): Detail {
  switch (event.is) {
    case 'created':
    case 'found':
    case 'read':
    case 'confirmed':
    case 'cancelled':
      return { ...reportOf(order, event.txn), service: service.datedNow() };
    case 'withdrawn':
      return failureOf(event.failure);
    case 'abandoned':
      return event.why === undefined ? {} : failureOf(event.why);
    default:
      return {};
  }
}

function reportOf(order: Order, txn: Transaction): Detail {
  const result = resultOf(txn.txnState);
  if (result === 'quoted') return costOf(order, txn);
  return result === 'failed' ? { reason: failureReasonOf(txn) } : {};
}

/** The cost of a quote, or nothing for a quote that svcpay refuses. */
function costOf(order: Order, txn: Transaction): Detail {
  try {
    const { total, serviceFee, networkFee, receives, rate, expiresAt } = readQuote(order, txn);
    return {
      total: fixed(total.value),
      ccy: total.ccy,
      serviceFee: fixed(serviceFee.value),
      networkFee: fixed(networkFee.value),
      receives: receives && fixed(receives.value),
      receivesCcy: receives?.ccy,
      rate: rate && fixed(rate),
      expiresAt,
    };
  } catch (error) {
    if (error instanceof Failure) return {};
    throw error;
  }
}

const failureOf = (failure: Failure): Detail => ({
  kind: failure.kind,
  reason: failure instanceof ServiceError ? failure.reason : failure.clause,
});

export function termsOf({ maxFee, maxRateLoss }: PaymentTerms): Detail {
  const highest =
    maxFee && ('percent' in maxFee ? `${maxFee.percent}%` : `${maxFee.amount} ${maxFee.ccy}`);
  return { maxFee: highest, maxRateLoss };
}
