// Where results go: decides between table, rows and JSON, so that no command has to know.
import { Failure } from '../formats/failure.js';
import { factLines } from './cards/card.js';
import { cellText, fieldColumns } from './rows/cell.js';
import { asciiGlyphs } from './glyphs.js';
import { toJson } from './rows/json.js';
import { besideTable, listRows, listTable, rowWriter, type Manner } from './rows/list.js';
import { picked } from './rows/rows.js';
import { sanitize } from './sanitize.js';
import { createSink } from './sink.js';
import type { Canvas, OutputStream, Terminal } from './terminal.js';
import type { Format, ListView, RecordView, Rows, StreamView } from './rows/view.js';

export type { Format, ListView, RecordView, StreamView } from './rows/view.js';

export interface OutputOptions {
  /** `-o`; undefined lets the output decide: a table on a terminal, tsv in a pipe. */
  readonly format?: Format | undefined;
  /** `--fields a,b.c`: paths into the service's own object. */
  readonly fields?: readonly string[] | undefined;
  readonly quiet?: boolean | undefined;
  readonly json?: boolean | undefined;
}

type Draw = readonly string[] | ((canvas: Canvas) => readonly string[]);

export interface Output {
  /** The format in force. */
  readonly format: Format;
  readonly quiet: boolean;
  /** True where people read the result: a table on a terminal, not quiet. */
  readonly forPeople: boolean;
  /** Prints rows as they come; resolves when the last is written. Stops early once nobody reads stdout any more. */
  list<T extends object>(rows: Rows<T>, view: ListView<T>): Promise<void>;
  /** Prints rows of which nobody knows whether another comes, each at once. Ends with them, or with its reader. */
  stream<T extends object>(rows: AsyncIterable<T>, view: StreamView<T>): Promise<void>;
  /** The single result of a command. */
  record<T extends object>(record: T, view: RecordView<T>): Promise<void>;
  /** A state change as it happens: a line under jsonl, nothing otherwise. */
  change(object: object): void;
  /** Plain text of our own on stdout, whatever the format: nothing is sanitised. */
  text(line: string): void;
  /** Text in pieces on stdout, whatever the format, as fast as it is read. Stops early once nobody reads any more. */
  pour(pieces: AsyncIterable<string>): Promise<void>;
  /** Lines on stdout where people read it, nothing otherwise. */
  screen(draw: Draw): void;
  /** Lines that belong to a question (a quote, a warning card): stderr, on a terminal or under `-o table`; silent under -q. */
  card(draw: (canvas: Canvas) => readonly string[]): void;
  /** A remark on stderr; silent under -q. */
  say(line: string): void;
  /** A warning on stderr, also under -q. */
  warn(line: string): void;
}

/** Throws Failure usage when `--json` and another `-o` contradict each other. */
export function createOutput(terminal: Terminal, options: OutputOptions): Output {
  const { fields } = options;
  const quiet = options.quiet === true;
  const asked = askedFormat(options);
  const format = asked ?? (terminal.stdoutIsTty ? 'table' : 'tsv');
  // `-q` prints its one value unless a format was asked for in so many words; it silences the remarks in any case.
  const manner: Manner = { terminal, format, fields, onlyValue: quiet && asked === undefined };
  const forPeople = format === 'table' && !manner.onlyValue;
  const isJson = format === 'json' || format === 'jsonl';
  let lastChange = '';

  const print = (stream: OutputStream, lines: readonly string[]): void => {
    const text = lines.map((line) => `${terminal.unicode ? line : asciiGlyphs(line)}\n`).join('');
    if (text !== '') stream.write(text);
  };
  const toStdout = (lines: readonly string[]): void => print(terminal.stdout, lines);
  const toStderr = (lines: readonly string[]): void => print(terminal.stderr, lines);
  const say = (line: string): void => {
    if (!quiet) toStderr([sanitize(line)]);
  };

  return {
    format,
    quiet,
    forPeople,
    async list(rows, view) {
      const hasRows = forPeople ? await listTable(manner, rows, view, toStdout) : await listRows(manner, rows, view);
      if (!hasRows && !isJson) say(view.empty);
      if (hasRows && forPeople && view.footer !== undefined) toStdout(besideTable(view.footer, terminal));
    },
    async stream(rows, view) {
      if (!forPeople) {
        await listRows({ ...manner, format: format === 'json' ? 'jsonl' : format }, rows, view);
        return;
      }
      for await (const row of rows) {
        if (terminal.stdoutClosed) return;
        toStdout(fields === undefined ? view.lines(row, terminal) : fieldLines(row, fields, terminal));
      }
    },
    async record(result, view) {
      if (forPeople)
        return toStdout(fields === undefined ? view.screen(terminal) : fieldLines(result, fields, terminal));
      if (format === 'json') return void terminal.stdout.write(`${document(result, manner)}\n`);
      const writer = await rowWriter(manner, view);
      const text = `${writer.open}${writer.row(result, true)}${writer.close}`;
      // The last state change of a payment is its result: printed once.
      if (text !== lastChange) terminal.stdout.write(text);
    },
    change(object) {
      if (format !== 'jsonl') return;
      lastChange = `${toJson(picked(object, fields))}\n`;
      terminal.stdout.write(lastChange);
    },
    text: (line) => void terminal.stdout.write(`${line}\n`),
    async pour(pieces) {
      const sink = createSink(terminal.stdout);
      for await (const piece of pieces) {
        if (terminal.stdoutClosed) break;
        await sink.push(piece);
      }
      await sink.end();
    },
    screen(draw) {
      if (forPeople) toStdout(typeof draw === 'function' ? draw(terminal) : draw);
    },
    card(draw) {
      if ((terminal.stderrIsTty || asked === 'table') && !quiet && !isJson) toStderr(draw(terminal.stderrCanvas));
    },
    say,
    warn: (line) => toStderr([`${terminal.stderrCanvas.style.yellow('Warning:')} ${sanitize(line)}`]),
  };
}

function askedFormat({ format, json }: OutputOptions): Format | undefined {
  if (json !== true) return format;
  if (format === undefined || format === 'json') return 'json';
  throw new Failure('usage', `--json and -o ${format} ask for two formats. Give one of them.`);
}

const document = (result: object, { terminal, fields }: Manner): string =>
  toJson(picked(result, fields), { indent: terminal.stdoutIsTty ? 2 : 0 });

const fieldLines = (result: object, fields: readonly string[], canvas: Canvas): string[] =>
  factLines(
    fieldColumns<object>(fields).map(({ title, value }) => ({ label: title, value: cellText(value(result)) })),
    canvas,
  );
