// Draws tables without borders and with right-aligned numbers. A table is never wider than the
// window.
import { Chalk, type ChalkInstance } from 'chalk';
import Table from 'cli-table3';
import { recordLines } from '../cards/card.js';
import {
  fit,
  pointsAligned,
  widestOf,
  sideBySide,
  type ColumnWidths,
  truncate,
  widthOf,
  wrap,
} from '../text.js';
import type { Canvas } from '../terminal.js';
import type { Choice } from '../ask/questions.js';
import { cellIn, cellText, type Column } from './view.js';

const margin = '  ';
const narrowGap = 2;
const wideGap = 6;

/** The width to which svcpay may shorten a text before svcpay omits a different column. */
const usualText = 20;

/** The width to which svcpay may shorten a text before svcpay omits the column of the text. */
const leastText = 10;

/**
 * The layout of a table: the columns that are side by side, with their widths and gap, and the
 * columns that are on lines below their row.
 */
interface Layout<T> {
  readonly beside: readonly Column<T>[];
  readonly widths: readonly number[];
  readonly below: readonly Column<T>[];
  readonly gap: number;
}

interface Pane extends Pick<Canvas, 'style' | 'explorer'> {
  /** The width of the window in cells, or Infinity if the output has no window. */
  readonly columns: number;
  /** The maximum gap between columns, which svcpay uses if the window has free space. */
  readonly gap?: number;
}

interface Drawn {
  /**
   * The line of titles, which only the first part of a table has, and only if a column has a title.
   */
  readonly head: readonly string[];
  /** The lines of each row of the table. */
  readonly rows: readonly (readonly string[])[];
}

/**
 * Draws a table in parts, so that a long table requires little memory. The first part of a table
 * decides which columns the table has. Later parts of the table can only make the columns wider. In
 * a window that is too narrow for a table, each row becomes a card.
 */
export function createTable<T>(
  columns: readonly Column<T>[],
  canvas: Pane,
): (rows: readonly T[]) => Drawn {
  let layout: Layout<T> | 'cards' | undefined;
  return (rows) => {
    const isFirst = layout === undefined;
    layout = layout === undefined ? layOut(columns, rows, canvas) : grown(layout, rows);
    return layout === 'cards'
      ? {
          head: [],
          rows: rows.map((row, i) => [
            ...(isFirst && i === 0 ? [] : ['']),
            ...recordLines(columns, row, canvas, 0),
          ]),
        }
      : draw(layout, rows, canvas, isFirst);
  };
}

/** The width of the cursor or number of a choice, and of the unused last cell of the window. */
const besideChoice = 7;

/**
 * Returns the choices of a menu, each with a row of a table without titles, margin or colours.
 * @param describe returns the columns that a narrow window omits, so that a search finds their text
 */
export function menuChoices<T, R extends T, V>(
  columns: readonly Column<T>[],
  rows: readonly R[],
  canvas: Pick<Canvas, 'columns'>,
  describe: (row: R) => { readonly value: V; readonly description: string },
): Choice<V>[] {
  const pane = {
    style: new Chalk({ level: 0 }),
    columns: canvas.columns - besideChoice + margin.length,
  };
  const drawn = createTable(columns, pane)(rows).rows;
  return rows.map((row, i) => {
    const [first = '', ...below] = drawn[i] ?? [];
    const parts = [first.slice(margin.length), ...below.map((line) => line.trim())];
    return { ...describe(row), name: parts.join(margin) };
  });
}

const textOf = <T>(column: Column<T>, row: T): string =>
  cellText(column.text?.(row) ?? cellIn(column, row));

/**
 * Whether a text is an amount, which svcpay never cuts, because the beginning of a number is a
 * different number.
 */
const isAmount = (text: string): boolean => /^\D{0,5}\d[\d .]* [A-Za-z]+$/u.test(text);

/**
 * Returns the widths that a column can have without shortening an amount. In a narrow window, a
 * column of amounts with units loses the alignment of decimal points before svcpay omits a
 * different column. A column of numbers without units keeps the alignment of decimal points as long
 * as svcpay can omit a different column.
 */
