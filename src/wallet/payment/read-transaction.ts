// Reads a transaction, and only that one: an answer about another is no answer.
import type { Transaction } from '../../api/types.js';
import { Failure } from '../../formats/failure.js';

export interface ReadService {
  transaction(txnId: string): Promise<Transaction>;
}

/** Throws Failure `refused` when the service answers with a transaction that was not asked for. */
export async function readTransaction(service: ReadService, txnId: string): Promise<Transaction> {
  const txn = await service.transaction(txnId);
  if (txn.txnId === txnId) return txn;
  throw new Failure('refused', `The service was asked for transaction ${txnId} and answered with ${txn.txnId}.`, { txnId });
}
