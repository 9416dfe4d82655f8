// Rows for machines. Each format is the text before, of and after the rows, for streaming.
import { asPlainCell } from '../../formats/text.js';
import { cellText, fieldColumns, pickFields } from './cell.js';
import { toJson } from './json.js';
import type { Cell, Column } from './view.js';

export interface RowWriter<T> {
  /** The text before the first row. */
  readonly open: string;
  /** The text of a row. `isFirst` decides about separators between rows. */
  readonly row: (row: T, isFirst: boolean) => string;
  /** The text after the last row. */
  readonly close: string;
  /** The text if there are no rows. */
  readonly none: string;
}

export type Fields = readonly string[] | undefined;

export const picked = <T extends object>(
  row: T,
  fields: Fields,
  columns: readonly Column<T>[],
): object => (fields === undefined ? row : pickFields(row, fields, columns));

/** An array, indented on a terminal, otherwise on one line. */
export function jsonRows<T extends object>(
  columns: readonly Column<T>[],
  fields: Fields,
  pretty: boolean,
): RowWriter<T> {
  const between = pretty ? ',\n' : ',';
  return {
    open: pretty ? '[\n' : '[',
    row: (row, isFirst) => {
      const shown = picked(row, fields, columns);
      return `${isFirst ? '' : between}${pretty ? indented(shown) : toJson(shown)}`;
    },
    close: pretty ? '\n]\n' : ']\n',
    none: '[]\n',
  };
}

const indented = (row: object): string =>
  `  ${toJson(row, { indent: 2 }).replaceAll('\n', '\n  ')}`;

/** @param json writes a whole row */
export function jsonLines<T extends object>(
  columns: readonly Column<T>[],
  fields: Fields,
  json: (row: T) => string = toJson,
): RowWriter<T> {
  const written =
    fields === undefined ? json : (row: T): string => toJson(pickFields(row, fields, columns));
  return lines(written);
}

/** Tab-separated rows without a header, with the columns of the table. */
export function tabRows<T extends object>(
  columns: readonly Column<T>[],
  fields: Fields,
): RowWriter<T> {
  const cells = rowColumns(columns, fields);
  return lines((row) => cells.map((column) => cellText(column.value(row))).join('\t'));
}

/**
 * CSV rows with a header of the names that `--fields` takes. `stringify` is the function of
 * csv-stringify. The caller loads it only when needed.
 */
export function csvRows<T extends object>(
  columns: readonly Column<T>[],
  fields: Fields,
  stringify: (rows: string[][]) => string,
  rawCells: boolean,
): RowWriter<T> {
  const cells = rowColumns(columns, fields);
  const head = stringify([cells.map(({ name }) => name)]);
  return {
    open: head,
    row: (row) => stringify([cells.map((column) => csvCell(column.value(row), rawCells))]),
    close: '',
    none: head,
  };
}

/** A cell that a spreadsheet keeps as text. */
export const csvCell = (cell: Cell, isRaw: boolean): string =>
  typeof cell === 'string' && !isRaw ? asPlainCell(cellText(cell)) : cellText(cell);

export const quietRows = <T>(quiet: (row: T) => string): RowWriter<T> =>
  lines((row) => cellText(quiet(row)));

/** A writer with only a line per row. */
const lines = <T>(line: (row: T) => string): RowWriter<T> => ({
  open: '',
  row: (row) => `${line(row)}\n`,
  close: '',
  none: '',
});

const rowColumns = <T extends object>(
  columns: readonly Column<T>[],
  fields: Fields,
): readonly Column<T>[] =>
  fields === undefined
    ? columns.filter(({ only }) => only !== 'screen')
    : fieldColumns<T>(fields, columns);
