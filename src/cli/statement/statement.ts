// A statement of the wallets: opening balance, movements with running balances, closing balance,
// and whether the movements explain the service's balance, also in the formats of ledger and
// accounting programs. Sums the movements by currency and kind.
import type Big from 'big.js';
import { fixed, isFiat } from '../../formats/amount.js';
import { always, dayWriter, monthSpan, type Span } from '../../formats/calendar.js';
import { Failure, invalid } from '../../formats/failure.js';
import { isExchangeCredit, type StatementRow } from '../../formats/statement-row.js';
import { type Command, commandLine } from '../../terminal/next-step.js';
import { namesOf } from '../../terminal/rows/list.js';
import type { ListView } from '../../terminal/rows/view.js';
import { sanitize } from '../../terminal/text.js';
import type { Canvas } from '../../terminal/terminal.js';
import {
  differenceText,
  explanationText,
  openingLines,
  periodText,
  programColumns,
  statementList,
  type StatementTotal,
  tiedText,
  totalList,
} from '../../terminal/views/statement-view.js';
import type { Books } from '../../wallet/books/gather.js';
import { type Candidate, sumsOf } from '../../wallet/books/movement.js';
import {
  accountsBy,
  checkAccount,
  type LedgerWriter,
  ledgerWriter,
  ofxFoot,
  ofxHead,
  ofxRow,
} from '../../wallet/books/programs.js';
import {
  balanceAfter,
  type Difference,
  type StatementScope,
} from '../../wallet/books/statement.js';
import type { Context } from '../context.js';
import { defineCommand, list } from '../define.js';
import { whereaboutsOf } from '../service.js';
import { month } from '../tx/history.js';
import { choice, currency } from '../values.js';
import { accountRules } from './accounts.js';
import {
  onlyWallet,
  date,
  openBooks,
  periodOf,
  timedRows,
  walletRows,
  withLocalData,
  zoneOf,
  zoneOption,
} from './open-books.js';

const statementFormats = ['hledger', 'beancount', 'ofx', 'koinly', 'xero', 'quickbooks'] as const;

const periodOptions = {
  from: date()
    .optional()
    .describe('first day, or a month: 2026-10-01, 2026-10 (default: the first transaction)'),
  to: date().optional().describe('last day, or a month (default: today)'),
  wallet: currency().optional().describe('only the wallet in this currency'),
  tz: zoneOption(),
};

export const statement = defineCommand({
  options: {
    month: month(),
    ...periodOptions,
    format: choice(statementFormats, 'FORMAT')
      .optional()
      .describe(
        'same as -o; hledger and beancount entries assert the balances, ' +
          'ofx, xero and quickbooks export one fiat wallet',
      ),
  },
  examples: [
    [
      'svcpay statement --month 2026-10',
      'shows the wallets in October, each with its opening and closing balance',
    ],
    [
      'svcpay statement --wallet BTC -o csv > btc.csv',
      'writes the statement for a spreadsheet; exits with 10 if the entries do not add up to ' +
        'the balance',
    ],
    [
      'svcpay statement --month last -o hledger > month.journal',
      'writes ledger entries that assert the closing balances',
    ],
    [
      'svcpay statement --wallet USD -o ofx > usd.ofx',
      'writes a fiat wallet, for programs that import bank statements',
    ],
  ],
  async run({ month: of, from, to, wallet, tz, format }, context) {
    const zone = zoneOf(tz);
    if (of !== undefined && (from !== undefined || to !== undefined))
      throw invalid('Give either --month, or --from and --to, not both.');
    const period = of === undefined ? periodOf(from, to, zone) : monthSpan(of, zone, context.now());
    if (format !== undefined) checkWallet(format, wallet);
    const books = onlyWallet(await openBooks({ zone, period }, context), wallet);
    const scope = { period, day: dayWriter(zone) };
    return {
      books,
      scope,
      rows: withLocalData(walletRows(books, scope), context),
      file: format && fileOf(format, books, scope, zone, context),
      failure: notTied(books, scope.day, context),
    };
  },
  view: {
    fields: namesOf(undefined, statementList),
    dataOf: ({ rows }: Statement) => rows,
    print({ rows, file }, parts: Partial<ListView<StatementRow>>, { out }) {
      if (file === undefined) return out.list(rows, { ...statementList, ...parts });
      if ('text' in file) return out.pour(file.text);
      return out.file('csv', file.rows, { ...statementList, ...file });
    },
  },
  async adapt({ books, scope, failure }, { wallet, tz }, context) {
    const { tied, at } = books;
    const isTied = failure === undefined && tied.length > 0;
    return {
      heading: await headingOf(books, scope, zoneOf(tz), context),
      ...(wallet !== undefined && { group: undefined }),
      ...(isTied && { footer: tiedText(tied, scope.period.end <= at) }),
    };
  },
  // The statement does not contain the transactions that have not settled.
  remarks: ({ books, scope, failure }, { terminal }) =>
    failure === undefined
      ? pendingIn(books, scope.period).map(
          (each) => `  ${explanationText({ ...each, isExact: false })}`,
        )
      : unexplainedLines(books, terminal.stderrCanvas),
  failure: ({ failure }) => failure,
});

