// What a transaction moved, exact to the last digit: what left the source, what arrived, and the fees.
import Big from 'big.js';
import type { ListedTransaction } from '../../api/types.js';
import { fromWire, moneyFromWire, type Money } from '../../formats/amount.js';

export interface MovedAmounts {
  /** What left the source, all fees included. */
  readonly left: Money;
  /** The part of it that was turned into what arrived. */
  readonly exchanged: Money;
  readonly arrived: Money;
  /** In the currency of the source, nothing where the service names none. */
  readonly serviceFee: Money;
  readonly networkFee: Money;
}

type Side = ListedTransaction['sourceReq'];

/**
 * Undefined where the service does not tell the amounts, or tells them in a currency that is none. Fees are in the source
 * currency, and beside the amount unless they were taken out of what arrived.
 */
export function movedAmounts({ sourceReq, destReq }: ListedTransaction): MovedAmounts | undefined {
  const [sent, arrived] = [amountOf(sourceReq, destReq), amountOf(destReq, sourceReq)];
  if (sent === undefined || arrived === undefined) return undefined;
  const { ccy } = sent;
  const serviceFee = fromWire(sourceReq.servicepayFees ?? 0);
  const networkFee = fromWire(sourceReq.networkFees ?? 0);
  const fees = serviceFee.plus(networkFee);
  const exchanged = exchangedValue(sent, arrived, arrivesLess(destReq) ? fees : nothing);
  return {
    left: { ccy, value: exchanged.plus(fees) },
    exchanged: { ccy, value: exchanged },
    arrived,
    serviceFee: { ccy, value: serviceFee },
    networkFee: { ccy, value: networkFee },
  };
}

const nothing = new Big(0);

const exchangedValue = (sent: Money, arrived: Money, within: Big): Big =>
  sent.ccy === arrived.ccy ? arrived.value : sent.value.minus(within);

/** Fees that were taken out of what arrived: less settled than was asked for. */
const arrivesLess = ({ amtRequested, amtSettled }: Side): boolean =>
  amtRequested != null && amtSettled != null && amtSettled !== amtRequested && fromWire(amtSettled).lt(fromWire(amtRequested));

/** Within one currency either side tells what the other does not. */
function amountOf(side: Side, other: Side): Money | undefined {
  const own = side.amtSettled ?? side.amtRequested;
  const amount = own ?? (side.ccy === other.ccy ? other.amtSettled ?? other.amtRequested : undefined);
  const found = moneyFromWire(side.ccy, amount);
  return found !== undefined && isCurrency.test(found.ccy) ? found : undefined;
}

/** Codes that hledger and beancount take without quotes. */
const isCurrency = /^[A-Z]{3,5}$/;
