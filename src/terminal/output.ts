// Where results go: decides between table, rows and JSON, so that no command has to know.
import type { Column } from './column.js';
import type { Canvas, Terminal } from './terminal.js';

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

export interface Output {
  /** The format in force. */
  readonly format: Format;
  readonly quiet: boolean;
  /** True where people read the result: a table on a terminal, not quiet. */
  readonly forPeople: boolean;
  /** Prints rows as they come; resolves when the last is written. Stops early once nobody reads stdout any more. */
  list<T extends object>(rows: Iterable<T> | AsyncIterable<T>, view: ListView<T>): Promise<void>;
  /** The single result of a command. */
  record<T extends object>(record: T, view: RecordView<T>): void;
  /** A state change as it happens: a line under jsonl, nothing otherwise. */
  change(object: object): void;
  /** Plain text on stdout, whatever the format. */
  text(line: string): void;
  /** Lines on stdout where people read it, nothing otherwise. */
  screen(lines: readonly string[] | ((canvas: Canvas) => readonly string[])): void;
  /** Lines that belong to a question (a quote, a warning card): stderr, where that is a terminal; silent under -q. */
  card(draw: (canvas: Canvas) => readonly string[]): void;
  /** A remark on stderr; silent under -q. */
  say(line: string): void;
  /** A warning on stderr, also under -q. */
  warn(line: string): void;
}

export function createOutput(terminal: Terminal, options: OutputOptions): Output {
  throw new Error(`not there yet: ${terminal.columns} ${options.quiet}`);
}
