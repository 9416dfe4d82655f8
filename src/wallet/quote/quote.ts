// Calculates the cost of a quote from its order and the service's response. Pure. Refuses
// impossible amounts.
import { Big } from 'big.js';
import type { Transaction } from '../../api/types.js';
import {
  decimalsOf,
  fixed,
  formatAmount,
  givenFromWire,
  money,
  type Money,
  exchangeRate,
} from '../../formats/amount.js';
import { Failure } from '../../formats/failure.js';
import { beforeDeduction, notObeyed } from '../order/echo.js';
import type { Order } from '../order/orders.js';

/** The amounts and costs of a payment, as the service quoted them. */
export interface Quote {
  readonly txnId: string;
  /** The amount debited from the wallet, including all fees. */
  readonly total: Money;
  readonly serviceFee: Money;
  readonly networkFee: Money;
  /**
   * Whether the service reports a fee, even a fee of zero. If the service reports no fee, the
   * service fee and the network fee count as zero.
   */
  readonly namesFees: boolean;
  /**
   * The amount that arrives, or undefined if neither the order nor the service states that amount.
   */
  readonly receives: Money | undefined;
  /**
   * The number of units of the destination currency for one unit of the source currency, or
   * undefined if both sides have the same currency.
   */
  readonly rate: Big | undefined;
  /**
   * Whether svcpay computed the amount of one side from the rate, because the service reported only
   * the amount of the other side.
   */
  readonly derived: boolean;
  /** The expiry of the quote in epoch ms, by the service's clock. */
  readonly expiresAt: number | undefined;
}

/**
 * Reads a quote. The total is the amount plus both fees, unless the service takes the fees out of
 * the received amount (endpoint 6). Throws Failure `refused` if the amounts are impossible or
 * inconsistent.
 */
export function readQuote(order: Order, answered: Transaction): Quote {
  const txn = beforeDeduction(order, answered);
  // The currency can come from the order, because `checkEcho` has already compared the response
  // with the order.
  const { ccy } = order.body.sourceReq;
  const toCcy = order.body.destReq.ccy;
  const { sourceReq } = txn;
  checkSigns(txn);
  const [serviceFee, networkFee] = feesOf(txn);
  const fees = serviceFee.plus(networkFee);
  const rate = ccy === toCcy ? undefined : exchangeRate(txn);
  checkRate(order, txn, rate, fees);
  const { sent, gets, derived } = bothSides(order, txn, rate);
  const deducted = order.body.deductNetworkFeesFromDest === true;
  const deduction = deducted ? atRate(fees, toCcy, rate) : new Big(0);
  const arrives = gets?.minus(deduction);
  if (arrives?.lte(0)) throw allFees(money(ccy, fees), txn.txnId);
  return {
    txnId: txn.txnId,
    total: money(ccy, deducted ? sent : sent.plus(fees)),
    serviceFee: money(ccy, serviceFee),
    networkFee: money(ccy, networkFee),
    namesFees: sourceReq.servicepayFees != null || sourceReq.networkFees != null,
    receives: arrives === undefined ? undefined : money(toCcy, arrives),
    rate,
    derived: derived || (rate !== undefined && deduction.gt(0)),
    expiresAt: sourceReq.expiresAt ?? undefined,
  };
}

const feesOf = ({ sourceReq }: Transaction): [service: Big, network: Big] => [
  givenFromWire(sourceReq.servicepayFees) ?? new Big(0),
  givenFromWire(sourceReq.networkFees) ?? new Big(0),
];

/** Refuses a negative amount in a quote. */
function checkSigns({ txnId, fxRate, sourceReq, destReq }: Transaction): void {
  const figures = {
    servicepayFees: sourceReq.servicepayFees,
    networkFees: sourceReq.networkFees,
    'amount that leaves': sourceReq.amtRequested,
    'amount that arrives': destReq.amtRequested,
    fxRate,
  };
  for (const [name, value] of Object.entries(figures)) {
    const figure = givenFromWire(value);
    if (figure?.lt(0))
      throw notObeyed(`the ${name} is ${fixed(figure)}, which is impossible`, txnId);
  }
}

