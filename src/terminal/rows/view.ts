// The output of a command: the columns of its rows, for people and for scripts.
import type { Big } from 'big.js';
import type { ChalkInstance } from 'chalk';
import type { GivesWay } from '../layout.js';
import type { Canvas } from '../terminal.js';

export const formats = ['table', 'json', 'jsonl', 'csv', 'tsv'] as const;
export type Format = (typeof formats)[number];

/** A value, written in plain notation. Null and undefined are empty. */
export type Cell = string | number | bigint | boolean | Big | null | undefined;

export interface Column<T> extends GivesWay {
  /**
   * The name for csv and `--fields`: a path into the service's object, or the name of a computed
   * value.
   */
  readonly name: string;
  readonly title: string;
  /** The exact value for csv and tsv. Without `text`, also for the screen. */
  readonly value: (row: T) => Cell;
  /** The text on a screen: grouped amounts, relative times. */
  readonly text?: (row: T) => string;
  /** `decimal` aligns the points of numbers, and their units. */
  readonly align?: 'left' | 'right' | 'decimal';
  /** Whether the text may be shortened, after a word. */
  readonly shrinks?: boolean;
  /** Restricts the column to people or to machines. */
  readonly only?: 'screen' | 'rows';
  /** The colour of a cell, only on a screen. A colour is never the only information. */
  readonly style?: (cell: string, style: ChalkInstance, row: T) => string;
}

export type Rows<T> = Iterable<T> | AsyncIterable<T>;

/** The data of rows, for scripts and tables. */
export interface RowView<T> {
  readonly columns: readonly Column<T>[];
  /** Fields that later rows may have, even if the first row lacks them. */
  readonly fields?: readonly string[] | undefined;
  /** The one value that `-q` prints. */
  readonly quiet: (row: T) => string;
  /** A whole row as JSON, for faster output. */
  readonly json?: (row: T) => string;
}

export interface ListView<T> extends RowView<T> {
  /** Shown on stderr if there are no rows. */
  readonly empty: string;
  /** A dim line above the table, only on a screen. Its second part is at the right end. */
  readonly heading?: string | readonly [left: string, right: string] | undefined;
  /** A bold line above each run of rows with equal text, only on a screen. */
  readonly group?: (row: T) => string;
  /** A dim line below the table, only on a screen. */
  readonly footer?: string | undefined;
}

/** An endless list. Each row is complete: a line of JSON, even with `--json`. */
export interface StreamView<T> extends RowView<T> {
  /** A row on a screen. */
  readonly lines: (row: T, canvas: Canvas) => readonly string[];
}

export interface RecordView<T> extends RowView<T> {
  /** The lines on a screen, or none if the live line has shown everything. */
  readonly screen: (canvas: Canvas) => readonly string[];
}
