// Where results go: decides between table, rows and JSON, so that no command has to know.
import { Failure } from '../formats/failure.js';
import { factLines } from './card.js';
import { cellText, fieldColumns } from './cell.js';
import type { Column } from './column.js';
import { asciiGlyphs } from './glyphs.js';
import { toJson } from './json.js';
import { csvRows, jsonLines, jsonRows, picked, quietRows, tabRows, type RowWriter } from './rows.js';
import { sanitize } from './sanitize.js';
import { createSink } from './sink.js';
import { createTable } from './table.js';
import type { Canvas, OutputStream, Terminal } from './terminal.js';

export type { Cell, Column } from './column.js';

export type Format = 'table' | 'tsv' | 'json' | 'jsonl' | 'csv';

export interface OutputOptions {
  /** `-o`; undefined lets the output decide: a table on a terminal, tsv in a pipe. */
  readonly format?: Format | undefined;
  /** `--fields a,b.c`: paths into the service's own object. */
  readonly fields?: readonly string[] | undefined;
  readonly quiet?: boolean | undefined;
  readonly json?: boolean | undefined;
}

export interface ListView<T> {
  readonly columns: readonly Column<T>[];
  /** The one value of a row that `-q` prints. */
  readonly quiet: (row: T) => string;
  /** Said on stderr when there is no row. */
  readonly empty: string;
  /** A dim line under the table, on a screen only. */
  readonly footer?: string | undefined;
}

export interface RecordView<T> {
  /** The lines on a screen; none where the live line has said it all. */
  readonly screen: (canvas: Canvas) => readonly string[];
  readonly columns: readonly Column<T>[];
  readonly quiet: (record: T) => string;
}

type Draw = readonly string[] | ((canvas: Canvas) => readonly string[]);
type Rows<T> = Iterable<T> | AsyncIterable<T>;

export interface Output {
  /** The format in force. */
  readonly format: Format;
  readonly quiet: boolean;
  /** True where people read the result: a table on a terminal, not quiet. */
  readonly forPeople: boolean;
  /** Prints rows as they come; resolves when the last is written. Stops early once nobody reads stdout any more. */
  list<T extends object>(rows: Rows<T>, view: ListView<T>): Promise<void>;
  /** The single result of a command. */
  record<T extends object>(record: T, view: RecordView<T>): Promise<void>;
  /** A state change as it happens: a line under jsonl, nothing otherwise. */
  change(object: object): void;
  /** Plain text of our own on stdout, whatever the format: nothing is sanitised. */
  text(line: string): void;
  /** Lines on stdout where people read it, nothing otherwise. */
  screen(draw: Draw): void;
  /** Lines that belong to a question (a quote, a warning card): stderr, where that is a terminal; silent under -q. */
  card(draw: (canvas: Canvas) => readonly string[]): void;
  /** A remark on stderr; silent under -q. */
  say(line: string): void;
  /** A warning on stderr, also under -q. */
  warn(line: string): void;
}

/** A table of this many rows is drawn at a time: enough to settle its widths, few enough to hold. */
const rowsAtOnce = 500;

