// Reads the payments that this home knows from its journal.
import { detailsOf } from '../../api/reading/transaction.js';
import Big from 'big.js';
import type { Span } from '../../formats/calendar.js';
import type { Journal } from '../../store/journal/journal.js';
import {
  attemptRef,
  mayHaveMoved,
  type Attempt,
  type AttemptState,
  type Payment,
} from '../../store/journal/payment.js';
import { destinationIn, type LocalPayment, type Outcome } from '../../wallet/books/compared.js';
import type { Candidate } from '../../wallet/books/movement.js';
import { decodeOrder } from '../../wallet/order/orders.js';
import type { Context } from '../context.js';

const paymentsAtOnce = 500;

interface Attempted {
  readonly payment: Payment;
  readonly attempt: Attempt;
}

/** Reads, in portions, all attempts of an account that have a transaction. */
export async function* attemptsHere(journal: Journal, scope: string): AsyncGenerator<Attempted> {
  let last = '';
  for (;;) {
    const payments = await journal.page(scope, last, paymentsAtOnce);
    for (const payment of payments)
      for (const attempt of payment.attempts)
        if (attempt.txnId !== null) yield { payment, attempt };
    last = payments.at(-1)?.id ?? '';
    if (payments.length < paymentsAtOnce) return;
  }
}

/**
 * Returns the payments that this home submitted, or no payments if svcpay cannot read the journal,
 * because the payments only help to explain a difference.
 */
export async function submittedHere(context: Context): Promise<readonly Candidate[]> {
  try {
    const { scope, journal } = await context.account();
    const found: Candidate[] = [];
    for await (const { payment, attempt } of attemptsHere(await journal(), scope)) {
      const { txnId, txnState, spendCcy, approvedTotal } = attempt;
      if (!mayHaveMoved(attempt) || txnId === null || spendCcy === null) continue;
      found.push({
        ccy: spendCcy,
        at: payment.openedAt,
        txnId,
        reason: 'not in the list',
        txnState: txnState ?? 'unknown',
        effect: approvedTotal === null ? null : new Big(approvedTotal).neg(),
      });
    }
    return found;
  } catch {
    return [];
  }
}

const outcomesOfStates: Readonly<Record<AttemptState, Outcome>> = {
  requested: 'nothing moved',
  quoted: 'nothing moved',
  submitting: 'in flight',
  'in-flight': 'in flight',
  paid: 'paid',
  failed: 'nothing moved',
  lapsed: 'nothing moved',
  error: 'error',
  unknown: 'unknown',
};

/** Reads the attempts of the journal that were made in a period. */
export async function* knownPayments(
  journal: Journal,
  scope: string,
  { first, end }: Span,
): AsyncGenerator<LocalPayment> {
  for await (const { payment, attempt } of attemptsHere(journal, scope)) {
    const at = attempt.submittedAt ?? payment.openedAt;
    if (at < first || at >= end) continue;
    const { txnId, state, number, spendCcy, approvedTotal, approvedReceives } = attempt;
    const { destReq } = decodeOrder(attempt.request).body;
    yield {
      txnId,
      reference: attemptRef(payment.ref, number),
      outcome: outcomesOfStates[state],
      state,
      ccy: spendCcy,
      total: approvedTotal === null ? null : new Big(approvedTotal),
      receivesCcy: destReq.ccy,
      destination: destinationIn(detailsOf(destReq.reqDetails)),
      receives: approvedReceives === null ? null : new Big(approvedReceives),
    };
  }
}
