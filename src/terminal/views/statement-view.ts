// Shows a statement of the wallets as a table of opening balance, rows and closing balance, and
// describes differences in words. Shows a reconciliation with a row per difference.
import type Big from 'big.js';
import { changeOf, kindWords, type StatementRow } from '../../formats/statement-row.js';
import { decimalsOf, fixed, formatAmount, formatNumber, money } from '../../formats/amount.js';
import { counted, ownReference, shortId, shortened } from '../../formats/text.js';
import { dateAfter } from '../../formats/calendar.js';
import { methodProperties } from '../../formats/rails.js';
import {
  type Cell,
  type Column,
  fieldColumns,
  type ListView,
  type RecordView,
} from '../rows/view.js';
import { cardView } from '../cards/card.js';
import { createTable } from '../rows/table.js';
import type { Canvas } from '../terminal.js';
import { dateTime } from '../time.js';

type Amount = 'in' | 'out' | 'fee' | 'balance';

const amountColumn = (name: Amount, title: string): Column<StatementRow> => ({
  name,
  title,
  value: (row) => row[name],
  text: (row) => {
    const value = row.totals !== undefined && name !== 'balance' ? row.totals[name] : row[name];
    return name !== 'balance' && value.eq(0) ? '' : formatNumber(money(row.wallet, value));
  },
  align: 'right',
});

/** Whether a row has no transaction, so that a word replaces the date. */
const isMark = ({ kind }: StatementRow): boolean =>
  kind === 'opening' || kind === 'closing' || kind === 'difference';

/**
 * Describes a row, such as `Lightning Ada`, `On-chain bc1q…f3t4`, `Swap from USDT` or `Payout Le
 * Van A`.
 */
function whatText(row: StatementRow): string {
  const { kind, method, counterparty, note } = row;
  if (isMark(row)) return '';
  if (kind === 'swap') {
    const wallet = (counterparty ?? '').replace(/ wallet$/, '');
    return `Swap ${row.in.gt(0) ? 'from' : 'to'} ${wallet}`;
  }
  if (method === null) return [kindWords[row.kind], note ?? ''].join(' ').trim();
  const label = methodProperties(method)?.label ?? (kind === 'send' ? 'Payout' : 'Deposit');
  const party = counterparty === method ? note : counterparty;
  return `${label} ${shortened(party ?? '')}`.trim();
}

const rowColumns = (
  ...names: readonly Exclude<keyof StatementRow, 'totals'>[]
): Column<StatementRow>[] =>
  names.map((name) => ({ name, title: name, value: (row) => row[name], only: 'rows' }));

export const statementList: ListView<StatementRow> = {
  columns: [
    {
      name: 'date',
      title: 'Date',
      text: (row) => (isMark(row) ? kindWords[row.kind] : (row.date ?? '')),
      style: (cell, style, row) => (isMark(row) ? style.bold(cell) : cell),
    },
    ...rowColumns('time', 'created', 'wallet', 'kind', 'counterparty'),
    {
      name: 'what',
      title: 'What',
      value: whatText,
      only: 'screen',
      shrinks: true,
      priority: 2,
      below: true,
    },
    {
      name: 'reference',
      title: 'Reference',
      text: ({ reference }) => ownReference(reference),
      shrinks: true,
      priority: 5,
    },
    ...rowColumns('note'),
    amountColumn('in', 'In'),
    amountColumn('out', 'Out'),
    amountColumn('fee', 'Fee'),
    amountColumn('balance', 'Balance'),
    {
      name: 'fiatValue',
      title: 'Worth',
      align: 'right',
      priority: 4,
      text: ({ fiatValue, fiat }) =>
        fiatValue === null || fiat === null ? '' : formatAmount(money(fiat, fiatValue)),
    },
    ...rowColumns(
      'fiatRate',
      'fiat',
      'method',
      'serviceFee',
      'networkFee',
      'exchanged',
      'exchangedCcy',
      'exchangedRate',
    ),
    {
      name: 'txnId',
      title: 'Id',
      text: shortId,
      priority: 6,
    },
  ],
  fields: [
    'totals',
    'totals.in',
    'totals.out',
    'totals.fee',
    'destination',
    'paymentHash',
    'approvedBy',
  ],
  quiet: ({ balance }) => fixed(balance),
  empty: 'There are no transactions, and all wallets are empty.',
  group: ({ wallet }) => wallet,
};

