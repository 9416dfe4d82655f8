// Writes entries in the journal format of hledger, which Ledger also reads.
import Big from 'big.js';
import { decimalsOf, fixed, type Money } from '../../formats/amount.js';
import {
  declarations,
  entryText,
  isAccount,
  namesIn,
  walletAccount,
  type EntryStyle,
  type LedgerWriter,
} from './ledger-entry.js';

export const hledgerWriter = (zone = 'UTC'): LedgerWriter => ({
  head: `; Written by svcpay. Dates are in ${zone}.\n`,
  write: (entry) => ({ names: namesIn(entry), text: entryText(entry, style) }),
  closing: (day, balance) => ({
    names: [balance.ccy, walletAccount(balance.ccy)],
    text: closing(day, balance),
  }),
  declare: declarations((name) =>
    isAccount(name) ? `account ${name}\n` : `commodity ${amountFormat(name)} ${name}\n`,
  ),
});

/** Returns a sample amount of a currency, with the decimal point that hledger requires. */
const amountFormat = (ccy: string): string =>
  `${new Big(1).toFixed(decimalsOf(ccy))}${decimalsOf(ccy) === 0 ? '.' : ''}`;

const style: EntryStyle = {
  indent: '    ',
  head: (title, note) =>
    note === undefined
      ? withoutComment(title)
      : `${withoutComment(title)} | ${withoutComment(note)}`,
  tag: (name, value) => `; ${name}: ${tagValue(value)}`,
  price: (day, ccy, price) => `P ${day} ${ccy} ${price}`,
};

/**
 * Asserts a balance at the end of a day. hledger checks the balance after the preceding postings of
 * the day.
 */
const closing = (day: string, { ccy, value }: Money): string =>
  `\n${day} * Closing balance\n    ${walletAccount(ccy)}  0 ${ccy} = ${fixed(value)} ${ccy}\n`;

/**
 * Replaces the semicolons in a text, because hledger reads a semicolon as the beginning of a
 * comment.
 */
const withoutComment = (text: string): string =>
  text.includes(';') ? text.replaceAll(';', ',') : text;

/**
 * Replaces the commas in the value of a tag, because hledger reads a comma as the end of the tag.
 */
const tagValue = (text: string): string => (text.includes(',') ? text.replaceAll(',', ' ') : text);
