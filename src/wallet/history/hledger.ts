// Entries in the journal format of hledger, which Ledger reads as well.
import { fixed } from '../../formats/amount.js';
import { costText, dayOf, type Entry } from './ledger-entry.js';

export function hledgerWriter(): { readonly head: string; readonly write: (entry: Entry) => string } {
  return { head: '; Written by svcpay. Dates are in UTC.\n', write };
}

function write({ time, title, note, txnId, reference, rate, postings }: Entry): string {
  const described = [title, ...(note === undefined ? [] : [note])].map(withoutComment).join(' | ');
  const tags = [
    `time: ${time}`,
    `txn-id: ${tagValue(txnId)}`,
    ...(reference === undefined ? [] : [`ref: ${tagValue(reference)}`]),
    ...(rate === undefined ? [] : [`rate: ${fixed(rate)}`]),
  ];
  const lines = postings.map((posting) => `${posting.account}  ${costText(posting)}`);
  return `\n${[`${dayOf(time)} * ${described}`, ...tags.map((tag) => `; ${tag}`), ...lines].join('\n    ')}\n`;
}

/** A semicolon would begin a comment. */
const withoutComment = (text: string): string => text.replaceAll(';', ',');

/** A comma would begin another tag. */
const tagValue = (text: string): string => text.replaceAll(',', ' ');
