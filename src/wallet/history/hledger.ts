// Entries in the journal format of hledger, which Ledger reads as well.
import { costText, dayOf, type Entry } from './ledger-entry.js';

export function hledgerWriter(): { readonly head: string; readonly write: (entry: Entry) => string } {
  return { head: '; Written by svcpay. Dates are in UTC.\n', write };
}

function write({ time, title, note, txnId, reference, rate, postings }: Entry): string {
  let text = `\n${dayOf(time)} * ${withoutComment(title)}`;
  if (note !== undefined) text += ` | ${withoutComment(note)}`;
  text += `\n    ; time: ${time}\n    ; txn-id: ${tagValue(txnId)}`;
  if (reference !== undefined) text += `\n    ; ref: ${tagValue(reference)}`;
  if (rate !== undefined) text += `\n    ; rate: ${rate}`;
  for (const posting of postings) text += `\n    ${posting.account}  ${costText(posting)}`;
  return `${text}\n`;
}

/** A semicolon would begin a comment. */
const withoutComment = (text: string): string => (text.includes(';') ? text.replaceAll(';', ',') : text);

/** A comma would begin another tag. */
const tagValue = (text: string): string => (text.includes(',') ? text.replaceAll(',', ' ') : text);
