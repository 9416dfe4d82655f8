// Prints results as a table, as rows or as JSON, for every command.
import type { LogFacts } from '../api/types.js';
import { invalid } from '../formats/failure.js';
import { recordLines } from './cards/card.js';
import {
  checkNames,
  type Column,
  fieldColumns,
  picked,
  type Format,
  type ListView,
  type RecordView,
  type Rows,
  type RowView,
  type StreamView,
} from './rows/view.js';
import { asciiGlyphs, sanitize, widthOf, wrap } from './text.js';
import { toJson } from './rows/json.js';
import {
  besideTable,
  createSink,
  listRows,
  listTable,
  namesOf,
  type RowOptions,
  rowWriter,
} from './rows/list.js';
import { commandLine, type RunGlobals } from './next-step.js';
import { isLog, type Canvas, type OutputStream, type Terminal } from './terminal.js';

export interface OutputOptions extends RunGlobals {
  /** The format that `-o` names, by default a table on a terminal and tsv in a pipe. */
  readonly format?: Format | undefined;
  /** The names in `--fields a,b.c`, which are paths into the service's own object. */
  readonly fields?: readonly string[] | undefined;
  /**
   * Whether csv cells stay unchanged (`--raw-cells`), even if a spreadsheet would execute a cell.
   */
  readonly rawCells?: boolean | undefined;
  readonly quiet?: boolean | undefined;
  readonly json?: boolean | undefined;
  /** Whether the reader can run the commands that svcpay prints. */
  readonly hasShell?: boolean;
}

type Draw = readonly string[] | ((canvas: Canvas) => readonly string[]);

export interface Output {
  readonly format: Format;
  readonly quiet: boolean;
  /** Whether a person reads the result: a table on a terminal, without -q. */
  readonly forPeople: boolean;
  /**
   * Checks `--fields` before the command acts. Returns false if the command should only list its
   * fields, as `--fields help` requests. Throws Failure `usage` for an unknown name in `--fields`.
   */
  offers(names: readonly string[]): boolean;
  /** Accepts the given names in `--fields`, in addition to the names of the result itself. */
  knows(names: readonly string[]): void;
  /**
   * Prints each row when the row arrives. Resolves after the last row, or when the reader closes
   * stdout.
   */
  list<T extends object>(rows: Rows<T>, view: ListView<T>): Promise<void>;
  /** Prints all rows and columns for a program that reads the format, regardless of `-o`. */
  file<T extends object>(format: 'csv' | 'jsonl', rows: Rows<T>, view: RowView<T>): Promise<void>;
  /**
   * Prints the rows of an endless list, each row at once. Resolves when the list ends or the reader
   * closes stdout.
   */
  stream<T extends object>(rows: AsyncIterable<T>, view: StreamView<T>): Promise<void>;
  /** Prints the single result of a command. */
  record<T extends object>(record: T, view: RecordView<T>): Promise<void>;
  /**
   * Reports to programs what a command without a result has done, as one JSON document. Prints
   * nothing unless the output format is json or jsonl.
   */
  did(result: object): void;
  /**
   * Reports a state change at once as a line of jsonl, with the columns of the result if the result
   * has columns. Prints nothing unless the output format is jsonl.
   */
  change<T extends object>(object: T, columns?: readonly Column<T>[]): void;
  /** Prints svcpay's own plain text on stdout in any format, without sanitizing the text. */
  text(line: string): void;
  /**
   * Prints text in pieces on stdout in any format, at the pace of the reader. Resolves early if the
   * reader closes stdout.
   */
  pour(pieces: AsyncIterable<string>): Promise<void>;
  /** Prints lines on stdout if a person reads stdout. */
  screen(draw: Draw): void;
  /**
   * Prints the lines of a question, such as a quote or a warning card, on stderr, but only on a
   * terminal or with `-o table`, and never with -q. Returns true if svcpay printed the lines.
   */
  card(draw: (canvas: Canvas) => readonly string[]): boolean;
  /** Prints a remark on stderr, except with -q. */
  say(line: string, facts?: LogFacts): void;
  /** Prints a remark that names a command, except with -q and for an agent, which has no shell. */
  advise(line: string): void;
  /** Prints a warning on stderr, even with -q. */
  warn(line: string, facts?: LogFacts): void;
}