/** Describes a row, such as `Sent tron:Supplier in Lagos`. */
const descriptionOf = ({ kind, counterparty, note }: StatementRow): string =>
  [`${kindWords[kind]} ${counterparty ?? ''}`.trim(), note].filter(Boolean).join(': ');

const changeText = (row: StatementRow): string => changeOf(row).toFixed(decimalsOf(row.wallet));

const amountColumns = (
  name: string,
  amountOf: (row: StatementRow) => readonly [amount: Cell, ccy: string | null],
): Column<StatementRow>[] =>
  ['Amount', 'Currency'].map((part, index) => ({
    name: `${name} ${part}`,
    value: (row) => amountOf(row)[index],
  }));

const ifAny = (value: Big, ccy: string): readonly [Cell, string | null] =>
  value.eq(0) ? [null, null] : [value, ccy];

/** The columns of Koinly, with times in UTC, because Koinly reads times as UTC. */
const koinly: readonly Column<StatementRow>[] = [
  {
    name: 'Date',
    value: ({ time, date }) => `${time?.slice(0, 19).replace('T', ' ') ?? `${date} 00:00:00`} UTC`,
  },
  ...amountColumns('Sent', ({ out, wallet }) => ifAny(out, wallet)),
  ...amountColumns('Received', ({ kind, in: credited, wallet, exchanged, exchangedCcy }) =>
    kind === 'swap' && exchanged !== null ? [exchanged, exchangedCcy] : ifAny(credited, wallet),
  ),
  ...amountColumns('Fee', ({ fee, wallet }) => ifAny(fee, wallet)),
  ...amountColumns('Net Worth', ({ in: credited, out, fiat, fiatRate }) =>
    fiat === null || fiatRate === null
      ? [null, null]
      : [credited.plus(out).times(fiatRate).toFixed(decimalsOf(fiat)), fiat],
  ),
  { name: 'Label', value: () => '' },
  { name: 'Description', value: descriptionOf },
  { name: 'TxHash', value: ({ txnId }) => txnId },
];

type AccountName = (row: StatementRow) => string | undefined;

const xero = (accountOf: AccountName): Column<StatementRow>[] => [
  { name: '*Date', value: ({ date }) => date },
  { name: '*Amount', value: changeText },
  { name: 'Payee', value: ({ counterparty }) => counterparty },
  { name: 'Description', value: descriptionOf },
  { name: 'Reference', value: ({ reference, txnId }) => reference ?? txnId },
  { name: 'Check Number', value: () => '' },
  { name: 'Account Code', value: accountOf },
];

/** The three-column layout of QuickBooks, with US dates. */
const quickbooks = (accountOf: AccountName): Column<StatementRow>[] => [
  {
    name: 'Date',
    value: ({ date }) => date && `${date.slice(5, 7)}/${date.slice(8)}/${date.slice(0, 4)}`,
  },
  {
    name: 'Description',
    value: (row) => [accountOf(row), descriptionOf(row)].filter(Boolean).join(': '),
  },
  { name: 'Amount', value: changeText },
];

/** The documented columns of tax and accounting programs, which each read a CSV file. */
export const programColumns = { koinly: () => koinly, xero, quickbooks };

/** The sum of all movements of one kind in one currency. */
export interface StatementTotal {
  readonly ccy: string;
  readonly kind: StatementRow['kind'];
  readonly count: number;
  readonly in: Big;
  /** The money that left the wallet, without fees. */
  readonly out: Big;
  readonly fee: Big;
  readonly serviceFee: Big;
  readonly networkFee: Big;
}

const totalColumn = (name: 'in' | 'out' | 'fee', title: string): Column<StatementTotal> => ({
  name,
  title,
  value: (row) => row[name],
  text: (row) => (row[name].eq(0) ? '' : formatAmount(money(row.ccy, row[name]))),
  align: 'right',
});

