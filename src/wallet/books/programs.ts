// Converts the rows of a statement to rows for tax and accounting programs, in their documented
// columns. A file for Koinly has one row per transaction. A file for Xero or QuickBooks has the
// rows of one wallet in one fiat currency.
import { decimalsOf, fixed } from '../../formats/amount.js';
import type { AccountOf } from './accounts.js';
import { changeOf } from './movement.js';
import type { StatementRow } from '../../formats/statement-row.js';

export interface ProgramFormat {
  readonly columns: readonly string[];
  /** Returns the cells of a row, or undefined for a row that the format omits. */
  readonly cells: (row: StatementRow, accountOf: AccountOf) => readonly string[] | undefined;
  /** The largest number of rows per file that the program accepts. */
  readonly atMost: number;
}

/** The format of Koinly, with times in UTC, because Koinly reads times as UTC. */
const koinly: ProgramFormat = {
  columns: [
    'Date',
    'Sent Amount',
    'Sent Currency',
    'Received Amount',
    'Received Currency',
    'Fee Amount',
    'Fee Currency',
    'Net Worth Amount',
    'Net Worth Currency',
    'Label',
    'Description',
    'TxHash',
  ],
  atMost: Infinity,
  cells(row) {
    const { wallet, kind, exchanged, exchangedCcy, fiat, fiatRate } = row;
    const isSwap = kind === 'swap' && exchanged !== null;
    // The row of the debited wallet contains both sides of a swap.
    if (isSwap && row.in.gt(0)) return undefined;
    const amount = (value = row.in, ccy: string | null = wallet): string[] =>
      value.eq(0) ? ['', ''] : [fixed(value), ccy ?? ''];
    const worth = fiatRate === null ? null : row.in.plus(row.out).times(fiatRate);
    return [
      `${row.time?.slice(0, 19).replace('T', ' ') ?? `${row.date} 00:00:00`} UTC`,
      ...amount(row.out),
      ...(isSwap ? amount(exchanged, exchangedCcy) : amount()),
      ...amount(row.fee),
      ...(worth === null || fiat === null ? ['', ''] : [worth.toFixed(decimalsOf(fiat)), fiat]),
      '',
      descriptionOf(row),
      row.txnId ?? '',
    ];
  },
};

const xero: ProgramFormat = {
  columns: [
    '*Date',
    '*Amount',
    'Payee',
    'Description',
    'Reference',
    'Check Number',
    'Account Code',
  ],
  atMost: 1_000,
  cells: (row, accountOf) => [
    row.date ?? '',
    amountText(row),
    row.counterparty ?? '',
    descriptionOf(row),
    row.reference ?? row.txnId ?? '',
    '',
    accountIn(row, accountOf) ?? '',
  ],
};

/** The three-column layout of QuickBooks, with US dates. */
const quickbooks: ProgramFormat = {
  columns: ['Date', 'Description', 'Amount'],
  atMost: 1_000,
  cells(row, accountOf) {
    const [year = '', month = '', date = ''] = (row.date ?? '').split('-');
    const account = accountIn(row, accountOf);
    const description = `${account === undefined ? '' : `${account}: `}${descriptionOf(row)}`;
    return [`${month}/${date}/${year}`, description, amountText(row)];
  },
};

const accountIn = (row: StatementRow, accountOf: AccountOf): string | undefined =>
  accountOf({ ...row, payee: row.counterparty });

const amountText = (row: StatementRow): string => changeOf(row).toFixed(decimalsOf(row.wallet));

const verbs: Readonly<Partial<Record<StatementRow['kind'], string>>> = {
  receive: 'Received',
  send: 'Sent',
  swap: 'Swapped',
  adjustment: 'Adjusted',
  correction: 'Corrected',
};

/** Describes a row, such as `Sent tron:Supplier in Lagos`. */
const descriptionOf = ({ kind, counterparty, note }: StatementRow): string =>
  [`${verbs[kind] ?? kind} ${counterparty ?? ''}`.trim(), ...(note === null ? [] : [note])].join(
    ': ',
  );

export const programFormats = { koinly, xero, quickbooks };
