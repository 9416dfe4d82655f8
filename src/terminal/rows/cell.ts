// A value as the text of a cell: exact, in plain notation, on one line.
import { Big } from 'big.js';
import { fixed } from '../../formats/amount.js';
import { valueOf } from './fields.js';
import { toJson } from './json.js';
import { sanitize } from '../sanitize.js';
import type { Cell, Column } from './view.js';

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
