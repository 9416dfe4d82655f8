// Writes a statement for ledger and accounting programs. Each format contains the same rows, dates
// and adjustments as the statement.
import { stringify } from 'csv-stringify/sync';
import { isFiat } from '../../formats/amount.js';
import { Failure } from '../../formats/failure.js';
import { asPlainCell } from '../../formats/text.js';
import { sanitize } from '../../terminal/sanitize.js';
import { checkAccount, type AccountOf } from '../../wallet/books/accounts.js';
import type { Books } from '../../wallet/books/gather.js';
import { beancountWriter, hledgerWriter, type LedgerWriter } from '../../wallet/books/ledger.js';
import { ofxFoot, ofxHead, ofxRow, programFormats } from '../../wallet/books/programs.js';
import type { StatementRow } from '../../formats/statement-row.js';
import { balanceAfter, type StatementScope } from '../../wallet/books/statement.js';
import type { Context } from '../context.js';
import { accountRules } from './accounts.js';
import { lookUpsOf, statementLines, timedLines } from './lines.js';

export const statementFormats = [
  'hledger',
  'beancount',
  'ofx',
  'koinly',
  'xero',
  'quickbooks',
] as const;

export type StatementFormat = (typeof statementFormats)[number];

const ofOneWallet: ReadonlySet<StatementFormat> = new Set(['ofx', 'xero', 'quickbooks']);

/** Throws Failure `usage` if the format does not support the chosen wallet. */
export function checkWallet(format: StatementFormat, wallet: string | undefined): void {
  if (!ofOneWallet.has(format) && wallet !== undefined)
    throw new Failure(
      'usage',
      `-o ${format} exports all wallets, because an entry can belong to two wallets. ` +
        'Remove --wallet.',
    );
  if (ofOneWallet.has(format) && (wallet === undefined || !isFiat(wallet)))
    throw new Failure(
      'usage',
      `-o ${format} exports one fiat wallet. Name the wallet, e.g. --wallet USD.`,
    );
}

/** Yields the text of a statement in the format. */
export async function* statementText(
  format: StatementFormat,
  books: Books,
  scope: StatementScope,
  zone: string,
  context: Context,
): AsyncGenerator<string> {
  const { accountOf, rules } = await accountRules(context);
  if (format === 'ofx') return yield* ofxText(books, scope, context);
  if (format === 'hledger' || format === 'beancount') {
    for (const [index, { account }] of rules.entries()) checkAccount(account, index + 2);
    const create = format === 'hledger' ? hledgerWriter : beancountWriter;
    return yield* ledgerText(create(zone, accountOf, sanitize), books, scope, context);
  }
  yield* programText(format, books, scope, accountOf, context);
}

async function* ledgerText(
  writer: LedgerWriter,
  books: Books,
  scope: StatementScope,
  context: Context,
): AsyncGenerator<string> {
  const { wallets, period, day } = scope;
  const lookUps = lookUpsOf(context);
  yield writer.head;
  const isLater = period.first > 0;
  if (isLater && writer.opens)
    for (const ccy of wallets) {
      const value = balanceAfter(books.movements(ccy), period.first);
      const text = writer.opening(day(period.first), { ccy, value });
      yield writer.declarations() + text;
    }
  if (isLater && !writer.opens) {
    // The files of earlier periods contain the declarations of their entries.
    let hasEarlier = false;
    const before = { period: { first: 0, end: period.first }, day };
    for await (const row of timedLines(books, before, lookUps))
      hasEarlier = writer.entry(row) !== '' || hasEarlier;
    writer.declarations();
    if (hasEarlier)
      yield (
        `; Continues the files that end on ${day(period.first - 1)}. ` +
          'Include those files before this file.\n'
      );
  }
  for await (const row of timedLines(books, scope, lookUps)) {
    const text = writer.entry(row);
    yield writer.declarations() + text;
  }
  for (const ccy of wallets) {
    const text = closingText(ccy, writer, books, scope);
    yield writer.declarations() + text;
  }
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
  { movements, differences }: Books,
  { period, now, day }: StatementScope,
): string {
  const { difference, lastTied = 0 } = differences.find((each) => each.ccy === ccy) ?? {};
  const [first] = movements(ccy);
  if (difference === undefined && (first === undefined || first.at >= period.end)) return '';
  const added = balanceAfter(movements(ccy), period.end);
  const value = difference === undefined || period.end <= lastTied ? added : added.plus(difference);
  return writer.closing(day(Math.min(period.end - 1, now)), { ccy, value });
}

async function* ofxText(
  books: Books,
  scope: StatementScope,
  context: Context,
): AsyncGenerator<string> {
  const { wallets, period, now } = scope;
  const [ccy = ''] = wallets;
  const [first] = books.movements(ccy);
  const span = {
    first: Math.max(period.first, first?.at ?? 0),
    end: Math.min(period.end, now + 1),
  };
  const { id } = await context.account();
  yield ofxHead({ ccy, accountId: id, bank: context.settings.maker }, span, now);
  for await (const row of statementLines(books, scope, lookUpsOf(context)))
    if (isMovement(row)) yield ofxRow(row, sanitize);
    else if (row.kind === 'closing') yield ofxFoot(row.balance, span, ccy);
}

const isMovement = ({ kind }: StatementRow): boolean =>
  kind !== 'opening' && kind !== 'closing' && kind !== 'difference';

async function* programText(
  format: keyof typeof programFormats,
  books: Books,
  scope: StatementScope,
  accountOf: AccountOf,
  context: Context,
): AsyncGenerator<string> {
  const { columns, cells, atMost } = programFormats[format];
  const { rawCells } = context.globals;
  const cell = (text: string): string =>
    rawCells || isNumber.test(text) ? sanitize(text) : asPlainCell(sanitize(text));
  const lookUps = lookUpsOf(context);
  const rows = ofOneWallet.has(format)
    ? statementLines(books, scope, lookUps)
    : timedLines(books, scope, lookUps);
  let text = stringify([columns]);
  let count = 0;
  for await (const row of rows) {
    const found = isMovement(row) ? cells(row, accountOf) : undefined;
    if (found === undefined) continue;
    if ((count += 1) > atMost)
      throw new Failure(
        'usage',
        `The statement has more than ${atMost} rows, the maximum for one file.`,
        { hint: 'Choose a shorter period, e.g. with --month.' },
      );
    text += stringify([found.map(cell)]);
    if (atMost < Infinity || text.length < pieceLength) continue;
    yield text;
    text = '';
  }
  yield text;
}

const isNumber = /^-?\d+(?:\.\d+)?$/;

/** The number of characters of a piece of the text, which costs less than a piece for each row. */
const pieceLength = 65_536;
