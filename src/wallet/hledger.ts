// Entries in the journal format of hledger, which Ledger reads as well.
import { fixed, type Money } from '../formats/amount.js';
import { accountName, dayOf, plainLine, type Entry, type Posting } from './ledger-entry.js';

export function hledgerWriter(): { readonly head: string; readonly write: (entry: Entry) => string } {
  return { head: '; Written by svcpay. Dates are in UTC.\n', write };
}

function write({ at, title, note, txnId, reference, rate, postings }: Entry): string {
  const described = note === undefined ? title : `${title} | ${withoutComment(note)}`;
  const tags = [
    `time: ${new Date(at).toISOString()}`,
    `txn-id: ${plainLine(txnId)}`,
    ...(reference === undefined ? [] : [`ref: ${plainLine(reference)}`]),
    ...(rate === undefined ? [] : [`rate: ${fixed(rate)}`]),
  ];
  const lines = [`${dayOf(at)} * ${described}`, ...tags.map((tag) => `    ; ${tag}`), ...postings.map(posting)];
  return `\n${lines.join('\n')}\n`;
}

function posting({ account, amount, cost }: Posting): string {
  return `    ${accountName(account)}  ${amountText(amount)}${cost === undefined ? '' : ` @@ ${amountText(cost)}`}`;
}

const amountText = ({ ccy, value }: Money): string => `${fixed(value)} ${ccy}`;

/** A semicolon would begin a comment. */
const withoutComment = (text: string): string => plainLine(text).replaceAll(';', ',');
