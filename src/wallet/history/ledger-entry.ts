// A transaction as double entry: postings that sum to zero, separate fees, exchanged amounts with their
// price.
import Big from 'big.js';
import type { ListedTransaction } from '../../api/types.js';
import { fixed, type Money } from '../../formats/amount.js';
import { exchangeRate } from '../../formats/exchange-rate.js';
import { utcWriter } from '../../formats/utc.js';
import { figure, movedAmounts, type Figure, type MovedAmounts } from './moved-amounts.js';

export interface Posting {
  /** In the format of hledger and beancount: `Assets:Svcpay:BTC`. */
  readonly account: string;
  readonly amount: Figure;
  /** The total cost, if exchanged for another currency. */
  readonly cost?: Figure | undefined;
}

export interface Entry {
  /** In UTC, as in `2026-03-01T14:02:31.000Z`. */
  readonly time: string;
  /** The calendar day, as in `2026-03-01`. */
  readonly day: string;
  readonly title: string;
  readonly note: string | undefined;
  readonly txnId: string;
  readonly reference: string | undefined;
  /** Units of the destination currency for one of the source; undefined within one currency. */
  readonly rate: string | undefined;
  readonly postings: readonly Posting[];
}

/** Writes entries in the format of a ledger program. */
export interface LedgerWriter {
  readonly head: string;
  readonly write: (entry: Entry) => string;
  /** Declares accounts named since the last call; may follow their entries. */
  readonly openings: () => string;
  readonly opening: (day: string, balance: Money) => string;
  /** Asserts the balance at the end of the day. */
  readonly closing: (day: string, balance: Money) => string;
}

/** Declares each account and currency once, in a single pass over the entries. */
export function declarations(line: (name: string) => string) {
  const known = new Set<string>();
  const undeclared = new Set<string>();
  return {
    name(name: string): string {
      if (!known.has(name)) undeclared.add(name);
      known.add(name);
      return name;
    },
    /** Declarations of names since the last call. */
    text(): string {
      const lines = [...undeclared].map(line).join('');
      undeclared.clear();
      return lines === '' ? '' : `\n${lines}`;
    },
  };
}

type Side = ListedTransaction['sourceReq'];

/**
 * Undefined for a transaction that moved nothing, and if the service reports no amounts or an invalid currency. Texts
 * are on one line without control characters.
 */
export function ledgerEntryOf(
  txn: ListedTransaction,
  clean: (text: string) => string,
  utc: (at: number) => string = utcWriter(),
  dayIn: (at: number) => string = (at) => utc(at).slice(0, 10),
): Entry | undefined {
  const { txnState, sourceReq, destReq, createdAt } = txn;
  if (txnState !== 'completed' || createdAt == null) return undefined;
  const figures = movedAmounts(txn);
  if (figures === undefined) return undefined;
  // One test accepts most texts.
  const line = (text: string): string => (isPlain.test(text) ? text : clean(plainLine(text)));
  const rate = exchangeRate(txn);
  return {
    time: utc(createdAt),
    day: dayIn(createdAt),
    title: line(titleOf(sourceReq.method ?? '', destReq.method ?? '')),
    note: txn.note == null ? undefined : line(txn.note),
    txnId: line(txn.txnId),
    reference: txn.extRefId == null ? undefined : line(txn.extRefId),
    rate: rate === undefined ? undefined : fixed(rate),
    postings: postingsOf(txn, figures),
  };
}

/** The debit of a completed payment, fees included; undefined if the service does not report it. */
export const spentBy = (txn: ListedTransaction): Money | undefined =>
  txn.txnState === 'completed' ? movedAmounts(txn)?.left : undefined;

function postingsOf(
  { sourceReq, destReq }: ListedTransaction,
  { left, exchanged, arrived, serviceFee, networkFee }: MovedAmounts,
): Posting[] {
  const postings: Posting[] = [
    { account: accountOf(sourceReq, 'Income'), amount: figure(left.ccy, left.value.neg()) },
  ];
  if (!isZero(serviceFee))
    postings.push({ account: 'Expenses:Svcpay:Fees:Service', amount: serviceFee });
  if (!isZero(networkFee))
    postings.push({ account: 'Expenses:Svcpay:Fees:Network', amount: networkFee });
  const cost = exchanged.ccy === arrived.ccy ? undefined : exchanged;
  postings.push({ account: accountOf(destReq, 'Expenses'), amount: arrived, cost });
  return postings;
}

const isZero = ({ value }: Money): boolean => value.eq(zero);

const zero = new Big(0);

/** The account's own wallet, or the outside source or destination. */
function accountOf({ method, ccy }: Side, outside: 'Income' | 'Expenses'): string {
  if (method === 'servicepay') return walletAccount(ccy ?? '');
  return `${outside}:Svcpay:${named(method ?? 'unknown')}`;
}

export const walletAccount = (ccy: string): string => `Assets:Svcpay:${named(ccy)}`;

/** A part of an account's name: letters, digits and dashes, beginning with a capital or digit. */
function named(name: string): string {
  const plain = isPartOfName.test(name)
    ? name
    : name.replaceAll(/[^A-Za-z0-9-]/g, '-').replace(/^-+/, '');
  return plain === '' ? 'Unknown' : plain.charAt(0).toUpperCase() + plain.slice(1);
}

const isPartOfName = /^[A-Za-z0-9][A-Za-z0-9-]*$/;

function titleOf(source: string, dest: string): string {
  if (source !== 'servicepay') return `Receive ${source}`;
  return dest === 'servicepay' ? 'Swap' : `Send ${dest}`;
}

/** Printable ASCII. */
const isPlain = /^[ -~]*$/;

/** One line without control characters. */
const plainLine = (text: string): string =>
  controls.test(text) ? text.replaceAll(new RegExp(controls, 'g'), ' ').trim() : text;

/** Control characters and line breaks. */
const controls = /[\u0000-\u001F\u007F-\u009F\u2028\u2029]+/;

/** `-0.00002507 BTC`, as in both programs. */
const amountText = ({ ccy, text }: Figure): string => `${text} ${ccy}`;

/** The amount, and its cost if it was exchanged: `0.00025 BTC @@ 25 USDT`. */
export const costText = ({ amount, cost }: Posting): string =>
  cost === undefined ? amountText(amount) : `${amountText(amount)} @@ ${amountText(cost)}`;