function widthsOf<T>(
  { title = '', align, shrinks, ...way }: Column<T>,
  texts: string[],
): ColumnWidths {
  const natural = Math.max(widestOf(texts), widthOf(title));
  if (align === 'decimal') {
    const width = Math.max(widestOf(pointsAligned(texts)), widthOf(title));
    return { ...way, width, usual: texts.some(isAmount) ? natural : width, least: natural };
  }
  if (shrinks === undefined || shrinks === false) return { ...way, width: natural };
  const atLeast = (width: number): number =>
    Math.min(natural, Math.max(width, widthOf(title), widestOf(texts.filter(isAmount))));
  return {
    ...way,
    width: natural,
    usual: atLeast(shrinks === true ? usualText : shrinks),
    least: atLeast(leastText),
  };
}

function layOut<T>(
  columns: readonly Column<T>[],
  rows: readonly T[],
  { columns: width, gap = wideGap }: Pane,
): Layout<T> | 'cards' {
  const sizes = columns.map((column) => {
    const texts = rows.map((row) => textOf(column, row));
    const mayLeave = column.only === 'screen' || (column.priority ?? 0) > 0;
    const isEmpty = mayLeave && texts.every((text) => text.trim() === '');
    return isEmpty ? { width: 0 } : widthsOf(column, texts);
  });
  const available = width - margin.length;
  const fitting = fit(sizes, available, narrowGap);
  if (fitting === undefined) return 'cards';
  const has = (i: number): boolean => fitting[i] !== undefined;
  const widths = fitting.flatMap((each) => each ?? []);
  const spare = available - widths.reduce((sum, each) => sum + each, 0);
  return {
    beside: columns.filter((_, i) => has(i)),
    widths,
    below: columns.filter(({ below }, i) => below === true && !has(i) && sizes[i]?.width !== 0),
    gap: Math.min(gap, Math.floor(spare / Math.max(1, widths.length - 1))),
  };
}

function grown<T>(layout: Layout<T> | 'cards', rows: readonly T[]): Layout<T> | 'cards' {
  if (layout === 'cards') return layout;
  const widths = layout.beside.map((column, i) =>
    column.shrinks !== undefined
      ? (layout.widths[i] ?? 0)
      : Math.max(layout.widths[i] ?? 0, widestOf(rows.map((row) => textOf(column, row)))),
  );
  return { ...layout, widths };
}

/** Returns the texts of a column, with aligned decimal points if the aligned texts fit. */
function cellsOf<T>(column: Column<T>, rows: readonly T[], width: number): string[] {
  const texts = rows.map((row) => textOf(column, row));
  if (column.align !== 'decimal') return texts.map((text) => truncate(text, width));
  const aligned = pointsAligned(texts);
  return widestOf(aligned) <= width ? aligned : texts;
}

function draw<T>(
  { beside, widths, below, gap }: Layout<T>,
  rows: readonly T[],
  { style, columns }: Pane,
  isFirst: boolean,
): Drawn {
  const table = new Table({
    chars: { ...noBorders, left: margin, middle: ' '.repeat(gap) },
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
    colWidths: [...widths],
    colAligns: beside.map(({ align = 'left' }) => (align === 'decimal' ? 'right' : align)),
  });
  const hasHead = isFirst && beside.some(({ title }) => title);
  if (hasHead) table.push(beside.map(({ title = '' }) => style.dim(title)));
  const cells = beside.map((column, i) => cellsOf(column, rows, widths[i] ?? 0));
  for (const [at, row] of rows.entries())
    table.push(beside.map((column, i) => painted(column, row, style, cells[i]?.[at])));
  const lines = table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd());
  const head = hasHead ? lines.slice(0, 1) : [];
  const belowRow = (row: T): string[] => {
    const parts = below.map((column) => ({ text: painted(column, row, style) }));
    const indent = margin + margin;
    const available = columns - indent.length;
    // svcpay does not wrap an id, so that people can copy the id.
    return sideBySide(parts, available, '   ')
      .flatMap((line) => (line.includes(' ') ? wrap(line, available) : [line]))
      .map((line) => indent + line);
  };
  return {
    head,
    rows: rows.map((row, i) => [lines[head.length + i] ?? '', ...belowRow(row)]),
  };
}

/**
 * Colours a text but not the blanks around the text, so that svcpay can remove blanks at the end of
 * a line.
 */
function painted<T>(
  column: Column<T>,
  row: T,
  style: ChalkInstance,
  text = textOf(column, row),
): string {
  const core = text.trim();
  if (column.style === undefined || core === '') return text;
  const at = text.indexOf(core);
  return text.slice(0, at) + column.style(core, style, row) + text.slice(at + core.length);
}

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
