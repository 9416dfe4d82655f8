// Lists this home's payments from the journal while the service is unreachable, in the form of the
// service's list of transactions.
import { detailsOf } from '../../api/reading/transaction.js';
import Big from 'big.js';
import type { CreateSide, ListedTransaction, RequestSide } from '../../api/types.js';
import { fixed, readDecimal } from '../../formats/amount.js';
import { Failure } from '../../formats/failure.js';
import { decisive, isUnfinished, type Payment } from '../../store/journal/payment.js';
import { dateTime } from '../../terminal/time.js';
import { decodeOrder } from '../../wallet/order/orders.js';
import type { Context } from '../context.js';

/**
 * Returns the payments of the journal that have a transaction, newest first, or no payments if
 * svcpay cannot read the journal.
 */
export async function offlineList(atMost: number, context: Context): Promise<readonly Payment[]> {
  try {
    const { id, scope, ...account } = await context.account();
    const journal = await account.journal();
    const submitted = await journal.latest(id, atMost);
    const payments = new Map(
      [...submitted, ...(await journal.open(scope))].map((payment) => [payment.id, payment]),
    );
    return [...payments.values()]
      .filter((payment) => payment.scope === scope && decisive(payment).txnId !== null)
      .toSorted((a, b) => b.openedAt - a.openedAt)
      .slice(0, atMost);
  } catch (error) {
    if (error instanceof Failure) return [];
    throw error;
  }
}

/**
 * Converts a payment to a transaction, with the fields that the order and the approved quote
 * contain.
 */
export function asTransaction(payment: Payment): ListedTransaction {
  const { ref, openedAt, updatedAt } = payment;
  const { request, txnId, txnState, approvedTotal, approvedReceives } = decisive(payment);
  const { body, receives } = decodeOrder(request);
  return {
    txnId: txnId ?? '',
    txnState: txnState ?? 'quoted',
    extRefId: ref,
    note: body.note,
    createdAt: openedAt,
    sourceReq: {
      ...sideOf(body.sourceReq, body.sourceReq.amtRequested ?? approvedTotal),
      updatedAt,
    },
    destReq: sideOf(body.destReq, receives?.value ?? approvedReceives ?? body.destReq.amtRequested),
  };
}

function sideOf(
  { ccy, method, reqDetails }: CreateSide,
  amount: Big | string | number | null | undefined,
): RequestSide {
  return {
    ccy,
    method,
    reqDetails: detailsOf(reqDetails),
    amtRequested: amount == null ? undefined : readDecimal(fixed(new Big(amount))),
  };
}

/**
 * Returns a text such as `last checked 2026-11-21 14:02:11`, with the time of the oldest check of
 * an unfinished payment or, if all payments are finished, of any payment.
 */
export function lastCheckedText(payments: readonly Payment[]): string {
  const open = payments.filter(isUnfinished);
  const checked = (open.length === 0 ? payments : open).map(({ updatedAt }) => updatedAt);
  return `last checked ${dateTime(Math.min(...checked))}`;
}

/** Whether a failure means that svcpay could not reach the service. */
export const isNotReached = (error: unknown): error is Failure =>
  error instanceof Failure && error.kind === 'temporary';
