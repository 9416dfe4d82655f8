// Reads a batch file as rows with their line numbers.
import { parse } from 'csv-parse/sync';
import { Failure, invalid } from '../../formats/failure.js';
import { clip, entryOf, fromPlainCell } from '../../formats/text.js';
import leven from 'leven';

/** The cells of a line by column, excluding empty cells. */
export interface BatchRow {
  readonly line: number;
  readonly cells: Readonly<Record<string, string>>;
}

/** A problem in a line of the batch file. A problem at line 0 concerns the whole batch. */
export interface Problem {
  readonly line: number;
  readonly column?: string | undefined;
  readonly kind: 'usage' | 'limit';
  readonly message: string;
  /** Whether the problem concerns the header, so that svcpay has read no row. */
  readonly isHeader?: true;
}

/** The refusal of one cell, with the name of its column. */
export class CellFailure extends Failure {
  readonly column: string;

  constructor(column: string, { kind, why, money, hint }: Failure) {
    super(kind, why, { money, hint });
    this.column = column;
  }
}

export const cellFailure = (column: string, message: string): CellFailure =>
  new CellFailure(column, invalid(message));

export const isProblem = (found: object): found is Problem => 'kind' in found && 'message' in found;

/** The options of csv-parse, with the size of the longest row. */
const format = { relax_column_count: true, max_record_size: 65_536 } as const;

/**
 * Reads CSV with a header. For an unreadable row, returns a problem. After an error of csv-parse,
 * the rest of the file stays unread.
 */
export function readRows(bytes: Buffer, columns: Columns): (BatchRow | Problem)[] {
  const { separator, text, firstLine } = separated(bytes.toString());
  const rows: (BatchRow | Problem)[] = [];
  let head: Head | undefined;
  let line = firstLine;
  try {
    for (const record of parse(text, { ...format, delimiter: separator })) {
      if (record.some(isFilled)) {
        if (head === undefined) head = readHead(record, columns);
        else rows.push(readRow(line, record, head));
      }
      line += 1 + breaksWithin(record);
    }
    if (head === undefined)
      throw refused('The file is empty. Its first line must be a header with the column names.');
    return rows;
  } catch (error) {
    return [
      error instanceof Failure
        ? { line, kind: 'usage', message: error.why, isHeader: true }
        : unreadable(error),
    ];
  }
}

const isFilled = (cell: string): boolean => cell.trim() !== '';

const breaksWithin = (record: readonly string[]): number =>
  record.reduce((sum, cell) => sum + (cell.match(/\r\n|[\r\n]/g)?.length ?? 0), 0);

/** Reads a row. Empty cells after the last column come from a comma at the end of the line. */
function readRow(
  line: number,
  record: readonly string[],
  { names, isResult, isInput, size }: Head,
): BatchRow | Problem {
  const problem = (message: string): Problem => ({ line, kind: 'usage', message });
  if (record.length < size || record.slice(size).some(isFilled))
    return problem(
      `The row has ${record.length} cells, but the header has ${size}. Quote cells ` +
        'that contain a separator.',
    );
  const broken = record.findIndex((cell) => /[\uFFFD\0]/.test(cell));
  if (broken >= 0) return problem(`${names[broken] ?? ''} is not UTF-8 text.`);
  const cells = Object.fromEntries(
    names.flatMap((name, index): [string, string][] => {
      const given = record[index] ?? '';
      const cell = isResult ? fromPlainCell(given) : given;
      // Trims every cell except a reference, because svcpay compares references exactly.
      return name !== undefined && isFilled(cell)
        ? [[name, name === 'ref' ? cell : cell.trim()]]
        : [];
    }),
  );
  return { line, cells: isInput ? asInput(cells) : cells };
}

/**
 * Converts the cells of a result file to the cells of a batch file. The cell `to` of a result file
 * may contain the account of a payout.
 */
function asInput({ to, ...cells }: BatchRow['cells']): BatchRow['cells'] {
  const isPayout = cells['acct_num'] !== undefined || cells['recipient'] !== undefined;
  return to === undefined || isPayout ? cells : { ...cells, to };
}

const reasons: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'The quotation mark that opens here is never closed.',
  CSV_INVALID_CLOSING_QUOTE: 'A quotation mark closes in the middle of a cell.',
  INVALID_OPENING_QUOTE:
    'A quotation mark opens in the middle of a cell. Put the whole cell in quotation marks, and ' +
    'double each quotation mark inside the cell.',
  CSV_MAX_RECORD_SIZE: 'The row is too long.',
};

/**
 * The problem to report for an error of csv-parse. After an error of csv-parse, svcpay cannot read
 * the rest of the file.
 */
function unreadable(error: unknown): Problem {
  if (!(error instanceof Error) || !('code' in error) || !('lines' in error)) throw error;
  const reason = reasons[String(error.code)] ?? clip(error.message, 200);
  return {
    line: Number(error.lines),
    kind: 'usage',
    message: `${reason} The rest of the file was not read.`,
  };
}

