// Closes a month: seals its statement in the database, and writes a copy with a hash. A second
// close of a month returns what has changed. The next month contains the corrections.
import { createHash } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { stringify } from 'csv-stringify/sync';
import {
  dateAfter,
  dayWriter,
  isMonth,
  ownZone,
  parseDate,
  type Span,
  spanOf,
} from '../../formats/calendar.js';
import { Failure, invalid } from '../../formats/failure.js';
import { counted } from '../../formats/text.js';
import type { ListedTransaction } from '../../api/types.js';
import { isThere, openFolder } from '../../store/files/home.js';
import type { Close } from '../../store/journal/records.js';
import { adviceOf } from '../../terminal/next-step.js';
import { csvCell, namesOf } from '../../terminal/rows/list.js';
import { cellIn } from '../../terminal/rows/view.js';
import {
  changeList,
  type Closed,
  closedView,
  type DraftBalance,
  draftLines,
  statementList,
} from '../../terminal/views/statement-view.js';
import { openComparison } from '../../wallet/books/compare.js';
import type { Books } from '../../wallet/books/gather.js';
import { type Candidate, type Cells, quoteMs } from '../../wallet/books/movement.js';
import { balanceAfter, type Change, changesBetween } from '../../wallet/books/statement.js';
import type { Context } from '../context.js';
import { defineCommand } from '../define.js';
import { file, word } from '../values.js';
import {
  addRates,
  closedRows,
  closesOf,
  openBooks,
  sourcesOf,
  walletRows,
  withLocalData,
  zoneOption,
} from './open-books.js';
import { notTied, pendingIn, unexplainedLines } from './statement.js';

export const statementClose = defineCommand({
  arguments: { month: word('MONTH', parseDate).describe('e.g. 2026-10') },
  options: {
    folder: file('FOLDER')
      .optional()
      .describe('folder for the files (default: statements, next to the journal)'),
    tz: zoneOption('time zone of the last close, or of this machine before the first close'),
  },
  changes: true,
  examples: [
    [
      'svcpay statement close 2026-10',
      'writes the statement of October and its SHA-256; sha256sum -c checks the file',
    ],
    [
      'svcpay statement close 2026-10 --folder /srv/books',
      'if October is closed already, compares the month with the service; exits with 10 if a ' +
        'row has changed',
    ],
  ],
  async run({ month: name, folder, tz }, context) {
    if (!isMonth(name))
      throw refused('only whole months can be closed. Write a month such as 2026-10');
    const closes = await closesOf(context);
    const last = closes.at(-1);
    const closed = closes.find(({ month }) => month === name);
    const zone = tz ?? last?.zone ?? ownZone();
    checkNext(name, zone, closes);
    const { id } = await context.account();
    // The service chooses the id, so the file name escapes what could lead to another folder.
    const file = `${encodeURIComponent(id)}-${name}.csv`;
    const path = join(folder ?? join(context.home.data, 'statements'), file);
    const month = { name, zone, period: spanOf(name, zone), path };
    return closed === undefined
      ? closeFirst(month, last, context)
      : closeAgain(month, closed, context);
  },
  view: {
    fields: [...namesOf(undefined, closedView), ...namesOf(undefined, changeList)],
    dataOf: ({ closed, changes }: Closing) => closed ?? changes,
    async print({ closed, changes }: Closing, _parts, { out }) {
      if (closed !== undefined) await out.record(closed, closedView);
      else if (changes !== undefined) await out.list(changes, changeList);
    },
  },
  remarks: ({ remarks }) => remarks,
  failure: ({ failure }) => failure,
});

interface Closing {
  /** The closed month, or undefined if the month was not closed or has changed. */
  readonly closed?: Closed;
  /** The rows that have changed since the month was closed. */
  readonly changes?: readonly Change[];
  readonly remarks: readonly string[];
  readonly failure?: Failure;
}

interface Month {
  /** The name of the month, such as `2026-10`. */
  readonly name: string;
  readonly zone: string;
  readonly period: Span;
  /** The path of the copy of the sealed statement. */
  readonly path: string;
}

