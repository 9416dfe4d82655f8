// Reads a transaction, refuses a response about another transaction, and repeats a read that may be
// stale.
import type { Transaction } from '../../api/types.js';
import { Failure } from '../../formats/failure.js';
import { policies } from '../../formats/policies.js';
import { poll, type Next, type PollDeps } from '../../formats/poll.js';

export interface ReadService {
  transaction(txnId: string): Promise<Transaction>;
}

/** Fields that a later, abbreviated response lacks keep their values. */
export function withKnown(known: Transaction, txn: Transaction): Transaction {
  const isWhole = txn.sourceReq.method != null && txn.destReq.method != null;
  if (isWhole || known.txnId !== txn.txnId) return txn;
  const side = (which: 'sourceReq' | 'destReq') => ({ ...known[which], ...txn[which] });
  return { ...known, ...txn, sourceReq: side('sourceReq'), destReq: side('destReq') };
}

/** Throws Failure `refused` if the service responds with another transaction. */
export async function readTransaction(service: ReadService, txnId: string): Promise<Transaction> {
  const txn = await service.transaction(txnId);
  if (txn.txnId === txnId) return txn;
  throw new Failure(
    'refused',
    `The service was asked for transaction ${txnId} and answered with ${txn.txnId}.`,
    { txnId },
  );
}

/**
 * Repeats a read over 8 s while its result may be stale, and resolves with the last result.
 * Resolves early on interruption.
 * @param latest the caller's latest result. The first repetition comes after a pause
 */
export async function rereadWhileStale<T>(
  latest: T,
  read: () => Promise<T>,
  mayBeStale: (value: T) => boolean,
  deps: PollDeps,
): Promise<T> {
  const end = await poll<T>(
    policies.staleRead,
    async ({ number }): Promise<Next<T>> => {
      if (number > 1) latest = await read();
      return mayBeStale(latest) ? {} : { done: latest };
    },
    deps,
  );
  return 'done' in end ? end.done : latest;
}
