// Calculates what moved in a listed transaction and when: the debit, the amount that arrived, the
// fees, and the settlement. Reads listed transactions that lack such fields by their ids.
import type { Big } from 'big.js';
import pLimit from 'p-limit';
import type { ListedTransaction, RequestSide } from '../../api/types.js';
import { fromWire, type Money } from '../../formats/amount.js';
import { unlessKind } from '../../formats/failure.js';
import { withEarlierFields } from '../transaction/read.js';
import { methodProperties } from '../../formats/rails.js';

export interface MovedAmounts {
  /** The debit, including fees. */
  readonly left: Money;
  /** The part of the debit that the service exchanged for the amount that arrived. */
  readonly exchanged: Money;
  readonly arrived: Money;
  /** The service's fee in the source currency, which is zero if the service reports no fee. */
  readonly serviceFee: Big;
  readonly networkFee: Big;
  /** The sum of both fees. */
  readonly fees: Big;
}

/**
 * Calculates the amounts of a transaction. Returns undefined if the service reports no amounts, or
 * an invalid currency. All fees are in the source currency. The debit is the amount plus the fees,
 * unless the fees were deducted from the amount that arrived.
 */
export function movedAmounts({ sourceReq, destReq }: ListedTransaction): MovedAmounts | undefined {
  const [sent, arrived] = [reportedAmount(sourceReq, destReq), reportedAmount(destReq, sourceReq)];
  if (sent === undefined || arrived === undefined) return undefined;
  const { ccy } = sent;
  const serviceFee = fromWire(sourceReq.servicepayFees ?? 0);
  const networkFee = fromWire(sourceReq.networkFees ?? 0);
  const fees = serviceFee.plus(networkFee);
  const converted = arrivesLess(destReq) ? { ccy, value: sent.value.minus(fees) } : sent;
  const exchanged = ccy === arrived.ccy ? arrived : converted;
  return {
    left: { ccy, value: exchanged.value.plus(fees) },
    exchanged,
    arrived,
    serviceFee,
    networkFee,
    fees,
  };
}

/**
 * Whether the settled amount is lower than the requested amount because the fees were deducted.
 */
const arrivesLess = ({ amtRequested, amtSettled }: RequestSide): boolean =>
  amtRequested != null &&
  amtSettled != null &&
  amtSettled !== amtRequested &&
  fromWire(amtSettled).lt(fromWire(amtRequested));

/**
 * Returns the amount of a transaction's side. If both sides have the same currency and the service
 * reports an amount for only one side, this amount counts for both sides.
 */
function reportedAmount(side: RequestSide, other: RequestSide): Money | undefined {
  const own = side.amtSettled ?? side.amtRequested;
  const reported =
    own ?? (side.ccy === other.ccy ? (other.amtSettled ?? other.amtRequested) : undefined);
  const ccy = side.ccy?.toUpperCase();
  return reported == null || ccy === undefined || !isCurrency.test(ccy)
    ? undefined
    : { ccy, value: fromWire(reported) };
}

/** Matches currency codes that hledger and beancount accept without quotes. */
const isCurrency = /^[A-Z]{3,5}$/;

/**
 * The debit of a completed payment including fees, or undefined if the service does not report the
 * debit.
 */
export const spentBy = (txn: ListedTransaction): Money | undefined =>
  txn.txnState === 'completed' ? movedAmounts(txn)?.left : undefined;

/**
 * Yields the history in order, with amounts and fees for completed transactions. If a listed
 * transaction lacks an amount or another field that the caller needs, `read` fetches the complete
 * transaction, because the specification does not define which fields a listed transaction may
 * omit.
 */
export async function* withFigures(
  pages: AsyncIterable<readonly ListedTransaction[]>,
  read: (txnId: string) => Promise<ListedTransaction>,
  lacksMore: (txn: ListedTransaction) => boolean = () => false,
): AsyncGenerator<readonly ListedTransaction[], void, void> {
  const isWhole = (txn: ListedTransaction): boolean => hasFigures(txn) && !lacksMore(txn);
  for await (const page of pages)
    yield page.every(isWhole)
      ? page
      : await severalAtOnce(page, async (txn) => (isWhole(txn) ? txn : wholeOf(txn, read)));
}

/** Calls `each` for all items, up to eight at the same time, and resolves with the results. */
export const severalAtOnce = <T, R>(
  items: Iterable<T>,
  each: (item: T) => Promise<R>,
): Promise<R[]> => pLimit(8).map(items, each);

/**
 * Reads a listed transaction by its id. If the read fails, returns the listed transaction
 * unchanged, so that the export continues.
 */
