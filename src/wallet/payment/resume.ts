// Finishes or reports every unfinished payment, and confirms an earlier quote of this home or of a
// different program. The limits and the journal apply as to any payment.
import pLimit from 'p-limit';
import type { ListedTransaction, Transaction } from '../../api/types.js';
import {
  asFailure,
  besideSubmitted,
  type Failure,
  type FailureKind,
} from '../../formats/failure.js';
import {
  attemptOf,
  mayHavePaid,
  type Payment,
  attemptNamed,
  latest,
  requested,
  type PaymentDraft,
  type PaymentTerms,
} from '../../store/journal/payment.js';
import type { Consent, PaymentDeps, PaymentOptions, PaymentRequest } from './model.js';
import { HeldElsewhere, resume, type TakeOverOptions } from './pay.js';
import { isFinal } from '../../formats/states.js';
import { underClaim, type Claim } from '../../store/journal/journal.js';
import { echoes, decodeOrder, encodeOrder, type Order } from '../order/orders.js';
import { instructionOfOrder, orderOfQuote } from '../instruction/order.js';
import { askedColumns } from '../instruction/instruction.js';
import { alreadyPaid, differentPayment } from './outcomes.js';

/** The result of resuming an unfinished payment: its transaction, or the failure. */
export interface Resumed {
  readonly payment: Payment;
  readonly txn: Transaction | ListedTransaction | undefined;
  readonly failure: Failure | undefined;
}

/**
 * Returns the dependencies for resuming one payment, with a separate screen for that payment.
 * Throws Failure if the payment cannot be resumed now.
 */
export type DepsFor = (
  payment: Payment,
) => Promise<{ readonly deps: PaymentDeps; readonly consent: Consent }>;

/** Returns the result of a payment, if svcpay can determine the result without a request. */
type KnownResult = (payment: Payment) => Promise<Resumed | undefined>;

/** The number of submitted payments that svcpay reads at the same time. */
const mostAtOnce = 16;

/**
 * Resumes payments. Asks the person about each unsubmitted payment, one after the other. Reads all
 * submitted payments at the same time, and then waits for their settlement together. A payment that
 * another process is working on comes last, because that process may finish the payment.
 * @param wait the longest wait for the settlement of all payments together, in ms
 */
export async function resumeAll(
  payments: readonly Payment[],
  wait: PaymentOptions['wait'],
  now: () => number,
  depsFor: DepsFor,
  knownResult: KnownResult = async () => undefined,
): Promise<Resumed[]> {
  const startedAt = now();
  const results = new Map<string, Resumed>();
  const take = async (payment: Payment, until: PaymentOptions['wait']): Promise<void> =>
    void results.set(payment.id, await outcome(payment, { wait: until }, depsFor));
  for (const payment of payments) if (!mayHavePaid(payment)) await take(payment, false);
  const readAll = async (some: readonly Payment[], leaveHeld: boolean): Promise<Payment[]> => {
    const limit = pLimit(mostAtOnce);
    const held: Payment[] = [];
    const read = async (payment: Payment): Promise<void> => {
      try {
        const options = { wait: false, leaveHeld } as const;
        const found = (await knownResult(payment)) ?? (await outcome(payment, options, depsFor));
        results.set(payment.id, found);
      } catch (error) {
        if (!(error instanceof HeldElsewhere)) throw error;
        held.push(payment);
      }
    };
    await Promise.all(some.map((payment) => limit(() => read(payment))));
    return held;
  };
  await readAll(await readAll(payments.filter(mayHavePaid), true), false);
  const left = (): PaymentOptions['wait'] =>
    typeof wait === 'number' ? Math.max(wait - Math.max(now() - startedAt, 0), 0) : wait;
  if (wait !== false)
    await Promise.all(payments.filter(isUnderWay(results)).map((payment) => take(payment, left())));
  return payments.flatMap(({ id }) => results.get(id) ?? []);
}

/** Whether the service has accepted the payment, but the payment has not settled yet. */
const isUnderWay =
  (results: ReadonlyMap<string, Resumed>) =>
  ({ id }: Payment): boolean => {
    const txn = results.get(id)?.txn;
    return txn !== undefined && !isFinal(txn.txnState);
  };

async function outcome(
  payment: Payment,
  options: TakeOverOptions,
  depsFor: DepsFor,
): Promise<Resumed> {
  try {
    const { deps, consent } = await depsFor(payment);
    const txn = await resume(payment, { ...options, consent }, deps);
    return { payment, txn, failure: undefined };
  } catch (error) {
    return { payment, txn: undefined, failure: asFailure(error) };
  }
}

/**
 * Kinds of failure, the most urgent for a script first: a payment whose outcome is unknown, a
 * payment in flight, a payment that ended unpaid, a payment that was not made.
 */
