// Builds the cells of a row, and finds the fields of a row by name. A cell shows an exact value in
// plain notation on one line. In every format, a name in --fields is a path into the service's
// object, or the name of a computed column.
import { Big } from 'big.js';
import { fixed } from '../../formats/amount.js';
import { toJson } from './json.js';
import { sanitize } from '../sanitize.js';
import type { Cell, Column } from './view.js';
import { Failure } from '../../formats/failure.js';

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
export function valueOf<T extends object>(
  row: T,
  name: string,
  columns: readonly Column<T>[],
): unknown {
  const own = fieldAt(row, name);
  const column = own === undefined ? columns.find((each) => each.name === name) : undefined;
  return column === undefined ? own : cellIn(column, row);
}

/**
 * Builds an object with the requested names as keys, in the requested order. A missing field is
 * null, so that every row has every key.
 */
export function pickFields<T extends object>(
  row: T,
  names: readonly string[],
  columns: readonly Column<T>[] = [],
): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, valueOf(row, name, columns) ?? null]));
}

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
    throw new Failure('usage', `"${wrong}" is not a field of this command, which has no fields.`);
  const shown =
    names.length <= mostNamed ? names.join(', ') : `${names.slice(0, mostNamed).join(', ')}, …`;
  throw new Failure(
    'usage',
    `"${wrong}" is not a field of this command. Its fields are ${shown}.`,
    {
      hint: 'List all: --fields help',
    },
  );
}

const mostNamed = 24;

/** Converts a cell to sanitized text, so that a tsv row is one line without control characters. */
export function cellText(cell: Cell): string {
  if (cell === null || cell === undefined) return '';
  if (cell instanceof Big) return fixed(cell);
  return typeof cell === 'number' ? toJson(cell) : sanitize(String(cell));
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
  columns.map(({ text, style, ...column }) => ({
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
