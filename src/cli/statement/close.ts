// Closes a month: seals its statement in the database, and writes a copy with a hash. If a closed
// month is closed again, svcpay prints what has changed. The next month contains the corrections.
import { join } from 'node:path';
import { stringify } from 'csv-stringify/sync';
import {
  dayWriter,
  ownZone,
  parseDate,
  spanOf,
  type CalendarDate,
  type Span,
} from '../../formats/calendar.js';
import { Failure } from '../../formats/failure.js';
import { counted } from '../../formats/text.js';
import { checkSealed, sha256Of, writeSealed } from '../../store/files/sealed.js';
import type { Close } from '../../store/journal/records.js';
import { adviceOf } from '../../terminal/next-step.js';
import { cellIn } from '../../terminal/rows/view.js';
import { csvCell } from '../../terminal/rows/list.js';
import {
  changeList,
  closedView,
  draftLines,
  statementList,
} from '../../terminal/views/statement-view.js';
import {
  changesBetween,
  monthAfter,
  type Cells,
  type Change,
} from '../../wallet/books/sealed-months.js';
import type { Books } from '../../wallet/books/gather.js';
import type { Candidate } from '../../wallet/books/movement.js';
import { balanceAfter } from '../../wallet/books/statement.js';
import type { Context } from '../context.js';
import { defineCommand } from '../define.js';
import { file, word } from '../values.js';
import { closedRows, closesOf, withBooks, zoneOption } from './open-books.js';
import { notTied, pendingIn } from './statement.js';
import { lookUpsOf, statementLines } from './lines.js';

export const statementClose = defineCommand({
  arguments: { month: word('MONTH', parseDate).describe('e.g. 2026-10') },
  options: {
    folder: file('FOLDER')
      .optional()
      .describe('folder for the files (default: statements, next to the journal)'),
    tz: zoneOption('time zone of the last close, or of this machine before the first close'),
  },
  fields: ['month', 'file', 'rows', 'sha256', 'change', 'row', 'before', 'after'],
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
  async run({ month: date, folder, tz }, context) {
    const name = nameOf(date);
    const closes = await closesOf(context);
    const last = closes.at(-1);
    const zone = tz ?? last?.zone ?? ownZone();
    const closed = closes.find(({ month }) => month === name);
    checkNext(name, zone, closes);
    const { id } = await context.account();
    const path = join(
      folder ?? join(context.home.data, 'statements'),
      `${fileNameOf(id)}-${name}.csv`,
    );
    const month = { name, zone, period: spanOf(date, zone), path };
    const { openCount } = await import('../reconcile/reconcile.js');
    const differing = openCount(month.period, context);
    try {
      await withBooks(
        { ...month, openMonth: name, ...(closed === undefined && { onPage: differing.onPage }) },
        (books) =>
          closed === undefined
            ? closeFirst(books, month, last, differing, context)
            : closeAgain(books, month, closed, context),
        context,
      );
    } finally {
      differing.close();
    }
  },
});

interface Month {
  /** The name of the month, such as `2026-10`. */
  readonly name: string;
  readonly zone: string;
  readonly period: Span;
  /** The path of the copy of the sealed statement. */
  readonly path: string;
}

function nameOf({ year, month, day }: CalendarDate): string {
  if (day !== undefined)
    throw new Failure(
      'usage',
      'Not closed: only whole months can be closed. Write a month such as 2026-10.',
    );
  return `${year}-${String(month).padStart(2, '0')}`;
}

/**
 * Throws Failure `usage` if the close would leave a gap after the last closed month, if the month
 * is before the first closed month, or if its time zone differs from that of the closed months.
 */
function checkNext(name: string, zone: string, closes: readonly Close[]): void {
  const [first, last] = [closes[0], closes.at(-1)];
  if (first === undefined || last === undefined) return;
  if (zone !== last.zone)
    throw new Failure(
      'usage',
      `Not closed: earlier months end at midnight in ${last.zone}, ` +
        `and a month in ${zone} would overlap them.`,
      { next: { do: 'run', command: `statement close ${name} --tz ${last.zone}` } },
    );
  if (name < first.month)
    throw new Failure(
      'usage',
      `Not closed: ${name} is earlier than ${first.month}, the first closed month.`,
    );
  const next = monthAfter(last.month);
  if (name > next)
    throw new Failure('usage', `Not closed: ${next} must be closed first.`, {
      next: { do: 'run', command: `statement close ${next}` },
    });
}

async function closeFirst(
  books: Books,
  month: Month,
  last: Close | undefined,
  differing: { readonly count: () => Promise<number> },
  context: Context,
): Promise<void> {
  const { name, zone, path } = month;
  const [first, ...others] = missingIn(books, month, context);
  for (const each of [...others, ...notAccepted(name, await differing.count())])
    context.out.say(`${each.message} ${adviceOf(each, context.globals) ?? ''}`);
  if (first !== undefined) throw first;
  const { lines, columns } = await rowsOf(books, month, context);
  if (last !== undefined) checkContinues(lines, last);
  const sealed = stringify([columns, ...lines.map((cells) => columns.map((each) => cells[each]))]);
  checkSealed(path, sealed);
  const { scope, client } = await context.account();
  const seal = { zone, sealed, closedAt: client.serviceNow(), closedBy: context.owner };
  if (!(await (await context.books()).addClose(scope, { month: name, ...seal })))
    throw new Failure('usage', `Another process has closed ${name} at the same time.`, {
      hint: 'To compare the closed month with the service',
      next: { do: 'run', command: 'statement close', argument: name },
    });
  await showClosed(sealed, lines.length, month, context);
}

