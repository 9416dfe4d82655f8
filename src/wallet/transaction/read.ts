// Reads a transaction in one of three ways: only once, repeatedly while the result may be stale, or
// repeatedly until the state is final. The interval between reads grows with the time that svcpay
// has waited. Refuses a response that contains a transaction other than the requested transaction.
import type {
  ListedTransaction,
  Transaction,
  TransactionFilter,
  TransactionPage,
} from '../../api/types.js';
import { Failure } from '../../formats/failure.js';
import {
  longestPauseAskedForMs,
  policies,
  staleForMs,
  pauseAfter,
  poll,
  type PollDeps,
  type PollNext,
  type PollTurn,
} from '../../formats/poll.js';
import { NoAnswer, ServiceError } from '../../api/errors.js';
import { pageSize, spanFilter } from '../../api/pages.js';
import { methodProperties, type Pace } from '../../formats/rails.js';
import { isFinal, isQuoted } from '../../formats/states.js';
import { attemptNamed } from '../../store/journal/payment.js';
import { clip } from '../../formats/text.js';

export interface ReadService {
  transaction(txnId: string): Promise<Transaction>;
}

/** Completes a transaction from an abbreviated response with the fields of an earlier response. */
export function withEarlierFields(earlier: Transaction, txn: Transaction): Transaction {
  const isWhole = txn.sourceReq.method != null && txn.destReq.method != null;
  if (isWhole || earlier.txnId !== txn.txnId) return txn;
  const side = (which: 'sourceReq' | 'destReq') => ({ ...earlier[which], ...txn[which] });
  return { ...earlier, ...txn, sourceReq: side('sourceReq'), destReq: side('destReq') };
}

/**
 * Reads a transaction by its id. Throws Failure `refused` if the service responds with a different
 * transaction.
 */
export async function readTransaction(service: ReadService, txnId: string): Promise<Transaction> {
  const txn = await service.transaction(txnId);
  if (txn.txnId === txnId) return txn;
  throw new Failure(
    'refused',
    `The service returned transaction ${txn.txnId} instead of ${txnId}.`,
    { txnId },
  );
}

/**
 * Repeats a read for up to 8 s while its result may be stale, and resolves with the last result. If
 * the run is interrupted, svcpay stops repeating the read.
 * @param latest the result of the caller's own read; svcpay pauses before it reads again
 */
export async function rereadWhileStale<T>(
  latest: T,
  read: () => Promise<T>,
  mayBeStale: (value: T) => boolean,
  deps: PollDeps,
): Promise<T> {
  const end = await poll<T>(
    policies.staleRead,
    async ({ number }): Promise<PollNext<T>> => {
      if (number > 1) latest = await read();
      return mayBeStale(latest) ? {} : { done: latest };
    },
    deps,
  );
  return 'done' in end ? end.done : latest;
}

interface WaitDeps {
  readonly service: ReadService;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly now: () => number;
  readonly signal: AbortSignal;
}

interface WaitOptions {
  /** The time in ms after which the wait ends with Failure `pending`, or undefined for no limit. */
  readonly atMostMs: number | undefined;
  /** Called for every change of state, but not for the initial state. */
  readonly onChange: (txn: Transaction) => void | Promise<void>;
  /**
   * Called for every read, even if the state is unchanged, because the number of confirmations may
   * have changed.
   */
  readonly onRead?: (txn: Transaction) => void;
  /** The command that the hint names if the wait ends before a final state (default `watch`). */
  readonly goOn?: 'watch' | 'resume';
  /** Returns whether the wait can end in the current state, even if that state is not final. */
  readonly enough?: (txn: Transaction) => boolean;
}

/**
 * Returns how often svcpay reads a transaction, which depends on the method by which the money
 * enters or leaves the service.
 */
export function paceOf({ sourceReq, destReq }: Transaction): Pace {
  const outside = sourceReq.method === 'servicepay' ? destReq.method : sourceReq.method;
  return methodProperties(outside)?.pace ?? 'steady';
}

/**
 * Resolves with the transaction in its final state. svcpay repeats an unanswered read, because the
 * payment continues at the service. The third unreadable response in a row ends the wait for the
 * final state.
 */
