// Entries in beancount's format: accounts are opened before use, texts are quoted.
import { decimalsOf, type Money } from '../../formats/amount.js';
import { nextDay } from '../../formats/calendar.js';
import {
  costText,
  declarations,
  walletAccount,
  type Entry,
  type LedgerWriter,
} from './ledger-entry.js';

/** Before every transaction, because beancount refuses accounts used before their opening. */
const opened = '1970-01-01';

const equity = 'Equity:Svcpay:Opening';

export function beancountWriter(zone = 'UTC'): LedgerWriter {
  const { name, text: openings } = declarations((account) => `${opened} open ${account}\n`);
  return {
    head: `; Written by svcpay. Dates are in ${zone}.\n`,
    write(entry) {
      for (const { account } of entry.postings) name(account);
      return transaction(entry);
    },
    openings,
    opening: (day, { ccy, value }) =>
      `\n${day} * "Opening balance"\n  ${name(walletAccount(ccy))}  ${amountText({ ccy, value })}\n  ${name(equity)}  ${amountText({ ccy, value: value.neg() })}\n`,
    // beancount checks a balance at the start of its day. Without "~ 0" it tolerates the last digit.
    closing: (day, { ccy, value }) =>
      `\n${nextDay(day)} balance ${name(walletAccount(ccy))}  ${value.toFixed(decimalsOf(ccy))} ~ 0 ${ccy}\n`,
  };
}

const amountText = ({ ccy, value }: Money): string => `${value.toFixed()} ${ccy}`;

function transaction({ time, day, title, note, txnId, reference, rate, postings }: Entry): string {
  let text = `\n${day} * ${quoted(title)}`;
  if (note !== undefined) text += ` ${quoted(note)}`;
  text += `\n  time: ${quoted(time)}\n  txn-id: ${quoted(txnId)}`;
  if (reference !== undefined) text += `\n  ref: ${quoted(reference)}`;
  if (rate !== undefined) text += `\n  rate: ${rate}`;
  for (const posting of postings) text += `\n  ${posting.account}  ${costText(posting)}`;
  return `${text}\n`;
}

const quoted = (text: string): string =>
  needsEscape.test(text)
    ? `"${text.replaceAll(/["\\]/g, (character) => `\\${character}`)}"`
    : `"${text}"`;

const needsEscape = /["\\]/;
