// The steps by which an attempt gets its quote: requests a quote, or finds the earlier transaction
// with the reference, then checks the quote and asks for approval. If the service starts the
// payment without a confirmation, svcpay compares the payment with the order and counts it against
// limits.
import { NoAnswer } from '../../api/errors.js';
import type { CreateTransaction, Transaction, Wallet } from '../../api/types.js';
import { money, moneyFromWire, fixed, formatAmount, type Money } from '../../formats/amount.js';
import { asFailure, Failure, ifAvailable, orFailure } from '../../formats/failure.js';
import {
  attemptOf,
  attemptRef,
  type Attempt,
  type Payment,
  invoiceReference,
} from '../../store/journal/payment.js';
import type { Spend } from '../../store/journal/journal.js';
import {
  checkDestination,
  checkSpend,
  knownAmounts,
  quotedAmounts,
  spentIfLimited,
} from '../limits/limits.js';
import {
  checkNotExpired,
  decodeOrder,
  type Order,
  checkEcho,
  notObeyed,
  echoes,
  isOfAccount,
} from '../order/orders.js';
import {
  isConverted,
  checkTerms,
  readQuote,
  type Quote,
  isWorse,
  checkMarket,
  refuseUnusual,
  unusualOf,
} from '../quote/quote.js';
import {
  type PaymentDeps,
  type PaymentService,
  type RunEventBody,
  type Funds,
  type Run,
  type ApprovedAmounts,
  type Started,
  isInAdvance,
  type Approval,
  readsOf,
  txnOf,
  type RunGoal,
} from './model.js';
import { isQuoted, movedNothing } from '../../formats/states.js';
import { isPathSegment, paymentName } from '../../formats/text.js';
import { instructionOf } from '../instruction/instruction.js';
import { listedUnder, readTransaction, rereadWhileStale } from '../transaction/read.js';
import { differentTransaction, paidElsewhere } from './outcomes.js';

/**
 * Checks the allow-list, the limits and the invoice's expiry against the order, before the create
 * request. svcpay checks the cost after the service has returned a quote. Throws Failure.
 */
async function checkFirst({ order, payment }: Run, deps: PaymentDeps): Promise<void> {
  checkDestination(deps.limits, order);
  checkSpend(deps.limits, knownAmounts(order), await spentLastDay(payment, deps));
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
  if (!('txn' in answer)) return { ...answer, funds };
  const created = { is: 'created', txn: answer.txn, funds, rates } as const;
  if (hasStarted(answer.txn))
    return { ...created, started: await started(run, answer.txn, extRefId, deps) };
  checkReference(answer.txn, extRefId);
  return created;
}

/** The result of a create request: its transaction, or the event of its failure. */
type CreateResult =
  | { readonly txn: Transaction }
  | Extract<RunEventBody, { is: 'refused' | 'unanswered' }>;

/** Sends one create request, for a payment or for a request for money. */
export async function requestQuote(
  body: CreateTransaction,
  service: Pick<PaymentService, 'createTransaction'>,
): Promise<CreateResult> {
  try {
    return { txn: await service.createTransaction(body) };
  } catch (caught) {
    const error = asFailure(caught);
    if (!(error instanceof NoAnswer) && error.kind !== 'temporary') return { is: 'refused', error };
    const mayHaveArrived = error instanceof NoAnswer ? error.mayHaveArrived : true;
    return { is: 'unanswered', error, mayHaveArrived };
  }
}

/**
 * Reads the funds of the wallet. An account that has no wallet in the currency has no funds.
 * Returns undefined if the wallet's balance is unknown, so that only the service can refuse the
 * payment.
 */