export async function waitUntilFinal(
  txn: Transaction,
  options: WaitOptions,
  deps: WaitDeps,
): Promise<Transaction> {
  let unread = 0;
  let latest = txn;
  const step = async ({ number, waitedMs }: PollTurn): Promise<PollNext<Transaction>> => {
    const read =
      number === 1 ? { txn } : await readAgain(latest, waitedMs < staleForMs, options, deps);
    if ('unread' in read) {
      unread += 1;
      if (unread >= mostUnread) throw stillGoing(latest, options, read.unread);
    } else {
      if (read.txn !== undefined) unread = 0;
      latest = read.txn ?? latest;
    }
    return isFinal(latest.txnState) || options.enough?.(latest) === true ? { done: latest } : {};
  };
  const end = await poll(policies[paceOf(txn)], step, deps, options.atMostMs);
  if ('done' in end) return end.done;
  throw stillGoing(latest, options);
}

const mostUnread = 3;

/**
 * The result of a read. `txn` is undefined after a failed read that svcpay can ignore, for example
 * because the service did not answer. `unread` is the failure if the response contained no usable
 * transaction.
 */
type ReadOutcome = { readonly txn: Transaction | undefined } | { readonly unread: Failure };

/**
 * Reads a transaction once during a wait.
 * @param isNew whether the wait began less than 8 s ago, so that `not-found` may be a stale read
 */
async function readAgain(
  latest: Transaction,
  isNew: boolean,
  options: WaitOptions,
  deps: WaitDeps,
): Promise<ReadOutcome> {
  let next: Transaction;
  try {
    next = withEarlierFields(latest, await readTransaction(deps.service, latest.txnId));
  } catch (error) {
    if (deps.signal.aborted || !(error instanceof Failure) || gotNoAnswer(error))
      return { txn: undefined };
    if (isPermanent(error) && isNew && error.kind === 'not-found') return { txn: undefined };
    if (isPermanent(error)) throw stillGoing(latest, options, error);
    return { unread: error };
  }
  options.onRead?.(next);
  if (next.txnState !== latest.txnState) await options.onChange(next);
  return { txn: next };
}

const gotNoAnswer = (error: Failure): boolean =>
  error instanceof NoAnswer || (error instanceof ServiceError && error.kind === 'temporary');

/**
 * Whether a failed read cannot succeed later, because the service refuses the API key or the
 * transaction does not exist.
 */
const isPermanent = (error: Failure): boolean =>
  (error.kind === 'authentication' || error.kind === 'not-found') &&
  !(error instanceof ServiceError && !error.isOwnRefusal);

/** The payment and the transaction that a failure about a transaction concerns. */
export const transactionConcerned = ({ extRefId, txnId, txnState }: Transaction) => ({
  ref: extRefId == null ? undefined : attemptNamed(extRefId)[0],
  txnId,
  txnState,
});

function stillGoing(txn: Transaction, { goOn = 'watch' }: WaitOptions, cause?: Failure): Failure {
  const unread =
    cause === undefined ? '' : `the transaction's state cannot be read now: ${cause.message}`;
  return new Failure('pending', unread, {
    money: progressText(txn),
    next: { do: goOn, id: txn.txnId },
    ...transactionConcerned(txn),
    cause,
  });
}

/** Describes an unfinished transaction to a person, without the service's name for its state. */
function progressText({ txnState, sourceReq }: Transaction): string {
  if (isQuoted(txnState)) return 'Not confirmed yet, the transaction is still a quote';
  if (sourceReq.method == null) return 'Not settled yet';
  return sourceReq.method === 'servicepay'
    ? 'Sent, not settled yet. It goes on without you'
    : 'Not paid yet. The request stays open';
}

/**
 * Returns a `sleep` function for parallel waits that keeps at least `apartMs` between their reads.
 */
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

/**
 * Returns the pause in ms before repetition number `attempt`, or undefined if the service requests
 * a pause that is too long.
 */