/** A text in pieces, or rows with the columns of a program that reads CSV. */
type StatementFile =
  | { readonly text: AsyncIterable<string> }
  | (Pick<ListView<StatementRow>, 'columns'> & { readonly rows: AsyncIterable<StatementRow> });

interface Statement {
  readonly books: Books;
  readonly scope: StatementScope;
  readonly rows: AsyncIterable<StatementRow>;
  /** The statement in the format of another program. */
  readonly file: StatementFile | undefined;
  /** The failure of a statement that does not add up. */
  readonly failure: Failure | undefined;
}

/** The transactions in flight that were created in the period. */
export const pendingIn = (
  { currencies, candidates }: Books,
  { first, end }: Span,
): readonly Candidate[] =>
  currencies
    .flatMap((ccy) => candidates(ccy))
    .filter(({ reason, at }) => reason === 'in flight' && at >= first && at < end);

/**
 * Builds the heading of a statement, such as `BTC · October 2026 · UTC`, with the account at the
 * right end.
 */
async function headingOf(
  { currencies: [only, ...others] }: Books,
  { period: { first, end }, day }: StatementScope,
  zone: string,
  context: Context,
): Promise<readonly [string, string] | undefined> {
  if (!context.out.forPeople) return undefined;
  const from = first <= always.first ? undefined : day(first);
  const to = end >= always.end ? undefined : day(end - 1);
  const left = [others.length === 0 ? (only ?? '') : 'All wallets', periodText(from, to), zone];
  const { service, accountId } = await whereaboutsOf(context);
  return [left.join(' · '), `${service} · ${accountId}`];
}

/**
 * Returns undefined if the transactions explain the balances. Otherwise, returns a failure whose
 * hint contains a command that records an unexplained amount.
 */
export function notTied(
  books: Books,
  day: StatementScope['day'],
  { globals }: Pick<Context, 'globals'>,
): Failure | undefined {
  const { differences, openings, at } = books;
  const [[difference], [opening]] = [differences, openings];
  const adjusting = (value: Big, ccy: string, on: number, note: string): Command => ({
    command: 'statement adjust',
    argument: `${fixed(value)}${ccy.toLowerCase()}`,
    options: { '--on': day(on), '--note': note },
  });
  if (difference !== undefined) {
    const { ccy, difference: value, lastTied = at } = difference;
    const [hint, note] = value.gt(0)
      ? ['If it came to your permanent address', 'deposit']
      : ['If the money left without a listed transaction', 'withdrawal'];
    return new Failure(
      'books-differ',
      'The statement does not add up. ' +
        `${differences.map(differenceWithReasons).join('. ')}. ` +
        `To compare each transaction: ${commandLine({ command: 'reconcile' }, globals)}`,
      { hint, next: { do: 'run', ...adjusting(value, ccy, lastTied, note) } },
    );
  }
  if (opening === undefined) return undefined;
  const names = openings.map(({ ccy }) => ccy).join(', ');
  return new Failure('books-differ', `No transaction explains the opening balance of ${names}.`, {
    hint: `Record the opening balance of ${opening.ccy} once`,
    next: {
      do: 'run',
      ...adjusting(opening.value, opening.ccy, opening.at, 'opening balance'),
    },
  });
}

/** Describes the unexplained amounts, and the transactions that could explain them. */
export const unexplainedLines = ({ openings, differences }: Books, canvas: Canvas): string[] => [
  ...openingLines(openings, canvas),
  ...differences
    .flatMap(({ explanations }) => explanations)
    .map((each) => `  ${explanationText(each)}`),
];

function differenceWithReasons(difference: Difference): string {
  const exact = difference.explanations
    .filter(({ isExact }) => isExact)
    .map(({ txnId, reason }) => `${txnId} (${reason})`);
  const text = differenceText(difference);
  return exact.length === 0
    ? text
    : `${text}. The difference is exactly the amount of ${exact.join(', ')}`;
}

export const statementTotals = defineCommand({
  options: periodOptions,
  examples: [
    ['svcpay statement totals --from 2026-10 --to 2026-10', 'sums a month by currency and kind'],
  ],
  async run({ from, to, wallet, tz }, context) {
    const zone = zoneOf(tz);
    const period = periodOf(from, to, zone);
    const books = onlyWallet(await openBooks({ zone, period }, context), wallet);
    const rows = books.currencies.flatMap((each) =>
      sumsOf(books.movements(each, period), ({ wallet: ccy, kind }) =>
        moves.has(kind) ? { ccy, kind } : undefined,
      ),
    );
    return { books, rows, failure: notTied(books, dayWriter(zone), context) };
  },
  view: list<StatementTotal, { readonly rows: readonly StatementTotal[] }>(
    totalList,
    ({ rows }) => rows,
  ),
  remarks: ({ books }, { terminal }) => unexplainedLines(books, terminal.stderrCanvas),
  failure: ({ failure }) => failure,
});

