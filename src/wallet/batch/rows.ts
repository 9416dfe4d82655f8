// A batch file as rows with their line numbers: read as a stream, one row in memory at a time.
import { once } from 'node:events';
import { parse } from 'csv-parse';
import { Failure } from '../../formats/failure.js';
import { errorOf } from '../../formats/unknown.js';
import { clip } from '../../formats/text.js';

/** The cells of a line by column, without empty ones. */
export interface BatchRow {
  readonly line: number;
  readonly cells: Readonly<Record<string, string>>;
}

/** A problem of a line; line 0 is the whole batch. */
export interface Problem {
  readonly line: number;
  readonly kind: 'usage' | 'limit';
  readonly message: string;
}

export const isProblem = (found: object): found is Problem => 'kind' in found && 'message' in found;

const longestRow = 65_536;

interface Read {
  readonly record: readonly string[];
  /** The first of its lines. */
  readonly line: number;
}

/**
 * Reads CSV with a header. Unreadable rows become problems, and reading continues if possible.
 *
 * @param columns the allowed names in the header, in any order and letter case
 */
export async function* readRows(
  source: AsyncIterable<Buffer>,
  columns: ReadonlySet<string>,
): AsyncGenerator<BatchRow | Problem> {
  let head: readonly string[] | undefined;
  try {
    for await (const { record, line } of records(source)) {
      if (record.every((cell) => cell.trim() === '')) continue;
      if (head === undefined) {
        head = record.map((name) => name.trim().toLowerCase());
        const problem = problemOfHead(head, columns);
        if (problem !== undefined) return yield { line, kind: 'usage', message: problem };
      } else yield readRow(line, record, head);
    }
  } catch (error) {
    return yield unreadable(error);
  }
  if (head === undefined)
    yield {
      line: 1,
      kind: 'usage',
      message: 'The file is empty: a head with the names of the columns is missing.',
    };
}

async function* records(source: AsyncIterable<Buffer>): AsyncGenerator<Read> {
  const parser = parse({ bom: true, relax_column_count: true, max_record_size: longestRow });
  const fed = feed(source, parser);
  try {
    let line = 1;
    for await (const record of parser as AsyncIterable<readonly string[]>) {
      yield { record, line };
      line += 1 + breaksWithin(record);
    }
  } finally {
    parser.destroy();
    await fed;
  }
}

/** Respects the parser's back-pressure and its early end. */
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

function problemOfHead(head: readonly string[], columns: ReadonlySet<string>): string | undefined {
  const known = [...columns].join(', ');
  const separator = head.length === 1 ? /[;\t|]/.exec(head[0] ?? '')?.[0] : undefined;
  if (separator !== undefined)
    return `The columns are separated by "${separator}": separate them by commas.`;
  const twice = head.find((name, index) => head.indexOf(name) !== index);
  if (twice !== undefined) return `The column "${clip(twice)}" is there twice.`;
  const unknown = head.find((name) => !columns.has(name));
  if (unknown !== undefined) return `There is no column "${clip(unknown)}". There are: ${known}.`;
  return head.includes('to') || head.includes('acct_num')
    ? undefined
    : `The column "to" is missing. There are: ${known}.`;
}

function readRow(
  line: number,
  record: readonly string[],
  head: readonly string[],
): BatchRow | Problem {
  if (record.length !== head.length) {
    const message = `It has ${record.length} cells, and the head has ${head.length}: quote cells that hold a comma.`;
    return { line, kind: 'usage', message };
  }
  const broken = record.findIndex((cell) => /[\uFFFD\0]/.test(cell));
  if (broken >= 0)
    return { line, kind: 'usage', message: `${head[broken] ?? ''} is not UTF-8 text.` };
  const cells = head.flatMap((name, index): [string, string][] => {
    const cell = record[index] ?? '';
    // A reference is exact.
    return cell.trim() === '' ? [] : [[name, name === 'ref' ? cell : cell.trim()]];
  });
  return { line, cells: Object.fromEntries(cells) };
}

const reasons: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'A quote is opened here and never closed.',
  CSV_INVALID_CLOSING_QUOTE: 'A quote is closed in the middle of a cell.',
  INVALID_OPENING_QUOTE:
    'A quote stands in the middle of a cell: quote the whole cell and double the quotes within.',
  CSV_MAX_RECORD_SIZE: 'It is too long to be a row.',
};

/** An error of csv-parse, after which nothing can be read. */
function unreadable(error: unknown): Problem {
  if (!(error instanceof Error) || !('code' in error) || !('lines' in error)) throw error;
  const reason = reasons[String(error.code)] ?? error.message;
  return {
    line: Number(error.lines),
    kind: 'usage',
    message: `${reason} What follows was not read.`,
  };
}

/** Turns a refusal into a problem; rethrows other errors. */
export function problemOf(line: number, error: unknown): Problem {
  if (!(error instanceof Failure) || (error.kind !== 'usage' && error.kind !== 'limit'))
    throw error;
  return {
    line,
    kind: error.kind,
    message: error.message.replace(/^Not sent: (.)/, (_, first: string) => first.toUpperCase()),
  };
}