/**
 * Creates the output of a command. Throws Failure `usage` for contradictory flags, such as `--json`
 * with a different `-o`, or `-q` with a format or fields.
 */
export function createOutput(terminal: Terminal, options: OutputOptions): Output {
  const { quiet = false, fields, rawCells = false } = options;
  const asked = askedFormat(options);
  const format = asked ?? (terminal.stdoutIsTty ? 'table' : 'tsv');
  // With `-q`, svcpay prints the one value of a row, and no remarks.
  const row: RowOptions = { terminal, format, fields, onlyValue: quiet, rawCells };
  const forPeople = format === 'table' && !quiet;
  const { toStdout, toStderr, ...remarks } = openLines(terminal, quiet, options.hasShell !== false);
  const sayEmpty = ({ empty, next }: Pick<ListView<object>, 'empty' | 'next'>): void =>
    remarks.say(next === undefined ? empty : `${empty}: ${commandLine(next, options)}`);
  return {
    format,
    quiet,
    forPeople,
    ...openResults(row, toStdout, sayEmpty),
    did: (result) => void (isJson(format) && terminal.stdout.write(`${toJson(result)}\n`)),
    text: (line) => void terminal.stdout.write(`${line}\n`),
    async file(as, rows, view) {
      await listRows({ ...row, format: as, fields: undefined, onlyValue: false }, rows, view);
    },
    async pour(pieces) {
      const sink = createSink(terminal.stdout);
      try {
        for await (const piece of pieces) {
          if (terminal.stdoutClosed()) break;
          await sink.push(piece);
        }
      } finally {
        await sink.end();
      }
    },
    screen(draw) {
      if (forPeople) toStdout(typeof draw === 'function' ? draw(terminal) : draw);
    },
    card(draw) {
      const isDrawn = (terminal.stderrIsTty || asked === 'table') && !quiet && !isJson(format);
      if (isDrawn) toStderr(draw(terminal.stderrCanvas));
      return isDrawn;
    },
    ...remarks,
  };
}

const isJson = (format: Format): boolean => format === 'json' || format === 'jsonl';

type Print = (lines: readonly string[]) => void;

/** Returns the functions that print svcpay's own lines and remarks. */
function openLines(
  { stdout, stderr, unicode, stderrIsTty, stderrCanvas }: Terminal,
  quiet: boolean,
  hasShell: boolean,
): Pick<Output, 'say' | 'advise' | 'warn'> & { toStdout: Print; toStderr: Print } {
  const printOn =
    (stream: OutputStream): Print =>
    (lines) => {
      const text = lines.map((line) => `${unicode ? line : asciiGlyphs(line)}\n`).join('');
      if (text !== '') stream.write(text);
    };
  const toStderr = printOn(stderr);
  const log = isLog(stderr) ? stderr : undefined;
  const say: Output['say'] = (line, facts) => {
    if (quiet) return;
    if (log !== undefined) return log.entry('info', sanitize(line.trim()), facts);
    toStderr(stderrIsTty ? remark(sanitize(line), stderrCanvas) : [sanitize(line)]);
  };
  return {
    toStdout: printOn(stdout),
    toStderr,
    say,
    advise: (line) => (hasShell ? say(line) : undefined),
    warn(line, facts) {
      if (log !== undefined) return log.entry('warning', sanitize(line), facts);
      const { columns, style } = stderrCanvas;
      const text = `${style.yellow('Warning:')} ${sanitize(line)}`;
      toStderr(stderrIsTty ? wrap(text, columns) : [text]);
    },
  };
}