/** Converts the refusal of a row to a problem in its line. Rethrows other errors. */
export function problemOf(line: number, error: unknown): Problem {
  if (!(error instanceof Failure) || (error.kind !== 'usage' && error.kind !== 'limit'))
    throw error;
  return {
    line,
    column: error instanceof CellFailure ? error.column : undefined,
    kind: error.kind,
    message: error.why,
  };
}

/** Reads a cell, and adds the name of the column to a refusal that names none. */
export function inColumn<T>(column: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const isUnplaced = error instanceof Failure && !(error instanceof CellFailure);
    throw isUnplaced ? new CellFailure(column, error) : error;
  }
}

const separators = [',', ';', '\t'] as const;

/**
 * Finds the separator of a CSV file: the separator in a first line such as `sep=;`, or the most
 * frequent separator in the header outside quotes. Also returns the line at which the rows begin.
 */
function separated(file: string) {
  const whole = file.replace(/^\uFEFF/, '');
  const named = /^sep=(.)\r?(?:\n|$)/i.exec(whole);
  if (named?.[1] !== undefined)
    return { separator: named[1], text: whole.slice(named[0].length), firstLine: 2 };
  const head = /^[^\r\n]*/.exec(whole.trimStart())?.[0].replaceAll(/"[^"]*"/g, '') ?? '';
  const counts = separators.map((each) => head.split(each).length);
  const separator = separators[counts.indexOf(Math.max(...counts))] ?? ',';
  return { separator, text: whole, firstLine: 1 };
}

export interface Columns {
  /** The column names that the header may contain, in any order and letter case. */
  readonly names: ReadonlySet<string>;
  /** The columns of a result file that describe the outcome of a row. */
  readonly ofResult: ReadonlySet<string>;
  /** Whether svcpay ignores columns with unknown names. */
  readonly ignoreOthers: boolean;
}

interface Head {
  /** The column names by position, with undefined for an ignored column. */
  readonly names: readonly (string | undefined)[];
  /** Whether the file is a result file, whose cells were made safe for spreadsheets. */
  readonly isResult: boolean;
  /** Whether the file is a result file that svcpay reads as a batch file. */
  readonly isInput: boolean;
  /** The minimum number of cells in a row, excluding nameless columns at the end. */
  readonly size: number;
}

/** Reads the header. Throws Failure `usage` for its first problem. */
function readHead(record: readonly string[], columns: Columns): Head {
  const { names, ofResult, ignoreOthers } = columns;
  const head = record.map((name) => name.trim().toLowerCase());
  const size = head.findLastIndex((name) => name !== '') + 1;
  const isResult = head.includes('outcome') && head.includes('txnid');
  const isIgnored = (name: string): boolean =>
    name.startsWith('#') ||
    (!names.has(name) &&
      ((isResult && ofResult.has(name)) || (ignoreOthers && meant(name, names) === undefined)));
  if (head.length === 1 && head[0]?.includes('|') === true)
    throw refused('The columns are separated by "|". Use commas, semicolons or tabs.');
  checkNames(
    head.slice(0, size).filter((name) => !isIgnored(name)),
    names,
  );
  return {
    names: head.map((name, i) => (i >= size || isIgnored(name) ? undefined : name)),
    isResult,
    isInput: isResult && !names.has('outcome'),
    size,
  };
}

const refused = (why: string): Failure => invalid(why);

function checkNames(used: readonly string[], names: Columns['names']): void {
  const allNames = [...names].join(', ');
  const twice = used.find((name, index) => used.indexOf(name) !== index);
  if (twice !== undefined) throw refused(`The column "${clip(twice)}" occurs twice.`);
  const unknown = used.find((name) => !names.has(name));
  if (unknown === '')
    throw refused('A column has no name. Name the column, or begin its name with #.');
  if (unknown !== undefined) {
    const close = meant(unknown, names);
    const advice =
      close === undefined
        ? 'To ignore the column, begin its name with #, or use --ignore-columns.'
        : `Did you mean "${close}"?`;
    throw refused(`There is no column "${clip(unknown)}". ${advice} The columns are: ${allNames}.`);
  }
  if (!['to', 'recipient', 'acct_num'].some((name) => used.includes(name)))
    throw refused(`The column "to" is missing. There are: ${allNames}.`);
}

/** Maps the column names that other programs use in batch files to svcpay's own names. */
const otherNames: Readonly<Record<string, string>> = {
  reference: 'ref',
  id: 'ref',
  payment_id: 'ref',
  destination: 'to',
  address: 'to',
  sum: 'amount',
  ccy: 'currency',
  unit: 'currency',
  account: 'acct_num',
  account_number: 'acct_num',
  bank: 'institution',
};

/**
 * Returns svcpay's name for a misspelled column name, or for a column name from another program.
 * svcpay never ignores a column with a misspelled name.
 */
function meant(name: string, names: Columns['names']): string | undefined {
  const plain = name.replaceAll(/[\s-]+/g, '_');
  if (names.has(plain)) return plain;
  const edits = plain.length < 4 ? 0 : plain.length < 6 ? 1 : 2;
  return entryOf(otherNames, plain) ?? [...names].find((each) => leven(plain, each) <= edits);
}
