// What a quote costs, and whether it is what was asked for. Pure: an order and the service's answer in, figures out.
import Big from 'big.js';
import type { RequestSide, Transaction } from '../../api/types.js';
import { decimalsOf, fixed, formatAmount, fromWire, money, type Money, type WireNumber } from '../../formats/amount.js';
import { Failure } from '../../formats/failure.js';
import type { PaymentTerms } from '../../store/journal/journal.js';
import { exchangeRate } from '../../formats/exchange-rate.js';
import type { Order } from './orders.js';

export interface Quote {
  readonly txnId: string;
  /** What leaves the wallet, all fees included. */
  readonly total: Money;
  readonly serviceFee: Money;
  readonly networkFee: Money;
  /** What arrives; undefined when neither order nor service says. */
  readonly receives: Money | undefined;
  /** Units of the destination currency for one of the source; undefined within one currency. */
  readonly rate: Big | undefined;
  /** A figure was computed from the rate, because the service named only the other side. */
  readonly derived: boolean;
  /** Epoch ms by the service's clock. */
  readonly expiresAt: number | undefined;
}

/** Total = amount + both fees, unless the fees are taken out of what the recipient gets (endpoint 6). */
export function readQuote(order: Order, txn: Transaction): Quote {
  // What the service echoes was compared with the order already.
  const { ccy } = order.body.sourceReq;
  const toCcy = order.body.destReq.ccy;
  const { sourceReq } = txn;
  const serviceFee = wire(sourceReq.servicepayFees) ?? new Big(0);
  const networkFee = wire(sourceReq.networkFees) ?? new Big(0);
  const fees = serviceFee.plus(networkFee);
  const rate = exchangeRate(txn);
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
    receives: arrives === undefined ? undefined : money(toCcy, arrives),
    rate,
    derived: derived || (rate !== undefined && deduction.gt(0)),
    expiresAt: sourceReq.expiresAt ?? undefined,
  };
}

/** Fees are in the source currency; what they take from the destination is rounded up. */
const atRate = (fees: Big, ccy: string, rate: Big | undefined): Big =>
  rate === undefined ? fees : fees.times(rate).round(decimalsOf(ccy), Big.roundUp);

function allFees(fees: Money, txnId: string): Failure {
  return new Failure('limit', `Nothing moved: the fees of ${formatAmount(fees)} would take all of it.`, {
    hint: 'Send more, or leave --deduct-fees out.',
    txnId,
  });
}

interface Sides {
  readonly sent: Big;
  readonly gets: Big | undefined;
  readonly derived: boolean;
}

function bothSides(order: Order, { sourceReq, destReq }: Transaction, rate: Big | undefined): Sides {
  const { ccy, amtRequested: asked } = order.body.sourceReq;
  const toCcy = order.body.destReq.ccy;
  const sameCcy = ccy === toCcy;
  if (asked !== undefined) {
    const sent = new Big(asked);
    const named = wire(destReq.amtRequested) ?? (sameCcy ? sent : undefined);
    const gets = named ?? (rate === undefined ? undefined : roundDown(sent.times(rate), toCcy));
    return { sent, gets, derived: named === undefined };
  }
  const gets = order.receives?.value ?? wire(destReq.amtRequested);
  const named = sameCcy ? gets : wire(sourceReq.amtRequested);
  const sent = named ?? (rate?.gt(0) ? gets?.div(rate).round(decimalsOf(ccy), Big.roundUp) : undefined);
  if (sent === undefined) throw notObeyed('the quote does not say what leaves the wallet');
  return { sent, gets, derived: named === undefined };
}

const roundDown = (value: Big, ccy: string): Big => value.round(decimalsOf(ccy), Big.roundDown);

const wire = (value: WireNumber | null | undefined): Big | undefined =>
  value === null || value === undefined ? undefined : fromWire(value);

/**
 * Compares what the service echoes with what was asked: currencies, methods, amount, destination.
 * A service that quotes something else is not obeyed: throws Failure `refused`, nothing has moved.
 */
export function checkEcho(order: Order, txn: Transaction): void {
  const difference =
    sideDifference('source', order.body.sourceReq, txn.sourceReq) ??
    sideDifference('destination', order.body.destReq, txn.destReq) ??
    amountDifference(order, txn);
  if (difference !== undefined) throw notObeyed(difference, txn.txnId);
}

type AskedSide = Order['body']['sourceReq'];

