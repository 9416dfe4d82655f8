// The reference lookup: after a refused create request, searches the service's list for the
// transaction with the reference.
import { paymentName } from '../../formats/text.js';
import type { ListedTransaction, Transaction, TransactionFilter } from '../../api/types.js';
import { Failure } from '../../formats/failure.js';
import { isQuoted, movedNothing } from '../../formats/states.js';
import { attemptNamed, attemptRef, invoiceReference } from '../../store/journal/payment.js';
import { echoes, isOfAccount } from '../order/echo.js';
import { readTransaction, rereadWhileStale } from '../transaction/read.js';
import type { PaymentDeps, PaymentService } from './contract.js';
import type { RunEventBody, Run, RunGoal } from './model.js';
import { differentTransaction, paidElsewhere } from './outcomes.js';
import { hasStarted, started } from './create.js';

const hourMs = 3_600_000;
const pageSize = 100;
/** The end of the searched period, in the far future, because this machine's clock may be slow. */
export const endTime = '2100-01-01T00:00:00.000Z';

/**
 * Returns the list filter for transactions created since a time, in epoch ms by the service's
 * clock. Without a limit, the client reads pages as large as the service allows.
 */
export const spanFilter = (since: number): TransactionFilter => ({
  time: 'other',
  startTime: new Date(Math.max(since, 0)).toISOString(),
  endTime,
});

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
  service: Pick<PaymentService, 'transactions' | 'eachTransaction'>,
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
  service: Pick<PaymentService, 'transactions'>,
): Promise<readonly ListedTransaction[]> {
  const { data, pagination } = await service.transactions({ ...filter, page: 1 });
  const [first, last] = [data[0]?.createdAt, data.at(-1)?.createdAt];
  const isNewestFirst = first != null && last != null && first > last;
  const pages = data.length === 0 ? 1 : Math.ceil((pagination?.total ?? 0) / data.length);
  if (isNewestFirst || pages <= 1) return data;
  return [...data, ...(await service.transactions({ ...filter, page: pages })).data];
}

/**
 * Finds the transaction of a reference. Throws Failure `usage` if a different order has the
 * reference, and `pending` if the transaction is listed but cannot be read.
 */
export async function find(
  run: Run,
  depth: 'every page' | 'newest page',
  goal: RunGoal,
  deps: PaymentDeps,
): Promise<RunEventBody> {
  const { ref } = run.payment;
  const own = run.attempt;
  const onRead = (count: number): void => deps.on({ type: 'searching', count });
  const listed = await listedUnder(
    ref,
    { since: since(run, goal, deps), depth, onRead },
    deps.service,
  ).catch(asEmptyList);
  let best: { txn: Transaction; number: number } | undefined;
  for (const { row, number } of listed) {
    const isOlder = run.payment.attempts.some((attempt) => attempt.txnId === row.txnId);
    if (isOlder || number < own.number || !isOfAccount(row, deps.account)) continue;
    const txn = await readListed(run, row.txnId, deps);
    if (!isOfAccount(txn, deps.account)) continue;
    const isLive = !movedNothing(txn.txnState) && !isQuoted(txn.txnState);
    if (isLive || best === undefined || number > best.number) best = { txn, number };
    if (isLive) break;
  }
  if (best === undefined) return { is: 'not-found' };
  if (!echoes(run.order, best.txn, deps.account))
    throw differentTransaction(run.payment, best.txn.txnId);
  if (goal.reference === 'invoice' && best.txn.txnState === 'completed')
    throw paidElsewhere(best.txn, ref);
  deps.on({ type: 'found', txn: best.txn });
  // If the service did not answer this run's create request, a listed transaction that has already
  // started may come from this run.
  const { memory } = run;
  const isOwn =
    memory.phase === 'requesting' && memory.createRequest.mayExist && hasStarted(best.txn);
  return {
    is: 'found',
    ...best,
    ...(isOwn && { started: await started(run, best.txn, attemptRef(ref, best.number), deps) }),
  };
}

/**
 * The time from which the search starts, in epoch ms. A payment whose reference svcpay derived from
 * an invoice cannot be older than the invoice.
 */
function since({ order, payment }: Run, { reference }: RunGoal, { service }: PaymentDeps): number {
  const isByItself =
    reference === 'invoice' ||
    (order.idempotencyKey !== null && payment.ref === invoiceReference(order.idempotencyKey));
  if (!isByItself || order.notBefore === undefined) return 0;
  return Math.max(Math.min(order.notBefore, service.serviceNow()) - hourMs, 0);
}

/** Treats the list as empty if svcpay cannot read the list now. */
const asEmptyList = (error: unknown): [] => {
  if (error instanceof Failure && (error.kind === 'temporary' || error.kind === 'refused'))
    return [];
  throw error;
};

/**
 * Reads a transaction that the list shows under the payment's reference. If the service does not
 * find the transaction by its id, the read is stale, so svcpay repeats the read for 8 s.
 */
async function readListed(
  { payment }: Run,
  txnId: string,
  deps: PaymentDeps,
): Promise<Transaction> {
  const read = (): Promise<Transaction | Failure> =>
    readTransaction(deps.service, txnId).catch((error: unknown) => {
      if (error instanceof Failure && error.kind === 'not-found') return error;
      throw error;
    });
  const txn = await rereadWhileStale(await read(), read, (each) => each instanceof Failure, deps);
  if (!(txn instanceof Failure)) return txn;
  const why =
    `the service lists transaction ${txnId} for the reference ${payment.ref}, ` +
    'but cannot find the transaction by its id.';
  throw new Failure('pending', why, {
    money: 'Outcome unknown',
    next: { do: 'resume', id: paymentName(payment.ref, txnId) },
    ref: payment.ref,
    txnId,
    cause: txn,
  });
}
