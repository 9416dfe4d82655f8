// Requests a quote: what is known beforehand is checked first, and the wallet is read next to the creation.
import { NoAnswer } from '../../api/errors.js';
import { Failure } from '../../formats/failure.js';
import { attemptRef, latest } from '../../store/journal/payment.js';
import { checkDestination, checkSpend, knownAmounts } from '../limits/limits.js';
import { checkNotExpired } from '../order/orders.js';
import { isConverted } from '../quote/terms.js';
import { readFunds, type Funds } from './balance.js';
import type { PaymentDeps } from './contract.js';
import type { FactBody, Run } from './model.js';
import { checkReference, hasStarted, spentLastDay, started } from './started.js';

/** What is certain of the limits and the invoice before anything is created; the quote is checked again. Throws Failure. */
async function checkFirst({ order, payment }: Run, deps: PaymentDeps): Promise<void> {
  checkDestination(deps.limits, order);
  const spent = await spentLastDay(payment, deps);
  checkSpend(deps.limits, knownAmounts(order), () => spent);
  checkNotExpired(order, deps.service.serviceNow());
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
    sending.then(
      (txn) => ({ txn }),
      (error: unknown) => ({ error }),
    ),
  ]);
  if ('error' in answer) return refusedOrUnanswered(answer.error, funds);
  const { txn } = answer;
  if (hasStarted(txn))
    return { is: 'created', txn, funds, rates, started: await started(run, txn, extRefId, deps) };
  checkReference(txn, extRefId);
  return { is: 'created', txn, funds, rates };
}

function refusedOrUnanswered(error: unknown, funds: Funds | undefined): FactBody {
  if (!(error instanceof Failure)) throw error;
  const isTemporary = error instanceof NoAnswer || error.kind === 'temporary';
  if (!isTemporary) return { is: 'create-refused', error, funds };
  return {
    is: 'create-unanswered',
    error,
    mayExist: !(error instanceof NoAnswer && !error.mayHaveArrived),
  };
}

function asFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  throw error;
}
