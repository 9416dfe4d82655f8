// Waits for a transaction to reach a final state, by polling at a pace that fits how long it has taken already.
import type { Transaction } from '../../api/types.js';
import { Failure } from '../../formats/failure.js';
import { readTransaction, type ReadService } from './read-transaction.js';
import { isFinal } from '../../formats/states.js';

export interface WaitDeps {
  readonly service: ReadService;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly now: () => number;
  readonly signal: AbortSignal;
}

export interface WaitOptions {
  /** After this many ms waiting ends with Failure `pending`; undefined waits without end. */
  readonly atMostMs: number | undefined;
  /** Called for every change of state, not for the state that was handed in. */
  readonly onChange: (txn: Transaction) => void | Promise<void>;
  /** The command that goes on with what was left waiting; `tx watch` unless said otherwise. */
  readonly goOn?: string;
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
  const limit = options.atMostMs ?? Infinity;
  let waited = 0;
  let latest = txn;
  while (!isFinal(latest.txnState) && options.enough?.(latest) !== true) {
    if (deps.signal.aborted) throw stillGoing(latest, 'it was interrupted', options);
    if (waited >= limit) throw stillGoing(latest, 'the wait is over', options);
    const pace = paces.find(({ upTo }) => waited < upTo)?.everyMs ?? 1_000;
    const pause = Math.min(pace, limit - waited);
    const before = deps.now();
    await deps.sleep(pause, deps.signal).catch(() => undefined);
    latest = await readAgain(latest, options, deps);
    waited += Math.min(Math.max(deps.now() - before, pause), pause + longestReadMs);
  }
  return latest;
}

/** A clock that jumps counts as no more than this, and never backwards. */
const longestReadMs = 60_000;

async function readAgain(latest: Transaction, options: WaitOptions, deps: WaitDeps): Promise<Transaction> {
  let next: Transaction;
  try {
    next = await readTransaction(deps.service, latest.txnId);
  } catch (error) {
    if (deps.signal.aborted) return latest;
    if (error instanceof Failure && (error.kind === 'authentication' || error.kind === 'not-found')) {
      throw stillGoing(latest, error.message, options);
    }
    return latest;
  }
  if (next.txnState !== latest.txnState) await options.onChange(next);
  return next;
}

function stillGoing({ txnId, txnState }: Transaction, why: string, { goOn = 'svcpay tx watch' }: WaitOptions): Failure {
  return new Failure('pending', `Not known yet: the transaction is ${txnState} and goes on (${why}).`, {
    hint: `${goOn} ${txnId}`,
    txnId,
  });
}
