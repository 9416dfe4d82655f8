// Entries in the language of beancount: accounts are opened where they first appear, texts are quoted.
import { costText, dayOf, type Entry } from './ledger-entry.js';

/** Before every transaction: beancount refuses an account that is used before it is open. */
const opened = '1970-01-01';

/** Knows which accounts are open, so that a stream of entries needs no second look. */
export function beancountWriter(): { readonly head: string; readonly write: (entry: Entry) => string } {
  const known = new Set<string>();
  const openings = ({ postings }: Entry): string => {
    let lines = '';
    for (const { account } of postings) {
      if (known.has(account)) continue;
      known.add(account);
      lines += `${opened} open ${account}\n`;
    }
    return lines === '' ? '' : `\n${lines}`;
  };
  return { head: '; Written by svcpay. Dates are in UTC.\n', write: (entry) => openings(entry) + transaction(entry) };
}

function transaction({ time, title, note, txnId, reference, rate, postings }: Entry): string {
  let text = `\n${dayOf(time)} * ${quoted(title)}`;
  if (note !== undefined) text += ` ${quoted(note)}`;
  text += `\n  time: ${quoted(time)}\n  txn-id: ${quoted(txnId)}`;
  if (reference !== undefined) text += `\n  ref: ${quoted(reference)}`;
  if (rate !== undefined) text += `\n  rate: ${rate}`;
  for (const posting of postings) text += `\n  ${posting.account}  ${costText(posting)}`;
  return `${text}\n`;
}

const quoted = (text: string): string =>
  needsEscape.test(text) ? `"${text.replaceAll(/["\\]/g, (character) => `\\${character}`)}"` : `"${text}"`;

const needsEscape = /["\\]/;