const moves: ReadonlySet<string> = new Set(['receive', 'send', 'swap']);

type StatementFormat = (typeof statementFormats)[number];

const ofOneWallet: ReadonlySet<StatementFormat> = new Set(['ofx', 'xero', 'quickbooks']);

/** Throws Failure `usage` if the format does not support the chosen wallet. */
function checkWallet(format: StatementFormat, wallet: string | undefined): void {
  if (!ofOneWallet.has(format) && wallet !== undefined)
    throw invalid(
      `-o ${format} exports all wallets, because an entry can belong to two wallets. ` +
        'Remove --wallet.',
    );
  if (ofOneWallet.has(format) && (wallet === undefined || !isFiat(wallet)))
    throw invalid(`-o ${format} exports one fiat wallet. Name the wallet, e.g. --wallet USD.`);
}

/** Writes a statement in the format. Throws Failure `usage` for too many rows. */
function fileOf(
  format: StatementFormat,
  books: Books,
  scope: StatementScope,
  zone: string,
  context: Context,
): StatementFile {
  const rows = withLocalData(timedRows(books, scope), context);
  if (format === 'ofx') return { text: ofxText(rows, books, scope, context) };
  const rules = accountRules(context);
  const accountOf = accountsBy(rules);
  if (format === 'hledger' || format === 'beancount') {
    for (const [index, { account }] of rules.entries()) checkAccount(account, index + 2);
    const writer = ledgerWriter(format, zone, accountOf, sanitize);
    return { text: ledgerText(writer, rows, books, scope, context) };
  }
  if (ofOneWallet.has(format)) checkCount(books, scope);
  const columns = programColumns[format]((row) => accountOf(row));
  return { columns, rows: format === 'koinly' ? exchangesOnce(rows) : rows };
}

const mostRows = 1_000;

function checkCount({ movements }: Books, { period }: StatementScope): void {
  const [sum] = sumsOf(movements(undefined, period), () => ({}));
  if (sum !== undefined && sum.count > mostRows)
    throw invalid(`The statement has more than ${mostRows} rows, the maximum for one file.`, {
      hint: 'Choose a shorter period, e.g. with --month.',
    });
}

async function* exchangesOnce(rows: AsyncIterable<StatementRow>): AsyncGenerator<StatementRow> {
  for await (const row of rows) if (!isExchangeCredit(row)) yield row;
}

async function* ledgerText(
  writer: LedgerWriter,
  rows: AsyncIterable<StatementRow>,
  books: Books,
  scope: StatementScope,
  context: Context,
): AsyncGenerator<string> {
  const { period, day } = scope;
  yield writer.head;
  if (period.first > 0 && writer.opening !== undefined)
    for (const ccy of books.currencies) {
      const value = balanceAfter(books.movements(ccy), period.first);
      yield writer.opening(day(period.first), { ccy, value });
    }
  else if (period.first > 0) {
    // The files of earlier periods contain the declarations of their entries.
    const before = { period: { first: 0, end: period.first }, day };
    let earlier = '';
    for await (const row of withLocalData(timedRows(books, before), context))
      earlier = writer.entry(row) || earlier;
    if (earlier !== '')
      yield (
        `; Continues the files that end on ${day(period.first - 1)}. ` +
          'Include those files before this file.\n'
      );
  }
  for await (const row of rows) yield writer.entry(row);
  for (const ccy of books.currencies) yield closingText(ccy, writer, books, scope);
}

/**
 * Asserts the balance that the service reports, so that the ledger program refuses a statement
 * whose entries do not add up to that balance. If the period ends after the last time at which the
 * transactions explained the wallet's whole balance, the asserted balance includes the unexplained
 * difference.
 */
function closingText(
  ccy: string,
  writer: LedgerWriter,
  { movements, differences, at }: Books,
  { period, day }: StatementScope,
): string {
  const { difference, lastTied = 0 } = differences.find((each) => each.ccy === ccy) ?? {};
  const [first] = movements(ccy);
  if (difference === undefined && (first === undefined || first.at >= period.end)) return '';
  const added = balanceAfter(movements(ccy), period.end);
  const value = difference === undefined || period.end <= lastTied ? added : added.plus(difference);
  return writer.closing(day(Math.min(period.end - 1, at)), { ccy, value });
}

async function* ofxText(
  rows: AsyncIterable<StatementRow>,
  { at, currencies: [ccy = ''], movements }: Books,
  { period }: StatementScope,
  context: Context,
): AsyncGenerator<string> {
  const [first] = movements(ccy);
  const span = { first: Math.max(period.first, first?.at ?? 0), end: Math.min(period.end, at + 1) };
  const { id } = await context.account();
  yield ofxHead({ ccy, accountId: id, bank: context.settings.maker }, span, at);
  for await (const row of rows) yield ofxRow(row, sanitize);
  yield ofxFoot(balanceAfter(movements(ccy), period.end), span, ccy);
}