const byUrgency: readonly FailureKind[] = [
  'outcome-unknown',
  'pending',
  'payment-failed',
  'unexpected',
  'refused',
  'limit',
  'authentication',
  'not-found',
  'already-paid',
  'usage',
  'temporary',
  'declined',
  'interrupted',
];

/**
 * The failure that decides the exit code, or undefined if all payments succeeded. If another
 * payment succeeded, the failure does not promise that nothing was sent.
 */
export function mostUrgent(resumed: readonly Resumed[]): Failure | undefined {
  const failures = resumed.flatMap(({ failure }) => failure ?? []);
  const [worst] = failures.toSorted(
    (a, b) => byUrgency.indexOf(a.kind) - byUrgency.indexOf(b.kind),
  );
  if (worst === undefined || resumed.length === 1) return worst;
  const kind = failures.length < resumed.length ? besideSubmitted(worst.kind) : worst.kind;
  if (kind === worst.kind && failures.length === 1) return worst;
  return worst.saying(
    `${worst.why} Failed or unfinished: ${failures.length} of ${resumed.length} payments.`,
    { kind, hint: undefined, next: { do: 'see-open-payments' } },
  );
}

/**
 * Confirms only this quote, and follows the payment to its end. Throws the failures of `pay`, and
 * Failure `payment-failed` for an expired quote.
 */
export async function confirmQuote(
  txn: Transaction,
  { terms, ...options }: Pick<PaymentRequest, 'terms' | 'consent'> & Pick<PaymentOptions, 'wait'>,
  deps: PaymentDeps,
): Promise<Transaction> {
  const { txnId } = txn;
  const stored = await deps.journal.find(deps.scope, txnId);
  const isLatest = stored !== undefined && latest(stored).txnId === txnId;
  const payment = isLatest ? stored : await adopt(txn, terms, deps);
  return resume(payment, { ...options, only: { txnId, terms } }, deps);
}

/**
 * Enters a quote of unknown origin into the journal. If the journal has a payment with the quote's
 * reference, the quote becomes an attempt of that payment. The journal does not store the approval
 * of this quote, because the approval is not valid for a later quote.
 */
async function adopt(txn: Transaction, terms: PaymentTerms, deps: PaymentDeps): Promise<Payment> {
  const { journal, scope, owner } = deps;
  const [ref, number] = attemptNamed(txn.extRefId ?? deps.newId());
  const asked = (await storedDraft(ref, txn, deps)) ?? draftOf(orderOfQuote(txn));
  const draft = { id: deps.newId(), scope, account: deps.account, ref, ...asked, terms };
  const { payment, found } = await journal.begin(draft);
  if (found === 'once') throw alreadyPaid(payment);
  const adopted = await underClaim(journal, payment.id, owner, (claim) =>
    asAttempt(claim, number, asked.request, txn, deps),
  );
  return adopted ?? payment;
}

type Asked = Pick<PaymentDraft, 'kind' | 'instruction' | 'digest' | 'idempotencyKey' | 'request'>;

const draftOf = (order: Order): Asked => ({
  ...askedColumns(instructionOfOrder(order, false), order.kind),
  request: encodeOrder(order),
});

/**
 * Returns what the journal's payment with the quote's reference asks for, because the service
 * reports only a part of it. Returns undefined if the quote differs from the journal's order.
 * Throws Failure `usage` if the journal's payment may have moved money and has no attempt with this
 * quote.
 */
async function storedDraft(
  ref: string,
  txn: Transaction,
  { journal, scope, account }: PaymentDeps,
): Promise<Asked | undefined> {
  const payment = await journal.find(scope, ref);
  if (payment?.ref !== ref) return undefined;
  if (mayHavePaid(payment) && attemptOf(payment, txn.txnId) === undefined)
    throw differentPayment(payment);
  const { request } = latest(payment);
  if (!echoes(decodeOrder(request), txn, account)) return undefined;
  const { kind, instruction, digest, idempotencyKey } = payment;
  return { kind, instruction, digest, idempotencyKey, request };
}

/**
 * Records the quote as an attempt of the journal's payment. Throws Failure `usage` if the quote
 * differs from the payment's order, or if the payment has a newer attempt or a different
 * transaction for this attempt.
 */
async function asAttempt(
  claim: Claim,
  number: number,
  request: string,
  txn: Transaction,
  { journal, account }: PaymentDeps,
): Promise<Payment> {
  const { payment } = claim;
  const last = latest(payment);
  const isFree = (last.state === 'requested' && number >= last.number) || number > last.number;
  if (!isFree || !echoes(decodeOrder(request), txn, account)) throw differentPayment(payment);
  const { txnId, txnState } = txn;
  const attempt = { ...requested(number, request), state: 'quoted', txnId, txnState } as const;
  return (await journal.write(claim, { abandoned: false, attempt })).payment;
}
