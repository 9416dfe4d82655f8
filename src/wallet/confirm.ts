// Confirmation along the rules that keep it at most once: after any doubt the state is read, and only the same
// transaction is ever confirmed again.
import { NoAnswer, ServiceError } from '../api/errors.js';
import type { Transaction } from '../api/types.js';
import { Failure } from '../formats/failure.js';
import { isQuoted } from './states.js';

/** The part of the client that moves a transaction along. */
export interface ConfirmService {
  confirmTransaction(txnId: string): Promise<Transaction>;
  transaction(txnId: string): Promise<Transaction>;
}

export interface ConfirmDeps {
  readonly service: ConfirmService;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly signal: AbortSignal;
}

const attempts = 5;
const firstPauseMs = 200;
const longestPauseMs = 10_000;

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
  for (let attempt = 0; attempt < attempts && !(attempt > 0 && signal.aborted); attempt += 1) {
    if (attempt > 0) await pause(attempt, error, deps);
    if (attempt > 0 || resumed) {
      const before = await readState(service, txnId);
      if (before !== undefined && !isQuoted(before.txnState)) return before;
      if (before === undefined && inDoubt) continue;
      if (isRefusal(error)) break;
    }
    const answer = await tryConfirm(service, txnId);
    if ('txn' in answer) return answer.txn;
    error = answer.error;
    inDoubt ||= mayHaveArrived(error);
  }
  throw inDoubt ? notKnown(txnId, error) : error;
}

async function readState(service: ConfirmService, txnId: string): Promise<Transaction | undefined> {
  return service.transaction(txnId).catch(() => undefined);
}

async function tryConfirm(service: ConfirmService, txnId: string): Promise<{ txn: Transaction } | { error: unknown }> {
  try {
    return { txn: await service.confirmTransaction(txnId) };
  } catch (error) {
    return { error };
  }
}

/** A 4xx other than "already final" and "too many requests": the service will not take this confirmation. */
function isRefusal(error: unknown): boolean {
  return error instanceof ServiceError && error.kind !== 'temporary' && error.code !== alreadyFinal;
}

/** Whether the service may have acted on a confirmation that ended in this error. */
function mayHaveArrived(error: unknown): boolean {
  if (error instanceof NoAnswer) return error.mayHaveArrived;
  return !(error instanceof ServiceError) || error.code === alreadyFinal;
}

async function pause(attempt: number, error: unknown, { sleep, signal }: ConfirmDeps): Promise<void> {
  const asked = error instanceof ServiceError ? error.retryAfterMs : undefined;
  const ms = isRefusal(error) ? 0 : Math.min(asked ?? firstPauseMs * 2 ** (attempt - 1), longestPauseMs);
  await sleep(ms, signal).catch(() => undefined);
}

function notKnown(txnId: string, cause: unknown): Failure {
  const why = cause instanceof NoAnswer ? 'the service did not answer the confirmation' : 'the confirmation is in doubt';
  return new Failure('pending', `Not known yet: ${why}. Nothing was tried twice.`, {
    hint: `svcpay tx resume ${txnId}`,
    txnId,
    cause,
  });
}
