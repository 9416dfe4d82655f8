// Converts the rows of a statement for tax and accounting programs: to rows in their documented
// columns, and to OFX 2.1.1 for programs that import bank statements. A file for Koinly has one row
// per transaction. A file for Xero or QuickBooks has the rows of one wallet in one fiat currency.
import { decimalsOf, fixed } from '../../formats/amount.js';
import type { AccountOf } from './accounts.js';
import { changeOf } from './movement.js';
import type { StatementRow } from '../../formats/statement-row.js';
import { createHash } from 'node:crypto';
import type { Big } from 'big.js';
import type { Span } from '../../formats/calendar.js';

interface BankAccount {
  readonly ccy: string;
  /** The account at the service, which acts as the bank. */
  readonly accountId: string;
  readonly bank: string;
}

const checking = '<ACCTTYPE>CHECKING</ACCTTYPE>';
const success = '<STATUS><CODE>0</CODE><SEVERITY>INFO</SEVERITY></STATUS>';

/** @param now the time at which svcpay writes the file, in epoch ms */
export const ofxHead = (
  { ccy, accountId, bank }: BankAccount,
  { first, end }: Span,
  now: number,
): string =>
  `<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<?OFX OFXHEADER="200" VERSION="211" SECURITY="NONE" OLDFILEUID="NONE" NEWFILEUID="NONE"?>
<OFX>
<SIGNONMSGSRSV1><SONRS>${success}<DTSERVER>${time(now)}</DTSERVER>
<LANGUAGE>ENG</LANGUAGE></SONRS></SIGNONMSGSRSV1>
<BANKMSGSRSV1><STMTTRNRS><TRNUID>0</TRNUID>${success}<STMTRS><CURDEF>${ccy}</CURDEF>
<BANKACCTFROM><BANKID>${text(bank, 9)}</BANKID>
<ACCTID>${text(accountName(accountId, ccy), longestAccount)}</ACCTID>${checking}</BANKACCTFROM>
<BANKTRANLIST><DTSTART>${time(first)}</DTSTART><DTEND>${time(end - 1)}</DTEND>
`;

/** @param clean the function that sanitizes external text and converts it to one line */
export function ofxRow(row: StatementRow, clean: (text: string) => string): string {
  const change = changeOf(row);
  const type = change.lt(0) ? 'DEBIT' : 'CREDIT';
  const posted = row.time === null ? dayText(row.date) : time(Date.parse(row.time));
  const memo = [row.note, row.reference].flatMap((each) => each ?? []).join(' ');
  const id = clean(row.txnId ?? row.reference ?? '');
  const fields = [
    `<STMTTRN><TRNTYPE>${type}</TRNTYPE><DTPOSTED>${posted}</DTPOSTED>`,
    `<TRNAMT>${amount(change, row.wallet)}</TRNAMT><FITID>${text(id, 255)}</FITID>`,
    `<NAME>${text(clean(row.counterparty ?? ''), 32)}</NAME>`,
    memo === '' ? '' : `<MEMO>${text(clean(memo), 255)}</MEMO>`,
  ];
  return `${fields.join('')}</STMTTRN>\n`;
}

export const ofxFoot = (balance: Big, { end }: Span, ccy: string): string =>
  `</BANKTRANLIST>
<LEDGERBAL><BALAMT>${amount(balance, ccy)}</BALAMT><DTASOF>${time(end - 1)}</DTASOF></LEDGERBAL>
</STMTRS></STMTTRNRS></BANKMSGSRSV1>
</OFX>
`;

const amount = (value: Big, ccy: string): string => value.toFixed(decimalsOf(ccy));

const longestAccount = 22;

/**
 * Names the account of a wallet by currency and account id. A hash replaces a long account id, so
 * that each wallet has its own account name.
 */
function accountName(accountId: string, ccy: string): string {
  const name = `${ccy}-${accountId}`;
  if (name.length <= longestAccount) return name;
  const hash = createHash('sha256').update(accountId).digest('hex');
  return `${ccy}-${hash}`.slice(0, longestAccount);
}

/** Writes a time such as `20261031235959.999[0:GMT]`. */
const time = (at: number): string =>
  `${new Date(at).toISOString().replaceAll(/[-:TZ]/g, '')}[0:GMT]`;

const dayText = (date: string | null): string => (date ?? '').replaceAll('-', '');

/** Shortens a text to the length that the OFX field allows. */
const text = (value: string, longest: number): string =>
  [...value]
    .slice(0, longest)
    .join('')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');

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
