// Calculates the exact amounts of a transaction: the debit, the amount that arrived, and the fees.
// Reads listed transactions that lack amounts, fees, currencies, methods or a time by their ids.
import type { ListedTransaction, RequestSide } from '../../api/types.js';
import { fromWire, type Money } from '../../formats/amount.js';
import { Failure, type FailureKind } from '../../formats/failure.js';
import { withEarlierFields } from '../transaction/read.js';

export interface MovedAmounts {
  /** The debit, including fees. */
  readonly left: Money;
  /** The part of the debit that the service exchanged for the amount that arrived. */
  readonly exchanged: Money;
  readonly arrived: Money;
  /** The service's fee in the source currency, which is zero if the service reports no fee. */
  readonly serviceFee: Money;
  readonly networkFee: Money;
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
  const serviceFee = { ccy, value: fromWire(sourceReq.servicepayFees ?? 0) };
  const networkFee = { ccy, value: fromWire(sourceReq.networkFees ?? 0) };
  const fees = serviceFee.value.plus(networkFee.value);
  const exchanged =
    ccy === arrived.ccy
      ? arrived
      : arrivesLess(destReq)
        ? { ccy, value: sent.value.minus(fees) }
        : sent;
  return {
    left: { ccy, value: exchanged.value.plus(fees) },
    exchanged,
    arrived,
    serviceFee,
    networkFee,
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

const width = 8;

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
    yield page.every(isWhole) ? page : await completed(page, isWhole, read);
}

async function completed(
  page: readonly ListedTransaction[],
  isWhole: (txn: ListedTransaction) => boolean,
  read: (txnId: string) => Promise<ListedTransaction>,
): Promise<readonly ListedTransaction[]> {
  const whole = [...page];
  await severalAtOnce(page.entries(), async ([index, txn]) => {
    if (!isWhole(txn)) whole[index] = await wholeOf(txn, read);
  });
  return whole;
}

/** Calls `each` for all items, up to eight at the same time. */
export async function severalAtOnce<T>(
  items: Iterable<T>,
  each: (item: T) => Promise<void>,
): Promise<void> {
  const left = items[Symbol.iterator]();
  const shared: Iterable<T> = { [Symbol.iterator]: () => ({ next: () => left.next() }) };
  const work = async (): Promise<void> => {
    for (const item of shared) await each(item);
  };
  await Promise.all(Array.from({ length: width }, work));
}

/**
 * Reads a listed transaction by its id. If the read fails, returns the listed transaction
 * unchanged, so that the export continues.
 */
async function wholeOf(
  txn: ListedTransaction,
  read: (txnId: string) => Promise<ListedTransaction>,
): Promise<ListedTransaction> {
  try {
    return withEarlierFields(txn, await read(txn.txnId));
  } catch (error) {
    if (error instanceof Failure && unreadable.has(error.kind)) return txn;
    throw error;
  }
}

const unreadable: ReadonlySet<FailureKind> = new Set(['unexpected', 'not-found', 'usage']);

const isReported = ({ amtSettled, ccy, method }: ListedTransaction['sourceReq']): boolean =>
  amtSettled != null && ccy != null && method != null;

function hasFigures({ txnId, txnState, sourceReq, destReq }: ListedTransaction): boolean {
  if (txnState !== 'completed' || txnId === '') return true;
  return (
    sourceReq.servicepayFees != null &&
    sourceReq.networkFees != null &&
    isReported(sourceReq) &&
    isReported(destReq)
  );
}
