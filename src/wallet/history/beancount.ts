// Entries in beancount's format: accounts are opened before use, texts are quoted.
import { decimalsOf, type Money } from '../../formats/amount.js';
import { nextDay } from '../../formats/calendar.js';
import {
  costText,
  declarations,
  isAccount,
  namesIn,
  walletAccount,
  type Entry,
  type LedgerWriter,
} from './ledger-entry.js';

/** Before every transaction, because beancount refuses accounts used before their opening. */
const opened = '1970-01-01';

export const beancountWriter = (zone = 'UTC'): LedgerWriter => ({
  head: `; Written by svcpay. Dates are in ${zone}.\n`,
  write: (entry) => ({ names: namesIn(entry), text: transaction(entry) }),
  closing: (day, balance) => ({
    names: [walletAccount(balance.ccy)],
    text: closing(day, balance),
  }),
  declare: declarations((name) => (isAccount(name) ? `${opened} open ${name}\n` : '')),
});

/**
 * beancount checks a balance at the start of its day. Without "~ 0" it tolerates the last digit.
 */
const closing = (day: string, { ccy, value }: Money): string =>
  `\n${nextDay(day)} balance ${walletAccount(ccy)}  ${value.toFixed(decimalsOf(ccy))} ~ 0 ${ccy}\n`;

function transaction({
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
  let text = `\n${day} * ${quoted(title)}`;
  if (note !== undefined) text += ` ${quoted(note)}`;
  text += `\n  time: ${quoted(time)}`;
  if (txnId !== undefined) text += `\n  txn-id: ${quoted(txnId)}`;
  if (reference !== undefined) text += `\n  ref: ${quoted(reference)}`;
  if (rate !== undefined) text += `\n  rate: ${rate}`;
  for (const posting of postings) text += `\n  ${posting.account}  ${costText(posting)}`;
  for (const { ccy, price } of prices)
    text += `\n\n${day} price ${ccy} ${price.value.toFixed()} ${price.ccy}`;
  return `${text}\n`;
}

const quoted = (text: string): string =>
  needsEscape.test(text)
    ? `"${text.replaceAll(/["\\]/g, (character) => `\\${character}`)}"`
    : `"${text}"`;

const needsEscape = /["\\]/;
