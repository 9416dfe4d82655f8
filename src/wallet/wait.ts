// Waits for a transaction to reach a final state, by polling at a pace that fits how long it has taken already.
import type { Transaction } from '../api/types.js';
import { Failure } from '../formats/failure.js';
import { isFinal } from './states.js';

export interface WaitDeps {
  readonly service: { transaction(txnId: string): Promise<Transaction> };
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly now: () => number;
  readonly signal: AbortSignal;
}

export interface WaitOptions {
  /** Epoch ms after which waiting ends with Failure `pending`; undefined waits without end. */
  readonly until: number | undefined;
  /** Called for every change of state, not for the state that was handed in. */
  readonly onChange: (txn: Transaction) => void | Promise<void>;
  /** Ends the wait before a final state. */
  readonly enough?: (txn: Transaction) => boolean;
}

const paces = [
  { upTo: 10_000, everyMs: 400 },
  { upTo: 60_000, everyMs: 1_000 },
  { upTo: 600_000, everyMs: 5_000 },
  { upTo: Infinity, everyMs: 15_000 },
];

/** Resolves with the transaction in its final state. A read that fails is tried again: the payment goes on meanwhile. */
export async function waitUntilFinal(txn: Transaction, options: WaitOptions, deps: WaitDeps): Promise<Transaction> {
  const started = deps.now();
  let latest = txn;
  while (!isFinal(latest.txnState) && options.enough?.(latest) !== true) {
    const waited = deps.now() - started;
    if (deps.signal.aborted) throw stillGoing(latest, 'it was interrupted');
    if (options.until !== undefined && deps.now() >= options.until) throw stillGoing(latest, 'the wait is over');
    const pace = paces.find(({ upTo }) => waited < upTo)?.everyMs ?? 1_000;
    const left = options.until === undefined ? pace : Math.max(options.until - deps.now(), 0);
    await deps.sleep(Math.min(pace, left), deps.signal).catch(() => undefined);
    latest = await readAgain(latest, options, deps);
  }
  return latest;
}

async function readAgain(latest: Transaction, options: WaitOptions, deps: WaitDeps): Promise<Transaction> {
  let next: Transaction;
  try {
    next = await deps.service.transaction(latest.txnId);
  } catch (error) {
    if (deps.signal.aborted) return latest;
    if (error instanceof Failure && (error.kind === 'authentication' || error.kind === 'not-found')) {
      throw stillGoing(latest, error.message);
    }
    return latest;
  }
  if (next.txnState !== latest.txnState) await options.onChange(next);
  return next;
}

function stillGoing({ txnId, txnState }: Transaction, why: string): Failure {
  return new Failure('pending', `Not known yet: the transaction is ${txnState} and goes on (${why}).`, {
    hint: `svcpay tx watch ${txnId}`,
    txnId,
  });
}