async function wholeOf(
  txn: ListedTransaction,
  read: (txnId: string) => Promise<ListedTransaction>,
): Promise<ListedTransaction> {
  const whole = await unlessKind(['unexpected', 'not-found', 'usage'], read(txn.txnId));
  return whole === undefined ? txn : withEarlierFields(txn, whole);
}

const isReported = ({ amtSettled, ccy, method }: RequestSide): boolean =>
  amtSettled != null && ccy != null && method != null;

const hasFigures = ({ txnId, txnState, sourceReq, destReq }: ListedTransaction): boolean =>
  txnState !== 'completed' ||
  txnId === '' ||
  (sourceReq.servicepayFees != null &&
    sourceReq.networkFees != null &&
    [sourceReq, destReq].every(isReported));

/**
 * Omits rows created before `since`. If the list starts with the newest row, stops at the first
 * page that has only rows from before `since`, instead of reading a long history.
 */
export async function* createdSince(
  pages: AsyncIterable<readonly ListedTransaction[]>,
  since: number,
): AsyncGenerator<readonly ListedTransaction[], void, void> {
  let isNewestFirst = true;
  let previous = Infinity;
  for await (const page of pages) {
    for (const { createdAt } of page) {
      isNewestFirst &&= createdAt != null && createdAt <= previous;
      previous = createdAt ?? previous;
    }
    const rows = page.filter(({ createdAt }) => createdAt == null || createdAt >= since);
    yield rows;
    if (isNewestFirst && page.length > 0 && rows.length === 0) return;
  }
}

/**
 * Returns the time of the last update of a completed transaction, in epoch ms, or undefined if the
 * transaction has no update time. In most lists, transactions have no update time.
 */
export function settledAt({ txnState, sourceReq, destReq }: ListedTransaction): number | undefined {
  if (txnState !== 'completed') return undefined;
  const latest = Math.max(sourceReq.updatedAt ?? 0, destReq.updatedAt ?? 0);
  return latest === 0 ? undefined : latest;
}

/**
 * Whether svcpay needs the missing settlement time of a transaction, because a period starts or
 * ends between the transaction's creation and its latest possible settlement. The `edges` of the
 * periods are in epoch ms.
 */
export const mayHaveCrossed = (txn: ListedTransaction, edges: readonly number[]): boolean => {
  const { txnState, createdAt } = txn;
  if (txnState !== 'completed' || createdAt == null || settledAt(txn) !== undefined) return false;
  const latest = createdAt + longestMs(txn);
  return edges.some((edge) => createdAt < edge && latest >= edge);
};

const hourMs = 3_600_000;

/**
 * Returns the longest time from creation to settlement, in ms. The longest times from creation to
 * settlement assume that a quote is valid for an hour, and an invoice for a day. On-chain payments
 * and bank transfers may take a month, if a bank asks for documents.
 */
function longestMs({ sourceReq, destReq }: ListedTransaction): number {
  const isQuick = [sourceReq, destReq].every(
    ({ method }) => methodProperties(method)?.pace === 'quick',
  );
  if (!isQuick) return 31 * 24 * hourMs;
  return sourceReq.method === 'servicepay' ? 2 * hourMs : 25 * hourMs;
}

/** The settlement times that this home has stored. A stored time never changes. */
export interface StoredTimes {
  of(txnIds: readonly string[]): Promise<ReadonlyMap<string, number>>;
  keep(times: ReadonlyMap<string, number>): Promise<void>;
}

/**
 * Adds the stored settlement time to each listed transaction that has no update time. For a
 * transaction near one of the `edges`, also asks `settled`, and stores the time.
 */
export async function* withStoredTimes(
  pages: AsyncIterable<readonly ListedTransaction[]>,
  stored: StoredTimes,
  edges: readonly number[],
  settled: (txnId: string) => Promise<number | undefined>,
): AsyncGenerator<readonly ListedTransaction[], void, void> {
  for await (const page of pages) {
    const lacking = page.filter(
      (txn) => txn.txnState === 'completed' && settledAt(txn) === undefined,
    );
    const times = await stored.of(lacking.map(({ txnId }) => txnId));
    const found = new Map<string, number>();
    for (const txn of lacking) {
      if (times.has(txn.txnId) || !mayHaveCrossed(txn, edges)) continue;
      const at = await settled(txn.txnId);
      if (at !== undefined) found.set(txn.txnId, at);
    }
    if (found.size > 0) await stored.keep(found);
    yield page.map((txn) => {
      const updatedAt = times.get(txn.txnId) ?? found.get(txn.txnId);
      return updatedAt === undefined ? txn : { ...txn, destReq: { ...txn.destReq, updatedAt } };
    });
  }
}