/** Throws Failure usage when `--json` and another `-o` contradict each other. */
export function createOutput(terminal: Terminal, options: OutputOptions): Output {
  const { fields } = options;
  const quiet = options.quiet === true;
  const asked = askedFormat(options);
  const format = asked ?? (terminal.stdoutIsTty ? 'table' : 'tsv');
  // `-q` prints its one value unless a format was asked for in so many words; it silences the remarks in any case.
  const onlyQuietValue = quiet && asked === undefined;
  const forPeople = format === 'table' && !onlyQuietValue;
  const pretty = terminal.stdoutIsTty;
  const ownSigns = (line: string): string => (terminal.unicode ? line : asciiGlyphs(line));
  const printTo = (stream: OutputStream, lines: readonly string[]): void => {
    if (lines.length > 0) stream.write(lines.map((line) => `${ownSigns(line)}\n`).join(''));
  };
  let lastChange = '';

  async function rowWriter<T extends object>(view: Pick<ListView<T>, 'columns' | 'quiet'>): Promise<RowWriter<T>> {
    if (onlyQuietValue) return quietRows(view.quiet);
    if (format === 'json') return jsonRows(fields, pretty);
    if (format === 'jsonl') return jsonLines(fields);
    if (format === 'tsv') return tabRows(view.columns, fields);
    const { stringify } = await import('csv-stringify/sync');
    return csvRows(view.columns, fields, stringify);
  }

  async function listTable<T extends object>(rows: Rows<T>, view: ListView<T>): Promise<void> {
    const { default: Table } = await import('cli-table3');
    const columns = fields === undefined ? view.columns.filter(({ only }) => only !== 'rows') : fieldColumns<T>(fields);
    const width = terminal.stdoutIsTty ? terminal.columns : Infinity;
    const draw = createTable(columns, { style: terminal.style, width, Table });
    let isEmpty = true;
    for await (const part of inParts(rows, rowsAtOnce)) {
      isEmpty = false;
      printTo(terminal.stdout, draw(part));
      if (terminal.stdoutClosed) return;
    }
    if (isEmpty) say(view.empty);
    else if (view.footer !== undefined) screen([`  ${terminal.style.dim(sanitize(view.footer))}`]);
  }

  async function list<T extends object>(rows: Rows<T>, view: ListView<T>): Promise<void> {
    if (forPeople) return listTable(rows, view);
    const writer = await rowWriter(view);
    const sink = createSink(terminal.stdout);
    let isFirst = true;
    for await (const row of rows) {
      if (terminal.stdoutClosed) break;
      // Nothing is written before there is a row: a list that fails at once leaves stdout empty.
      await sink.push(`${isFirst ? writer.open : ''}${writer.row(row, isFirst)}`);
      isFirst = false;
    }
    await sink.push(isFirst ? writer.none : writer.close);
    await sink.end();
    if (isFirst && !onlyQuietValue && format === 'tsv') say(view.empty);
  }

  async function record<T extends object>(result: T, view: RecordView<T>): Promise<void> {
    if (forPeople) return screen(fields === undefined ? view.screen : fieldFacts(result, fields));
    if (format === 'json') return print(toJson(picked(result, fields), { indent: pretty ? 2 : 0 }));
    const writer = await rowWriter(view);
    const text = `${writer.open}${writer.row(result, true)}${writer.close}`;
    // The last state change of a payment is its result: printed once.
    if (text !== lastChange) terminal.stdout.write(text);
  }

  function change(object: object): void {
    if (format !== 'jsonl') return;
    lastChange = `${toJson(picked(object, fields))}\n`;
    terminal.stdout.write(lastChange);
  }

  const print = (line: string): void => void terminal.stdout.write(`${line}\n`);
  const linesOf = (draw: Draw, canvas: Canvas): readonly string[] => (typeof draw === 'function' ? draw(canvas) : draw);
  const screen = (draw: Draw): void => {
    if (forPeople) printTo(terminal.stdout, linesOf(draw, terminal));
  };
  const say = (line: string): void => {
    if (!quiet) printTo(terminal.stderr, [sanitize(line)]);
  };

  return {
    format,
    quiet,
    forPeople,
    list,
    record,
    change,
    text: print,
    screen,
    card: (draw) => {
      const wanted = terminal.stderrIsTty && !quiet && format !== 'json' && format !== 'jsonl';
      if (wanted) printTo(terminal.stderr, draw(terminal.stderrCanvas));
    },
    say,
    warn: (line) => printTo(terminal.stderr, [`${terminal.stderrCanvas.style.yellow('Warning:')} ${sanitize(line)}`]),
  };
}

function askedFormat({ format, json }: OutputOptions): Format | undefined {
  if (json !== true) return format;
  if (format === undefined || format === 'json') return 'json';
  throw new Failure('usage', `--json and -o ${format} ask for two formats. Give one of them.`);
}

const fieldFacts =
  (result: object, fields: readonly string[]) =>
  (canvas: Canvas): readonly string[] =>
    factLines(
      fieldColumns<object>(fields).map(({ title, value }) => ({ label: title, value: cellText(value(result)) })),
      canvas,
    );

async function* inParts<T>(rows: Rows<T>, size: number): AsyncGenerator<T[]> {
  let part: T[] = [];
  for await (const row of rows) {
    part.push(row);
    if (part.length < size) continue;
    yield part;
    part = [];
  }
  if (part.length > 0) yield part;
}
