// Defines how a command presents its result: the columns of its rows, for people and for scripts. A
// cell shows an exact value in plain notation on one line. In every format, a name in --fields is a
// path into the service's object, or the name of a computed column.
import type { Command } from '../next-step.js';
import { Big } from 'big.js';
import type { ChalkInstance } from 'chalk';
import { type GivesWay, sanitize } from '../text.js';
import type { Canvas } from '../terminal.js';
import { fixed, plainNumber } from '../../formats/amount.js';
import { toJson } from './json.js';
import { invalid } from '../../formats/failure.js';

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
  /** Returns a secondary text, which a card shows after the value. */
  readonly note?: (row: T) => string | undefined;
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
  readonly group?: ((row: T) => string) | undefined;
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

/** Returns the value at a path such as `sourceReq.ccy`, or undefined. */
export const fieldAt = (object: object, path: string): unknown =>
  path.split('.').reduce<unknown>(ownField, object);

const ownField = (object: unknown, key: string): unknown =>
  typeof object === 'object' && object !== null
    ? Object.getOwnPropertyDescriptor(object, key)?.value
    : undefined;

/** Returns the value of a column, by default the field of the row that the column names. */
export const cellIn = <T>({ name, value }: Column<T>, row: T): Cell =>
  value === undefined ? cellOf(ownField(row, name)) : value(row);

/**
 * Returns the value of a field of a row or, if the row has no field of the given name, the value of
 * the computed column of that name.
 */
function valueOf<T extends object>(row: T, name: string, columns: readonly Column<T>[]): unknown {
  const own = fieldAt(row, name);
  const column = own === undefined ? columns.find((each) => each.name === name) : undefined;
  return column === undefined ? own : cellIn(column, row);
}

/** The names in `--fields`, or undefined for all fields. */
export type Fields = readonly string[] | undefined;

/**
 * Returns a row with the requested names as keys, in the requested order. A missing field is null,
 * so that every row has every key.
 */
export const picked = <T extends object>(
  row: T,
  fields: Fields,
  columns: readonly Column<T>[] = [],
): object =>
  fields === undefined
    ? row
    : Object.fromEntries(fields.map((name) => [name, valueOf(row, name, columns) ?? null]));

/**
 * The maximum depth of field paths, which exceeds the depth of every object in the specification.
 * Without a limit on the depth of paths, a deeply nested response could exceed the call stack.
 */
const deepest = 10;

/**
 * Returns every path into an object, parents before children. A list has only one path, without
 * paths for its elements.
 */
export function pathsOf(object: object, parent = '', level = 1): string[] {
  return Object.entries(object).flatMap(([key, value]) => {
    const path = `${parent}${key}`;
    const isParent =
      typeof value === 'object' && value !== null && !Array.isArray(value) && !('toFixed' in value);
    return isParent && level < deepest ? [path, ...pathsOf(value, `${path}.`, level + 1)] : [path];
  });
}

/** Throws Failure `usage` for the first unknown name in `--fields`, and lists the known names. */
export function checkNames(asked: readonly string[], names: readonly string[]): void {
  const wrong = asked.find((name) => !names.includes(name));
  if (wrong === undefined) return;
  if (names.length === 0)
    throw invalid(`"${wrong}" is not a field of this command, which has no fields.`);
  const shown =
    names.length <= mostNamed ? names.join(', ') : `${names.slice(0, mostNamed).join(', ')}, …`;
  throw invalid(`"${wrong}" is not a field of this command. Its fields are ${shown}.`, {
    hint: 'List all: --fields help',
  });
}

const mostNamed = 24;

/** Converts a cell to sanitized text, so that a tsv row is one line without control characters. */
export function cellText(cell: Cell): string {
  if (cell === null || cell === undefined) return '';
  if (cell instanceof Big) return fixed(cell);
  return typeof cell === 'number' ? plainNumber(cell) : sanitize(String(cell));
}

/**
 * Converts the names in `--fields` to columns with these names as titles. An object in a cell
 * becomes JSON.
 */
export const fieldColumns = <T extends object>(
  names: readonly string[],
  columns: readonly Column<T>[] = [],
): Column<T>[] =>
  names.map((name) => ({ name, title: name, value: (row) => cellOf(valueOf(row, name, columns)) }));

/** Returns the columns for `--fields` or, without `--fields`, the columns for a screen or rows. */
export const columnsFor = <T extends object>(
  target: 'screen' | 'rows',
  fields: Fields,
  columns: readonly Column<T>[],
): readonly Column<T>[] =>
  fields === undefined
    ? columns.filter(({ only = target }) => only === target)
    : fieldColumns(fields, columns);

/** The columns of a list that shows all fields to machines, and other columns to people. */
export const columnsApart = <T extends object>(
  fields: readonly string[],
  screen: readonly Column<T>[],
): Column<T>[] => [
  ...fieldColumns<T>(fields).map((each): Column<T> => ({ ...each, only: 'rows' })),
  ...screen.map((each): Column<T> => ({ ...each, only: 'screen' })),
];

/** Lists the fields of a row. The compiler reports a field that the list lacks. */
export const fieldsOf =
  <Row>() =>
  <const Name extends keyof Row & string>(
    names: readonly Name[] & ([keyof Row & string] extends [Name] ? unknown : never),
  ): readonly Name[] =>
    names;

/**
 * Returns columns that show the value that `pick` finds in a row. If `pick` finds no value, the
 * cells are empty.
 */
export const columnsThrough = <Row, T>(
  columns: readonly Column<T>[],
  pick: (row: Row) => T | undefined,
): Column<Row>[] =>
  columns.map(({ text, style, note: _note, ...column }) => ({
    ...column,
    value: (row) => {
      const found = pick(row);
      return found === undefined ? undefined : (text?.(found) ?? cellIn(column, found));
    },
    style: (cell, chalk, row) => {
      const found = pick(row);
      return found === undefined ? cell : (style?.(cell, chalk, found) ?? cell);
    },
  }));

function cellOf(value: unknown): Cell {
  switch (typeof value) {
    case 'string':
    case 'number':
    case 'bigint':
    case 'boolean':
      return value;
    default:
      return value === null || value === undefined || value instanceof Big ? value : toJson(value);
  }
}
