// Writes entries in beancount's format. Declares each account with `open` before its use, and puts
// strings in quotation marks.
import { decimalsOf, type Money } from '../../formats/amount.js';
import { nextDay } from '../../formats/calendar.js';
import {
  declarations,
  entryText,
  isAccount,
  namesIn,
  walletAccount,
  type EntryStyle,
  type LedgerWriter,
} from './ledger-entry.js';

/**
 * The opening date of all accounts, which is before every transaction, because beancount refuses an
 * entry before the opening of its account.
 */
const opened = '1970-01-01';

export const beancountWriter = (zone = 'UTC'): LedgerWriter => ({
  head: `; Written by svcpay. Dates are in ${zone}.\n`,
  write: (entry) => ({ names: namesIn(entry), text: entryText(entry, style) }),
  closing: (day, balance) => ({
    names: [walletAccount(balance.ccy)],
    text: closing(day, balance),
  }),
  declare: declarations((name) => (isAccount(name) ? `${opened} open ${name}\n` : '')),
});

/**
 * Asserts a balance at the end of a day. The assertion of a balance has the date of the next day,
 * because beancount checks a balance at the start of the day. Without "~ 0" in the assertion,
 * beancount tolerates a difference in the last digit of the balance.
 */
const closing = (day: string, { ccy, value }: Money): string =>
  `\n${nextDay(day)} balance ${walletAccount(ccy)}  ${value.toFixed(decimalsOf(ccy))} ~ 0 ${ccy}\n`;

const style: EntryStyle = {
  indent: '  ',
  head: (title, note) => (note === undefined ? quoted(title) : `${quoted(title)} ${quoted(note)}`),
  tag: (name, value) => `${name}: ${name === 'rate' ? value : quoted(value)}`,
  price: (day, ccy, price) => `${day} price ${ccy} ${price}`,
};

const quoted = (text: string): string =>
  needsEscape.test(text)
    ? `"${text.replaceAll(/["\\]/g, (character) => `\\${character}`)}"`
    : `"${text}"`;

const needsEscape = /["\\]/;