function sideDifference(name: string, asked: AskedSide, given: RequestSide): string | undefined {
  if (asked.ccy !== given.ccy) return `the ${name} currency is ${given.ccy}, not ${asked.ccy}`;
  if (asked.method !== given.method) return `the ${name} method is ${given.method}, not ${asked.method}`;
  if (asked.amtRequested !== undefined) {
    const answered = wire(given.amtRequested);
    if (answered === undefined || !answered.eq(asked.amtRequested)) {
      return `the ${name} amount is ${answered === undefined ? 'missing' : fixed(answered)}, not ${fixed(new Big(asked.amtRequested))}`;
    }
  }
  return detailDifference(asked, given);
}

function detailDifference(asked: AskedSide, given: RequestSide): string | undefined {
  const answered = given.reqDetails ?? {};
  for (const [field, wanted] of Object.entries(asked.reqDetails ?? {})) {
    const got = answered[field] ?? (asked.method === 'lnurl' ? answered['lnurlAddress'] : undefined);
    if (!sameText(got, wanted)) return `${field} is ${got === undefined ? 'missing' : String(got)}, not ${String(wanted)}`;
  }
  return undefined;
}

/** Bech32 and invoices mean the same in either case; everything else must be equal to the letter. */
function sameText(got: unknown, wanted: unknown): boolean {
  if (typeof got !== 'string' || typeof wanted !== 'string') return got === wanted;
  if (got === wanted) return true;
  const caseless = /^(ln|bc1|tb1|bcrt1|.+@)/i.test(wanted);
  return caseless && got.toLowerCase() === wanted.toLowerCase();
}

function amountDifference(order: Order, { sourceReq, destReq }: Transaction): string | undefined {
  const { receives } = order;
  if (receives === undefined) return undefined;
  const gets = wire(destReq.amtRequested);
  if (gets !== undefined && !gets.eq(receives.value)) {
    return `the recipient would get ${fixed(gets)}, not ${fixed(receives.value)}`;
  }
  const sent = wire(sourceReq.amtRequested);
  if (sourceReq.ccy !== receives.ccy || sent === undefined) return undefined;
  // The specification does not say whether the computed side of an answer includes the fees.
  const fees = (wire(sourceReq.servicepayFees) ?? new Big(0)).plus(wire(sourceReq.networkFees) ?? 0);
  const whole = receives.value.round(decimalsOf(receives.ccy), Big.roundUp);
  if ([receives.value, whole].some((each) => sent.eq(each) || sent.eq(each.plus(fees)) || sent.eq(each.minus(fees)))) return undefined;
  return `${fixed(sent)} ${sourceReq.ccy} would leave the wallet for ${fixed(receives.value)}`;
}

export function notObeyed(difference: string, txnId?: string): Failure {
  return new Failure('refused', `Nothing moved: the service quoted something else than was asked: ${difference}.`, {
    hint: 'svcpay doctor',
    txnId,
  });
}

/** Throws Failure `limit` when the fees are above `--max-fee`. */
export function checkMaxFee(terms: PaymentTerms, quote: Quote): void {
  const { maxFee } = terms;
  if (maxFee === undefined) return;
  const fees = money(quote.total.ccy, quote.serviceFee.value.plus(quote.networkFee.value));
  const highest = 'percent' in maxFee ? percentOf(quote, fees, maxFee.percent) : amountOf(maxFee, fees.ccy);
  if (fees.value.lte(highest)) return;
  const allowed = 'percent' in maxFee ? `${maxFee.percent}%` : formatAmount(money(fees.ccy, highest));
  throw new Failure('limit', `Nothing moved: the fee is ${formatAmount(fees)}, more than ${allowed}.`, {
    hint: 'Raise --max-fee, or try again later.',
    txnId: quote.txnId,
  });
}

/** A percentage of the amount without the fees. */
function percentOf({ total }: Quote, fees: Money, percent: string): Big {
  return total.value.minus(fees.value).times(percent).div(100);
}

function amountOf(maxFee: { readonly amount: string; readonly ccy: string }, ccy: string): Big {
  if (maxFee.ccy !== ccy) {
    throw new Failure('usage', `Nothing moved: --max-fee is in ${maxFee.ccy}, but the fees are in ${ccy}.`);
  }
  return new Big(maxFee.amount);
}

/** Whether a new quote costs more, or brings less, than one that was agreed to. */
export function isWorse(quote: Quote, agreed: { readonly total: Big; readonly receives: Big | undefined }): boolean {
  const less = agreed.receives !== undefined && (quote.receives?.value.lt(agreed.receives) ?? true);
  return quote.total.value.gt(agreed.total) || less;
}
