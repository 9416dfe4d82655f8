// Waits for a transaction to reach a final state, by polling at a pace that fits how long it has taken already.
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
  /** After this many ms waiting ends with Failure `pending`; undefined waits without end. */
  readonly atMostMs: number | undefined;
  /** Called for every change of state, not for the state that was handed in. */
  readonly onChange: (txn: Transaction) => void | Promise<void>;
  /** Called for every read, also where the state is the same: a blockchain counts within one. */
  readonly onRead?: (txn: Transaction) => void;
  /** What goes on with what was left waiting; it is watched unless said otherwise. */
  readonly goOn?: 'watch' | 'resume';
  /** Ends the wait before a final state. */
  readonly enough?: (txn: Transaction) => boolean;
}

/** By the method that leaves the service or reaches it, whichever is not its own. */
export function paceOf({ sourceReq, destReq }: Transaction): Pace {
  const outside = sourceReq.method === 'servicepay' ? destReq.method : sourceReq.method;
  return methodFacts(outside)?.pace ?? 'steady';
}

/**
 * Resolves with the transaction in its final state. A read that gets no answer is tried again, since the payment goes on
 * meanwhile; answers that cannot be read end the wait when it is the third in a row.
 */
export async function waitUntilFinal(txn: Transaction, options: WaitOptions, deps: WaitDeps): Promise<Transaction> {
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
      if (unread >= mostUnread) throw stillGoing(latest, 'its state cannot be read', options, read.unread);
    } else {
      if (read.txn !== undefined) unread = 0;
      latest = read.txn ?? latest;
    }
    waited += Math.min(Math.max(deps.now() - before, pause), pause + longestReadMs);
  }
  return latest;
}

const mostUnread = 3;

/** A clock that jumps counts as no more than this, and never backwards. */
const longestReadMs = 60_000;

/** Without a transaction where the network or the service failed for the moment. */
type Read = { readonly txn: Transaction | undefined } | { readonly unread: Failure };

/** @param isNew reads may lag behind: that it is not there yet is no last word. */
async function readAgain(latest: Transaction, isNew: boolean, options: WaitOptions, deps: WaitDeps): Promise<Read> {
  let next: Transaction;
  try {
    next = withKnown(latest, await readTransaction(deps.service, latest.txnId));
  } catch (error) {
    if (deps.signal.aborted || !(error instanceof Failure) || gotNoAnswer(error)) return { txn: undefined };
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

/** Nobody will be told more: the key is refused, or the transaction is not there. */
const isLastWord = (error: Failure): boolean =>
  (error.kind === 'authentication' || error.kind === 'not-found') && !(error instanceof ServiceError && !error.isOwnRefusal);

function stillGoing(
  { txnId, txnState, sourceReq }: Transaction,
  why: string,
  { goOn = 'watch' }: WaitOptions,
  cause?: Failure,
): Failure {
  const reason = cause === undefined ? why : `${why}: ${cause.message.replace(/\.$/, '')}`;
  return new Failure('pending', `Not known yet: ${reason}, and the transaction is ${sourceReq.method === 'servicepay' ? 'in flight' : 'open'} (${txnState}).`, {
    next: { do: goOn, id: txnId },
    txnId,
    cause,
  });
}

/** The pauses of waits that go on beside each other: their reads come one after the other, never closer than this. */
export function takingTurns({ sleep, now }: Pick<WaitDeps, 'sleep' | 'now'>, apartMs: number): WaitDeps['sleep'] {
  let latest = Number.NEGATIVE_INFINITY;
  return async (ms, signal) => {
    const turn = Math.max(now() + ms, latest + apartMs);
    latest = turn;
    await sleep(turn - now(), signal);
  };
}
