// The cells of a row: values as text on one line, exact and in plain notation, and fields by name.
// In every format, a name of --fields is a path into the service's object, or the name of a
// computed column.
import { Big } from 'big.js';
import { fixed } from '../../formats/amount.js';
import { toJson } from './json.js';
import { sanitize } from '../sanitize.js';
import type { Cell, Column } from './view.js';
import { Failure } from '../../formats/failure.js';

/** The value at a path such as `sourceReq.ccy`, or undefined. */
export function fieldAt(object: object, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (value, key) =>
        typeof value === 'object' && value !== null
          ? Object.getOwnPropertyDescriptor(value, key)?.value
          : undefined,
      object,
    );
}

/** The value of a name in this row: its field, or else the value of a computed column. */
export function valueOf<T extends object>(
  row: T,
  name: string,
  columns: readonly Column<T>[],
): unknown {
  const own = fieldAt(row, name);
  return own === undefined ? columns.find((column) => column.name === name)?.value(row) : own;
}

/**
 * An object with the names as keys, in the requested order. Missing fields are null, so every row
 * has all of them.
 */
export function pickFields<T extends object>(
  row: T,
  names: readonly string[],
  columns: readonly Column<T>[] = [],
): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, valueOf(row, name, columns) ?? null]));
}

/**
 * The deepest level of paths. No object of the specification is as deep. A response may be deeper
 * than the call stack.
 */
const deepest = 10;

/** Every path into an object, parents before their children. A list is a value. */
export function pathsOf(object: object, parent = '', level = 1): string[] {
  return Object.entries(object).flatMap(([key, value]) => {
    const path = `${parent}${key}`;
    const isParent =
      typeof value === 'object' && value !== null && !Array.isArray(value) && !('toFixed' in value);
    return isParent && level < deepest ? [path, ...pathsOf(value, `${path}.`, level + 1)] : [path];
  });
}

/** Throws Failure `usage` for the first unknown name, with the known names. */
export function checkNames(asked: readonly string[], known: readonly string[]): void {
  const wrong = asked.find((name) => !known.includes(name));
  if (wrong === undefined) return;
  if (known.length === 0)
    throw new Failure('usage', `"${wrong}" is not a field of this command: it has no fields.`);
  const shown =
    known.length <= mostNamed ? known.join(', ') : `${known.slice(0, mostNamed).join(', ')}, …`;
  throw new Failure('usage', `"${wrong}" is not a field of this command. It has: ${shown}.`, {
    hint: 'List all: --fields help',
  });
}

const mostNamed = 24;

/** A cell as sanitized text, so that a row of tsv is one line without control characters. */
export function cellText(cell: Cell): string {
  if (cell === null || cell === undefined) return '';
  if (cell instanceof Big) return fixed(cell);
  return typeof cell === 'number' ? toJson(cell) : sanitize(String(cell));
}

/** `--fields` as columns. Their titles are the names. An object in a cell is written as JSON. */
export const fieldColumns = <T extends object>(
  names: readonly string[],
  columns: readonly Column<T>[] = [],
): Column<T>[] =>
  names.map((name) => ({ name, title: name, value: (row) => cellOf(valueOf(row, name, columns)) }));

/** Columns of the value that `pick` finds in a row. Without the value, their cells are empty. */
export const columnsThrough = <Row, T>(
  columns: readonly Column<T>[],
  pick: (row: Row) => T | undefined,
): Column<Row>[] =>
  columns.map(({ value, text, style, ...column }) => ({
    ...column,
    value: (row) => {
      const found = pick(row);
      return found === undefined ? undefined : (text?.(found) ?? value(found));
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
