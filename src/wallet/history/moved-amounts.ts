// What a transaction moved, exact to the last digit: what left the source, what arrived, and the fees.
import type Big from 'big.js';
import type { ListedTransaction } from '../../api/types.js';
import { fixed, fromWire, plainNumber, type WireNumber } from '../../formats/amount.js';

/** In fixed notation. */
export interface Sum {
  readonly ccy: string;
  readonly value: string;
}

export interface MovedAmounts {
  /** What left the source, all fees included. */
  readonly left: Sum;
  /** The part of it that was turned into what arrived. */
  readonly exchanged: Sum;
  readonly arrived: Sum;
  /** In the currency of the source, nothing where the service names none. */
  readonly serviceFee: Sum;
  readonly networkFee: Sum;
}

type Side = ListedTransaction['sourceReq'];

interface Given {
  readonly sent: WireNumber;
  readonly arrived: WireNumber;
  readonly serviceFee: WireNumber;
  readonly networkFee: WireNumber;
}

/** Undefined where the service does not tell the amounts, or tells them in a currency that is none. */
export function movedAmounts({ sourceReq, destReq }: ListedTransaction): MovedAmounts | undefined {
  const from = currencyOf(sourceReq);
  const to = currencyOf(destReq);
  const sent = amountOf(sourceReq, destReq);
  const arrived = amountOf(destReq, sourceReq);
  if (from === undefined || to === undefined || sent === undefined || arrived === undefined) return undefined;
  const given = { sent, arrived, serviceFee: sourceReq.servicepayFees ?? 0, networkFee: sourceReq.networkFees ?? 0 };
  const exchanged = from === to ? 'arrived' : arrivesLess(destReq) ? 'sent less fees' : 'sent';
  const isSmall = isUnits(sent) && isUnits(arrived) && isUnits(given.serviceFee) && isUnits(given.networkFee);
  return isSmall ? workedOut(units, given, exchanged, from, to) : workedOut(decimals, given, exchanged, from, to);
}

interface Arithmetic<T> {
  readonly read: (amount: WireNumber) => T;
  readonly plus: (a: T, b: T) => T;
  readonly minus: (a: T, b: T) => T;
  readonly write: (value: T) => string;
}

const decimals: Arithmetic<Big> = { read: fromWire, plus: (a, b) => a.plus(b), minus: (a, b) => a.minus(b), write: fixed };

/** Whole numbers of 1e-8, five times as fast: an export works out a hundred thousand of these. */
const units: Arithmetic<number> = {
  read: (amount) => Math.round(Number(amount) * perWhole),
  plus: (a, b) => a + b,
  minus: (a, b) => a - b,
  write: (value) => plainNumber(value / perWhole),
};

const perWhole = 1e8;

/** Up to here every number of units, and every sum of four, has a double of its own, whose shortest text it is. */
const mostWhole = 1e7;

const isUnits = (amount: WireNumber): boolean =>
  typeof amount === 'number' && Math.abs(amount) < mostWhole && Math.round(amount * perWhole) / perWhole === amount;

/** Fees are in the source currency, and beside the amount unless they were taken out of what arrived. */
function workedOut<T>(
  { read, plus, minus, write }: Arithmetic<T>,
  given: Given,
  exchange: 'arrived' | 'sent' | 'sent less fees',
  from: string,
  to: string,
): MovedAmounts {
  const serviceFee = read(given.serviceFee);
  const networkFee = read(given.networkFee);
  const arrived = read(given.arrived);
  const fees = plus(serviceFee, networkFee);
  const exchanged = exchange === 'arrived' ? arrived : exchange === 'sent' ? read(given.sent) : minus(read(given.sent), fees);
  const gets = { ccy: to, value: write(arrived) };
  return {
    left: { ccy: from, value: write(plus(exchanged, fees)) },
    exchanged: exchange === 'arrived' ? gets : { ccy: from, value: write(exchanged) },
    arrived: gets,
    serviceFee: { ccy: from, value: write(serviceFee) },
    networkFee: { ccy: from, value: write(networkFee) },
  };
}

/** Fees that were taken out of what arrived: less settled than was asked for. */
function arrivesLess({ amtRequested, amtSettled }: Side): boolean {
  if (typeof amtRequested === 'number' && typeof amtSettled === 'number') return amtSettled < amtRequested;
  return amtRequested != null && amtSettled != null && fromWire(amtSettled).lt(fromWire(amtRequested));
}

/** Within one currency either side tells what the other does not. */
function amountOf(side: Side, other: Side): WireNumber | undefined {
  const own = side.amtSettled ?? side.amtRequested;
  return own ?? (side.ccy === other.ccy ? other.amtSettled ?? other.amtRequested : undefined) ?? undefined;
}

/** In codes that hledger and beancount take without quotes. */
function currencyOf({ ccy }: Side): string | undefined {
  const code = ccy?.toUpperCase();
  return code !== undefined && isCurrency.test(code) ? code : undefined;
}

const isCurrency = /^[A-Z]{3,5}$/;
