// Entries in the journal format of hledger, which Ledger reads as well.
import { fixed, type Money } from '../../formats/amount.js';
import { costText, walletAccount, type Entry, type LedgerWriter } from './ledger-entry.js';

export function hledgerWriter(zone = 'UTC'): LedgerWriter {
  return { head: `; Written by svcpay. Dates are in ${zone}.\n`, write, openings: () => '', opening, closing };
}

function write({ time, day, title, note, txnId, reference, rate, postings }: Entry): string {
  let text = `\n${day} * ${withoutComment(title)}`;
  if (note !== undefined) text += ` | ${withoutComment(note)}`;
  text += `\n    ; time: ${time}\n    ; txn-id: ${tagValue(txnId)}`;
  if (reference !== undefined) text += `\n    ; ref: ${tagValue(reference)}`;
  if (rate !== undefined) text += `\n    ; rate: ${rate}`;
  for (const posting of postings) text += `\n    ${posting.account}  ${costText(posting)}`;
  return `${text}\n`;
}

const opening = (day: string, { ccy, value }: Money): string =>
  `\n${day} * Opening balance\n    ${walletAccount(ccy)}  ${fixed(value)} ${ccy}\n    Equity:Svcpay:Opening  ${fixed(value.neg())} ${ccy}\n`;

/** hledger checks an assertion after the postings of its day that stand before it. */
const closing = (day: string, { ccy, value }: Money): string =>
  `\n${day} * Closing balance\n    ${walletAccount(ccy)}  0 ${ccy} = ${fixed(value)} ${ccy}\n`;

/** A semicolon would begin a comment. */
const withoutComment = (text: string): string => (text.includes(';') ? text.replaceAll(';', ',') : text);

/** A comma would begin another tag. */
const tagValue = (text: string): string => (text.includes(',') ? text.replaceAll(',', ' ') : text);
