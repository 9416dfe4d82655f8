// What a command hands to the output: the columns of its rows, and what people and scripts see of them.
import type { Big } from 'big.js';
import type { ChalkInstance } from 'chalk';
import type { Canvas } from '../terminal.js';

export const formats = ['table', 'json', 'jsonl', 'csv', 'tsv'] as const;
export type Format = (typeof formats)[number];

/** Written in plain notation, empty for null and undefined. */
export type Cell = string | number | bigint | boolean | Big | null | undefined;

export interface Column<T> {
  /** What csv calls it and `--fields` asks for: a path into the service's own object, or a word for what was worked out. */
  readonly name: string;
  readonly title: string;
  /** The exact value: what csv and tsv carry, and the screen too where `text` says nothing else. */
  readonly value: (row: T) => Cell;
  /** What a person reads: grouped amounts, relative times. */
  readonly text?: (row: T) => string;
  /** `decimal` puts the points of numbers under each other, and their units. */
  readonly align?: 'left' | 'right' | 'decimal';
  /** Cut to the room that is left rather than made to leave, as long as a few characters of it can be read. */
  readonly shrinks?: boolean;
  /** In a narrow window the columns with the highest number leave first; those with 0 (the default) stay. */
  readonly priority?: number;
  /** An id that must stay whole: where the row is too wide for the window it moves to a line of its own below. */
  readonly below?: boolean;
  /** A column for people or for machines alone. */
  readonly only?: 'screen' | 'rows';
  /** Colour of a cell, on a screen only; it carries no meaning alone. */
  readonly style?: (cell: string, style: ChalkInstance, row: T) => string;
}

export type Rows<T> = Iterable<T> | AsyncIterable<T>;

/** What scripts see of a row, and what a table is made of. */
export interface RowView<T> {
  readonly columns: readonly Column<T>[];
  /** Fields that a row can have although the first one has not. */
  readonly fields?: readonly string[] | undefined;
  /** The one value that `-q` prints. */
  readonly quiet: (row: T) => string;
  /** A whole row as JSON, where it can be written faster than any object can. */
  readonly json?: (row: T) => string;
}

export interface ListView<T> extends RowView<T> {
  /** Said on stderr when there is no row. */
  readonly empty: string;
  /** A dim line above the table, on a screen only. */
  readonly heading?: string | undefined;
  /** A dim line under the table, on a screen only. */
  readonly footer?: string | undefined;
}

/** Rows without an end: each is complete in itself, a line of JSON also under `--json`. */
export interface StreamView<T> extends RowView<T> {
  /** What a person reads of one row. */
  readonly lines: (row: T, canvas: Canvas) => readonly string[];
}

export interface RecordView<T> extends RowView<T> {
  /** The lines on a screen; none where the live line has said it all. */
  readonly screen: (canvas: Canvas) => readonly string[];
}