/** The rounding tolerance of a rate, as a fraction of the amount that arrives. */
const rateTolerance = new Big('0.01');

/**
 * Checks that the amounts agree with the rate. If both sides have the same currency, the rate must
 * be 1, 0 or missing.
 */
function checkRate(
  { body }: Order,
  { txnId, fxRate, sourceReq, destReq }: Transaction,
  rate: Big | undefined,
  fees: Big,
): void {
  const given = givenFromWire(fxRate);
  const { ccy } = body.sourceReq;
  const toCcy = body.destReq.ccy;
  if (ccy === toCcy) {
    if (given === undefined || given.eq(1) || given.eq(0)) return;
    throw notObeyed(`the rate from ${ccy} to ${toCcy} is ${fixed(given)}`, txnId);
  }
  if (given?.eq(0)) throw notObeyed(`the rate from ${ccy} to ${toCcy} is 0`, txnId);
  const [sent, gets] = [givenFromWire(sourceReq.amtRequested), givenFromWire(destReq.amtRequested)];
  if (rate === undefined || sent === undefined || gets === undefined) return;
  const rounding = unitOf(toCcy).plus(unitOf(ccy).times(rate));
  const tolerance = gets.times(rateTolerance).plus(rounding);
  // Accepts an amount with or without fees, because the specification does not define whether the
  // debited amount includes the fees.
  const agrees = [sent, sent.minus(fees), sent.plus(fees)].some((each) =>
    each.times(rate).minus(gets).abs().lte(tolerance),
  );
  if (!agrees)
    throw notObeyed(
      `${fixed(sent)} ${ccy} does not equal ${fixed(gets)} ${toCcy} at the rate ` +
        `${fixed(given ?? rate)}`,
      txnId,
    );
}

const unitOf = (ccy: string): Big => new Big(10).pow(-decimalsOf(ccy));

/**
 * Converts fees to the destination currency, rounded up, because the service reports fees in the
 * source currency.
 */
const atRate = (fees: Big, ccy: string, rate: Big | undefined): Big =>
  rate === undefined ? fees : fees.times(rate).round(decimalsOf(ccy), Big.roundUp);

function allFees(fees: Money, txnId: string): Failure {
  return new Failure('limit', `the fees of ${formatAmount(fees)} would take the whole amount.`, {
    money: 'Nothing moved',
    hint: 'Send more, or pay the fees in addition to the amount.',
    txnId,
  });
}

interface Sides {
  readonly sent: Big;
  readonly gets: Big | undefined;
  readonly derived: boolean;
}

function bothSides(
  order: Order,
  { sourceReq, destReq }: Transaction,
  rate: Big | undefined,
): Sides {
  const { ccy, amtRequested: asked } = order.body.sourceReq;
  const toCcy = order.body.destReq.ccy;
  const sameCcy = ccy === toCcy;
  if (asked !== undefined) {
    const sent = new Big(asked);
    const named = givenFromWire(destReq.amtRequested) ?? (sameCcy ? sent : undefined);
    const gets = named ?? (rate === undefined ? undefined : roundDown(sent.times(rate), toCcy));
    return { sent, gets, derived: named === undefined };
  }
  const gets = order.receives?.value ?? givenFromWire(destReq.amtRequested);
  const named = sameCcy ? gets : givenFromWire(sourceReq.amtRequested);
  const sent =
    named ?? (rate?.gt(0) ? gets?.div(rate).round(decimalsOf(ccy), Big.roundUp) : undefined);
  if (sent === undefined) throw notObeyed('the amount debited is missing');
  return { sent, gets, derived: named === undefined };
}

const roundDown = (value: Big, ccy: string): Big => value.round(decimalsOf(ccy), Big.roundDown);

/** Whether a new quote costs more than the approved quote, or credits less. */
export function isWorse(
  quote: Quote,
  approved: { readonly total: Big; readonly receives: Big | undefined },
): boolean {
  const less =
    approved.receives !== undefined && (quote.receives?.value.lt(approved.receives) ?? true);
  return quote.total.value.gt(approved.total) || less;
}
