// Requests a quote: what is known beforehand is checked first, and the wallet is read next to the creation.
import { NoAnswer } from '../../api/errors.js';
import type { Transaction } from '../../api/types.js';
import { fixed } from '../../formats/amount.js';
import { Failure } from '../../formats/failure.js';
import { isQuoted } from '../../formats/states.js';
import { attemptRef, latest } from '../../store/journal/payment.js';
import { checkDestination, checkSpend, knownAmounts, lastDay } from '../limits/limits.js';
import { echoes, notObeyed } from '../order/echo.js';
import { checkNotExpired } from '../order/orders.js';
import { readQuote, type Quote } from '../quote/quote.js';
import { checkMaxFee, isConverted } from '../quote/terms.js';
import { readFunds, type Funds } from './balance.js';
import type { PaymentDeps } from './contract.js';
import type { ApprovedAmounts, FactBody, Run } from './model.js';

/** What is certain of the limits and the invoice before anything is created; the quote is checked again. Throws Failure. */
async function checkFirst({ order, payment }: Run, { limits, journal, now, service }: PaymentDeps): Promise<void> {
  checkDestination(limits, order);
  const hasDaily = Object.keys(limits.perDay).length > 0;
  const spent = hasDaily ? await journal.spent(payment.account, lastDay(now(), service.confirmedNow())) : [];
  checkSpend(limits, knownAmounts(order), () => spent);
  checkNotExpired(order, service.serviceNow());
}

/**
 * Sends the creation once, and reads the rates of a conversion at the same time. If nobody will be asked, the wallet is read at the
 * same time too, so that its figure may include what this quote reserves; otherwise the wallet is read before.
 */
export async function create(run: Run, isAsked: boolean, deps: PaymentDeps): Promise<FactBody> {
  const { service } = deps;
  const { ref } = run.payment;
  const extRefId = attemptRef(ref, latest(run.payment).number);
  await checkFirst(run, deps);
  const reading = readFunds(run.order.body.sourceReq.ccy, service);
  const before = isAsked ? await reading : undefined;
  const sending = service.createTransaction({ ...run.order.body, extRefId });
  const [funds, rates, answer] = await Promise.all([
    reading.then((read): Funds | undefined => read && { ...read, isBefore: before !== undefined }),
    isConverted(run.order) ? service.rates().catch(asFailure) : undefined,
    sending.then((txn) => ({ txn }), (error: unknown) => ({ error })),
  ]);
  if ('error' in answer) return refusedOrUnanswered(answer.error, funds);
  const { txn } = answer;
  if (txn.extRefId !== extRefId) {
    throw notObeyed(`the reference is ${txn.extRefId == null ? 'missing' : `"${txn.extRefId}"`}, not "${extRefId}"`, txn.txnId);
  }
  if (isQuoted(txn.txnState)) return { is: 'created', txn, funds, rates };
  return { is: 'created', txn, funds, rates, amounts: movedAlready(run, txn, deps) };
}

function refusedOrUnanswered(error: unknown, funds: Funds | undefined): FactBody {
  if (!(error instanceof Failure)) throw error;
  const isTemporary = error instanceof NoAnswer || error.kind === 'temporary';
  if (!isTemporary) return { is: 'create-refused', error, funds };
  return { is: 'create-unanswered', error, mayExist: !(error instanceof NoAnswer && !error.mayHaveArrived) };
}

/** The service began to pay without a confirmation. It is followed; what it exceeds is reported, and it counts against limits. */
function movedAlready(run: Run, txn: Transaction, { limits, on }: PaymentDeps): ApprovedAmounts {
  const quote = orFailure(() => readQuote(run.order, txn));
  // Figures that are impossible, such as a negative fee, differ from the order as well.
  if (!echoes(run.order, txn) || quote instanceof Failure) {
    throw new Failure('pending', `Outcome unknown: the service answered the request for a quote with transaction ${txn.txnId} (${txn.txnState}), which is not what was asked for.`, {
      next: { do: 'show', id: txn.txnId },
      txnId: txn.txnId,
    });
  }
  const excess = orFailure(() => {
    checkMaxFee(run.payment.terms, quote);
    checkSpend(limits, [quote.total], () => []);
  });
  if (excess instanceof Failure) on({ type: 'exceeded', failure: excess });
  return amountsOf(quote);
}

function orFailure<T>(read: () => T): T | Failure {
  try {
    return read();
  } catch (error) {
    return asFailure(error);
  }
}

function asFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  throw error;
}

export const amountsOf = ({ total, receives }: Quote): ApprovedAmounts => ({
  approvedTotal: fixed(total.value),
  approvedReceives: receives === undefined ? null : fixed(receives.value),
  spendCcy: total.ccy,
});
