// Entries in the language of beancount: accounts are opened where they first appear, texts are quoted.
import { fixed } from '../../formats/amount.js';
import { costText, dayOf, type Entry } from './ledger-entry.js';

/** Before every transaction: beancount refuses an account that is used before it is open. */
const opened = '1970-01-01';

/** Knows which accounts are open, so that a stream of entries needs no second look. */
export function beancountWriter(): { readonly head: string; readonly write: (entry: Entry) => string } {
  const known = new Set<string>();
  const openings = (entry: Entry): string => {
    const names = new Set(entry.postings.map(({ account }) => account));
    const fresh = [...names].filter((name) => !known.has(name));
    fresh.forEach((name) => known.add(name));
    return fresh.length === 0 ? '' : `\n${fresh.map((name) => `${opened} open ${name}\n`).join('')}`;
  };
  return { head: '; Written by svcpay. Dates are in UTC.\n', write: (entry) => openings(entry) + transaction(entry) };
}

function transaction({ time, title, note, txnId, reference, rate, postings }: Entry): string {
  const described = note === undefined ? quoted(title) : `${quoted(title)} ${quoted(note)}`;
  const metadata = [
    `time: ${quoted(time)}`,
    `txn-id: ${quoted(txnId)}`,
    ...(reference === undefined ? [] : [`ref: ${quoted(reference)}`]),
    ...(rate === undefined ? [] : [`rate: ${fixed(rate)}`]),
  ];
  const lines = postings.map((posting) => `${posting.account}  ${costText(posting)}`);
  return `\n${[`${dayOf(time)} * ${described}`, ...metadata, ...lines].join('\n  ')}\n`;
}

const quoted = (text: string): string => `"${text.replaceAll(/["\\]/g, (character) => `\\${character}`)}"`;
