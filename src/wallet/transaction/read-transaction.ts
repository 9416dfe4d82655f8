// Reads a transaction, and only that one: an answer about another is no answer.
import type { Transaction } from '../../api/types.js';
import { Failure } from '../../formats/failure.js';

export interface ReadService {
  transaction(txnId: string): Promise<Transaction>;
}

/** What a later, abbreviated answer leaves out is as it was known before: nothing of it changes but what it says. */
export function withKnown(known: Transaction, txn: Transaction): Transaction {
  const isWhole = txn.sourceReq.method != null && txn.destReq.method != null;
  if (isWhole || known.txnId !== txn.txnId) return txn;
  const side = (which: 'sourceReq' | 'destReq') => ({ ...known[which], ...txn[which] });
  return { ...known, ...txn, sourceReq: side('sourceReq'), destReq: side('destReq') };
}

/** Throws Failure `refused` when the service answers with a transaction that was not asked for. */
export async function readTransaction(service: ReadService, txnId: string): Promise<Transaction> {
  const txn = await service.transaction(txnId);
  if (txn.txnId === txnId) return txn;
  throw new Failure('refused', `The service was asked for transaction ${txnId} and answered with ${txn.txnId}.`, { txnId });
}
