// Closes a month: writes its statement with a hash. The next run shows what has changed since.
import { join } from 'node:path';
import type { Big } from 'big.js';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import { dayWriter, parseDate, spanOf, type Span } from '../../formats/calendar.js';
import { Failure } from '../../formats/failure.js';
import { counted } from '../../formats/text.js';
import { readSealed, sha256Of, writeSealed } from '../../store/files/sealed.js';
import { csvCell } from '../../terminal/rows/rows.js';
import { changeList, closedView, statementList } from '../../terminal/views/statement-view.js';
import { changesBetween, type Line } from '../../wallet/books/changes.js';
import type { Books } from '../../wallet/books/gather.js';
import type { Context } from '../context.js';
import { defineCommand } from '../define.js';
import { file, word } from '../values.js';
import { openingOption, openingsOf, withBooks, zoneOf, zoneOption } from './open-books.js';
import { notTied } from './statement.js';
import { lookUpsOf, statementLines } from './statement-lines.js';

export const statementClose = defineCommand({
  arguments: { month: word('MONTH', parseDate).describe('e.g. 2026-10') },
  options: {
    folder: file('FOLDER')
      .optional()
      .describe('where the files are written (default: statements, next to the journal)'),
    tz: zoneOption(),
    opening: openingOption(),
  },
  fields: ['month', 'file', 'rows', 'sha256', 'change', 'row', 'before', 'after'],
  examples: [
    [
      'svcpay statement close 2026-10',
      'writes the statement of October and its SHA-256; sha256sum -c checks it',
    ],
    [
      'svcpay statement close 2026-10 -o csv',
      'run again, it shows what has changed since; exit 6 if anything has',
    ],
  ],
  async run({ month, folder, tz, opening }, context) {
    if (month.day !== undefined)
      throw new Failure('usage', 'Only whole months can be closed. Write it like 2026-10.');
    const zone = zoneOf(tz);
    const period = spanOf(month, zone);
    const name = `${month.year}-${String(month.month).padStart(2, '0')}`;
    const before = openingsOf(opening);
    const { id, client } = await context.account();
    const path = join(
      folder ?? join(context.home.data, 'statements'),
      `${nameOf(id)}-${name}-${nameOf(zone)}.csv`,
    );
    const closed = readSealed(path);
    const rows = await withBooks(
      { before },
      (books) => rowsOf(books, { name, period, now: client.serviceNow(), before, zone }, context),
      context,
    );
    const text = stringify(rows);
    if (closed === undefined) writeSealed(path, text);
    else if (closed !== text) return showChanges(closed, rows, path, context);
    else context.out.say(`Unchanged since ${name} was closed.`);
    const result = { month: name, file: path, rows: rows.length - 1, sha256: sha256Of(text) };
    await context.out.record(result, closedView(result));
  },
});

/** Safe in a file name, because the id comes from the service. */
const nameOf = (text: string): string => text.replaceAll(/[^A-Za-z0-9-]/g, '-').slice(0, 64);

interface Month {
  readonly name: string;
  readonly period: Span;
  /** The service's clock, epoch ms. */
  readonly now: number;
  readonly before: ReadonlyMap<string, Big>;
  readonly zone: string;
}

/**
 * Head and rows, without names from the journal. Throws Failure: `usage` for a month that is not over,
 * `books-differ` if it does not tie, `pending` while a payment of the month is in flight.
 */
async function rowsOf(
  books: Books,
  { name, period, now, before, zone }: Month,
  context: Context,
): Promise<string[][]> {
  if (now < period.end) throw new Failure('usage', `${name} is not over yet.`);
  if (books.differences.length > 0) throw await notTied(books.differences, books, context);
  const inFlight = books.currencies
    .flatMap((ccy) => books.candidates(ccy))
    .filter(({ reason, at }) => reason === 'in flight' && at >= period.first && at < period.end);
  const [first] = inFlight;
  if (first !== undefined) {
    throw new Failure(
      'pending',
      `Not closed: ${counted(inFlight.length, 'transaction')} of ${name} ${inFlight.length === 1 ? 'is' : 'are'} still in flight.`,
      {
        next: { do: 'watch', id: first.txnId },
        txnId: first.txnId,
      },
    );
  }
  const wallets = books.currencies.filter(
    (ccy) =>
      before.has(ccy) || [...firstOf(books.movements(ccy))].some(({ at }) => at < period.end),
  );
  const wanted = { wallets, period, now: period.end, before, day: dayWriter(zone) };
  const columns = statementList('').columns.filter(({ only }) => only !== 'screen');
  const rows = [columns.map((column) => column.name)];
  for await (const line of statementLines(books, wanted, {
    ...lookUpsOf(context),
    parties: () => Promise.resolve(() => undefined),
  }))
    rows.push(columns.map(({ value }) => csvCell(value(line), false)));
  return rows;
}

function* firstOf<T>(all: Iterable<T>): Generator<T, void, void> {
  for (const each of all) return void (yield each);
}

async function showChanges(
  closed: string,
  rows: string[][],
  path: string,
  context: Context,
): Promise<never> {
  const before: string[][] = parse(closed);
  const changes = changesBetween(before.map(keyed), rows.map(keyed));
  await context.out.list(changes, changeList);
  throw new Failure(
    'books-differ',
    `${counted(changes.length, 'row')} changed since ${path} was written, which is unchanged.`,
    {
      hint: 'To close the month again, remove the file first.',
    },
  );
}

/** Keys a row by wallet and transaction, or by the kind of an opening or closing row. */
const keyed = (row: readonly string[]): Line => ({
  key: `${row[2] ?? ''} ${row.at(-1) === '' ? row[3] : row.at(-1)}`,
  text: row.join(','),
});
