// Reads a batch file as rows with their line numbers. svcpay reads the file as a stream, with one
// row in memory at a time.
import { once } from 'node:events';
import { parse } from 'csv-parse';
import { Failure } from '../../formats/failure.js';
import { errorOf } from '../../formats/unknown.js';
import { clip, fromPlainCell } from '../../formats/text.js';
import { readHead, type Columns, type Head } from './head.js';

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
}

/** The refusal of one cell, with the name of its column. */
export class CellFailure extends Failure {
  readonly column: string;

  constructor(column: string, { kind, message, hint, reason }: Failure) {
    super(kind, message, { hint, reason });
    this.column = column;
  }
}

export const isProblem = (found: object): found is Problem => 'kind' in found && 'message' in found;

const longestRow = 65_536;

interface Read {
  readonly record: readonly string[];
  /** The number of the row's first line. */
  readonly line: number;
}

/**
 * Reads CSV with a header. For an unreadable row, yields a problem, and then reads the next row if
 * possible.
 */
export async function* readRows(
  source: AsyncIterable<Buffer>,
  columns: Columns,
): AsyncGenerator<BatchRow | Problem> {
  let head: Head | undefined;
  try {
    for await (const { record, line } of records(await openSeparated(source, longestRow))) {
      if (record.every((cell) => cell.trim() === '')) continue;
      if (head === undefined) {
        const read = readHead(record, columns);
        if (typeof read === 'string') return yield { line, kind: 'usage', message: read };
        head = read;
      } else yield readRow(line, record, head);
    }
  } catch (error) {
    return yield unreadable(error);
  }
  if (head === undefined)
    yield {
      line: 1,
      kind: 'usage',
      message: 'The file is empty. Its first line must be a header with the column names.',
    };
}

async function* records({ bytes, separator, firstLine }: Separated): AsyncGenerator<Read> {
  const parser = parse({
    bom: true,
    delimiter: separator,
    relax_column_count: true,
    max_record_size: longestRow,
  });
  const fed = feed(bytes, parser);
  try {
    let line = firstLine;
    for await (const record of parser as AsyncIterable<readonly string[]>) {
      yield { record, line };
      line += 1 + breaksWithin(record);
    }
  } finally {
    parser.destroy();
    await fed;
  }
}

/**
 * Passes the file to the parser. Waits while the parser's buffer is full, and stops if the parser
 * ends early.
 */
async function feed(
  source: AsyncIterable<Buffer>,
  parser: ReturnType<typeof parse>,
): Promise<void> {
  const closed = new Promise((resolve) => parser.once('close', resolve));
  try {
    for await (const chunk of source) {
      if (parser.destroyed) return;
      if (!parser.write(chunk)) await Promise.race([closed, once(parser, 'drain')]);
    }
    if (!parser.destroyed) parser.end();
  } catch (error) {
    parser.destroy(errorOf(error));
  }
}

const breaksWithin = (record: readonly string[]): number =>
  record.reduce((sum, cell) => sum + (cell.match(/\r\n|[\r\n]/g)?.length ?? 0), 0);

/** Reads a row. Empty cells after the last column come from a comma at the end of the line. */
function readRow(
  line: number,
  record: readonly string[],
  { names, isResult, isInput, size }: Head,
): BatchRow | Problem {
  const isTooLong = record.slice(size).some((cell) => cell.trim() !== '');
  if (isTooLong || record.length < size) {
    const message =
      `The row has ${record.length} cells, but the header has ${size}. Quote cells ` +
      'that contain a separator.';
    return { line, kind: 'usage', message };
  }
  const broken = record.findIndex((cell) => /[\uFFFD\0]/.test(cell));
  if (broken >= 0)
    return { line, kind: 'usage', message: `${names[broken] ?? ''} is not UTF-8 text.` };
  const cells = names.flatMap((name, index): [string, string][] => {
    const cell = isResult ? fromPlainCell(record[index] ?? '') : (record[index] ?? '');
    // Trims every cell except a reference, because svcpay compares references exactly.
    return name === undefined || cell.trim() === ''
      ? []
      : [[name, name === 'ref' ? cell : cell.trim()]];
  });
  return { line, cells: isInput ? asInput(Object.fromEntries(cells)) : Object.fromEntries(cells) };
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
    message: error.reason === undefined ? error.message : `${error.reason}.`,
  };
}

/** Reads a cell, and adds the name of the column to a refusal. */
export function inColumn<T>(column: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof Failure ? new CellFailure(column, error) : error;
  }
}

interface Separated {
  /** The content of the file without its `sep=` line. */
  readonly bytes: AsyncIterable<Buffer>;
  readonly separator: string;
  /** The line number in the file at which `bytes` begins. */
  readonly firstLine: number;
}

const separators = [',', ';', '\t'] as const;

/**
 * Finds the separator of a CSV file: the separator in a first line such as `sep=;`, or the most
 * frequent separator in the header.
 * @param longest the maximum number of bytes of the first lines to examine
 */
async function openSeparated(source: AsyncIterable<Buffer>, longest: number): Promise<Separated> {
  const chunks = source[Symbol.asyncIterator]();
  let start = Buffer.alloc(0);
  let failure: unknown;
  while (start.length < longest && !hasHead(start)) {
    const next = await chunks.next().catch((error: unknown) => {
      failure = error;
      return { done: true as const, value: undefined };
    });
    if (next.done === true) break;
    start = Buffer.concat([start, next.value]);
  }
  const named = /^(?:\u00EF\u00BB\u00BF)?sep=(.)\r?(?:\n|$)/i.exec(start.toString('latin1'));
  const left = named === null ? start : start.subarray(named[0].length);
  const separator = named?.[1] ?? likeliest(left.toString('latin1'));
  const bytes = async function* (): AsyncGenerator<Buffer> {
    yield left;
    if (failure !== undefined) throw errorOf(failure);
    yield* { [Symbol.asyncIterator]: () => chunks };
  };
  return { bytes: bytes(), separator, firstLine: named === null ? 1 : 2 };
}

/**
 * Whether the first two lines are complete. The first line may name the separator, in which case
 * the second line is the header.
 */
function hasHead(start: Buffer): boolean {
  const whole = start.toString('latin1').split('\n').slice(0, -1);
  return whole.filter((line) => line.trim() !== '').length >= 2;
}

/** Returns the most frequent separator of a text. Separators within quotes do not count. */
function likeliest(text: string): string {
  const [head = ''] = text.split(/\r\n|[\r\n]/).filter((line) => line.trim() !== '');
  const bare = head.replaceAll(/"[^"]*"/g, '');
  const counts = separators.map((each) => bare.split(each).length);
  return separators[counts.indexOf(Math.max(...counts))] ?? ',';
}
