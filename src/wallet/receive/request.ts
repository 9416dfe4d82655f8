// Requests money by any method. For each request, creates and confirms one transaction, and waits
// for its invoice or address.
import Big from 'big.js';
import type { CreateTransaction, Rates, Transaction } from '../../api/types.js';
import {
  currencyOf,
  decimalsOf,
  type Money,
  moneyFromWire,
  parseAmount,
} from '../../formats/amount.js';
import { Failure } from '../../formats/failure.js';
import { policies, poll, type PollNext } from '../../formats/poll.js';
import { isFinal, isQuoted } from '../../formats/states.js';
import { isOfAccount } from '../order/echo.js';
import type { PaymentService } from '../payment/model.js';
import { requestQuote } from '../payment/quoting.js';
import {
  listedUnder,
  directionOf,
  pauseBefore,
  readTransaction,
  rereadWhileStale,
  waitUntilFinal,
  withEarlierFields,
} from '../transaction/read.js';
import { noQuote, refused, referenceUse, refusesConfirmation } from '../payment/outcomes.js';
import { findRate } from '../quote/quote.js';

interface ReceiveDeps {
  readonly service: Pick<
    PaymentService,
    'createTransaction' | 'confirmTransaction' | 'transaction' | 'transactions' | 'eachTransaction'
  >;
  /** The account that receives the money. */
  readonly account: string;
  /** Called during a reference lookup with the number of transactions that svcpay has searched. */
  readonly onRead: (count: number) => void;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly newId: () => string;
  readonly now: () => number;
  readonly signal: AbortSignal;
}

export interface Requested {
  readonly txn: Transaction;
  /** The requested amount. */
  readonly amount: Money;
}

/**
 * Creates and confirms the transaction of a receive request, or returns the earlier transaction if
 * the reference is already used. Throws Failure `refused` if the earlier transaction has a
 * different amount or method, and Failure `payment-failed` if it ended without a payment.
 * @param isConverted whether svcpay converted the amount, so that the amount of an earlier
 * transaction may differ because the rate has changed
 */
export async function requestMoney(
  body: CreateTransaction,
  ref: string | undefined,
  isConverted: boolean,
  deps: ReceiveDeps,
): Promise<Requested> {
  const asked = { ...body, extRefId: ref ?? deps.newId() };
  const { txn: quoted, isEarlier } = await createOrFind(asked, ref === undefined, deps);
  const tolerance = isEarlier && isConverted ? largestRateChange : new Big(0);
  const amount = checkedAmount(asked, quoted, tolerance, deps.account);
  const confirmed = isQuoted(quoted.txnState) ? await confirmReceive(quoted, deps) : quoted;
  const made = { atMostMs: longestMakingMs, onChange: () => undefined, enough: isPayable };
  const txn = await waitUntilFinal(withEarlierFields(quoted, confirmed), made, deps);
  if (isFinal(txn.txnState) && txn.txnState !== 'completed') throw notReceived(txn);
  return { txn, amount };
}

/** The failure for a payment request that ended without a payment. */
export function notReceived({ txnId, txnState, extRefId }: Transaction): Failure {
  const what =
    txnState === 'expired'
      ? 'the payment request expired unpaid'
      : `the payment request ended as ${txnState}`;
  const next = { do: 'show', id: txnId } as const;
  if (txnState === 'error')
    return new Failure('outcome-unknown', `It is unknown whether money arrived: ${what}.`, {
      next,
      txnId,
      txnState,
    });
  return new Failure('payment-failed', `Not received: ${what}.`, {
    hint:
      extRefId == null ? undefined : 'For a new request, use another reference. To see this one',
    next,
    txnId,
    txnState,
  });
}

/**
 * The longest wait in ms for the invoice or address, which the service may create only after the
 * confirmation.
 */
const longestMakingMs = 60_000;

/** Whether the transaction already contains the invoice or address. */
function isPayable({ sourceReq }: Transaction): boolean {
  const { paymentRequest, address } = sourceReq.reqDetails ?? {};
  return [paymentRequest, address].some((each) => typeof each === 'string' && each !== '');
}

type Found = { readonly txn: Transaction; readonly isEarlier: boolean };

/**
 * Creates the transaction of a receive request. svcpay searches the service's list only after the
 * service has refused the reference.
 */
async function createOrFind(
  body: CreateTransaction,
  isOwnReference: boolean,
  deps: ReceiveDeps,
): Promise<Found> {
  let [mayExist, error]: [boolean, Failure | undefined] = [false, undefined];
  const end = await poll<Found>(
    policies.createRequest,
    async ({ number }) => {
      const answer = await requestQuote(body, deps.service);
      if ('txn' in answer) return { done: { txn: answer.txn, isEarlier: false } };
      ({ error } = answer);
      if ('isRefused' in answer)
        return { done: await findEarlier(body, error, mayExist, isOwnReference, deps) };
      mayExist ||= answer.mayExist;
      return pauseOrThrow(number, error, () => noQuote(error));
    },
    deps,
  );
  if ('done' in end) return end.done;
  throw noQuote(error);
}