const refused = (why: string, command?: string): Failure =>
  invalid(`Not closed: ${why}.`, command === undefined ? {} : { next: { do: 'run', command } });

/**
 * Throws Failure `usage` if the close would leave a gap after the last closed month, if the month
 * is before the first closed month, or if its time zone differs from that of the closed months.
 */
function checkNext(name: string, zone: string, closes: readonly Close[]): void {
  const [first, last] = [closes[0], closes.at(-1)];
  if (first === undefined || last === undefined) return;
  if (zone !== last.zone)
    throw refused(
      `earlier months end at midnight in ${last.zone}, and a month in ${zone} would overlap them`,
      `statement close ${name} --tz ${last.zone}`,
    );
  if (name < first.month)
    throw refused(`${name} is earlier than ${first.month}, the first closed month`);
  const next = dateAfter(last.month);
  if (name > next) throw refused(`${next} must be closed first`, `statement close ${next}`);
}

async function closeFirst(
  month: Month,
  last: Close | undefined,
  context: Context,
): Promise<Closing> {
  const { name, zone, path, period } = month;
  const comparison = openComparison();
  context.onClose(comparison.close);
  const isNear = ({ createdAt }: ListedTransaction): boolean =>
    createdAt == null || (createdAt >= period.first - quoteMs && createdAt < period.end);
  const onPage = (page: readonly ListedTransaction[]): void => comparison.list(page.filter(isNear));
  const books = await openBooks({ zone, period, openMonth: name, onPage }, context);
  await comparison.compare(await sourcesOf(period, context));
  const open = comparison.counts().reduce((sum, each) => sum + each.open, 0);
  const [failure, ...others] = missingIn(books, month, context);
  const remarks = [...others, ...notAccepted(name, open)].map(
    (each) => `${each.message} ${adviceOf(each, context.globals) ?? ''}`,
  );
  if (failure !== undefined) {
    const { stderrCanvas } = context.terminal;
    const draft = books.at < period.end ? draftOf(books, period) : [];
    const why = [...draftLines(draft, stderrCanvas), ...unexplainedLines(books, stderrCanvas)];
    return { remarks: [...why, ...remarks], failure };
  }
  const lines = await rowsOf(books, month, context);
  if (last !== undefined) checkContinues(lines, last);
  const names = columns.map((each) => each.name);
  const sealed = stringify([...lines], { header: true, columns: names });
  checkSealed(path, sealed);
  const { scope, client } = await context.account();
  const seal = { zone, sealed, closedAt: client.serviceNow(), closedBy: context.owner };
  if (!(await (await context.books()).addClose(scope, { month: name, ...seal })))
    throw invalid(`Another process has closed ${name} at the same time.`, {
      hint: 'To compare the closed month with the service',
      next: { do: 'run', command: 'statement close', argument: name },
    });
  return { closed: written(sealed, lines.length, month), remarks };
}

/** Writes a copy of the sealed statement, unless the copy exists. */
function written(sealed: string, rows: number, { name, path }: Month): Closed {
  writeSealed(path, sealed);
  return { month: name, file: path, rows, sha256: sha256Of(sealed) };
}

/**
 * Throws Failure `books-differ` if the opening balance of a wallet differs from the closing balance
 * of the last closed month.
 */
function checkContinues(lines: readonly Cells[], last: Close): void {
  const closing = closedRows(last).filter(({ kind }) => kind === 'closing');
  const changed = lines.find(({ wallet, kind, balance }) => {
    const before = closing.find((each) => each['wallet'] === wallet);
    return kind === 'opening' && (before?.['balance'] ?? '0') !== balance;
  });
  if (changed === undefined) return;
  throw new Failure(
    'books-differ',
    `Not closed: the closing balance of ${changed['wallet']} has changed since ${last.month} ` +
      'was closed, by a transaction before the first closed month.',
    { hint: 'To see the changes', next: { do: 'run', command: `statement close ${last.month}` } },
  );
}

