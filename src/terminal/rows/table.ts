// Tables without borders, with numbers right-aligned, never wider than the window.
import { Chalk, type ChalkInstance } from 'chalk';
import type CliTable from 'cli-table3';
import { cellText } from './cell.js';
import { padLeft, padRight, truncate, widthOf } from '../text.js';
import type { Column } from './view.js';

const margin = '  ';
const narrowGap = 2;
const wideGap = 6;

/** Which columns are side by side, their widths and gap, and which are below their row. */
interface Layout<T> {
  readonly beside: readonly Column<T>[];
  readonly below: readonly Column<T>[];
  readonly widths: readonly number[];
  readonly gap: number;
  /** Too narrow for a table: labels and values in lines instead. */
  readonly stacked: boolean;
}

export interface TableOptions {
  readonly style: ChalkInstance;
  /** The window's width in cells; infinite without one. */
  readonly width: number;
  /** The class of cli-table3, loaded by the caller only when a table is drawn. */
  readonly Table: typeof CliTable;
}

/**
 * Draws a table in parts, so that a long one needs little memory: the first part has the head and defines the layout,
 * the following ones can only widen it.
 */
export function createTable<T>(
  columns: readonly Column<T>[],
  options: TableOptions,
): (rows: readonly T[]) => string[] {
  let settled: Layout<T> | undefined;
  return (rows) => {
    const layout =
      settled === undefined ? layOut(columns, rows, options.width) : grown(settled, rows);
    const lines = layout.stacked
      ? stack(layout, rows, options, settled === undefined)
      : sideBySide(layout, rows, options, settled === undefined);
    settled = layout;
    return lines;
  };
}

/** The rows without head, margin and colours, for a menu. */
export async function tableLines<T>(
  columns: readonly Column<T>[],
  rows: readonly T[],
  width: number,
): Promise<string[]> {
  const { default: Table } = await import('cli-table3');
  const draw = createTable<T>(columns, { style: new Chalk({ level: 0 }), width, Table });
  return draw(rows)
    .slice(1)
    .map((line) => line.slice(margin.length));
}

const textOf = <T>(column: Column<T>, row: T): string =>
  cellText(column.text?.(row) ?? column.value(row));

/** The cells of a column, with numbers aligned at the point. */
function cellsOf<T>(column: Column<T>, rows: readonly T[]): string[] {
  const texts = rows.map((row) => textOf(column, row));
  return column.align === 'decimal' ? pointsAligned(texts) : texts;
}

/** Aligns `50 000 sat` and `25.00 USDT` at the end of the whole units; other texts are unchanged. */
export function pointsAligned(texts: readonly string[]): string[] {
  const parts = texts.map(
    (text) => /^(\D{0,2}\d[\d ]*?)((?:\.\d+)?(?: \D.*)?)$/u.exec(text)?.slice(1) ?? [text, ''],
  );
  const whole = Math.max(0, ...parts.map(([units = '']) => widthOf(units)));
  const rest = Math.max(0, ...parts.map(([, after = '']) => widthOf(after)));
  return parts.map(([units = '', after = '']) => padLeft(units, whole) + padRight(after, rest));
}

const widestOf = (texts: readonly string[]): number =>
  texts.reduce((width, text) => Math.max(width, widthOf(text)), 0);

const cellWidth = <T>(column: Column<T>, rows: readonly T[]): number =>
  Math.max(widestOf(cellsOf(column, rows)), widthOf(column.title));

const widthWith = (widths: readonly number[], gap: number): number =>
  margin.length +
  widths.reduce((sum, width) => sum + width, 0) +
  gap * Math.max(0, widths.length - 1);

/** The widths of truncated columns: normal minimum, last minimum, maximum. */
const leastCut = 14;
const leastBeforeLeaving = 10;
const mostCut = 36;

/** An amount is never truncated: the beginning of a number is another number. */
const cut = (text: string, width: number): string =>
  widthOf(text) > width && /^\D{0,2}\d[\d .]* [A-Za-z]+$/u.test(text) ? '…' : truncate(text, width);

function layOut<T>(columns: readonly Column<T>[], rows: readonly T[], width: number): Layout<T> {
  const telling = columns.filter(
    ({ only, ...column }) =>
      only !== 'screen' || cellsOf(column, rows).some((text) => text.trim() !== ''),
  );
  for (const [beside, below] of narrower(telling)) {
    const widths = shrunk(
      beside,
      beside.map((column) => cellWidth(column, rows)),
      width,
    );
    if (widthWith(widths, narrowGap) > width) continue;
    const spare = Math.floor((width - widthWith(widths, 0)) / Math.max(1, widths.length - 1));
    return { beside, below, widths, gap: Math.min(wideGap, spare), stacked: false };
  }
  const label = Math.max(...telling.map((column) => widthOf(column.title)));
  return { beside: telling, below: [], widths: [label], gap: narrowGap, stacked: true };
}

