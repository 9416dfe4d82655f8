// Requests a quote. Limits and the invoice are checked before, and the wallet is read during the
// create request.
import { NoAnswer } from '../../api/errors.js';
import type { CreateTransaction, Transaction, Wallet } from '../../api/types.js';
import { money, moneyFromWire } from '../../formats/amount.js';
import { Failure, ifAvailable } from '../../formats/failure.js';
import { attemptRef } from '../../store/journal/payment.js';
import { checkDestination, checkSpend, knownAmounts } from '../limits/limits.js';
import { checkNotExpired } from '../order/orders.js';
import { isConverted } from '../quote/terms.js';
import type { PaymentDeps, PaymentService } from './contract.js';
import type { RunEventBody, Funds, Run } from './model.js';
import { checkReference, hasStarted, spentLastDay, started } from './started.js';

/**
 * Checks limits and the invoice as far as the order alone decides, before anything is created. The
 * quote is checked again. Throws Failure.
 */
async function checkFirst({ order, payment }: Run, deps: PaymentDeps): Promise<void> {
  checkDestination(deps.limits, order);
  const spent = await spentLastDay(payment, deps);
  checkSpend(deps.limits, knownAmounts(order), () => spent);
  checkNotExpired(order, deps.service.serviceNow());
}

/**
 * Sends the create request once, and meanwhile reads the rates of a conversion and checks the
 * order. If no question will be asked, it also reads the wallet meanwhile, whose amount may then
 * include the reservation for this quote. Otherwise it reads the wallet first.
 */
export async function create(run: Run, isAsked: boolean, deps: PaymentDeps): Promise<RunEventBody> {
  const { service } = deps;
  const { ref } = run.payment;
  const extRefId = attemptRef(ref, run.attempt.number);
  await checkFirst(run, deps);
  // The approval waits for this result.
  deps.checkOrder?.().catch(() => undefined);
  const reading = readFunds(run.order.body.sourceReq.ccy, service);
  const before = isAsked ? await reading : undefined;
  const [funds, rates, answer] = await Promise.all([
    reading.then((read): Funds | undefined => read && { ...read, isBefore: before !== undefined }),
    isConverted(run.order) ? service.rates().catch(asFailure) : undefined,
    requestQuote({ ...run.order.body, extRefId }, service),
  ]);
  if ('isRefused' in answer) return { is: 'create-refused', error: answer.error, funds };
  if ('error' in answer) return { is: 'create-unanswered', ...answer };
  const { txn } = answer;
  if (hasStarted(txn))
    return { is: 'created', txn, funds, rates, started: await started(run, txn, extRefId, deps) };
  checkReference(txn, extRefId);
  return { is: 'created', txn, funds, rates };
}

/** `mayExist` means that the service may have created the transaction without an answer. */
type Answered =
  | { readonly txn: Transaction }
  | { readonly error: Failure; readonly isRefused: true }
  | { readonly error: Failure; readonly mayExist: boolean };

/** Sends one create request, for a payment or for a request for money. */
export async function requestQuote(
  body: CreateTransaction,
  service: Pick<PaymentService, 'createTransaction'>,
): Promise<Answered> {
  try {
    return { txn: await service.createTransaction(body) };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const isUnanswered = error instanceof NoAnswer || error.kind === 'temporary';
    if (!isUnanswered) return { error, isRefused: true };
    return { error, mayExist: !(error instanceof NoAnswer && !error.mayHaveArrived) };
  }
}

function asFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  throw error;
}

/**
 * An account without a wallet in the currency has no funds. Undefined if the service does not
 * return it: the service decides.
 */
export async function readFunds(
  ccy: string,
  service: { wallets(): Promise<Wallet[]> },
): Promise<Funds | undefined> {
  const wallets = await ifAvailable(service.wallets());
  const wallet = wallets?.find((each) => each.ccy === ccy);
  if (wallets !== undefined && wallet === undefined)
    return { available: money(ccy, 0), reserved: money(ccy, 0) };
  const [available, total] = [
    moneyFromWire(ccy, wallet?.availableBalance),
    moneyFromWire(ccy, wallet?.amount),
  ];
  if (available === undefined) return undefined;
  return { available, reserved: { ccy, value: (total ?? available).value.minus(available.value) } };
}
