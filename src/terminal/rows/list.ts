// Prints rows on stdout. For people, svcpay draws a table in parts. For machines, svcpay prints one
// row at a time, and each format defines the text before, between and after the rows.
import { atBothEnds, sanitize } from '../text.js';
import {
  type Cell,
  cellIn,
  cellText,
  checkNames,
  columnsFor,
  type Fields,
  type Format,
  type ListView,
  pathsOf,
  picked,
  type Rows,
  type RowView,
} from './view.js';
import type { Canvas, OutputStream, Terminal } from '../terminal.js';
import { asPlainCell } from '../../formats/text.js';
import { toJson } from './json.js';

/** The output options of rows, which svcpay determines once per command. */
export interface RowOptions {
  readonly terminal: Terminal;
  readonly format: Format;
  readonly fields: Fields;
  /** Whether CSV cells stay unchanged, even if a spreadsheet would execute a cell. */
  readonly rawCells: boolean;
  /** Whether svcpay prints a single value for each row (`-q`). */
  readonly onlyValue: boolean;
}

/**
 * The number of rows that svcpay draws together, enough to choose column widths and few enough to
 * save memory.
 */
const rowsAtOnce = 500;

/** Prints the lines of a table while rows arrive. Returns false if no row arrived. */
export async function listTable<T extends object>(
  { terminal, fields }: RowOptions,
  rows: Rows<T>,
  view: Pick<ListView<T>, 'columns' | 'heading' | 'group' | 'fields'>,
  print: (lines: readonly string[]) => void,
): Promise<boolean> {
  const { createTable } = await import('./table.js');
  const draw = createTable<T>(columnsFor('screen', fields, view.columns), {
    style: terminal.style,
    columns: terminal.stdoutIsTty ? terminal.columns : Infinity,
  });
  let isEmpty = true;
  let group: string | undefined;
  const groupLines = (row: T): string[] => {
    const own = fields === undefined ? view.group?.(row) : undefined;
    if (own === group) return [];
    group = own;
    return [`  ${terminal.style.bold(sanitize(own ?? ''))}`];
  };
  for await (const part of inParts(rows, rowsAtOnce)) {
    if (isEmpty) checkFirst(part[0], view, fields);
    if (isEmpty && view.heading !== undefined) print(besideTable(view.heading, terminal));
    isEmpty = false;
    const { head, rows } = draw(part);
    print([...head, ...part.flatMap((row, i) => [...groupLines(row), ...(rows[i] ?? [])])]);
    if (terminal.stdoutClosed()) break;
  }
  if (isEmpty) checkFirst(undefined, view, fields);
  return !isEmpty;
}

/** Returns a text, or a text for each end of a line, as dim lines above or below a table. */
export function besideTable(
  text: string | readonly [left: string, right: string],
  { style, columns }: Canvas,
): string[] {
  const [left, right] = typeof text === 'string' ? [text, ''] : text;
  return atBothEnds(sanitize(left), sanitize(right), columns - 2).map(
    (line) => `  ${style.dim(line)}`,
  );
}

/**
 * Writes each row of machine-readable output as soon as the row arrives. Returns false if no row
 * arrived.
 */
export async function listRows<T extends object>(
  options: RowOptions,
  rows: Rows<T>,
  view: RowView<T>,
): Promise<boolean> {
  const { terminal } = options;
  const writer = await rowWriter(options, view);
  const sink = createSink(terminal.stdout);
  let isEmpty = true;
  try {
    for await (const row of rows) {
      if (isEmpty) checkFirst(row, view, options.fields);
      if (terminal.stdoutClosed()) break;
      // svcpay writes no text before the first row, so that stdout stays empty if the command fails
      // early.
      await sink.push((isEmpty ? writer.open : writer.between) + writer.row(row));
      isEmpty = false;
    }
    if (isEmpty) checkFirst(undefined, view, options.fields);
    await sink.push(isEmpty ? writer.none : writer.close);
  } finally {
    await sink.end();
  }
  return !isEmpty;
}

/** The texts around, between and of the rows in a machine-readable format. */
interface RowWriter<T> {
  readonly open: string;
  readonly row: (row: T) => string;
  readonly between: string;
  readonly close: string;
  /** The whole output for a list without rows. */
  readonly none: string;
}

