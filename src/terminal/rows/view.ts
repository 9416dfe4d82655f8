// How a command presents its result: the columns of its rows, for people and for scripts.
import type { Big } from 'big.js';
import type { ChalkInstance } from 'chalk';
import type { GivesWay } from '../layout.js';
import type { Canvas } from '../terminal.js';

export const formats = ['table', 'json', 'jsonl', 'csv', 'tsv'] as const;
export type Format = (typeof formats)[number];

/** The value of a cell, written in plain notation. Null and undefined are empty. */
export type Cell = string | number | bigint | boolean | Big | null | undefined;

export interface Column<T> extends GivesWay {
  /**
   * The name of the column in csv and `--fields`: a path into the service's object, or the name of
   * a computed value.
   */
  readonly name: string;
  readonly title: string;
  /** Returns the exact value for csv and tsv. Without `text`, the screen shows this value too. */
  readonly value: (row: T) => Cell;
  /** Returns the text for a screen, such as a grouped amount or a relative time. */
  readonly text?: (row: T) => string;
  /** The alignment. `decimal` aligns the points and the units of numbers. */
  readonly align?: 'left' | 'right' | 'decimal';
  /** Whether svcpay may shorten the text after a word. */
  readonly shrinks?: boolean;
  /** The only readers that see the column: people (`screen`) or machines (`rows`). */
  readonly only?: 'screen' | 'rows';
  /** Colours a cell on a screen. The colour is never the only information. */
  readonly style?: (cell: string, style: ChalkInstance, row: T) => string;
}

export type Rows<T> = Iterable<T> | AsyncIterable<T>;

/** How rows appear in scripts and tables. */
export interface RowView<T> {
  readonly columns: readonly Column<T>[];
  /** Fields that a later row may have although the first row does not have them. */
  readonly fields?: readonly string[] | undefined;
  /** Returns the one value that `-q` prints. */
  readonly quiet: (row: T) => string;
  /** Writes a whole row as JSON, faster than the general function. */
  readonly json?: (row: T) => string;
}

export interface ListView<T> extends RowView<T> {
  /** The text on stderr if the list has no rows. */
  readonly empty: string;
  /**
   * A dim line above the table, only on a screen. If the heading has two parts, the second part is
   * at the right end.
   */
  readonly heading?: string | readonly [left: string, right: string] | undefined;
  /**
   * Returns the text of a bold line above consecutive rows with an equal text. Only on a screen.
   */
  readonly group?: (row: T) => string;
  /** A dim line below the table, only on a screen. */
  readonly footer?: string | undefined;
}

/** The view of an endless list. Each row is complete: with `--json`, each row is a line of JSON. */
export interface StreamView<T> extends RowView<T> {
  /** Draws the lines of a row on a screen. */
  readonly lines: (row: T, canvas: Canvas) => readonly string[];
}

export interface RecordView<T> extends RowView<T> {
  /** Draws the lines on a screen. Empty if the live line has already shown the result. */
  readonly screen: (canvas: Canvas) => readonly string[];
}
