// Requests a quote. svcpay checks limits and the invoice before the request, and reads the wallet
// before or during the request. If the service starts the payment without a confirmation, svcpay
// compares the payment with the order and counts it against limits.
import { NoAnswer } from '../../api/errors.js';
import type { CreateTransaction, Transaction, Wallet } from '../../api/types.js';
import { money, moneyFromWire, fixed } from '../../formats/amount.js';
import { Failure, ifAvailable } from '../../formats/failure.js';
import { attemptRef, type Attempt, type Payment } from '../../store/journal/payment.js';
import { checkDestination, checkSpend, knownAmounts, quotedAmounts } from '../limits/limits.js';
import { checkNotExpired, decodeOrder, type Order } from '../order/orders.js';
import { isConverted, checkTerms, readQuote, type Quote } from '../quote/quote.js';
import type { PaymentDeps, PaymentService } from './contract.js';
import type { RunEventBody, Funds, Run, ApprovedAmounts, Started } from './model.js';
import { isQuoted, movedNothing } from '../../formats/states.js';
import { isPathSegment } from '../../formats/text.js';
import { checkEcho, notObeyed } from '../order/echo.js';

/**
 * Checks the allow-list, the limits and the invoice's expiry against the order, before the create
 * request. svcpay checks the cost after the service has returned a quote. Throws Failure.
 */
async function checkFirst({ order, payment }: Run, deps: PaymentDeps): Promise<void> {
  checkDestination(deps.limits, order);
  const spent = await spentLastDay(payment, deps);
  checkSpend(deps.limits, knownAmounts(order), () => spent);
  checkNotExpired(order, deps.service.serviceNow());
}

/**
 * Sends the create request once. During the create request, reads the rates of a conversion and
 * checks the order. If svcpay will ask for an approval, it reads the wallet before the create
 * request. With `--yes`, svcpay reads the wallet during the create request, so the service's
 * reservation for the quote may already have reduced the balance.
 */
export async function create(run: Run, isAsked: boolean, deps: PaymentDeps): Promise<RunEventBody> {
  const { service } = deps;
  const { ref } = run.payment;
  const extRefId = attemptRef(ref, run.attempt.number);
  await checkFirst(run, deps);
  // Starts `checkOrder` before the create request. The approval waits for the result of
  // `checkOrder`.
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

/**
 * The result of a create request. `mayExist` is true if the service may have created the
 * transaction although its response was lost.
 */
type CreateResult =
  | { readonly txn: Transaction }
  | { readonly error: Failure; readonly isRefused: true }
  | { readonly error: Failure; readonly mayExist: boolean };

/** Sends one create request, for a payment or for a request for money. */
export async function requestQuote(
  body: CreateTransaction,
  service: Pick<PaymentService, 'createTransaction'>,
): Promise<CreateResult> {
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
 * Reads the funds of the wallet. An account that has no wallet in the currency has no funds.
 * Returns undefined if the wallet's balance is unknown, so that only the service can refuse the
 * payment.
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

export const hasStarted = ({ txnState }: Transaction): boolean =>
  !isQuoted(txnState) && !movedNothing(txnState);

/**
 * Reports the limits that are exceeded by a payment that the service started without a
 * confirmation. If the transaction differs from the order, the amounts in the order count against
 * the limits.
 */
export async function started(
  run: Run,
  txn: Transaction,
  extRefId: string,
  deps: PaymentDeps,
): Promise<Started> {
  const quote = orderedQuote(run.order, txn, extRefId, deps.account);
  if (quote === undefined) return { isOrdered: false, amounts: orderedAmounts(run.order, deps) };
  const excess = await excessOf(run, quote, deps);
  if (excess !== undefined) {
    const { kind, why } = excess;
    deps.on({
      type: 'exceeded',
      failure: new Failure(kind, `The service started the payment without a confirmation: ${why}`),
    });
  }
  return { isOrdered: true, amounts: amountsOf(quote, deps) };
}

/** Whether a transaction from the service matches the order of its attempt. */
export const isOrdered = (
  { ref }: Payment,
  { number, request }: Attempt,
  txn: Transaction,
  account: string,
): boolean =>
  orderedQuote(decodeOrder(request), txn, attemptRef(ref, number), account) !== undefined;

/**
 * The cost of a transaction, or undefined if the transaction differs from the order or has
 * impossible amounts, such as a negative fee.
 */
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
 * Throws Failure `refused` if a transaction has the wrong reference, or an id that svcpay cannot
 * use in a request.
 */
function checkReference({ extRefId, txnId }: Transaction, asked: string): void {
  if (!isPathSegment(txnId)) throw notObeyed(`the transaction id "${txnId}" is not valid`, txnId);
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
    checkTerms(payment.terms, quote);
    const spent = await spentLastDay(payment, deps);
    checkSpend(deps.limits, quotedAmounts(order, quote), () => spent);
    return undefined;
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
}

/** The spending of the last day, or an empty list if there is no daily limit. */
async function spentLastDay(
  { account }: Payment,
  { limits, journal, service }: PaymentDeps,
): ReturnType<PaymentDeps['journal']['spent']> {
  return Object.keys(limits.perDay).length > 0 ? journal.spent(account, service.datedNow()) : [];
}

export const amountsOf = (
  { total, receives }: Quote,
  { budget }: Pick<PaymentDeps, 'budget'>,
): ApprovedAmounts => ({
  approvedTotal: fixed(total.value),
  approvedReceives: receives === undefined ? null : fixed(receives.value),
  spendCcy: total.ccy,
  budget: budget?.name ?? null,
});

function orderedAmounts(order: Order, { budget }: PaymentDeps): ApprovedAmounts {
  const [first] = knownAmounts(order);
  return {
    approvedTotal: first === undefined ? null : fixed(first.value),
    approvedReceives: null,
    spendCcy: first?.ccy ?? null,
    budget: budget?.name ?? null,
  };
}
