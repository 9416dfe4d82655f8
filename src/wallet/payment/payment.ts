// The entrances to the payment core: a payment is opened in the journal, claimed, and driven to what this run wants of it.
// Resuming after a crash is the same path, entered from the stored attempts.
import type { Transaction } from '../../api/types.js';
import { leaseMs, type Claim } from '../../store/journal/journal.js';
import { latest, mayHavePaid, status, type Payment } from '../../store/journal/payment.js';
import { echoes } from '../order/echo.js';
import { decodeOrder, isForOrder, recordOf } from '../order/order-record.js';
import type { Order } from '../order/orders.js';
import { readTransaction } from '../transaction/read-transaction.js';
import type { PaymentDeps, PaymentOptions, PaymentRequest } from './contract.js';
import { drive } from './driver.js';
import type { Wish } from './model.js';
import { alreadyPaid, differentPayment, isAbandoned, journalLost, ownRef } from './outcomes.js';
import { takeOver } from './take-over.js';

/** Another way to pay for the same thing has a reference of its own. */
const refOf = ({ idempotencyKey, body }: Order): string | undefined =>
  idempotencyKey !== null && body.destReq.method === 'lightning'
    ? ownRef(idempotencyKey)
    : undefined;

/**
 * Pays at most once and resolves with the transaction in its last known state.
 * Throws Failure: `payment-failed` if it ended without paying, `pending` if its outcome is not known yet.
 */
export async function pay(
  request: PaymentRequest,
  options: PaymentOptions,
  deps: PaymentDeps,
): Promise<Transaction> {
  const { order, terms, ref } = request;
  const consent = options.until === 'quoted' ? 'none' : request.consent;
  const { payment, found } = await deps.journal.begin({
    id: deps.newId(),
    scope: deps.scope,
    account: deps.account,
    ref: ref ?? refOf(order) ?? deps.newId(),
    ...recordOf(order),
    terms,
    consent,
  });
  if (found !== 'new') await checkSame(payment, found, request, deps);
  const reference = ref !== undefined ? 'given' : order.idempotencyKey !== null ? 'once' : 'own';
  const isLookedAt = options.until === 'quoted' && found !== 'new' && status(payment) === 'open';
  const wish = {
    reference,
    renew: found === 'new' ? {} : { terms, consent },
    leaveOpen: isLookedAt ? 'always' : 'never',
  } as const;
  return run(payment, wish, options, deps);
}

/** Requests a quote and shows its full cost; what was open before stays open, what is new is abandoned. */
export const quote = (
  request: PaymentRequest,
  { retry }: Pick<PaymentOptions, 'retry'>,
  deps: PaymentDeps,
): Promise<Transaction> => pay(request, { wait: false, retry, until: 'quoted' }, deps);

/** Throws Failure `usage` if the reference or the invoice belongs to another payment. */
async function checkSame(
  payment: Payment,
  found: 'ref' | 'once',
  { order, ref }: PaymentRequest,
  deps: PaymentDeps,
): Promise<void> {
  const { idempotencyKey } = order;
  // A bitcoin: URI is planned another way once its invoice has expired.
  const isOtherWay =
    idempotencyKey !== null && payment.idempotencyKey === idempotencyKey && mayHavePaid(payment);
  const isSame =
    isForOrder(payment, order) ||
    (found === 'ref' && (isOtherWay || (await isImportedAlike(payment, order, deps))));
  const isOver = payment.attempts.some(({ state }) => state === 'paid' || state === 'error');
  if (found === 'ref' && !isSame) throw differentPayment(payment.ref, latest(payment).txnId);
  // The same invoice without a reference is the same payment run again, until it is over.
  if (found === 'once' && (ref !== undefined || !isSame)) throw alreadyPaid(payment);
  if (ref === undefined && isOver) throw alreadyPaid(payment);
}

/** An imported payment is compared with what the service returns of it. */
async function isImportedAlike(
  payment: Payment,
  order: Order,
  { service }: PaymentDeps,
): Promise<boolean> {
  const { txnId } = latest(payment);
  if (decodeOrder(payment.request).isImported !== true || txnId === null) return false;
  const txn = await readTransaction(service, txnId).catch((error: unknown) => {
    throw journalLost(payment, error);
  });
  return echoes(order, txn);
}

/**
 * Takes up a payment of the journal with the terms and the yes that it holds, or reports how it ended.
 * Throws Failure like `pay`; `usage` for one that was abandoned before anything moved.
 */
export async function resume(
  payment: Payment,
  { wait }: Pick<PaymentOptions, 'wait'>,
  deps: PaymentDeps,
): Promise<Transaction> {
  if (status(payment) === 'abandoned') throw isAbandoned(payment);
  return run(
    payment,
    { reference: 'given', renew: {}, leaveOpen: 'if-passing' },
    { wait, retry: false },
    deps,
  );
}

/** Makes another attempt at a payment that failed or is unknown, because a person asks for it. */
export const tryAgain = (
  payment: Payment,
  renew: Wish['renew'],
  { wait }: Pick<PaymentOptions, 'wait'>,
  deps: PaymentDeps,
): Promise<Transaction> =>
  run(payment, { reference: 'given', renew, leaveOpen: 'never' }, { wait, retry: true }, deps);

/** Confirms the quote that the journal holds, that one and no other, also an abandoned one. */
export const payThisQuote = (
  expect: string,
  payment: Payment,
  renew: Wish['renew'],
  options: PaymentOptions,
  deps: PaymentDeps,
): Promise<Transaction> =>
  run(payment, { expect, reference: 'given', renew, leaveOpen: 'never' }, options, deps);

type Given = Pick<Wish, 'expect' | 'reference' | 'renew' | 'leaveOpen'>;

async function run(
  opened: Payment,
  given: Given,
  options: PaymentOptions,
  deps: PaymentDeps,
): Promise<Transaction> {
  // Two runs in one process must not pass for the same.
  const own = { ...deps, owner: `${deps.owner} ${deps.newId()}` };
  let known = opened;
  for (;;) {
    const taken = await takeOver(known, options, own);
    if ('txn' in taken) return taken.txn;
    const { claim, followed } = taken;
    const endLease = keepLease(claim, deps);
    try {
      if (given.leaveOpen === 'if-passing' && status(claim.payment) === 'abandoned')
        throw isAbandoned(claim.payment);
      const end = await drive(claim, wishOf(claim.payment, given, options, followed), own);
      if ('txn' in end) return end.txn;
      known = end.lost;
    } finally {
      endLease();
      await deps.journal.release(claim).catch(() => undefined);
    }
  }
}

/** @param followed another process worked on it until now: what that brought about is reported, not repeated */
function wishOf(
  payment: Payment,
  given: Given,
  { wait, retry, until }: PaymentOptions,
  followed: boolean,
): Wish {
  const { number } = latest(payment);
  return {
    ...given,
    until: until ?? (wait === false ? 'submitted' : 'settled'),
    waitMs: typeof wait === 'number' ? wait : Number.POSITIVE_INFINITY,
    retryUpTo: retry && !followed ? number : 0,
    firstAttempt: number,
  };
}

/** An answer may take longer than a lease lasts: who waits for it must not pass for dead. */
const keepLease = (claim: Claim, { every, journal }: PaymentDeps): (() => void) =>
  // A lost lease shows with the next write.
  every(leaseMs / 3, () => void journal.renew(claim).catch(() => undefined));