export function pauseBefore(attempt: number, error: unknown): number | undefined {
  const answer = error instanceof NoAnswer ? error.cause : error;
  const asked = answer instanceof ServiceError ? answer.retryAfterMs : undefined;
  if (asked !== undefined) return asked <= longestPauseAskedForMs ? asked : undefined;
  return pauseAfter(policies.createRequest, { number: attempt, waitedMs: 0 });
}

const wallet = 'servicepay';

/**
 * Determines the direction of a transaction. The direction is `receive` only if the destination is
 * the account's own wallet and the source is a method by which svcpay requests money. Throws
 * Failure `refused` if a method is missing or unrecognized.
 */
export function directionOf({ txnId, sourceReq, destReq }: Transaction): 'payment' | 'receive' {
  const [source, destination] = [sourceReq.method, destReq.method];
  if (source == null || destination == null) {
    const missing =
      source == null ? 'the source of the transaction' : 'the destination of the transaction';
    throw unclear(txnId, `the service's answer does not show ${missing}`);
  }
  if (source === wallet) return 'payment';
  if (destination === wallet && methodProperties(source)?.isRequested === true) return 'receive';
  throw unclear(txnId, `svcpay does not recognize the source "${clip(source)}"`, {
    hint: 'Check SVCPAY_MAKER. If the service names itself acmepay, set SVCPAY_MAKER=acme.',
  });
}

const unclear = (txnId: string, why: string, advice: { hint?: string } = {}): Failure =>
  new Failure('refused', `${why}, so transaction ${txnId} could send money.`, {
    money: 'Not confirmed',
    txnId,
    ...advice,
  });

/** The methods of the client that read the service's list of transactions. */
interface ListService {
  transactions(filter: TransactionFilter): Promise<TransactionPage>;
  eachTransaction(filter: TransactionFilter): AsyncIterable<ListedTransaction>;
}

/**
 * Returns the transactions that the list shows under the reference of a payment or of its attempts,
 * such as `R` and `R~2`, in the order of the list.
 */
export async function listedUnder(
  ref: string,
  {
    since,
    depth,
    onRead,
  }: { since: number; depth: 'every page' | 'newest page'; onRead: (count: number) => void },
  service: ListService,
): Promise<readonly { readonly row: ListedTransaction; readonly number: number }[]> {
  const matches: { row: ListedTransaction; number: number }[] = [];
  const note = (row: ListedTransaction): void => {
    const [base, number] = row.extRefId === ref ? [ref, 1] : attemptNamed(row.extRefId ?? '');
    if (row.txnId !== '' && base === ref) matches.push({ row, number });
  };
  if (depth === 'newest page') {
    for (const row of await newestPage({ ...spanFilter(since), limit: pageSize }, service))
      note(row);
    return matches;
  }
  let count = 0;
  let newest: number | undefined;
  for await (const row of service.eachTransaction({ ...spanFilter(since), limit: pageSize })) {
    note(row);
    count += 1;
    newest ??= row.createdAt ?? undefined;
    if (count % pageSize !== 0) continue;
    onRead(count);
    // In a list that starts with the newest row, svcpay reads no further page after a match or
    // after a row older than `since`, because all remaining rows are older.
    const isNewestFirst = newest !== undefined && (row.createdAt ?? newest) < newest;
    if (isNewestFirst && (matches.length > 0 || (row.createdAt ?? since) < since)) break;
  }
  return matches;
}

/**
 * Reads the first page of the list. Unless the list starts with the newest row, also reads the last
 * page, which may contain the newest rows.
 */
async function newestPage(
  filter: TransactionFilter,
  service: Pick<ListService, 'transactions'>,
): Promise<readonly ListedTransaction[]> {
  const { data, pagination } = await service.transactions({ ...filter, page: 1 });
  const [first, last] = [data[0]?.createdAt, data.at(-1)?.createdAt];
  const isNewestFirst = first != null && last != null && first > last;
  const pages = data.length === 0 ? 1 : Math.ceil((pagination?.total ?? 0) / data.length);
  if (isNewestFirst || pages <= 1) return data;
  return [...data, ...(await service.transactions({ ...filter, page: pages })).data];
}
