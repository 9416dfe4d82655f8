// Entries in the journal format of hledger, which Ledger reads too.
import Big from 'big.js';
import { decimalsOf, fixed, type Money } from '../../formats/amount.js';
import {
  costText,
  declarations,
  walletAccount,
  type Entry,
  type LedgerWriter,
} from './ledger-entry.js';

export function hledgerWriter(zone = 'UTC'): LedgerWriter {
  const accounts = declarations((account) => `account ${account}\n`);
  const commodities = declarations(
    (ccy) =>
      `commodity ${new Big(1).toFixed(decimalsOf(ccy))}${decimalsOf(ccy) === 0 ? '.' : ''} ${ccy}\n`,
  );
  const named = ({ ccy }: { readonly ccy: string }, ...names: readonly string[]): void => {
    commodities.name(ccy);
    names.forEach(accounts.name);
  };
  return {
    head: `; Written by svcpay. Dates are in ${zone}.\n`,
    write(entry) {
      for (const { account, amount, cost = amount } of entry.postings)
        [amount, cost].forEach((each) => named(each, account));
      return write(entry);
    },
    openings: () => commodities.text() + accounts.text(),
    opening(day, balance) {
      named(balance, walletAccount(balance.ccy), equity);
      return opening(day, balance);
    },
    closing(day, balance) {
      named(balance, walletAccount(balance.ccy));
      return closing(day, balance);
    },
  };
}

const equity = 'Equity:Svcpay:Opening';

function write({ time, day, title, note, txnId, reference, rate, postings }: Entry): string {
  let text = `\n${day} * ${withoutComment(title)}`;
  if (note !== undefined) text += ` | ${withoutComment(note)}`;
  text += `\n    ; time: ${time}\n    ; txn-id: ${tagValue(txnId)}`;
  if (reference !== undefined) text += `\n    ; ref: ${tagValue(reference)}`;
  if (rate !== undefined) text += `\n    ; rate: ${rate}`;
  for (const posting of postings) text += `\n    ${posting.account}  ${costText(posting)}`;
  return `${text}\n`;
}

const opening = (day: string, { ccy, value }: Money): string =>
  `\n${day} * Opening balance\n    ${walletAccount(ccy)}  ${fixed(value)} ${ccy}\n    ${equity}  ${fixed(value.neg())} ${ccy}\n`;

/** hledger checks an assertion after the preceding postings of its day. */
const closing = (day: string, { ccy, value }: Money): string =>
  `\n${day} * Closing balance\n    ${walletAccount(ccy)}  0 ${ccy} = ${fixed(value)} ${ccy}\n`;

/** A semicolon would begin a comment. */
const withoutComment = (text: string): string =>
  text.includes(';') ? text.replaceAll(';', ',') : text;

/** A comma would begin another tag. */
const tagValue = (text: string): string => (text.includes(',') ? text.replaceAll(',', ' ') : text);
