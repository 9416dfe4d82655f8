// Entries in the journal format of hledger, which Ledger reads too.
import Big from 'big.js';
import { decimalsOf, fixed, type Money } from '../../formats/amount.js';
import {
  costText,
  declarations,
  isAccount,
  namesIn,
  walletAccount,
  type Entry,
  type LedgerWriter,
} from './ledger-entry.js';

export const hledgerWriter = (zone = 'UTC'): LedgerWriter => ({
  head: `; Written by svcpay. Dates are in ${zone}.\n`,
  write: (entry) => ({ names: namesIn(entry), text: write(entry) }),
  closing: (day, balance) => ({
    names: [balance.ccy, walletAccount(balance.ccy)],
    text: closing(day, balance),
  }),
  declare: declarations((name) =>
    isAccount(name) ? `account ${name}\n` : `commodity ${amountFormat(name)} ${name}\n`,
  ),
});

/** hledger needs the decimal point. */
const amountFormat = (ccy: string): string =>
  `${new Big(1).toFixed(decimalsOf(ccy))}${decimalsOf(ccy) === 0 ? '.' : ''}`;

function write({
  time,
  day,
  title,
  note,
  txnId,
  reference,
  rate,
  postings,
  prices,
}: Entry): string {
  let text = `\n${day} * ${withoutComment(title)}`;
  if (note !== undefined) text += ` | ${withoutComment(note)}`;
  text += `\n    ; time: ${time}`;
  if (txnId !== undefined) text += `\n    ; txn-id: ${tagValue(txnId)}`;
  if (reference !== undefined) text += `\n    ; ref: ${tagValue(reference)}`;
  if (rate !== undefined) text += `\n    ; rate: ${rate}`;
  for (const posting of postings) text += `\n    ${posting.account}  ${costText(posting)}`;
  for (const { ccy, price } of prices)
    text += `\n\nP ${day} ${ccy} ${fixed(price.value)} ${price.ccy}`;
  return `${text}\n`;
}

/** hledger checks an assertion after the preceding postings of its day. */
const closing = (day: string, { ccy, value }: Money): string =>
  `\n${day} * Closing balance\n    ${walletAccount(ccy)}  0 ${ccy} = ${fixed(value)} ${ccy}\n`;

/** A semicolon would begin a comment. */
const withoutComment = (text: string): string =>
  text.includes(';') ? text.replaceAll(';', ',') : text;

/** A comma would begin another tag. */
const tagValue = (text: string): string => (text.includes(',') ? text.replaceAll(',', ' ') : text);
