// Writes a statement of one fiat wallet in OFX 2.1.1, for programs that import bank statements.
import { createHash } from 'node:crypto';
import type { Big } from 'big.js';
import { decimalsOf } from '../../formats/amount.js';
import type { Span } from '../../formats/calendar.js';
import { changeOf } from './movement.js';
import type { StatementRow } from '../../formats/statement-row.js';

export interface BankAccount {
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
