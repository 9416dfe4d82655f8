// Defines how a command presents its result: the columns of its rows, for people and for scripts.
import type { Command } from '../next-step.js';
import type { Big } from 'big.js';
import type { ChalkInstance } from 'chalk';
import type { GivesWay } from '../layout.js';
import type { Canvas } from '../terminal.js';

export const formats = ['table', 'json', 'jsonl', 'csv', 'tsv'] as const;
export type Format = (typeof formats)[number];

/**
 * The value of a cell, which svcpay writes in plain notation. Null and undefined give an empty
 * cell.
 */
export type Cell = string | number | bigint | boolean | Big | null | undefined;

/** The names of the fields of a row that a cell can show as they are. */
type CellName<T> = { [K in keyof T & string]: T[K] extends Cell ? K : never }[keyof T & string];

/** A column that shows a field of the row, or that computes a value. */
export type Column<T> = ColumnParts<T> &
  (
    | { readonly name: CellName<T>; readonly value?: undefined }
    | {
        /**
         * The name of the column in csv and `--fields`: a path into the service's object, or the
         * name of a computed value.
         */
        readonly name: string;
        /** Returns the exact value for csv and tsv, and for a screen if `text` is missing. */
        readonly value: (row: T) => Cell;
      }
  );

interface ColumnParts<T> extends GivesWay {
  /** The title above the column on a screen, by default none. */
  readonly title?: string;
  /** Returns the text for a screen, such as a grouped amount or a relative time. */
  readonly text?: (row: T) => string;
  /** The alignment of the column. `decimal` aligns the decimal points and the units of numbers. */
  readonly align?: 'left' | 'right' | 'decimal';
  /**
   * Whether svcpay may shorten the texts of the column, or the width to which svcpay shortens the
   * texts before it omits a different column.
   */
  readonly shrinks?: boolean | number;
  /** Whether only people (`screen`) or only machines (`rows`) see the column. */
  readonly only?: 'screen' | 'rows';
  /** Colours a cell on a screen. The text of the cell must be understandable without its colour. */
  readonly style?: (cell: string, style: ChalkInstance, row: T) => string;
}

/** Draws the cells of a column dim. */
export const dim = (cell: string, style: ChalkInstance): string => style.dim(cell);

export type Rows<T> = Iterable<T> | AsyncIterable<T>;

/** Defines how rows appear in scripts and tables. */
export interface RowView<T> {
  readonly columns: readonly Column<T>[];
  /** Fields that later rows may have although the first row lacks them. */
  readonly fields?: readonly string[] | undefined;
  /** Returns the one value that `-q` prints. */
  readonly quiet: (row: T) => string;
  /** Converts a whole row to JSON, faster than the general `toJson`. */
  readonly json?: (row: T) => string;
}

export interface ListView<T> extends RowView<T> {
  /** The text on stderr if the list has no rows. */
  readonly empty: string;
  /** The command to which `empty` leads. */
  readonly next?: Command | undefined;
  /**
   * A dim line above the table, only on a screen. If the heading has two parts, the second part is
   * at the right end of the line.
   */
  readonly heading?: string | readonly [left: string, right: string] | undefined;
  /** Returns the bold heading that a screen shows above consecutive rows with the same heading. */
  readonly group?: (row: T) => string;
  /** A dim line below the table, only on a screen. */
  readonly footer?: string | undefined;
}

/** The view of an endless list. With `--json`, each row is a complete line of JSON. */
export interface StreamView<T> extends RowView<T> {
  /** Draws the lines of a row on a screen. */
  readonly lines: (row: T, canvas: Canvas) => readonly string[];
}

export interface RecordView<T> extends RowView<T> {
  /**
   * Draws the lines of the result on a screen, or no lines if the live line has already shown the
   * result.
   */
  readonly screen: (canvas: Canvas, result: T) => readonly string[];
}