export const totalList: ListView<StatementTotal> = {
  columns: [
    { name: 'ccy', title: 'Currency' },
    { name: 'kind', title: 'Kind', text: (row) => kindWords[row.kind] },
    { name: 'count', title: 'Count', align: 'right', priority: 1 },
    totalColumn('in', 'In'),
    totalColumn('out', 'Out'),
    totalColumn('fee', 'Fee'),
    { name: 'serviceFee', only: 'rows' },
    { name: 'networkFee', only: 'rows' },
  ],
  quiet: ({ ccy, kind, in: received, out }) => `${ccy} ${kind} ${fixed(received.minus(out))}`,
  empty: 'No money moved in this period.',
};

interface Held {
  readonly ccy: string;
  readonly balance: Big;
}

/**
 * Describes the wallets whose balances agree with the transactions.
 * @param isOver whether the period is over. After the period, the closing balance may differ from
 * the current balance.
 */
export function tiedText(tied: readonly Held[], isOver: boolean): string {
  const wallets = `wallet${tied.length === 1 ? '' : 's'}`;
  const amounts = tied.map(({ ccy, balance }) => formatAmount(money(ccy, balance))).join(' · ');
  return `✓ Ties with the ${wallets}: ${amounts}${isOver ? ' now' : ''}`;
}

/**
 * Describes the period, such as `October 2026`, `2026`, `2026-10-01 to 2026-10-15` or `until
 * 2026-10-15`.
 * @param from the first day, such as `2026-10-01`, or undefined without a first day
 */
export function periodText(from: string | undefined, to: string | undefined): string {
  if (from === undefined) return to === undefined ? 'all of history' : `until ${to}`;
  if (to === undefined) return `since ${from}`;
  const [year, month] = [from.slice(0, 4), from.slice(0, 7)];
  if (from === `${year}-01-01` && to === `${year}-12-31`) return year;
  if (from === `${month}-01` && dateAfter(to) === `${dateAfter(month)}-01`)
    return new Date(from).toLocaleString('en', { month: 'long', year: 'numeric', timeZone: 'UTC' });
  return from === to ? from : `${from} to ${to}`;
}

interface Differing {
  readonly ccy: string;
  readonly difference: Big;
  /** The last time at which the transactions explained the wallet's balance, in epoch ms. */
  readonly lastTied: number | undefined;
}

/**
 * Describes a difference, such as `0.01 BTC more than the transactions explain, arose after
 * 2026-11-20 18:00, when it last tied`.
 */
export function differenceText({ ccy, difference, lastTied }: Differing): string {
  const side = difference.gt(0) ? 'more' : 'less';
  const since =
    lastTied === undefined
      ? ''
      : `, arose after ${dateTime(lastTied).slice(0, 16)}, when it last tied`;
  return (
    `${formatAmount(money(ccy, difference.abs()))} ${side} ` +
    `than the transactions explain${since}`
  );
}

interface WalletLine {
  readonly ccy: string;
  readonly text: string;
  readonly value?: Big;
}

const walletColumns: readonly Column<WalletLine>[] = [
  { name: 'wallet', value: ({ ccy }) => ccy },
  { name: 'text', priority: 1, below: true },
  {
    name: 'amount',
    value: ({ ccy, value }) => value && formatNumber(money(ccy, value)),
    align: 'decimal',
  },
];

const walletLines = (lines: readonly WalletLine[], canvas: Canvas): string[] =>
  createTable(walletColumns, { ...canvas, gap: 4 })(lines).rows.flat();

/**
 * Draws a line for each opening balance, such as `BTC    opening, not explained by a transaction
 * 1.00000000`.
 */
export const openingLines = (
  openings: readonly { readonly ccy: string; readonly value: Big }[],
  canvas: Canvas,
): string[] =>
  walletLines(
    openings.map((each) => ({ ...each, text: 'opening, not explained by a transaction' })),
    canvas,
  );

/** An adjustment that a person has recorded. */
export interface RecordedEntry {
  readonly wallet: string;
  readonly amount: Big;
  /** The calendar day of the entry. */
  readonly date: string;
  readonly note: string | null;
  readonly id: string;
}

export const entryList: ListView<RecordedEntry> = {
  columns: [
    { name: 'date', title: 'Date' },
    { name: 'wallet', title: 'Wallet' },
    {
      name: 'amount',
      title: 'Amount',
      text: ({ wallet, amount }) => formatNumber(money(wallet, amount)),
      align: 'right',
    },
    { name: 'note', title: 'Note', priority: 2, shrinks: true },
    { name: 'id', title: 'Id', priority: 3 },
  ],
  quiet: ({ id }) => id,
  empty: 'Nothing was recorded.',
};

