// Reads a transaction, and refuses an answer about another one.
import type { Transaction } from '../../api/types.js';
import { Failure } from '../../formats/failure.js';

export interface ReadService {
  transaction(txnId: string): Promise<Transaction>;
}

/** Fields missing from a later, abbreviated answer keep their values. */
export function withKnown(known: Transaction, txn: Transaction): Transaction {
  const isWhole = txn.sourceReq.method != null && txn.destReq.method != null;
  if (isWhole || known.txnId !== txn.txnId) return txn;
  const side = (which: 'sourceReq' | 'destReq') => ({ ...known[which], ...txn[which] });
  return { ...known, ...txn, sourceReq: side('sourceReq'), destReq: side('destReq') };
}

/** Throws Failure `refused` if the service answers with another transaction. */
export async function readTransaction(service: ReadService, txnId: string): Promise<Transaction> {
  const txn = await service.transaction(txnId);
  if (txn.txnId === txnId) return txn;
  throw new Failure(
    'refused',
    `The service was asked for transaction ${txnId} and answered with ${txn.txnId}.`,
    { txnId },
  );
}