/** @param sayEmpty prints the text of a list without rows */
function openResults(
  row: RowOptions,
  toStdout: Print,
  sayEmpty: (view: Pick<ListView<object>, 'empty' | 'next'>) => void,
): Pick<Output, 'offers' | 'knows' | 'list' | 'stream' | 'record' | 'change'> {
  const { terminal, format, fields } = row;
  const forPeople = format === 'table' && !row.onlyValue;
  const asksForNames = fields !== undefined && fields.join() === 'help';
  let offered: readonly string[] = [];
  /** Makes `--fields` accept the names that the command passed to `offers` or `knows`. */
  const withOffered = <V extends Pick<RowView<never>, 'fields'>>(view: V): V => ({
    ...view,
    fields: [...(view.fields ?? []), ...offered],
  });
  const names = <T extends object>(result: T | undefined, view: RowView<T>): void =>
    toStdout(namesOf(result, withOffered(view)).map(sanitize));
  const toScreen = <T extends object>(
    result: T,
    { columns }: RowView<T>,
    draw: (canvas: Canvas) => readonly string[],
  ): void =>
    toStdout(
      fields === undefined
        ? draw(terminal)
        : recordLines(fieldColumns(fields, columns), result, terminal),
    );
  let lastChange = '';
  return {
    offers(known) {
      if (asksForNames) toStdout(known);
      else checkNames(fields ?? [], known);
      offered = known;
      return !asksForNames;
    },
    knows: (known) => void (offered = known),
    async list(rows, given) {
      if (asksForNames) return names(await firstOf(rows), given);
      const view = withOffered(given);
      const hasRows = forPeople
        ? await listTable(row, rows, view, toStdout)
        : await listRows(row, rows, view);
      if (!hasRows && !isJson(format)) sayEmpty(view);
      if (hasRows && forPeople && view.footer !== undefined)
        toStdout(besideTable(view.footer, terminal));
    },
    async stream(rows, view) {
      if (asksForNames) return names(undefined, view);
      if (!forPeople)
        return void (await listRows(
          { ...row, format: format === 'json' ? 'jsonl' : format },
          rows,
          view,
        ));
      for await (const each of rows) {
        if (terminal.stdoutClosed()) return;
        toScreen(each, view, (canvas) => view.lines(each, canvas));
      }
    },
    async record(result, view) {
      if (asksForNames) return names(result, view);
      if (fields !== undefined) checkNames(fields, namesOf(result, withOffered(view)));
      if (forPeople) return toScreen(result, view, (canvas) => view.screen(canvas, result));
      if (format === 'json') {
        const indent = terminal.stdoutIsTty ? 2 : 0;
        const document = toJson(picked(result, fields, view.columns), { indent });
        return void terminal.stdout.write(`${document}\n`);
      }
      const writer = await rowWriter(row, view);
      const text = `${writer.open}${writer.row(result)}${writer.close}`;
      // svcpay prints a payment's result only if it differs from the last printed state change.
      if (text !== lastChange) terminal.stdout.write(text);
    },
    change(object, columns = []) {
      if (format !== 'jsonl') return;
      lastChange = `${toJson(picked(object, fields, columns))}\n`;
      terminal.stdout.write(lastChange);
    },
  };
}

/**
 * Wraps a remark to the width of the window. A command within a long remark stays whole on its own
 * line.
 */
function remark(line: string, { columns }: Canvas): string[] {
  if (widthOf(line) <= columns) return [line];
  const indent = ' '.repeat(line.length - line.trimStart().length);
  // A command stands alone, after a colon or after a gap, unlike svcpay as a word of a sentence.
  const at = line.search(/(?<=^|: | {2})svcpay /);
  const [text, command] = at < 0 ? [line, ''] : [line.slice(0, at), line.slice(at)];
  const lines =
    text.trim() === ''
      ? []
      : wrap(text.trim(), columns - indent.length).map((part) => indent + part);
  return command === '' ? lines : [...lines, `${indent}  ${command}`];
}

function askedFormat({ format, json, quiet, fields }: OutputOptions): Format | undefined {
  const asked = json === true ? '--json' : format === undefined ? undefined : `-o ${format}`;
  if (quiet === true && asked !== undefined) {
    throw invalid(`Use either -q or ${asked}, not both.`);
  }
  if (quiet === true && fields !== undefined) {
    throw invalid('Use either -q or --fields, not both.', {
      hint: 'For one field: --fields NAME -o tsv',
    });
  }
  if (json !== true) return format;
  if (format === undefined || format === 'json') return 'json';
  throw invalid(`Use either --json or -o ${format}, not both.`);
}

async function firstOf<T>(rows: Rows<T>): Promise<T | undefined> {
  for await (const row of rows) return row;
  return undefined;
}