interface Explaining {
  readonly ccy: string;
  readonly txnId: string;
  readonly txnState: string;
  readonly reason: string;
  readonly effect: Big | null;
  readonly isExact: boolean;
}

/**
 * Describes a transaction that may explain a difference, such as `ad79a67a-…: in flight (destsent),
 * -0.1 BTC; this transaction explains the difference`.
 */
export function explanationText({
  ccy,
  txnId,
  txnState,
  reason,
  effect,
  isExact,
}: Explaining): string {
  const amount = effect === null ? 'an unknown amount' : formatAmount(money(ccy, effect));
  const why = isExact ? '; this transaction explains the difference' : '';
  return `${txnId}: ${reason} (${txnState}), ${amount}${why}`;
}

export interface DraftBalance {
  readonly ccy: string;
  readonly opening: Big;
  readonly closing: Big;
}

/**
 * Draws the balances of a month that is not over, such as `BTC    1.20000000 at the beginning,
 * 1.19742700 now`.
 */
export const draftLines = (balances: readonly DraftBalance[], canvas: Canvas): string[] =>
  walletLines(
    balances.map(({ ccy, opening, closing }) => {
      const [first, now] = [opening, closing].map((value) => formatNumber(money(ccy, value)));
      return { ccy, text: `${first} at the beginning, ${now} now` };
    }),
    canvas,
  );

export interface Closed {
  readonly month: string;
  readonly file: string;
  readonly rows: number;
  readonly sha256: string;
}

export const closedView: RecordView<Closed> = cardView({
  columns: [
    { name: 'month', title: 'Closed', note: ({ rows }) => counted(rows, 'row') },
    { name: 'file', title: 'File' },
    { name: 'rows', only: 'rows' },
    { name: 'sha256', title: 'SHA-256' },
  ],
  quiet: ({ file }) => file,
});

interface ShownChange {
  readonly change: string;
  readonly row: string;
  readonly before: string | null;
  readonly after: string | null;
}

export const changeList: ListView<ShownChange> = {
  columns: [
    { name: 'change', title: 'Change' },
    { name: 'row', title: 'Row' },
    { name: 'before', title: 'Before', priority: 9, below: true },
    { name: 'after', title: 'After', priority: 9, below: true },
  ],
  quiet: ({ row }) => row,
  empty: 'Nothing has changed.',
};

/** The mapping file that svcpay has written. */
export const accountFileView: RecordView<{ readonly file: string; readonly rows: number }> = {
  screen: (_canvas, { file, rows }) => [`  ${counted(rows, 'rule')} in ${file}`],
  columns: fieldColumns(['file', 'rows']),
  quiet: ({ file }) => file,
};

export interface DifferenceRow {
  readonly difference: string;
  readonly source: string;
  readonly txnId: string | null;
  readonly reference: string | null;
  readonly ccy: string | null;
  readonly here: Big | null;
  readonly there: Big | null;
  readonly detail: string;
  /** The note of the person who accepted the difference, or null. */
  readonly accepted: string | null;
}

const sideColumn = (name: 'here' | 'there', title: string): Column<DifferenceRow> => ({
  name,
  title,
  value: (row) => row[name],
  text: ({ ccy, [name]: value }) =>
    value === null ? '' : ccy === null ? fixed(value) : formatNumber(money(ccy, value)),
  align: 'right',
  priority: 2,
});

export const differenceList: ListView<DifferenceRow> = {
  columns: [
    { name: 'difference', title: 'Difference' },
    { name: 'source', title: 'Against' },
    {
      name: 'reference',
      title: 'Reference',
      text: ({ reference }) => ownReference(reference),
      shrinks: true,
      priority: 3,
    },
    { name: 'ccy', title: 'Currency', priority: 2 },
    sideColumn('here', 'Here'),
    sideColumn('there', 'There'),
    { name: 'detail', title: 'Detail', priority: 3, below: true },
    {
      name: 'accepted',
      title: 'Accepted',
      priority: 4,
      below: true,
    },
    { name: 'txnId', title: 'Id', priority: 9, below: true },
  ],
  quiet: ({ txnId }) => txnId ?? '',
  empty: 'No differences.',
};
