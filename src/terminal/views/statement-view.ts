// A statement of the wallets as a table: opening balance, rows, closing balance; and its differences in words.
import type { Big } from 'big.js';
import { fixed, formatAmount, formatNumber, money } from '../../formats/amount.js';
import { counted } from '../../formats/text.js';
import { entryOf } from '../../formats/unknown.js';
import type { Column, ListView, RecordView } from '../rows/view.js';
import { factLines } from '../cards/card.js';
import { fieldColumns } from '../rows/cell.js';
import { shortened } from './transaction-view.js';

/** A row for scripts. */
export interface StatementLine {
  /** The calendar day in the zone of the statement; null for an opening at the beginning of all history. */
  readonly date: string | null;
  /** In UTC; null for opening and closing. */
  readonly time: string | null;
  readonly wallet: string;
  readonly kind: string;
  readonly counterparty: string | null;
  readonly reference: string | null;
  readonly note: string | null;
  readonly in: Big;
  readonly out: Big;
  readonly fee: Big;
  readonly balance: Big;
  /** The value of the row at the rate stored at settlement; null without one. */
  readonly fiatValue: Big | null;
  /** Units of `fiat` per unit of the wallet. */
  readonly fiatRate: Big | null;
  readonly fiat: string | null;
  readonly txnId: string | null;
}

const kinds: Readonly<Record<string, string>> = {
  opening: 'Opening',
  closing: 'Closing',
  receive: 'Received',
  send: 'Sent',
  swap: 'Swapped',
  difference: 'Difference',
};

type Amount = 'in' | 'out' | 'fee' | 'balance';

const amountColumn = (name: Amount, title: string, priority?: number): Column<StatementLine> => ({
  name,
  title,
  value: (row) => row[name],
  text: (row) =>
    name !== 'balance' && row[name].eq(0) ? '' : formatNumber(money(row.wallet, row[name])),
  align: 'right',
  ...(priority !== undefined && { priority }),
});

const isMark = ({ txnId }: StatementLine): boolean => txnId === null;

export const statementList = (heading: string): ListView<StatementLine> => ({
  columns: [
    { name: 'date', title: 'Date', value: ({ date }) => date, text: ({ date }) => date ?? '' },
    { name: 'time', title: 'time', value: ({ time }) => time, only: 'rows' },
    { name: 'wallet', title: 'Wallet', value: ({ wallet }) => wallet },
    {
      name: 'kind',
      title: 'What',
      value: ({ kind }) => kind,
      text: ({ kind }) => entryOf(kinds, kind) ?? kind,
      style: (cell, style, row) => (isMark(row) ? style.bold(cell) : cell),
    },
    {
      name: 'counterparty',
      title: 'With',
      value: ({ counterparty }) => counterparty,
      text: ({ counterparty }) => shortened(counterparty ?? ''),
      shrinks: true,
      priority: 3,
    },
    {
      name: 'reference',
      title: 'Reference',
      value: ({ reference }) => reference,
      shrinks: true,
      priority: 5,
    },
    { name: 'note', title: 'note', value: ({ note }) => note, only: 'rows' },
    amountColumn('in', 'In'),
    amountColumn('out', 'Out'),
    amountColumn('fee', 'Fee', 2),
    amountColumn('balance', 'Balance'),
    {
      name: 'fiatValue',
      title: 'Worth',
      value: ({ fiatValue }) => fiatValue,
      align: 'right',
      priority: 4,
      text: ({ fiatValue, fiat }) =>
        fiatValue === null || fiat === null ? '' : formatAmount(money(fiat, fiatValue)),
    },
    { name: 'fiatRate', title: 'fiatRate', value: ({ fiatRate }) => fiatRate, only: 'rows' },
    { name: 'fiat', title: 'fiat', value: ({ fiat }) => fiat, only: 'rows' },
    {
      name: 'txnId',
      title: 'Id',
      value: ({ txnId }) => txnId,
      text: ({ txnId }) => (txnId ?? '').slice(0, 8),
      priority: 1,
    },
  ],
  quiet: ({ balance }) => fixed(balance),
  empty: 'No wallet holds anything, and nothing has moved.',
  heading,
});

interface Differing {
  readonly ccy: string;
  readonly added: Big;
  readonly reported: Big;
  readonly difference: Big;
}

/** `BTC: the transactions add up to 1 BTC, the service reports 0.9 BTC: 0.1 BTC less.` */
export function differenceText({ ccy, added, reported, difference }: Differing): string {
  const amount = (value: Big): string => formatAmount(money(ccy, value));
  const side = difference.gt(0) ? 'more' : 'less';
  return `${ccy}: the transactions add up to ${amount(added)}, the service reports ${amount(reported)}: ${amount(difference.abs())} ${side}`;
}

interface Explaining {
  readonly ccy: string;
  readonly txnId: string;
  readonly txnState: string;
  readonly reason: string;
  readonly effect: Big | null;
  readonly isExact: boolean;
}

/** `ad79a67a-… is in flight (destsent), -0.1 BTC: exactly the difference` */
export function explanationText({
  ccy,
  txnId,
  txnState,
  reason,
  effect,
  isExact,
}: Explaining): string {
  const amount = effect === null ? 'an unknown amount' : formatAmount(money(ccy, effect));
  return `${txnId}: ${reason} (${txnState}), ${amount}${isExact ? ', explains the difference' : ''}`;
}

interface Closed {
  readonly month: string;
  readonly file: string;
  readonly rows: number;
  readonly sha256: string;
}

export const closedView = ({ month, file, rows, sha256 }: Closed): RecordView<Closed> => ({
  screen: (canvas) => [
    `  Closed ${month}: ${counted(rows, 'row')}`,
    ...factLines(
      [
        { label: 'File', value: file, whole: true },
        { label: 'SHA-256', value: sha256, whole: true },
      ],
      canvas,
    ),
  ],
  columns: fieldColumns(['month', 'file', 'rows', 'sha256']),
  quiet: () => file,
});

interface Change {
  readonly change: string;
  readonly row: string;
  readonly before: string | null;
  readonly after: string | null;
}

export const changeList: ListView<Change> = {
  columns: [
    { name: 'change', title: 'Change', value: ({ change }) => change },
    { name: 'row', title: 'Row', value: ({ row }) => row },
    { name: 'before', title: 'Before', value: ({ before }) => before, below: true },
    { name: 'after', title: 'After', value: ({ after }) => after, below: true },
  ],
  quiet: ({ row }) => row,
  empty: 'Nothing has changed.',
};
