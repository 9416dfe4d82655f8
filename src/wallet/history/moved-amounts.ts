// Calculates the exact amounts of a transaction: the debit, the amount that arrived, and the fees.
import type { ListedTransaction, RequestSide } from '../../api/types.js';
import { fromWire, type Money } from '../../formats/amount.js';

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
