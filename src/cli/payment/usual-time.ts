// Describes how long payments by a method usually take, from this home's payments by the method. A
// home without such payments uses the properties of the method.
import type { Transaction } from '../../api/types.js';
import { roughDuration } from '../../formats/calendar.js';
import { methodProperties } from '../../formats/rails.js';
import type { Payment } from '../../store/journal/payment.js';
import { usualMs } from '../../wallet/history/earlier-payments.js';
import type { Context } from '../context.js';
import { latestPayments } from '../contacts/payees.js';

/**
 * Returns a text such as `on-chain usually takes 30 min`, or undefined if the duration is unknown.
 */
export function usualText(method: string, own: number | undefined): string | undefined {
  const properties = methodProperties(method);
  const ms = own ?? properties?.usualMs;
  return ms === undefined
    ? undefined
    : `${properties?.named ?? 'a payout like this'} usually takes ${roughDuration(ms)}`;
}

/**
 * Starts to read the latest payments from the journal, and ignores a failed read. Until the read of
 * the journal ends, the returned function uses the usual duration from the data of the payment
 * method.
 */
export function readUsual(context: Context): (txn: Transaction) => string | undefined {
  let recent: readonly Payment[] = [];
  void latestPayments(context).then(
    (payments) => (recent = payments),
    () => undefined,
  );
  return ({ destReq: { method } }) =>
    method == null ? undefined : usualText(method, usualMs(recent, method));
}
