// Handles a payment that the service started without a confirmation: compares it with the order and
// counts it against limits.
import type { Transaction } from '../../api/types.js';
import { fixed } from '../../formats/amount.js';
import { Failure } from '../../formats/failure.js';
import { isQuoted, movedNothing } from '../../formats/states.js';
import { isPathSegment } from '../../formats/text.js';
import { attemptRef, type Payment } from '../../store/journal/payment.js';
import { checkSpend, knownAmounts, quotedAmounts } from '../limits/limits.js';
import { checkEcho, notObeyed } from '../order/echo.js';
import type { Order } from '../order/orders.js';
import { readQuote, type Quote } from '../quote/quote.js';
import { checkMaxFee } from '../quote/terms.js';
import type { PaymentDeps } from './contract.js';
import type { ApprovedAmounts, Run, Started } from './model.js';

export const hasStarted = ({ txnState }: Transaction): boolean =>
  !isQuoted(txnState) && !movedNothing(txnState);

/**
 * Reports the limits that the payment exceeds. If it differs from the order, the order's own
 * amounts count.
 */
export async function started(
  run: Run,
  txn: Transaction,
  extRefId: string,
  deps: PaymentDeps,
): Promise<Started> {
  const quote = orderedQuote(run.order, txn, extRefId, deps.account);
  if (quote === undefined) return { isOrdered: false, amounts: orderedAmounts(run.order) };
  const excess = await excessOf(run, quote, deps);
  if (excess !== undefined) {
    const why = excess.message.replace(/^(?:Nothing moved|Not sent): /, '');
    deps.on({
      type: 'exceeded',
      failure: new Failure(
        excess.kind,
        `The service started the payment without a confirmation: ${why}`,
      ),
    });
  }
  return { isOrdered: true, amounts: amountsOf(quote) };
}

/** Whether a read shows the order. */
export const isOrdered = (
  { order, payment }: Run,
  txn: Transaction,
  number: number,
  account: string,
): boolean => orderedQuote(order, txn, attemptRef(payment.ref, number), account) !== undefined;

/** Undefined for another transaction, or for impossible amounts, such as a negative fee. */
function orderedQuote(
  order: Order,
  txn: Transaction,
  extRefId: string,
  account: string,
): Quote | undefined {
  try {
    checkReference(txn, extRefId);
    checkEcho(order, txn, account);
    return readQuote(order, txn);
  } catch (error) {
    if (error instanceof Failure) return undefined;
    throw error;
  }
}

/**
 * Checks the names of a transaction: its reference, and an id that can be confirmed. Throws Failure
 * `refused`.
 */
export function checkReference({ extRefId, txnId }: Transaction, asked: string): void {
  if (!isPathSegment(txnId)) throw notObeyed(`its id is "${txnId}"`, txnId);
  if (extRefId !== asked)
    throw notObeyed(
      `the reference is ${extRefId == null ? 'missing' : `"${extRefId}"`}, not "${asked}"`,
      txnId,
    );
}

async function excessOf(
  { order, payment }: Run,
  quote: Quote,
  deps: PaymentDeps,
): Promise<Failure | undefined> {
  try {
    checkMaxFee(payment.terms, quote);
    const spent = await spentLastDay(payment, deps);
    checkSpend(deps.limits, quotedAmounts(order, quote), () => spent);
    return undefined;
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
}

/** Empty without a limit per day. */
export async function spentLastDay(
  { account }: Payment,
  { limits, journal, service }: PaymentDeps,
): ReturnType<PaymentDeps['journal']['spent']> {
  return Object.keys(limits.perDay).length > 0 ? journal.spent(account, service.datedNow()) : [];
}

export const amountsOf = ({ total, receives }: Quote): ApprovedAmounts => ({
  approvedTotal: fixed(total.value),
  approvedReceives: receives === undefined ? null : fixed(receives.value),
  spendCcy: total.ccy,
});

function orderedAmounts(order: Order): ApprovedAmounts {
  const [first] = knownAmounts(order);
  return {
    approvedTotal: first === undefined ? null : fixed(first.value),
    approvedReceives: null,
    spendCcy: first?.ccy ?? null,
  };
}
