// The exact amounts of a transaction: debit, arriving amount and fees.
import type { Big } from 'big.js';
import type { ListedTransaction, RequestSide } from '../../api/types.js';
import { fixed, fromWire, plainNumber, type Money, type WireNumber } from '../../formats/amount.js';

/** An amount with its digits, which are the service's own if the service reports them. */
export interface ReportedAmount extends Money {
  readonly text: string;
}

export interface MovedAmounts {
  /** The debit, fees included. */
  readonly left: Money;
  /** The part of `left` that was exchanged for `arrived`. */
  readonly exchanged: ReportedAmount;
  readonly arrived: ReportedAmount;
  /** In the currency of the source. Zero if the service reports no fee. */
  readonly serviceFee: ReportedAmount;
  readonly networkFee: ReportedAmount;
}

/**
 * The amounts. Undefined if the service reports no amounts, or an invalid currency. Fees are in the
 * source currency. They are added to the amount, unless they were deducted from the arriving
 * amount.
 */
export function movedAmounts({ sourceReq, destReq }: ListedTransaction): MovedAmounts | undefined {
  const [sent, gets] = [reportedAmount(sourceReq, destReq), reportedAmount(destReq, sourceReq)];
  if (sent === undefined || gets === undefined) return undefined;
  const { ccy } = sent;
  const serviceFee = figureOf({ ccy, reported: sourceReq.servicepayFees ?? 0 });
  const networkFee = figureOf({ ccy, reported: sourceReq.networkFees ?? 0 });
  const fees = serviceFee.value.plus(networkFee.value);
  const arrived = figureOf(gets);
  const exchanged =
    ccy === arrived.ccy
      ? arrived
      : arrivesLess(destReq)
        ? figure(ccy, fromWire(sent.reported).minus(fees))
        : figureOf(sent);
  return {
    left: { ccy, value: exchanged.value.plus(fees) },
    exchanged,
    arrived,
    serviceFee,
    networkFee,
  };
}

interface Reported {
  readonly ccy: string;
  readonly reported: WireNumber;
}

export const figure = (ccy: string, value: Big): ReportedAmount => ({
  ccy,
  value,
  text: fixed(value),
});

const figureOf = ({ ccy, reported }: Reported): ReportedAmount => ({
  ccy,
  value: fromWire(reported),
  text: plainNumber(reported),
});

/** Whether fees were deducted from the arriving amount, so less settled than requested. */
const arrivesLess = ({ amtRequested, amtSettled }: RequestSide): boolean =>
  amtRequested != null &&
  amtSettled != null &&
  amtSettled !== amtRequested &&
  fromWire(amtSettled).lt(fromWire(amtRequested));

/** The amount of a side. Within one currency, the service may report it on the other side. */
function reportedAmount(side: RequestSide, other: RequestSide): Reported | undefined {
  const own = side.amtSettled ?? side.amtRequested;
  const reported =
    own ?? (side.ccy === other.ccy ? (other.amtSettled ?? other.amtRequested) : undefined);
  const ccy = side.ccy?.toUpperCase();
  return reported == null || ccy === undefined || !isCurrency.test(ccy)
    ? undefined
    : { ccy, reported };
}

/** Codes that hledger and beancount accept without quotes. */
const isCurrency = /^[A-Z]{3,5}$/;
