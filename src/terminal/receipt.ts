// One transaction as a readable receipt: how far it is and when, what moved, both sides, fees, notes.
import { fromWire, money, type Money } from '../formats/amount.js';
import { formatDuration } from '../formats/duration.js';
import type { Transaction } from '../api/types.js';
import { factLines, moneyLines, type Fact, type MoneyLine } from './card.js';
import { rateText } from './quote-card.js';
import { oneLine, padRight } from './text.js';
import { sanitize } from './sanitize.js';
import { stepsLine, stepWord } from './steps.js';
import type { Canvas } from './terminal.js';
import { clockTime, dateTime, relativeTime } from './time.js';
import { amountOf, stateStyle, transactionKind, transactionList } from './transaction-view.js';
import type { RecordView } from './output.js';

export interface ReceiptOptions {
  /** Epoch ms. */
  readonly now: number;
  /** Every state seen, oldest first, with its epoch ms; without it the receipt knows the first and the last. */
  readonly history?: readonly { readonly state: string; readonly at: number }[] | undefined;
  /** Of the Lightning invoice, hexadecimal. */
  readonly paymentHash?: string | undefined;
  readonly timeZone?: string | undefined;
}

export function receipt(transaction: Transaction, options: ReceiptOptions, canvas: Canvas): string[] {
  const { style } = canvas;
  const state = stateStyle(transaction.txnState, style)(sanitize(transaction.txnState));
  const blocks = [
    [`  ${style.bold(transactionKind(transaction))}  ${state}`],
    timeline(transaction, options, canvas),
    amounts(transaction, canvas),
    factLines([...sides(transaction), ...about(transaction, options)], canvas, 11),
  ];
  return blocks.filter((lines) => lines.length > 0).flatMap((lines, i) => (i === 0 ? lines : ['', ...lines]));
}

/** The receipt as the result of a command; in a pipe, the row of the history. */
export function receiptView(transaction: Transaction, now: number): RecordView<Transaction> {
  const { columns, quiet } = transactionList(now);
  return { columns, quiet, screen: (canvas) => receipt(transaction, { now }, canvas) };
}

function timeline(transaction: Transaction, options: ReceiptOptions, canvas: Canvas): string[] {
  const { style } = canvas;
  const states = options.history ?? endsOf(transaction);
  const start = states[0]?.at;
  const steps = `  ${stepsLine(transaction, { style }, states.map(({ state }) => state))}`;
  if (start === undefined) return [steps];
  const date = dateTime(start, options.timeZone).slice(0, 10);
  const lines = states.map(({ state, at }) => {
    const word = padRight(stepWord({ ...transaction, txnState: state }), 10);
    const after = at === start ? relativeTime(start, options.now, options.timeZone) : `after ${formatDuration(at - start)}`;
    return `  ${style.dim(`${date} ${clockTime(at, options.timeZone)}`)}  ${word}  ${style.dim(after)}`.trimEnd();
  });
  return [steps, '', ...lines];
}

function endsOf(transaction: Transaction): { state: string; at: number }[] {
  const { createdAt, sourceReq, destReq, txnState } = transaction;
  const created = createdAt ?? sourceReq.createAt;
  if (created === undefined || created === null) return [];
  const updated = Math.max(sourceReq.updatedAt ?? 0, destReq.updatedAt ?? 0);
  const last = txnState !== 'quoted' && updated > 0 ? [{ state: txnState, at: updated }] : [];
  return [{ state: 'quoted', at: created }, ...last];
}

function amounts({ sourceReq, destReq, fxRate }: Transaction, canvas: Canvas): string[] {
  const fee = (amount: number | null | undefined): Money => money(sourceReq.ccy, fromWire(amount ?? 0));
  const line = (label: string, amount: Money | undefined): MoneyLine[] => (amount === undefined ? [] : [{ label, amount }]);
  const feeLine = (label: string, amount: Money): MoneyLine[] => (amount.value.eq(0) ? [] : [{ label, amount }]);
  const lines = [
    ...line('Source', amountOf(sourceReq)),
    ...line('Destination', amountOf(destReq)),
    ...feeLine('Service fee', fee(sourceReq.servicepayFees)),
    ...feeLine('Network fee', fee(sourceReq.networkFees)),
  ];
  const rate = sourceReq.ccy === destReq.ccy || !fxRate ? [] : [rateFact(sourceReq.ccy, destReq.ccy, fxRate)];
  return [...moneyLines(lines, canvas), ...factLines(rate, canvas, 11)];
}

const rateFact = (base: string, quote: string, rate: number): Fact => ({
  label: 'Rate',
  value: rateText({ base, quote, value: fromWire(rate) }),
});

const detailLabels: Readonly<Record<string, string>> = {
  paymentRequest: 'Invoice',
  invoice: 'URI',
  address: 'Address',
  lnurlAddress: 'LNURL',
  invoicePageUrl: 'Page',
  acctName: 'Recipient',
  acctNum: 'Account',
  bankAcctNum: 'Account',
  institutionName: 'Institution',
  institutionCode: 'Code',
};

function sides({ sourceReq, destReq }: Transaction): Fact[] {
  const side = (label: string, { method, ccy, reqDetails }: Transaction['sourceReq']): Fact[] => [
    { label, value: sanitize(`${ccy} · ${method}`) },
    ...Object.entries(reqDetails ?? {}).flatMap(([key, value]) => detail(key, value)),
  ];
  return [...side('From', sourceReq), ...side('To', destReq)];
}

function detail(key: string, value: unknown): Fact[] {
  if ((typeof value !== 'string' && typeof value !== 'number') || value === '') return [];
  const text = typeof value === 'number' ? fromWire(value).toFixed() : sanitize(value);
  return [{ label: detailLabels[key] ?? oneLine(key, 20), value: text, whole: !text.includes(' ') }];
}

function about(transaction: Transaction, { now, paymentHash, timeZone }: ReceiptOptions): Fact[] {
  const text = (label: string, value: string | null | undefined, whole = false): Fact[] =>
    value ? [{ label, value: sanitize(value), whole }] : [];
  const expires = transaction.txnState === 'completed' ? undefined : transaction.sourceReq.expiresAt;
  return [
    ...text('Hash', paymentHash, true),
    ...(expires ? [{ label: 'Expires', value: relativeTime(expires, now, timeZone) }] : []),
    ...text('Reference', transaction.extRefId, true),
    ...text('Note', transaction.note),
    ...text('Transaction', transaction.txnId, true),
  ];
}
