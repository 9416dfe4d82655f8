// What a transaction moved, exact to the last digit: what left the source, what arrived, and the fees.
import type { Big } from 'big.js';
import type { ListedTransaction } from '../../api/types.js';
import { fixed, fromWire, plainNumber, type Money, type WireNumber } from '../../formats/amount.js';

/** An amount with its digits: those that the service tells are not worked out. */
export interface Figure extends Money {
  readonly text: string;
}

export interface MovedAmounts {
  /** What left the source, all fees included. */
  readonly left: Money;
  /** The part of it that was turned into what arrived. */
  readonly exchanged: Figure;
  readonly arrived: Figure;
  /** In the currency of the source, nothing where the service names none. */
  readonly serviceFee: Figure;
  readonly networkFee: Figure;
}

type Side = ListedTransaction['sourceReq'];

/**
 * Undefined where the service does not tell the amounts, or tells them in a currency that is none. Fees are in the source
 * currency, and beside the amount unless they were taken out of what arrived.
 */
export function movedAmounts({ sourceReq, destReq }: ListedTransaction): MovedAmounts | undefined {
  const [sent, gets] = [toldOf(sourceReq, destReq), toldOf(destReq, sourceReq)];
  if (sent === undefined || gets === undefined) return undefined;
  const { ccy } = sent;
  const serviceFee = figureOf({ ccy, told: sourceReq.servicepayFees ?? 0 });
  const networkFee = figureOf({ ccy, told: sourceReq.networkFees ?? 0 });
  const fees = serviceFee.value.plus(networkFee.value);
  const arrived = figureOf(gets);
  const exchanged = ccy === arrived.ccy ? arrived : arrivesLess(destReq) ? figure(ccy, fromWire(sent.told).minus(fees)) : figureOf(sent);
  return { left: { ccy, value: exchanged.value.plus(fees) }, exchanged, arrived, serviceFee, networkFee };
}

interface Told {
  readonly ccy: string;
  readonly told: WireNumber;
}

export const figure = (ccy: string, value: Big): Figure => ({ ccy, value, text: fixed(value) });

const figureOf = ({ ccy, told }: Told): Figure => ({ ccy, value: fromWire(told), text: plainNumber(told) });

/** Fees that were taken out of what arrived: less settled than was asked for. */
const arrivesLess = ({ amtRequested, amtSettled }: Side): boolean =>
  amtRequested != null && amtSettled != null && amtSettled !== amtRequested && fromWire(amtSettled).lt(fromWire(amtRequested));

/** Within one currency either side tells what the other does not. */
function toldOf(side: Side, other: Side): Told | undefined {
  const own = side.amtSettled ?? side.amtRequested;
  const told = own ?? (side.ccy === other.ccy ? other.amtSettled ?? other.amtRequested : undefined);
  const ccy = side.ccy?.toUpperCase();
  return told == null || ccy === undefined || !isCurrency.test(ccy) ? undefined : { ccy, told };
}

/** Codes that hledger and beancount take without quotes. */
const isCurrency = /^[A-Z]{3,5}$/;
