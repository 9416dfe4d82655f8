// Confirmation along the rules that keep it at most once: after any doubt the state is read, and only the same
// transaction is ever confirmed again.
import { NoAnswer, ServiceError } from '../../api/errors.js';
import type { Transaction } from '../../api/types.js';
import { Failure } from '../../formats/failure.js';
import { isQuoted } from '../../formats/states.js';
import { pauseBefore } from '../transaction/backoff.js';
import { readTransaction, type ReadService } from '../transaction/read-transaction.js';

/** The part of the client that moves a transaction along. */
export interface ConfirmService extends ReadService {
  confirmTransaction(txnId: string): Promise<Transaction>;
}

export interface ConfirmDeps {
  readonly service: ConfirmService;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly signal: AbortSignal;
}

export interface Confirmed {
  readonly txn: Transaction;
  /** How often this call sent a confirmation. */
  readonly sent: number;
}

const attempts = 5;

/** Specification: code of a confirmation that came too late to change anything. */
const alreadyFinal = '2005';

/**
 * Confirms a quoted transaction and resolves with it as it stands afterwards. Throws the service's refusal, or why it
 * could not be reached, only when no confirmation can have had an effect, and Failure `pending` when that cannot be told:
 * once one may have arrived, neither a later refusal nor a read that still says `quoted` proves anything.
 *
 * @param resumed a confirmation may have been sent before: the state is read first.
 */
export async function confirmOnce(txnId: string, resumed: boolean, deps: ConfirmDeps): Promise<Confirmed> {
  const { service, signal } = deps;
  let inDoubt = resumed;
  let error: unknown;
  let unread: unknown;
  let isRefused = false;
  let sent = 0;
  /** Whether nothing was read since the last confirmation went out. */
  let isUnseen = false;
  const look = async (): Promise<Transaction | undefined> => {
    unread = undefined;
    isUnseen = false;
    const txn = await readTransaction(service, txnId).catch((reason: unknown) => void (unread = reason));
    // Only together with the state, or with the same refusal to tell it, is a refusal of the confirmation certain.
    isRefused = !inDoubt && isRefusal(error) && (txn === undefined ? isRefusal(unread) : isQuoted(txn.txnState));
    return txn;
  };
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    if (attempt > 0 && !(await pause(attempt, error, deps))) break;
    if (signal.aborted) break;
    if (attempt > 0 || resumed) {
      const before = await look();
      if (before !== undefined && !isQuoted(before.txnState)) return { txn: before, sent };
      if (isRefused) break;
      // What was refused is not asked for again; what may have arrived only together with a state that was read.
      if (isRefusal(error) || (before === undefined && inDoubt)) continue;
    }
    const answer = await tryConfirm(service, txnId);
    [sent, isUnseen] = [sent + 1, true];
    if ('txn' in answer) return { txn: answer.txn, sent };
    error = answer.error;
    inDoubt ||= mayHaveArrived(error);
  }
  // Nor does a plea for fewer requests prove anything, until the state is read.
  const isOpen = inDoubt || isRefusal(error) || isPlea(error);
  const last = isUnseen && isOpen ? await look() : undefined;
  if (last !== undefined && !isQuoted(last.txnState)) return { txn: last, sent };
  if (inDoubt || (isRefusal(error) && !isRefused) || (isPlea(error) && unread !== undefined)) {
    throw notKnown(txnId, error ?? unread, sent > 1 || (resumed && sent > 0));
  }
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

/** The service's own no, in its own shape; a gateway that speaks in its place refuses nothing. */
const isRefusal = (error: unknown): boolean =>
  error instanceof ServiceError && error.isOwnRefusal && error.code !== alreadyFinal && !saysUnderWay(error);

/** Refused because of another confirmation, from elsewhere perhaps, which may take effect. */
const saysUnderWay = ({ reason }: ServiceError): boolean =>
  /\b(?:already|pending|in progress|processing|process(?:ed)?|being|under ?way|lock(?:ed)?|conflict)\b/i.test(reason);

/**
 * Whether the service may have acted on a confirmation that ended in this error. Failures that come from before the
 * request (sign-in, interruption) and its own 429 say that it has not.
 */
function mayHaveArrived(error: unknown): boolean {
  if (error instanceof NoAnswer) return error.mayHaveArrived;
  if (error instanceof ServiceError) return !isRefusal(error) && !isPlea(error);
  return false;
}

/** The service's own 429: a gateway's is an answer of nobody. */
const isPlea = (error: unknown): boolean => error instanceof ServiceError && error.status === 429;

/** False when the service asks for a longer wait than is worth it. */
async function pause(attempt: number, error: unknown, { sleep, signal }: ConfirmDeps): Promise<boolean> {
  const ms = pauseBefore(attempt, error);
  if (ms === undefined) return false;
  if (!signal.aborted) await sleep(ms, signal).catch(() => undefined);
  return true;
}

function notKnown(txnId: string, cause: unknown, again: boolean): Failure {
  const why =
    cause instanceof NoAnswer && cause.mayHaveArrived
      ? 'the service did not answer the confirmation'
      : 'the service could not tell what became of the confirmation';
  const tried = again ? 'The same transaction was confirmed again, no other was made' : 'Nothing was tried twice';
  return new Failure('pending', `Not known yet: ${why}. ${tried}.`, {
    next: { do: 'resume', id: txnId },
    txnId,
    cause,
  });
}
