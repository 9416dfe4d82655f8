// Confirmation along the rules that keep it at most once: after any doubt the state is read, and only the same
// transaction is ever confirmed again.
import { NoAnswer, ServiceError } from '../../api/errors.js';
import type { Transaction } from '../../api/types.js';
import { Failure } from '../../formats/failure.js';
import { pauseBefore } from './backoff.js';
import { readTransaction, type ReadService } from './read-transaction.js';
import { isQuoted } from '../../formats/states.js';

/** The part of the client that moves a transaction along. */
export interface ConfirmService extends ReadService {
  confirmTransaction(txnId: string): Promise<Transaction>;
}

export interface ConfirmDeps {
  readonly service: ConfirmService;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly signal: AbortSignal;
}

const attempts = 5;

/** Specification: code of a confirmation that came too late to change anything. */
const alreadyFinal = '2005';

/**
 * Confirms a quoted transaction and resolves with it as it stands afterwards. Throws the service's refusal, or why it
 * could not be reached, only when nothing can have moved, and Failure `pending` when that cannot be told.
 *
 * @param resumed a confirmation may have been sent before: the state is read first.
 */
export async function confirmOnce(txnId: string, resumed: boolean, deps: ConfirmDeps): Promise<Transaction> {
  const { service, signal } = deps;
  let inDoubt = resumed;
  let error: unknown;
  let unread: unknown;
  let isRefused = false;
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    unread = undefined;
    if (attempt > 0 && !(await pause(attempt, error, deps))) break;
    if (signal.aborted) break;
    if (attempt > 0 || resumed) {
      const before = await readTransaction(service, txnId).catch((reason: unknown) => void (unread = reason));
      if (before !== undefined && !isQuoted(before.txnState)) return before;
      // Only together with the state, or with the same refusal to tell it, is a refusal of the confirmation certain.
      isRefused = isRefusal(error) && (before !== undefined || isRefusal(unread));
      if (isRefused) break;
      if (before === undefined && (inDoubt || isRefusal(error))) continue;
    }
    const answer = await tryConfirm(service, txnId);
    if ('txn' in answer) return answer.txn;
    error = answer.error;
    inDoubt ||= mayHaveArrived(error);
  }
  if (inDoubt || (isRefusal(error) && !isRefused)) throw notKnown(txnId, error ?? unread);
  throw error ?? new Failure('interrupted', 'Interrupted: nothing moved.', { txnId });
}

async function tryConfirm(service: ConfirmService, txnId: string): Promise<{ txn: Transaction } | { error: unknown }> {
  try {
    const txn = await service.confirmTransaction(txnId);
    if (txn.txnId !== txnId) return { error: inDoubtNow(txnId, `the service answered with transaction ${txn.txnId}`) };
    return isQuoted(txn.txnState) ? { error: inDoubtNow(txnId, 'the service still says quoted') } : { txn };
  } catch (error) {
    return { error: error instanceof Failure ? error : inDoubtNow(txnId, 'the confirmation broke off', error) };
  }
}

/** The confirmation was sent, and its answer tells nothing: it may take effect later. */
const inDoubtNow = (txnId: string, message: string, cause?: unknown): NoAnswer =>
  new NoAnswer('pending', message, { mayHaveArrived: true, txnId, cause });

/** A 4xx other than "already final" and "too many requests": the service will not take this confirmation. */
function isRefusal(error: unknown): boolean {
  return error instanceof ServiceError && error.kind !== 'temporary' && error.code !== alreadyFinal;
}

/**
 * Whether the service may have acted on a confirmation that ended in this error. The client tells with `NoAnswer`; its
 * other failures come from before the request (sign-in, interruption) or are the service's own refusal.
 */
function mayHaveArrived(error: unknown): boolean {
  if (error instanceof NoAnswer) return error.mayHaveArrived;
  return error instanceof Failure && error.code === alreadyFinal;
}

/** False when the service asks for a longer wait than is worth it. After a refusal the state is read at once. */
async function pause(attempt: number, error: unknown, { sleep, signal }: ConfirmDeps): Promise<boolean> {
  const ms = isRefusal(error) ? 0 : pauseBefore(attempt, error);
  if (ms === undefined) return false;
  if (!signal.aborted) await sleep(ms, signal).catch(() => undefined);
  return true;
}

function notKnown(txnId: string, cause: unknown): Failure {
  const why =
    cause instanceof NoAnswer && cause.mayHaveArrived
      ? 'the service did not answer the confirmation'
      : 'the service could not tell what became of the confirmation';
  return new Failure('pending', `Not known yet: ${why}. Nothing was tried twice.`, {
    hint: `svcpay tx resume ${txnId}`,
    txnId,
    cause,
  });
}