/** Writes a copy of the sealed statement, unless the copy exists, and prints the closed month. */
async function showClosed(
  sealed: string,
  rows: number,
  { name, path }: Month,
  { out }: Context,
): Promise<void> {
  writeSealed(path, sealed);
  const result = { month: name, file: path, rows, sha256: sha256Of(sealed) };
  await out.record(result, closedView(result));
}

/**
 * Throws Failure `books-differ` if the opening balance of a wallet differs from the closing balance
 * of the last closed month.
 */
function checkContinues(lines: readonly Cells[], last: Close): void {
  const closing = new Map(
    closedRows(last).map((cells) => [`${cells['wallet']} ${cells['kind']}`, cells]),
  );
  const changed = lines.find(
    ({ wallet, kind, balance }) =>
      kind === 'opening' && (closing.get(`${wallet} closing`)?.['balance'] ?? '0') !== balance,
  );
  if (changed === undefined) return;
  throw new Failure(
    'books-differ',
    `Not closed: the closing balance of ${changed['wallet']} has changed since ${last.month} ` +
      'was closed, by a transaction before the first closed month.',
    { hint: 'To see the changes', next: { do: 'run', command: `statement close ${last.month}` } },
  );
}

/** Compares a closed month with the service, and writes only a missing copy of its statement. */
async function closeAgain(
  books: Books,
  month: Month,
  closed: Close,
  context: Context,
): Promise<void> {
  const { name } = month;
  const { lines } = await rowsOf(books, month, context);
  const before = closedRows(closed);
  const changes = changesBetween(before, lines);
  const by = `${dayWriter(month.zone)(closed.closedAt)} by ${closed.closedBy.split('/')[0]}`;
  if (changes.length === 0) {
    context.out.say(`${name} has not changed since it was closed on ${by}.`);
    return showClosed(closed.sealed, before.length, month, context);
  }
  await context.out.list(changes.map(shown), changeList);
  const next = monthAfter(name);
  throw new Failure(
    'books-differ',
    `${counted(changes.length, 'row')} changed since ${name} was closed on ${by}.`,
    {
      hint: 'The closed month stays as it is. The next open month has the changes as corrections',
      next: { do: 'run', command: `statement --from ${next}` },
    },
  );
}

const shown = ({ before, after, ...change }: Change) => ({
  ...change,
  before: before && Object.values(before).join(','),
  after: after && Object.values(after).join(','),
});

/** Returns what prevents svcpay from closing a month, in the order in which to solve it. */
function missingIn(books: Books, month: Month, context: Context): Failure[] {
  const inFlight = pendingIn(books.currencies, books, month.period);
  return [
    notOver(books, month, context),
    notTied(books.currencies, books, month.zone, context),
    unfinished(inFlight, month),
  ].flatMap((failure) => failure ?? []);
}

function unfinished([first, ...others]: readonly Candidate[], { name }: Month) {
  if (first === undefined) return undefined;
  return new Failure(
    'pending',
    `Not closed: ${counted(others.length + 1, 'transaction')} of ${name} ` +
      `${others.length === 0 ? 'is' : 'are'} still in flight.`,
    { next: { do: 'watch', id: first.txnId }, txnId: first.txnId },
  );
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

/** For a month that is not over, prints the current balances. */
function notOver(books: Books, month: Month, context: Context): Failure | undefined {
  const { name, period } = month;
  if (books.at >= period.end) return undefined;
  const balances = walletsIn(books, period).map((ccy) => ({
    ccy,
    opening: balanceAfter(books.movements(ccy), period.first),
    closing: balanceAfter(books.movements(ccy)),
  }));
  for (const line of draftLines(balances, context.terminal.stderrCanvas)) context.out.say(line);
  return new Failure('usage', `Not closed: ${name} is not over yet.`);
}

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
): Promise<{ readonly lines: readonly Cells[]; readonly columns: readonly string[] }> {
  const wallets = walletsIn(books, period);
  const wanted = { wallets, period, now: period.end, day: dayWriter(zone) };
  const columns = statementList(undefined).columns.filter(({ only }) => only !== 'screen');
  const lines: Cells[] = [];
  for await (const line of statementLines(books, wanted, {
    ...lookUpsOf(context),
    parties: () => Promise.resolve(() => undefined),
    known: () => Promise.resolve(() => undefined),
  }))
    lines.push(
      Object.fromEntries(
        columns.map((column) => [column.name, csvCell(cellIn(column, line), false)]),
      ),
    );
  return { lines, columns: columns.map(({ name }) => name) };
}

const longestName = 64;

/**
 * Converts an account id to a file name. Replaces unsafe characters in the account id, because the
 * service chooses the id. Different account ids give different file names, because two accounts
 * must not share a file.
 */
export function fileNameOf(text: string): string {
  const safe = text.replaceAll(
    /^\.|[^A-Za-z0-9.-]/gu,
    (character) => `~${character.codePointAt(0)?.toString(16)}~`,
  );
  if (safe.length <= longestName) return safe;
  return `${safe.slice(0, longestName - 17)}~${sha256Of(text).slice(0, 16)}`;
}