/**
 * Returns the pause before svcpay repeats a request to the service. Throws if the service requests
 * a pause that is too long.
 */
function pauseOrThrow<T>(number: number, error: unknown, otherwise: () => unknown): PollNext<T> {
  const afterMs = pauseBefore(number, error);
  if (afterMs === undefined) throw otherwise();
  return { afterMs };
}

/**
 * Finds the earlier transaction of a reference that is already used. Throws the service's refusal
 * if it does not concern the reference, or if the service's list does not show the reference.
 */
async function findEarlier(
  { extRefId = '' }: CreateTransaction,
  refusal: Failure,
  mayExist: boolean,
  isOwnReference: boolean,
  { service, account, onRead, ...clock }: ReceiveDeps,
): Promise<Found> {
  const use = referenceUse(refusal, mayExist, isOwnReference);
  if (use === undefined) throw refused('quote', refusal);
  const search = async () =>
    (await listedUnder(extRefId, { since: 0, depth: use.depth, onRead }, service)).find(({ row }) =>
      isOfAccount(row, account),
    );
  const own = await rereadWhileStale(
    await search(),
    search,
    (found) => use.isCertain && found === undefined,
    clock,
  );
  if (own === undefined) throw refused('quote', refusal);
  return { txn: await service.transaction(own.row.txnId), isEarlier: true };
}

/**
 * Confirms a receive request, which moves no money. After an unanswered confirmation, svcpay reads
 * the transaction, and confirms again if the transaction is still quoted. Throws Failure `refused`
 * unless the transaction is provably a receive request.
 */
export async function confirmReceive(
  quote: Transaction,
  deps: Pick<ReceiveDeps, 'service' | 'sleep' | 'now' | 'signal'>,
): Promise<Transaction> {
  const { txnId } = quote;
  if (directionOf(quote) !== 'receive')
    throw new Failure('refused', `transaction ${txnId} is a payment.`, {
      money: 'Not confirmed',
      txnId,
    });
  let error: unknown = new Failure('temporary', 'The service did not confirm the request.', {
    next: { do: 'show', id: txnId },
    txnId,
  });
  const step = async ({ number }: { readonly number: number }): Promise<PollNext<Transaction>> => {
    const before =
      number === 1 ? undefined : await readTransaction(deps.service, txnId).catch(() => undefined);
    if (before !== undefined && !isQuoted(before.txnState)) return { done: before };
    try {
      const txn = await deps.service.confirmTransaction(txnId);
      if (txn.txnId === txnId && !isQuoted(txn.txnState)) return { done: txn };
    } catch (caught) {
      if (!(caught instanceof Failure)) throw caught;
      if (refusesConfirmation(caught)) throw refused('confirmation', caught, undefined, txnId);
      error = caught;
    }
    return pauseOrThrow(number, error, () => error);
  };
  const end = await poll(policies.confirmation, step, deps);
  if ('done' in end) return end.done;
  throw error;
}

/** The largest plausible change of a rate during the lifetime of an invoice, as a fraction. */
const largestRateChange = new Big('0.1');

function checkedAmount(
  { sourceReq, destReq, extRefId }: CreateTransaction,
  txn: Transaction,
  tolerance: Big,
  account: string,
): Money {
  const answered = moneyFromWire(destReq.ccy, txn.destReq.amtRequested);
  const asked = new Big(destReq.amtRequested ?? 0);
  const isSame =
    txn.sourceReq.method === sourceReq.method &&
    txn.destReq.ccy === destReq.ccy &&
    isOfAccount(txn, account) &&
    answered?.value.minus(asked).abs().lte(asked.times(tolerance)) === true;
  if (answered !== undefined && isSame) return answered;
  const { txnId } = txn;
  throw new Failure(
    'refused',
    `Not usable: transaction ${txnId} (${extRefId}) is a different request.`,
    {
      next: { do: 'show', id: txnId },
      txnId,
    },
  );
}

export interface RequestedAmount {
  /** The requested amount, in BTC. */
  readonly amount: Money;
  /** The amount before its conversion to bitcoin, and the price of one bitcoin. */
  readonly worth?: { readonly given: Money; readonly rate: Big };
}

/**
 * Reads the requested amount. Throws Failure `usage` for an invalid amount, and `not-found` for a
 * currency that has no rate.
 */
export async function readAsked(
  text: string,
  rates: () => Promise<Rates>,
): Promise<RequestedAmount> {
  return isForeign(text)
    ? inBtc(parseAmount(text), await rates())
    : { amount: parseAmount(text, 'BTC') };
}

/** Whether the amount is in a currency other than bitcoin. */
export function isForeign(text: string): boolean {
  const named = currencyOf(text);
  return named !== undefined && named !== 'BTC';
}

/**
 * Converts an amount to bitcoin, rounded up, so that the result is worth at least the given amount.
 */
export function inBtc(given: Money, rates: Rates): RequestedAmount {
  const { rate } = findRate(rates, `BTC${given.ccy}`);
  return {
    amount: { ccy: 'BTC', value: given.value.div(rate).round(decimalsOf('BTC'), Big.roundUp) },
    worth: { given, rate },
  };
}
