// The output of a command: the columns of its rows, for people and for scripts.
import type { Big } from 'big.js';
import type { ChalkInstance } from 'chalk';
import type { GivesWay } from '../layout.js';
import type { Canvas } from '../terminal.js';

export const formats = ['table', 'json', 'jsonl', 'csv', 'tsv'] as const;
export type Format = (typeof formats)[number];

/** Written in plain notation, empty for null and undefined. */
export type Cell = string | number | bigint | boolean | Big | null | undefined;

export interface Column<T> extends GivesWay {
  /**
   * The name for csv and `--fields`: a path into the service's object, or the name of a computed
   * value.
   */
  readonly name: string;
  readonly title: string;
  /** The exact value, for csv and tsv, and for the screen without `text`. */
  readonly value: (row: T) => Cell;
  /** The text on a screen: grouped amounts, relative times. */
  readonly text?: (row: T) => string;
  /** `decimal` aligns the points of numbers, and their units. */
  readonly align?: 'left' | 'right' | 'decimal';
  /** A text that may be shortened, after a word. */
  readonly shrinks?: boolean;
  /** A column only for people or only for machines. */
  readonly only?: 'screen' | 'rows';
  /** Colour of a cell, on a screen only; never the only information. */
  readonly style?: (cell: string, style: ChalkInstance, row: T) => string;
}

export type Rows<T> = Iterable<T> | AsyncIterable<T>;

/** The data of rows, for scripts and tables. */
export interface RowView<T> {
  readonly columns: readonly Column<T>[];
  /** Fields that later rows can have, even if the first one has not. */
  readonly fields?: readonly string[] | undefined;
  /** The one value that `-q` prints. */
  readonly quiet: (row: T) => string;
  /** A whole row as JSON, for faster output. */
  readonly json?: (row: T) => string;
}

export interface ListView<T> extends RowView<T> {
  /** Shown on stderr without rows. */
  readonly empty: string;
  /** A dim line above the table, on a screen only; its second part at the right end. */
  readonly heading?: string | readonly [left: string, right: string] | undefined;
  /** A bold line above each run of rows with the same text, on a screen only. */
  readonly group?: (row: T) => string;
  /** A dim line below the table, on a screen only. */
  readonly footer?: string | undefined;
}

/** An endless list: each row is complete, a line of JSON even with `--json`. */
export interface StreamView<T> extends RowView<T> {
  /** A row on a screen. */
  readonly lines: (row: T, canvas: Canvas) => readonly string[];
}

export interface RecordView<T> extends RowView<T> {
  /** The lines on a screen; none if the live line has shown everything. */
  readonly screen: (canvas: Canvas) => readonly string[];
}