/** Compares a closed month with the service, and writes only a missing copy of its statement. */
async function closeAgain(month: Month, closed: Close, context: Context): Promise<Closing> {
  const { name, zone, period } = month;
  const books = await openBooks({ zone, period, openMonth: name }, context);
  const lines = await rowsOf(books, month, context);
  const before = closedRows(closed);
  const changes = changesBetween(before, lines);
  const by = `${dayWriter(zone)(closed.closedAt)} by ${closed.closedBy.split('/')[0]}`;
  if (changes.length === 0)
    return {
      closed: written(closed.sealed, before.length, month),
      remarks: [`${name} has not changed since it was closed on ${by}.`],
    };
  return {
    changes,
    remarks: [],
    failure: new Failure(
      'books-differ',
      `${counted(changes.length, 'row')} changed since ${name} was closed on ${by}.`,
      {
        hint: 'The closed month stays as it is. The next open month has the changes as corrections',
        next: { do: 'run', command: `statement --from ${dateAfter(name)}` },
      },
    ),
  };
}

/** Returns what prevents svcpay from closing a month, in the order in which to solve it. */
function missingIn(books: Books, { name, zone, period }: Month, context: Context): Failure[] {
  const [first, ...others]: readonly Candidate[] = pendingIn(books, period);
  const are = others.length === 0 ? 'is' : 'are';
  return [
    books.at < period.end ? refused(`${name} is not over yet`) : undefined,
    notTied(books, dayWriter(zone), context),
    first &&
      new Failure(
        'pending',
        `Not closed: ${counted(others.length + 1, 'transaction')} of ${name} ` +
          `${are} still in flight.`,
        { next: { do: 'watch', id: first.txnId }, txnId: first.txnId },
      ),
  ].flatMap((failure) => failure ?? []);
}

/** The differences that `reconcile` finds, which do not prevent svcpay from closing the month. */
const notAccepted = (month: string, count: number): Failure[] =>
  count === 0
    ? []
    : [
        new Failure('books-differ', `Not accepted: ${counted(count, 'difference')}.`, {
          hint: 'To list them',
          next: { do: 'run', command: 'reconcile', options: { '--month': month } },
        }),
      ];

const draftOf = (books: Books, period: Span): DraftBalance[] =>
  walletsIn(books, period).map((ccy) => ({
    ccy,
    opening: balanceAfter(books.movements(ccy), period.first),
    closing: balanceAfter(books.movements(ccy)),
  }));

const walletsIn = (books: Books, { end }: Span): string[] =>
  books.currencies.filter((ccy) => {
    const [first] = books.movements(ccy);
    return first !== undefined && first.at < end;
  });

/**
 * Returns the rows of the month without the names of recipients, which only the journal contains.
 */
async function rowsOf(
  books: Books,
  { period, zone }: Month,
  context: Context,
): Promise<readonly Cells[]> {
  const past = { ...books, currencies: walletsIn(books, period), at: period.end };
  const rows = walletRows(past, { period, day: dayWriter(zone) });
  const lines: Cells[] = [];
  for await (const line of withLocalData(rows, context, addRates)) {
    const cells = columns.map((column) => [column.name, csvCell(cellIn(column, line), false)]);
    lines.push(Object.fromEntries(cells));
  }
  return lines;
}

const columns = statementList.columns.filter(({ only }) => only !== 'screen');

const sha256Of = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Throws Failure `usage` if the file exists and has different content. */
function checkSealed(path: string, text: string): void {
  if (!isThere(path) || readFileSync(path, 'utf8') === text) return;
  throw invalid(`${path} exists and has different content.`, {
    hint: 'Move that file away, or choose another folder with --folder.',
  });
}

/**
 * Writes the hash file before the text file, so that every text file has a hash. Throws Failure
 * `usage` if the file cannot be written, or if it exists and has different content.
 */
export function writeSealed(path: string, text: string): void {
  checkSealed(path, text);
  openFolder(dirname(path));
  try {
    writeFileSync(`${path}.new`, text, { mode: 0o600 });
    writeFileSync(`${path}.sha256`, `${sha256Of(text)}  ${basename(path)}\n`, { mode: 0o600 });
    renameSync(`${path}.new`, path);
  } catch (cause) {
    throw invalid(`${path} cannot be written.`, { cause });
  }
}
