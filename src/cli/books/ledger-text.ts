// A statement for a ledger program: opening balances, entries and closing balances;
// or of one fiat wallet in OFX.
import type { ListedTransaction } from '../../api/types.js';
import { sanitize } from '../../terminal/sanitize.js';
import type { Books } from '../../wallet/books/gather.js';
import { ofxFoot, ofxHead, ofxRow, type BankAccount } from '../../wallet/books/ofx.js';
import { balanceAfter, statementRows } from '../../wallet/books/statement.js';
import { ledgerEntryOf, type LedgerWriter } from '../../wallet/history/ledger-entry.js';
import type { Wanted } from './statement-lines.js';

/** Empty for a transaction that moved nothing. */
export const entryText =
  (writer: LedgerWriter, day: Wanted['day']) =>
  (txn: ListedTransaction): string => {
    const entry = ledgerEntryOf(txn, sanitize, undefined, day);
    return entry === undefined ? '' : writer.write(entry);
  };

export async function* ledgerText(
  writer: LedgerWriter,
  books: Books,
  wanted: Wanted,
): AsyncGenerator<string, void, void> {
  const { wallets, period, now, before, day } = wanted;
  const marks = wallets.map((ccy) => {
    const [first] = books.movements(ccy);
    const held = (end: number) => ({
      ccy,
      value: balanceAfter(books.movements(ccy), before.get(ccy), end),
    });
    const opening = held(period.first);
    return {
      opening: opening.value.eq(0)
        ? ''
        : writer.opening(day(Math.max(period.first, first?.at ?? 0)), opening),
      closing: writer.closing(day(Math.min(period.end - 1, now)), held(period.end)),
    };
  });
  yield writer.head;
  yield writer.openings();
  for (const { opening } of marks) yield opening;
  for (const entry of books.entries(period)) yield entry;
  for (const { closing } of marks) yield closing;
}

export async function* ofxText(
  account: BankAccount,
  books: Books,
  { period, now, before }: Wanted,
): AsyncGenerator<string, void, void> {
  const [first] = books.movements(account.ccy);
  const span = {
    first: Math.max(period.first, first?.at ?? 0),
    end: Math.min(period.end, now + 1),
  };
  yield ofxHead(account, span, now);
  for (const row of statementRows(
    account.ccy,
    books.movements(account.ccy),
    period,
    now,
    before.get(account.ccy),
  )) {
    if (row.kind === 'closing') yield ofxFoot(row.balance, span, account.ccy);
    else if (row.kind !== 'opening') yield ofxRow(row, sanitize);
  }
}