async function readFunds(
  ccy: string,
  service: { wallets(): Promise<Wallet[]> },
): Promise<Funds | undefined> {
  const wallets = await ifAvailable(service.wallets());
  const wallet = wallets?.find((each) => each.ccy === ccy);
  if (wallets !== undefined && wallet === undefined)
    return { available: money(ccy, 0), reserved: money(ccy, 0) };
  const available = moneyFromWire(ccy, wallet?.availableBalance);
  if (available === undefined) return undefined;
  const total = moneyFromWire(ccy, wallet?.amount) ?? available;
  return { available, reserved: { ccy, value: total.value.minus(available.value) } };
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
  const spent = await spentLastDay(run.payment, deps).catch(asFailure);
  const excess =
    spent instanceof Failure
      ? spent
      : orFailure(() => {
          checkTerms(run.payment.terms, quote);
          checkSpend(deps.limits, quotedAmounts(run.order, quote), spent);
        });
  if (excess !== undefined) {
    const why = `The service started the payment without a confirmation: ${excess.why}`;
    deps.on({ type: 'exceeded', error: new Failure(excess.kind, why) });
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
  const quote = orFailure(() => {
    checkReference(txn, extRefId);
    checkEcho(order, txn, account);
    return readQuote(order, txn);
  });
  return quote instanceof Failure ? undefined : quote;
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

const spentLastDay = (
  { account }: Payment,
  { limits, journal, service }: PaymentDeps,
): Promise<readonly Spend[]> =>
  spentIfLimited(limits, () => journal.spent(account, service.datedNow()));

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

/** Throws Failure for a quote that must not be approved. */
export async function approve(run: Run, goal: RunGoal, deps: PaymentDeps): Promise<RunEventBody> {
  const txn = transactionOf(run);
  const approval = await approvalOf(run, txn, deps);
  const { quote } = approval;
  // A quote that this run has read, not requested, is the quote of an earlier run.
  const isEarlier = readsOf(run.memory) !== undefined && run.memory.approvedQuote === undefined;
  if (isEarlier && instructionOf(run.payment).amount === 'all')
    deps.on({ type: 'kept', total: quote.total });
  deps.on(approval);
  if (goal.until === 'quoted') return { is: 'shown' };
  const { consent } = goal;
  if (isInAdvance(consent)) {
    refuseUnusual(approval.unusual, quote);
    return { is: 'approved', quote, by: 'covered' };
  }
  // The approval of an expired quote also covers the next quote, unless the next quote is worse.
  if (run.memory.approvedQuote !== undefined && !approval.worse)
    return { is: 'approved', quote, by: 'covered' };
  const answer = 'ask' in consent && (await consent.ask(approval));
  if (answer === 'lapsed') return { is: 'prompt-expired' };
  // Only `true` approves the quote, because a program's `approve` may return a value that is not a
  // boolean.
  if (answer === true) return { is: 'approved', quote, by: 'asked' };
  return {
    is: 'declined',
    failure: new Failure('declined', '', {
      money: 'Not sent. The quote will expire unconfirmed',
      txnId: quote.txnId,
    }),
  };
}

function transactionOf({ memory, payment }: Run): Transaction {
  const txn = txnOf(memory);
  if (txn !== undefined) return txn;
  throw new Failure('unexpected', `The transaction of ${payment.ref} was not read.`);
}

async function approvalOf(run: Run, txn: Transaction, deps: PaymentDeps): Promise<Approval> {
  const { order, memory } = run;
  const { terms } = run.payment;
  const quoted = memory.phase === 'quoted' ? memory : undefined;
  checkEcho(order, txn, deps.account);
  const quote = readQuote(order, txn);
  checkTerms(terms, quote);
  const [funds, market] = await Promise.all([
    quoted?.funds ?? readFunds(quote.total.ccy, deps.service),
    checkMarket(
      terms,
      order,
      quote,
      async () => quoted?.rates ?? deps.service.rates().catch(asFailure),
    ),
    deps.checkOrder?.(),
  ]);
  const available = availableBefore(funds, quote.total);
  if (available !== undefined && quote.total.value.gt(available.value))
    throw notEnough(quote.total, available);
  checkDestination(deps.limits, order);
  checkSpend(deps.limits, quotedAmounts(order, quote), []);
  if (market.unchecked !== undefined) deps.on({ type: 'rate-unchecked', why: market.unchecked });
  const left = funds && money(funds.available.ccy, funds.available.value.minus(quote.total.value));
  return {
    type: 'quoted',
    order,
    quote,
    txn,
    available,
    left: left?.value.lt(0) === true ? undefined : left,
    worse: isWorseThan(memory.approvedQuote, quote),
    unusual: unusualOf(terms, quote, market),
  };
}

const isWorseThan = (approvedQuote: Quote | undefined, quote: Quote): boolean =>
  approvedQuote !== undefined &&
  isWorse(quote, { total: approvedQuote.total.value, receives: approvedQuote.receives?.value });

/**
 * Returns the approved quote, as last read from the service. Throws Failure `refused` if the quote
 * now differs from the order, or is worse than when it was approved.
 */
export function quoteToSubmit(run: Run): Quote {
  const { approvedQuote } = run.memory;
  const txn = transactionOf(run);
  checkEcho(run.order, txn);
  const quote = readQuote(run.order, txn);
  if (approvedQuote === undefined || !isWorseThan(approvedQuote, quote)) return quote;
  throw notObeyed(
    `the quote became worse after the approval: the total is now ${formatAmount(quote.total)}, ` +
      `and the approved total is ${formatAmount(approvedQuote.total)}`,
    txn.txnId,
  );
}

/**
 * The spendable amount before the quote, or undefined if the reservation for this quote may have
 * reduced the balance.
 */
function availableBefore(funds: Funds | undefined, total: Money): Money | undefined {
  if (funds === undefined) return undefined;
  return funds.isBefore === true || funds.reserved.value.lt(total.value)
    ? funds.available
    : undefined;
}

function notEnough(needed: Money, available: Money): Failure {
  const have = available.value.eq(0) ? `no ${needed.ccy}` : formatAmount(available);
  return new Failure(
    'limit',
    `the payment costs ${formatAmount(needed)} including fees, but you have ${have}.`,
    { money: 'Not sent', next: { do: 'see-wallets' } },
  );
}

const hourMs = 3_600_000;
/**
 * Finds the transaction of a reference. Throws Failure `usage` if a different order has the
 * reference, and `pending` if the transaction is listed but cannot be read.
 */
export async function find(
  run: Run,
  depth: 'every page' | 'newest page',
  goal: RunGoal,
  deps: PaymentDeps,
): Promise<RunEventBody> {
  const { ref } = run.payment;
  const own = run.attempt;
  const onRead = (count: number): void => deps.on({ type: 'searching', count });
  const search = { since: since(run, goal, deps), depth, onRead };
  const listed = await listedUnder(ref, search, deps.service).catch(asEmptyList);
  let best: { txn: Transaction; number: number } | undefined;
  for (const { row, number } of listed) {
    const isOlder = attemptOf(run.payment, row.txnId) !== undefined;
    if (isOlder || number < own.number || !isOfAccount(row, deps.account)) continue;
    const txn = await readListed(run, row.txnId, deps);
    if (!isOfAccount(txn, deps.account)) continue;
    const isLive = !movedNothing(txn.txnState) && !isQuoted(txn.txnState);
    if (isLive || best === undefined || number > best.number) best = { txn, number };
    if (isLive) break;
  }
  if (best === undefined) return { is: 'not-found' };
  if (!echoes(run.order, best.txn, deps.account))
    throw differentTransaction(run.payment, best.txn.txnId);
  if (goal.reference === 'invoice' && best.txn.txnState === 'completed')
    throw paidElsewhere(best.txn, ref);
  deps.on({ type: 'found', txn: best.txn });
  // If the service did not answer this run's create request, a listed transaction that has already
  // started may come from this run.
  const { memory } = run;
  const isOwn =
    memory.phase === 'requesting' && memory.sending.isUnanswered && hasStarted(best.txn);
  return {
    is: 'found',
    ...best,
    ...(isOwn && { started: await started(run, best.txn, attemptRef(ref, best.number), deps) }),
  };
}

/**
 * The time from which the search starts, in epoch ms. A payment whose reference svcpay derived from
 * an invoice cannot be older than the invoice.
 */
function since({ order, payment }: Run, { reference }: RunGoal, { service }: PaymentDeps): number {
  const isByItself =
    reference === 'invoice' ||
    (order.idempotencyKey !== null && payment.ref === invoiceReference(order.idempotencyKey));
  if (!isByItself || order.notBefore === undefined) return 0;
  return Math.max(Math.min(order.notBefore, service.serviceNow()) - hourMs, 0);
}

/** Treats the list as empty if svcpay cannot read the list now. */
const asEmptyList = (error: unknown): [] => {
  const { kind } = asFailure(error);
  if (kind === 'temporary' || kind === 'refused') return [];
  throw error;
};

/**
 * Reads a transaction that the list shows under the payment's reference. If the service does not
 * find the transaction by its id, the read is stale, so svcpay repeats the read for 8 s.
 */
async function readListed(
  { payment }: Run,
  txnId: string,
  deps: PaymentDeps,
): Promise<Transaction> {
  const read = (): Promise<Transaction | Failure> =>
    readTransaction(deps.service, txnId).catch((error: unknown) => {
      if (asFailure(error).kind !== 'not-found') throw error;
      return asFailure(error);
    });
  const txn = await rereadWhileStale(await read(), read, (each) => each instanceof Failure, deps);
  if (!(txn instanceof Failure)) return txn;
  const why =
    `the service lists transaction ${txnId} for the reference ${payment.ref}, ` +
    'but cannot find the transaction by its id.';
  throw new Failure('pending', why, {
    money: 'Outcome unknown',
    next: { do: 'resume', id: paymentName(payment.ref, txnId) },
    ref: payment.ref,
    txnId,
    cause: txn,
  });
}
