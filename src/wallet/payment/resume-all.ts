// Finishes or reports every unfinished payment: first what can be done at once for each, then what has to be waited for.
import type { Transaction } from '../../api/types.js';
import { Failure, type FailureKind } from '../../formats/failure.js';
import type { Payment } from '../../store/journal/payment.js';
import type { PaymentDeps, PaymentOptions } from './contract.js';
import { resume } from './payment.js';
import { isFinal } from '../../formats/states.js';

/** What happened to an unfinished payment: its transaction, or why there is none. */
export interface Resumed {
  readonly payment: Payment;
  readonly txn: Transaction | undefined;
  readonly failure: Failure | undefined;
}

/** What a payment is driven with, so that each is drawn as itself. Throws Failure if it cannot be resumed now. */
type DepsFor = (payment: Payment) => Promise<PaymentDeps>;

/** @param wait as for a payment: how long, in ms, all of them together are waited for */
export async function resumeAll(
  payments: readonly Payment[],
  wait: PaymentOptions['wait'],
  depsFor: DepsFor,
): Promise<Resumed[]> {
  const atOnce: Resumed[] = [];
  for (const payment of payments) atOnce.push(await outcome(payment, false, depsFor));
  if (wait === false) return atOnce;
  const ended: Resumed[] = [];
  let left: number | 'forever' = wait;
  for (const each of atOnce) {
    if (each.txn === undefined || isFinal(each.txn.txnState)) {
      ended.push(each);
      continue;
    }
    const { now } = await depsFor(each.payment);
    const before = now();
    ended.push(await outcome(each.payment, left, depsFor));
    if (typeof left === 'number') left = Math.max(left - Math.max(now() - before, 0), 0);
  }
  return ended;
}

async function outcome(
  payment: Payment,
  wait: PaymentOptions['wait'],
  depsFor: DepsFor,
): Promise<Resumed> {
  try {
    const txn = await resume(payment, { wait }, await depsFor(payment));
    return { payment, txn, failure: undefined };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { payment, txn: undefined, failure: error };
  }
}

/** What a script has to know first: money is on its way, then a payment ended unpaid, then something was not done. */
const gravity: readonly FailureKind[] = [
  'pending',
  'payment-failed',
  'unexpected',
  'refused',
  'limit',
  'authentication',
  'not-found',
  'usage',
  'temporary',
  'declined',
  'interrupted',
];

/** The gravest failure, which decides the exit code; undefined if all succeeded. */
export function gravest(resumed: readonly Resumed[]): Failure | undefined {
  const failures = resumed.flatMap(({ failure }) => failure ?? []);
  const [worst] = failures.toSorted((a, b) => gravity.indexOf(a.kind) - gravity.indexOf(b.kind));
  if (worst === undefined || failures.length === 1) return worst;
  return new Failure(
    worst.kind,
    `${worst.message} (${failures.length} of ${resumed.length} payments are not done.)`,
    {
      next: { do: 'see-open-payments' },
      txnId: worst.txnId,
      cause: worst,
    },
  );
}