/** Narrows the columns that may be truncated as far as necessary. */
function shrunk<T>(
  columns: readonly Column<T>[],
  natural: readonly number[],
  width: number,
): number[] {
  const lowest = Math.max(...columns.map(({ priority = 0 }) => priority));
  const widths = columns.map(({ shrinks }, i) =>
    Math.min(natural[i] ?? 0, shrinks === true ? mostCut : Infinity),
  );
  let excess = widthWith(widths, narrowGap) - width;
  return widths.map((own, i) => {
    if (excess <= 0 || columns[i]?.shrinks !== true) return own;
    const least = columns[i].priority === lowest ? leastBeforeLeaving : leastCut;
    const given = Math.min(excess, Math.max(0, own - least));
    excess -= given;
    return own - given;
  });
}

/** Layouts from all columns side by side to fewer: ids move below first, then the least important are omitted. */
function* narrower<T>(
  columns: readonly Column<T>[],
): Generator<[beside: Column<T>[], below: Column<T>[]]> {
  yield [[...columns], []];
  const below = columns.filter((column) => column.below === true);
  let beside = columns.filter((column) => column.below !== true);
  if (below.length > 0) yield [beside, below];
  for (;;) {
    const lowest = Math.max(0, ...beside.map((column) => column.priority ?? 0));
    if (lowest === 0) return;
    beside = beside.filter((column) => (column.priority ?? 0) < lowest);
    yield [beside, below];
  }
}

function grown<T>(layout: Layout<T>, rows: readonly T[]): Layout<T> {
  if (layout.stacked) return layout;
  const widths = layout.beside.map((column, i) =>
    Math.max(layout.widths[i] ?? 0, column.shrinks === true ? 0 : cellWidth(column, rows)),
  );
  return { ...layout, widths };
}

function sideBySide<T>(
  layout: Layout<T>,
  rows: readonly T[],
  { style, Table }: TableOptions,
  head: boolean,
): string[] {
  const { beside, below, widths, gap } = layout;
  const table = new Table({
    chars: { ...noBorders, left: margin, middle: ' '.repeat(gap) },
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
    colWidths: [...widths],
    colAligns: beside.map(({ align = 'left' }) => (align === 'decimal' ? 'right' : align)),
  });
  if (head) table.push(beside.map(({ title }) => style.dim(title)));
  const cells = beside.map((column, i) =>
    cellsOf(column, rows).map((text) => cut(text, widths[i] ?? 0)),
  );
  for (const [at, row] of rows.entries()) {
    table.push(beside.map((column, i) => painted(column, row, style, cells[i]?.[at])));
  }
  const lines = table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd());
  const belowLines = (row: T): string[] =>
    below.map((column) => `${margin}${margin}${painted(column, row, style)}`);
  return [
    ...(head ? lines.slice(0, 1) : []),
    ...rows.flatMap((row, i) => [lines[i + (head ? 1 : 0)] ?? '', ...belowLines(row)]),
  ];
}

function stack<T>(
  layout: Layout<T>,
  rows: readonly T[],
  { style, width }: TableOptions,
  first: boolean,
): string[] {
  const labelWidth = layout.widths[0] ?? 0;
  const field = (column: Column<T>, row: T): string[] => {
    const value = painted(column, row, style);
    const label = `${margin}${style.dim(padRight(column.title, labelWidth))}`;
    const isBeside = margin.length + labelWidth + layout.gap + widthOf(value) <= width;
    return isBeside
      ? [`${label}${' '.repeat(layout.gap)}${value}`.trimEnd()]
      : [label.trimEnd(), `${margin}${margin}${value}`];
  };
  const record = (row: T): string[] => layout.beside.flatMap((column) => field(column, row));
  return rows.flatMap((row, i) => (first && i === 0 ? record(row) : ['', ...record(row)]));
}

const painted = <T>(
  column: Column<T>,
  row: T,
  style: ChalkInstance,
  text = textOf(column, row),
): string => column.style?.(text, style, row) ?? text;

const noBorders = Object.fromEntries(
  [
    'top',
    'top-mid',
    'top-left',
    'top-right',
    'bottom',
    'bottom-mid',
    'bottom-left',
    'bottom-right',
    'mid',
    'left-mid',
    'mid-mid',
    'right-mid',
    'right',
  ].map((part) => [part, '']),
);
