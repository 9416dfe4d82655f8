// References: attempt n of a payment under R is R~n; the service has no look-up by reference, so its list is read.
import type { ListedTransaction, TransactionFilter } from '../../api/types.js';
import { Failure } from '../../formats/failure.js';
import type { Intent } from '../../store/journal/journal.js';

/** Attempt 1 carries the reference itself, later ones a number: an extRefId serves one transaction only. */
export const attemptRef = (ref: string, attempt: number): string => (attempt === 1 ? ref : `${ref}~${attempt}`);

function attemptOf(ref: string, extRefId: string | null | undefined): number | undefined {
  if (extRefId === ref) return 1;
  if (!extRefId?.startsWith(`${ref}~`)) return undefined;
  const number = extRefId.slice(ref.length + 1);
  return /^[1-9]\d{0,5}$/.test(number) && Number(number) > 1 ? Number(number) : undefined;
}

/** A reference stands for one payment for ever: another one under it is refused before anything is sent. */
export function differentPayment(ref: string, txnId: string | null): Failure {
  const which = txnId === null ? 'not created yet' : `transaction ${txnId}`;
  return new Failure('usage', `Not sent: the reference ${ref} belongs to a different payment (${which}).`, {
    hint: txnId === null ? 'svcpay tx pending' : `svcpay tx get ${txnId}`,
    txnId: txnId ?? undefined,
  });
}

/** What can be paid once only is refused when it was let go, or is open, as another payment. */
export function alreadyPaid({ ref, step, txnId, txnState }: Intent): Failure {
  const how =
    txnState === 'completed' ? 'was already paid'
    : txnState === 'error' ? 'was tried before, and ended as error'
    : step === 'intent' || step === 'created' ? 'is already to be paid'
    : 'is already on its way';
  const which = txnId === null ? '' : ` (transaction ${txnId})`;
  return new Failure('usage', `Not sent: this invoice ${how}, under the reference ${ref}${which}.`, {
    hint: txnState === 'completed' || txnState === 'error' ? `svcpay tx get ${txnId}` : `svcpay tx resume ${ref}`,
    txnId: txnId ?? undefined,
  });
}

export interface Attempt {
  readonly number: number;
  readonly txnId: string;
}

export interface ListService {
  eachTransaction(filter: TransactionFilter): AsyncIterable<ListedTransaction>;
  serviceNow(): number;
}

const dayMs = 86_400_000;

/**
 * The latest attempt under a reference that the service knows, from all pages of its list.
 *
 * @param since epoch ms; nothing under this reference is older.
 */
export async function latestAttempt(ref: string, since: number, service: ListService): Promise<Attempt | undefined> {
  let latest: Attempt | undefined;
  for await (const txn of service.eachTransaction(allSince(since, service))) {
    const number = attemptOf(ref, txn.extRefId);
    if (number !== undefined && number > (latest?.number ?? 0)) latest = { number, txnId: txn.txnId };
  }
  return latest;
}

/** Those of many references that the service knows, in whatever attempt: its list is gone through once for all. */
export async function knownReferences(refs: ReadonlySet<string>, service: ListService): Promise<ReadonlySet<string>> {
  const known = new Set<string>();
  if (refs.size === 0) return known;
  for await (const { extRefId } of service.eachTransaction(allSince(0, service))) {
    const first = extRefId?.replace(/~\d+$/, '');
    for (const ref of [extRefId, first]) if (ref != null && refs.has(ref)) known.add(ref);
  }
  return known;
}

const allSince = (since: number, service: ListService): TransactionFilter => ({
  time: 'other',
  startTime: new Date(Math.max(since, 0)).toISOString(),
  endTime: new Date(service.serviceNow() + dayMs).toISOString(),
  limit: 100,
});
