// Waits for the final state of a transaction, polling at intervals that grow with the time waited.
import { NoAnswer, ServiceError } from '../../api/errors.js';
import { retryPolicy } from '../../api/retry-policy.js';
import type { Transaction } from '../../api/types.js';
import { Failure } from '../../formats/failure.js';
import { methodFacts, type Pace } from '../../formats/rails.js';
import { pauseMs } from './poll.js';
import { readTransaction, withKnown, type ReadService } from './read-transaction.js';
import { isFinal } from '../../formats/states.js';

export interface WaitDeps {
  readonly service: ReadService;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly now: () => number;
  readonly signal: AbortSignal;
}

export interface WaitOptions {
  /** The wait ends after this many ms with Failure `pending`; undefined: no limit. */
  readonly atMostMs: number | undefined;
  /** Called for every change of state, but not for the initial state. */
  readonly onChange: (txn: Transaction) => void | Promise<void>;
  /** Called for every read, even without a change of state: confirmations may have changed. */
  readonly onRead?: (txn: Transaction) => void;
  /** The next step after an unfinished wait; by default `watch`. */
  readonly goOn?: 'watch' | 'resume';
  /** Ends the wait before a final state. */
  readonly enough?: (txn: Transaction) => boolean;
}

/** By the external method of the transaction. */
export function paceOf({ sourceReq, destReq }: Transaction): Pace {
  const outside = sourceReq.method === 'servicepay' ? destReq.method : sourceReq.method;
  return methodFacts(outside)?.pace ?? 'steady';
}

/**
 * Resolves with the transaction in its final state. An unanswered read is repeated, since the payment continues;
 * the third unreadable answer in a row ends the wait.
 */
export async function waitUntilFinal(
  txn: Transaction,
  options: WaitOptions,
  deps: WaitDeps,
): Promise<Transaction> {
  const limit = options.atMostMs ?? Infinity;
  let waited = 0;
  let unread = 0;
  let latest = txn;
  while (!isFinal(latest.txnState) && options.enough?.(latest) !== true) {
    if (deps.signal.aborted) throw stillGoing(latest, 'the wait was interrupted', options);
    if (waited >= limit) throw stillGoing(latest, 'the wait timed out', options);
    const pause = Math.min(pauseMs(waited, paceOf(latest)), limit - waited);
    const before = deps.now();
    await deps.sleep(pause, deps.signal).catch(() => undefined);
    const read = await readAgain(latest, waited < retryPolicy.staleForMs, options, deps);
    if ('unread' in read) {
      unread += 1;
      if (unread >= mostUnread)
        throw stillGoing(latest, 'its state cannot be read', options, read.unread);
    } else {
      if (read.txn !== undefined) unread = 0;
      latest = read.txn ?? latest;
    }
    waited += Math.min(Math.max(deps.now() - before, pause), pause + longestReadMs);
  }
  return latest;
}

const mostUnread = 3;

/** A jump of the clock counts as at most this, and never backwards. */
const longestReadMs = 60_000;

/** Undefined after a temporary failure. */
type Read = { readonly txn: Transaction | undefined } | { readonly unread: Failure };

/** @param isNew reads may lag: a missing transaction is not final. */
async function readAgain(
  latest: Transaction,
  isNew: boolean,
  options: WaitOptions,
  deps: WaitDeps,
): Promise<Read> {
  let next: Transaction;
  try {
    next = withKnown(latest, await readTransaction(deps.service, latest.txnId));
  } catch (error) {
    if (deps.signal.aborted || !(error instanceof Failure) || gotNoAnswer(error))
      return { txn: undefined };
    if (isLastWord(error) && isNew && error.kind === 'not-found') return { txn: undefined };
    if (isLastWord(error)) throw stillGoing(latest, 'its state cannot be read', options, error);
    return { unread: error };
  }
  options.onRead?.(next);
  if (next.txnState !== latest.txnState) await options.onChange(next);
  return { txn: next };
}

const gotNoAnswer = (error: Failure): boolean =>
  error instanceof NoAnswer || (error instanceof ServiceError && error.kind === 'temporary');

/** Permanent: the key is refused, or the transaction does not exist. */
const isLastWord = (error: Failure): boolean =>
  (error.kind === 'authentication' || error.kind === 'not-found') &&
  !(error instanceof ServiceError && !error.isOwnRefusal);

function stillGoing(
  { txnId, txnState, sourceReq }: Transaction,
  why: string,
  { goOn = 'watch' }: WaitOptions,
  cause?: Failure,
): Failure {
  const reason = cause === undefined ? why : `${why}: ${cause.message.replace(/\.$/, '')}`;
  return new Failure(
    'pending',
    `Not known yet: ${reason}, and the transaction is ${sourceReq.method === 'servicepay' ? 'in flight' : 'open'} (${txnState}).`,
    {
      next: { do: goOn, id: txnId },
      txnId,
      cause,
    },
  );
}

/** The interval between reads of parallel waits. */
export function takingTurns(
  { sleep, now }: Pick<WaitDeps, 'sleep' | 'now'>,
  apartMs: number,
): WaitDeps['sleep'] {
  let latest = Number.NEGATIVE_INFINITY;
  return async (ms, signal) => {
    const turn = Math.max(now() + ms, latest + apartMs);
    latest = turn;
    await sleep(turn - now(), signal);
  };
}
