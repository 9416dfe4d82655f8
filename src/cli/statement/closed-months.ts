// Reads and writes the files of closed months and of their corrections. svcpay records each file in
// the database or, without a database, in the journal.
import { basename, dirname, join } from 'node:path';
import Big from 'big.js';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import type { Close } from '../../store/journal/book-records.js';
import { readSealed, sha256Of, writeSealed } from '../../store/files/sealed.js';
import { corrected, type Cells } from '../../wallet/books/changes.js';
import { changeOf, type Candidate } from '../../wallet/books/movement.js';
import type { Context } from '../context.js';

/**
 * Lists the closed months of this account and their corrections, ordered by month and correction.
 */
export async function closesOf(context: Context): Promise<readonly Close[]> {
  const { scope } = await context.account();
  return (await context.books()).closes(scope);
}

/**
 * Reads the rows of a closed month with its corrections. Throws Failure `books-differ` if a file of
 * the closed month was changed or is missing.
 * @param folder the current folder of the files, if the files were moved
 */
export function closedRows(closes: readonly Close[], folder?: string): readonly Cells[] {
  let rows: readonly Cells[] = [];
  let before: string | undefined;
  for (const { file, sha256, correction } of closes) {
    const path = join(folder ?? dirname(file), basename(file));
    const cells: Cells[] = parse(readSealed(path, sha256, before), { columns: true });
    rows = correction === 0 ? cells : corrected(rows, cells);
    before = path;
  }
  return rows;
}

/**
 * Writes a file, and records the file as the close of a month or as the next correction of the
 * month.
 */
export async function writeClose(
  path: string,
  { lines, columns }: { readonly lines: readonly Cells[]; readonly columns: readonly string[] },
  close: Omit<Close, 'file' | 'sha256' | 'closedAt'>,
  { account, books }: Context,
  after?: string,
): Promise<Close> {
  const { scope, client } = await account();
  const text = stringify([columns, ...lines.map((cells) => columns.map((name) => cells[name]))]);
  writeSealed(path, text, after);
  const closedAt = client.serviceNow();
  const written = { ...close, file: path, sha256: sha256Of(text), closedAt };
  await (await books()).addClose(scope, written);
  return written;
}

/**
 * Reads the transactions of closed months, because the service's list may no longer contain them.
 * Returns no transactions if svcpay cannot read the files of closed months.
 */
export async function closedHere(context: Context): Promise<readonly Candidate[]> {
  try {
    const closes = await closesOf(context);
    const months = new Set(closes.map(({ month }) => month));
    return [...months].flatMap((name) =>
      closedRows(closes.filter(({ month }) => month === name)).flatMap(candidateOf),
    );
  } catch {
    return [];
  }
}

function candidateOf(cells: Cells): Candidate[] {
  const { txnId = '', wallet: ccy = '', time = '', in: received = '', out = '', fee = '' } = cells;
  if (txnId === '') return [];
  const effect = changeOf({ in: new Big(received), out: new Big(out), fee: new Big(fee) });
  const reason = 'no longer in the list';
  return [{ ccy, at: Date.parse(time), txnId, reason, txnState: 'completed', effect }];
}
