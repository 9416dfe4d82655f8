// What a table is made of: a column knows its value for machines and, where that differs, its text for people.
import type { Big } from 'big.js';
import type { ChalkInstance } from 'chalk';

/** Written in plain notation, empty for null and undefined. */
export type Cell = string | number | bigint | boolean | Big | null | undefined;

export interface Column<T> {
  readonly title: string;
  /** The exact value: what csv and tsv carry, and the screen too where `text` says nothing else. */
  readonly value: (row: T) => Cell;
  /** What a person reads: grouped amounts, relative times. */
  readonly text?: (row: T) => string;
  readonly align?: 'left' | 'right';
  /** In a narrow window the columns with the highest number leave first; those with 0 (the default) stay. */
  readonly priority?: number;
  /** An id that must stay whole: where the row is too wide for the window it moves to a line of its own below. */
  readonly below?: boolean;
  /** A column for people or for machines alone. */
  readonly only?: 'screen' | 'rows';
  /** Colour of a cell, on a screen only; it carries no meaning alone. */
  readonly style?: (cell: string, style: ChalkInstance, row: T) => string;
}
