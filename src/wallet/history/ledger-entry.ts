// A transaction as double-entry book-keeping sees it: postings that sum to zero, fees apart, what was exchanged at its
// price.
import Big from 'big.js';
import type { ListedTransaction } from '../../api/types.js';
import { fixed, fromWire, money, moneyFromWire, type Money, type WireNumber } from '../../formats/amount.js';
import { exchangeRate } from '../../formats/exchange-rate.js';

export interface Posting {
  /** From the root down, in the form that both hledger and beancount take: `Assets:Svcpay:BTC`. */
  readonly account: string;
  readonly amount: Money;
  /** What the whole amount cost, where it was exchanged for another currency. */
  readonly cost?: Money;
}

export interface Entry {
  /** In UTC, as in `2026-03-01T14:02:31.000Z`. */
  readonly time: string;
  readonly title: string;
  readonly note: string | undefined;
  readonly txnId: string;
  readonly reference: string | undefined;
  /** Units of the destination currency for one of the source; undefined within one currency. */
  readonly rate: Big | undefined;
  readonly postings: readonly Posting[];
}

type Side = ListedTransaction['sourceReq'];

/**
 * Undefined for what moved nothing, or not yet, and where the service does not tell the amounts, or tells them in a
 * currency that is none. Its texts are on one line and steer nothing.
 */
export function entryOf(txn: ListedTransaction, clean: (text: string) => string): Entry | undefined {
  const { sourceReq, destReq, createdAt } = txn;
  const figures = figuresOf(txn);
  if (txn.txnState !== 'completed' || createdAt == null || figures === undefined) return undefined;
  const line = (text: string): string => clean(plainLine(text));
  return {
    time: new Date(createdAt).toISOString(),
    title: line(titleOf(sourceReq.method ?? '', destReq.method ?? '')),
    note: txn.note == null ? undefined : line(txn.note),
    txnId: line(txn.txnId),
    reference: txn.extRefId == null ? undefined : line(txn.extRefId),
    rate: exchangeRate(txn),
    postings: postingsOf(txn, figures),
  };
}

interface Figures {
  /** What left the source, all fees included. */
  readonly left: Money;
  /** The part of it that was turned into what arrived. */
  readonly exchanged: Money;
  readonly arrived: Money;
  readonly fees: readonly Posting[];
}

/** Fees are in the source currency, and beside the amount unless they were taken out of what arrived. */
function figuresOf({ sourceReq, destReq }: ListedTransaction): Figures | undefined {
  const [from, arrived] = [amountOf(sourceReq, destReq), amountOf(destReq, sourceReq)];
  if (from === undefined || arrived === undefined) return undefined;
  const fees = [fee(sourceReq.servicepayFees, from.ccy, 'Service'), fee(sourceReq.networkFees, from.ccy, 'Network')];
  const sum = fees.reduce((total, { amount }) => total.plus(amount.value), new Big(0));
  const apart = arrivesLess(destReq) ? from.value.minus(sum) : from.value;
  const exchanged = from.ccy === arrived.ccy ? arrived.value : apart;
  return { left: money(from.ccy, exchanged.plus(sum)), exchanged: money(from.ccy, exchanged), arrived, fees };
}

/** What a completed payment took out of the wallet, fees included; undefined where the service does not tell. */
export const spentBy = (txn: ListedTransaction): Money | undefined =>
  txn.txnState === 'completed' ? figuresOf(txn)?.left : undefined;

function postingsOf({ sourceReq, destReq }: ListedTransaction, { left, exchanged, arrived, fees }: Figures): Posting[] {
  const source: Posting = { account: accountOf(sourceReq, 'Income'), amount: money(left.ccy, left.value.neg()) };
  const dest: Posting = { account: accountOf(destReq, 'Expenses'), amount: arrived };
  const last = exchanged.ccy === arrived.ccy ? dest : { ...dest, cost: exchanged };
  return [source, ...fees.filter(({ amount }) => !amount.value.eq(0)), last];
}

/** Fees that were taken out of what arrived: less settled than was asked for. */
const arrivesLess = ({ amtRequested, amtSettled }: Side): boolean =>
  amtRequested != null && amtSettled != null && fromWire(amtSettled).lt(fromWire(amtRequested));

function fee(amount: WireNumber | null | undefined, ccy: string, whose: string): Posting {
  return { account: `Expenses:Svcpay:Fees:${whose}`, amount: money(ccy, fromWire(amount ?? 0)) };
}

/** Within one currency either side tells what the other does not. */
function amountOf(side: Side, other: Side): Money | undefined {
  const own = side.amtSettled ?? side.amtRequested;
  const amount = own ?? (side.ccy === other.ccy ? other.amtSettled ?? other.amtRequested : undefined);
  const found = moneyFromWire(side.ccy, amount);
  return found !== undefined && isCurrency.test(found.ccy) ? found : undefined;
}

/** Codes that both programs take without quotes. */
const isCurrency = /^[A-Z]{3,5}$/;

/** The own wallet of a currency, or where money comes from and goes to outside. */
function accountOf({ method, ccy }: Side, outside: 'Income' | 'Expenses'): string {
  if (method === 'servicepay') return `Assets:Svcpay:${named(ccy ?? '')}`;
  return `${outside}:Svcpay:${named(method ?? 'unknown')}`;
}

/** A part of an account's name: letters, digits and dashes, a capital or a digit first. */
function named(name: string): string {
  const plain = name.replaceAll(/[^A-Za-z0-9-]/g, '-').replace(/^-+/, '');
  return plain === '' ? 'Unknown' : plain.charAt(0).toUpperCase() + plain.slice(1);
}

function titleOf(source: string, dest: string): string {
  if (source !== 'servicepay') return `Receive ${source}`;
  return dest === 'servicepay' ? 'Swap' : `Send ${dest}`;
}

/** One line without control characters, which have a meaning to the programs that read it. */
const plainLine = (text: string): string =>
  steering.test(text) ? text.replaceAll(new RegExp(steering, 'g'), ' ').trim() : text;

/** Control characters and line breaks. */
const steering = /[\u0000-\u001F\u007F-\u009F\u2028\u2029]+/;

/** `2026-03-01` of a time. */
export const dayOf = (time: string): string => time.slice(0, 10);

/** As both programs write an amount: `-0.00002507 BTC`. */
const amountText = ({ ccy, value }: Money): string => `${fixed(value)} ${ccy}`;

/** The amount, and what it cost where it was exchanged: `0.00025 BTC @@ 25 USDT`. */
export const costText = ({ amount, cost }: Posting): string =>
  cost === undefined ? amountText(amount) : `${amountText(amount)} @@ ${amountText(cost)}`;