const bare = { open: '', between: '', close: '', none: '' };

export async function rowWriter<T extends object>(
  { terminal, format, fields, rawCells, onlyValue }: RowOptions,
  { columns, quiet }: RowView<T>,
): Promise<RowWriter<T>> {
  const lines = (line: (row: T) => string): RowWriter<T> => ({
    ...bare,
    row: (row) => `${line(row)}\n`,
  });
  if (onlyValue) return lines((row) => cellText(quiet(row)));
  const json = (row: T, indent: number): string => toJson(picked(row, fields, columns), { indent });
  if (format === 'jsonl') return lines((row) => json(row, 0));
  if (format === 'json') {
    const indent = terminal.stdoutIsTty ? 2 : 0;
    const end = indent > 0 ? '\n' : '';
    const margin = ' '.repeat(indent);
    return {
      open: `[${end}`,
      between: `,${end}`,
      close: `${end}]\n`,
      none: '[]\n',
      row: (row) => margin + json(row, indent).replaceAll('\n', `\n${margin}`),
    };
  }
  const shown = columnsFor('rows', fields, columns);
  const cells = (row: T): Cell[] => shown.map((column) => cellIn(column, row));
  if (format === 'tsv') return lines((row) => cells(row).map(cellText).join('\t'));
  const { stringify } = await import('csv-stringify/sync');
  // The header has the names that `--fields` accepts.
  const head = stringify([shown.map(({ name }) => name)]);
  return {
    ...bare,
    open: head,
    none: head,
    row: (row) => stringify([cells(row).map((cell) => csvCell(cell, rawCells))]),
  };
}

/** Returns the names of a row's fields, starting with the names of the columns. */
export function namesOf<T extends object>(
  row: T | undefined,
  { columns, fields = [] }: Pick<RowView<T>, 'columns' | 'fields'>,
): string[] {
  const own = columns.filter(({ only }) => only !== 'screen').map(({ name }) => name);
  return [...new Set([...own, ...fields, ...(row === undefined ? [] : pathsOf(row))])];
}

/**
 * Checks the names in `--fields` against the first row, before svcpay prints the first row. Without
 * a row, checks them against the fields that later rows may have.
 */
function checkFirst<T extends object>(
  row: T | undefined,
  view: Pick<RowView<T>, 'columns' | 'fields'>,
  fields: Fields = [],
): void {
  if (row !== undefined || view.fields !== undefined) checkNames(fields, namesOf(row, view));
}

/** Yields rows in arrays of the given size. */
export async function* inParts<T>(rows: Rows<T>, size: number): AsyncGenerator<T[]> {
  let part: T[] = [];
  for await (const row of rows) {
    part.push(row);
    if (part.length < size) continue;
    yield part;
    part = [];
  }
  if (part.length > 0) yield part;
}

/** Converts a cell so that a spreadsheet treats the cell as text. */
export const csvCell = (cell: Cell, isRaw: boolean): string =>
  typeof cell === 'string' && !isRaw ? asPlainCell(cellText(cell)) : cellText(cell);

const fullAt = 65_536;

interface Sink {
  /** Adds a text. Resolves when the stream accepts more text. */
  push(text: string): Promise<void>;
  /** Resolves when the stream has written every text. */
  end(): Promise<void>;
}

/**
 * Writes to a stream in few large pieces, with all rows of one event-loop turn together, at the
 * pace of the reader.
 */
export function createSink(stream: OutputStream): Sink {
  let waiting = '';
  let scheduled: NodeJS.Immediate | undefined;
  let written: Promise<void> = Promise.resolve();

  const flush = (): Promise<void> => {
    clearImmediate(scheduled);
    scheduled = undefined;
    const text = waiting;
    waiting = '';
    // The callback of `write` runs after a failed write too. If the reader has closed the stream,
    // the promise of the write resolves all the same, and terminal.ts handles the error of the
    // stream.
    if (text !== '') written = new Promise((resolve) => stream.write(text, () => resolve()));
    return written;
  };

  return {
    async push(text) {
      waiting += text;
      if (waiting.length >= fullAt) await flush();
      else scheduled ??= setImmediate(() => void flush());
    },
    end: flush,
  };
}
