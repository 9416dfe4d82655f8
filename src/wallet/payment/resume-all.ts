// Finishes or reports every unfinished payment. Payments that require a wait come after the other
// payments.
import pLimit from 'p-limit';
import type { ListedTransaction, Transaction } from '../../api/types.js';
import { besideSubmitted, Failure, type FailureKind } from '../../formats/failure.js';
import { mayHavePaid, type Payment } from '../../store/journal/payment.js';
import type { Consent, PaymentDeps, PaymentOptions } from './contract.js';
import { HeldElsewhere, resume, type TakeOverOptions } from './payment.js';
import { isFinal } from '../../formats/states.js';

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
    if (!(error instanceof Failure)) throw error;
    return { payment, txn: undefined, failure: error };
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
