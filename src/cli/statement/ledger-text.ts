// Writes a statement for a ledger program: entries, and a balance assertion for each wallet. An OFX
// file contains the entries of a single fiat wallet.
import * as v from 'valibot';
import { figure } from '../../wallet/history/moved-amounts.js';
import { sanitize } from '../../terminal/sanitize.js';
import type { Books, LedgerText } from '../../wallet/books/gather.js';
import { changeOf, type Movement } from '../../wallet/books/movement.js';
import { ofxFoot, ofxHead, ofxRow, type BankAccount } from '../../wallet/books/ofx.js';
import { balanceAfter, statementRows } from '../../wallet/books/statement.js';
import {
  ledgerEntryOf,
  walletAccount,
  type Entry,
  type LedgerWriter,
  type Written,
} from '../../wallet/history/ledger-entry.js';
import type { ListedTransaction } from '../../api/types.js';
import type { KeptRate } from '../../store/journal/settlement-rates.js';
import type { LookUps, StatementScope } from './lines.js';

/**
 * Writes each entry as JSON: its text for the ledger file, and the names of its accounts and
 * currencies. A ledger file declares only those names that no earlier ledger file declares.
 */
export function ledgerTexts(
  writer: LedgerWriter,
  day: StatementScope['day'],
  rates: LookUps['rates'],
): {
  readonly ledger: LedgerText;
  readonly onPage: (page: readonly ListedTransaction[]) => Promise<void>;
} {
  let kept: ReadonlyMap<string, KeptRate> = new Map();
  const textOf = (entry: Entry | undefined): string =>
    entry === undefined ? '' : JSON.stringify(writer.write(entry));
  return {
    ledger: {
      transaction: (txn) =>
        textOf(ledgerEntryOf(txn, sanitize, undefined, day, kept.get(txn.txnId))),
      recorded: (movement) => textOf(recordedEntry(movement, day)),
    },
    onPage: async (page) => {
      kept = await rates(page.map(({ txnId }) => txnId));
    },
  };
}

function recordedEntry(movement: Movement, day: StatementScope['day']): Entry {
  const { ccy, at, kind, note, reference } = movement;
  const change = changeOf(movement);
  const { title, account } = recordedNames(kind);
  return {
    time: new Date(at).toISOString(),
    day: day(at),
    title,
    note: note === null ? undefined : sanitize(note),
    txnId: movement.txnId ?? undefined,
    reference: reference ?? undefined,
    rate: undefined,
    prices: [],
    postings: [
      { account: walletAccount(ccy), amount: figure(ccy, change) },
      {
        account: `Equity:Svcpay:${account}`,
        amount: figure(ccy, change.neg()),
      },
    ],
  };
}

function recordedNames(kind: Movement['kind']): { title: string; account: string } {
  if (kind === 'opening entry') return { title: 'Opening', account: 'Opening' };
  if (kind === 'adjustment') return { title: 'Adjustment', account: 'Adjustments' };
  return kind === 'correction'
    ? { title: 'Correction', account: 'Corrections' }
    : { title: 'As sealed', account: 'Sealed' };
}

const writtenText = v.object({ names: v.array(v.string()), text: v.string() });

function* written(books: Books, first: number, end: number): Generator<Written, void, void> {
  for (const text of books.entries({ first, end }))
    if (text !== '') yield v.parse(writtenText, JSON.parse(text));
}

/**
 * Writes a ledger file. Only the ledger file in which the history begins contains opening balances,
 * because later ledger files continue that file.
 */
export async function* ledgerText(
  writer: LedgerWriter,
  books: Books,
  { wallets, period, now, day }: StatementScope,
): AsyncGenerator<string, void, void> {
  let continues = false;
  for (const { names } of written(books, 0, period.first)) {
    continues = true;
    writer.declare(names);
  }
  const closings = wallets.flatMap((ccy) => closingOf(ccy, writer, books, { period, now, day }));
  yield writer.head;
  if (continues)
    yield (
      `; Continues the files that end on ${day(period.first - 1)}. ` +
        `Include those files before this file.\n`
    );
  for (const { names } of written(books, period.first, period.end)) yield writer.declare(names);
  for (const { names } of closings) yield writer.declare(names);
  for (const { text } of written(books, period.first, period.end)) yield text;
  for (const { text } of closings) yield text;
}

/**
 * Asserts the balance that the service reports, so that the ledger program refuses a statement
 * whose entries do not add up to that balance. If the period ends after the last time at which the
 * transactions explained the wallet's whole balance, the asserted balance includes the unexplained
 * difference.
 */
function closingOf(
  ccy: string,
  writer: LedgerWriter,
  { movements, differences }: Books,
  { period, now, day }: Omit<StatementScope, 'wallets'>,
): Written[] {
  const { difference, lastTied = 0 } = differences.find((each) => each.ccy === ccy) ?? {};
  const [first] = movements(ccy);
  if (difference === undefined && (first === undefined || first.at >= period.end)) return [];
  const added = balanceAfter(movements(ccy), period.end);
  const value = difference === undefined || period.end <= lastTied ? added : added.plus(difference);
  return [writer.closing(day(Math.min(period.end - 1, now)), { ccy, value })];
}

export async function* ofxText(
  account: BankAccount,
  books: Books,
  { period, now }: StatementScope,
): AsyncGenerator<string, void, void> {
  const [first] = books.movements(account.ccy);
  const span = {
    first: Math.max(period.first, first?.at ?? 0),
    end: Math.min(period.end, now + 1),
  };
  yield ofxHead(account, span, now);
  for (const row of statementRows(account.ccy, books.movements(account.ccy), period, now)) {
    if (row.kind === 'closing') yield ofxFoot(row.balance, span, account.ccy);
    else if (row.kind !== 'opening') yield ofxRow(row, sanitize);
  }
}
