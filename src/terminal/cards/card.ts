// Draws the building blocks of cards: labelled lines, lines of money with aligned numbers, and the
// form above a wizard's question. Each function sanitizes the values that it draws.
import { formatAmount, formatSats, type Money } from '../../formats/amount.js';
import {
  sanitize,
  pointsAligned,
  sideBySide,
  padLeft,
  padRight,
  paragraph,
  widestOf,
  widthOf,
  wrap,
  oneLine,
} from '../text.js';
import { dateTime } from '../time.js';
import type { Canvas } from '../terminal.js';
import {
  cellIn,
  cellText,
  dim,
  fieldColumns,
  type Column,
  type RecordView,
  type RowView,
} from '../rows/view.js';
import { entryOf } from '../../formats/text.js';

const margin = '  ';

/** A line of a card, such as `Expires   in 48 minutes`. A card omits a line without text. */
export interface CardLine {
  readonly label: string;
  readonly value: Money | string | null | undefined;
  /** A secondary text after the value, such as `fee 0.28 %`, shown dim. */
  readonly note?: string | null | undefined;
  /**
   * Whether the value is an address, invoice or id that people copy. svcpay does not wrap an
   * address, invoice or id, so that people can copy the whole value.
   */
  readonly whole?: boolean;
  /** Colours the value. */
  readonly style?: (value: string, style: Canvas['style']) => string;
  /**
   * Whether the line is the total of the lines above, which svcpay draws in bold under a horizontal
   * line.
   */
  readonly total?: boolean;
  /**
   * Whether the line is secondary. A secondary line shows an amount in BTC, without the amount in
   * satoshis.
   */
  readonly aside?: boolean;
  /** Whether the note is a warning. */
  readonly warns?: boolean;
}

/** Formats an approximate value such as `≈ 74 260 USD`, with cents only for values below 100. */
export function worthText(worth: Money | undefined): string {
  if (worth === undefined) return '';
  const { ccy, value } = worth;
  return `≈ ${formatAmount({ ccy, value: value.round(value.gte(100) ? 0 : 2) })}`.replace(
    /\.00(?= )/,
    '',
  );
}

export const heading = (text: string, canvas: Canvas): string[] =>
  paragraph(sanitize(text), canvas, canvas.style.bold);

/**
 * The properties of the terminal that a card uses: the style, the width, and the block explorer for
 * the links of addresses.
 */
interface Pane extends Pick<Canvas, 'style' | 'columns' | 'explorer'> {
  /** The gap between the label, the value and the note, by default three cells. */
  readonly gap?: number;
}

/**
 * Draws the lines of a card with aligned values. A long text wraps within its column. Amounts of
 * one currency are right-aligned. In a narrow window, the card first omits the amounts in satoshis,
 * then moves notes to separate lines.
 */
export function cardLines(given: readonly CardLine[], canvas: Pane, labelWidth = 7): string[] {
  const { style, columns } = canvas;
  const gap = ' '.repeat(canvas.gap ?? 3);
  const lines = textsOf(given);
  const width = Math.max(labelWidth, widestOf(lines.map(({ label }) => label)));
  const indent = ' '.repeat(margin.length + width + gap.length);
  const available = columns - indent.length;
  const satsWidth = widestOf(lines.map(({ sats }) => sats));
  const isTooWide = ({ value, sats, note }: Texts): boolean =>
    widthOf([value, padLeft(sats, satsWidth), note].join(gap).trimEnd()) > available;
  const hasSats = satsWidth > 0 && !lines.some((line) => line.sats !== '' && isTooWide(line));
  return lines.flatMap((line) => {
    const { label, value, note, sats, whole, total, paint, paintNote } = line;
    if (available < leastValueWidth || (whole && widthOf(value) > available))
      return stackedLine(line, canvas);
    const besideValue = hasSats && sats + note !== '' ? gap + padLeft(sats, satsWidth) : '';
    const parts = [
      { text: paint(linked(value, canvas), style) + style.dim(besideValue) },
      { text: paintNote(note, style), priority: 1, below: true },
    ];
    const [first = '', ...rest] = sideBySide(parts, available, gap).flatMap((text) =>
      widthOf(text) > available ? wrap(text, available) : [text],
    );
    const rule = '─'.repeat(width + gap.length + widthOf(value + besideValue));
    const start = margin + (total ? style.bold : style.dim)(padRight(label, width)) + gap;
    return [
      ...(total ? [margin + style.dim(rule)] : []),
      (start + first).trimEnd(),
      ...rest.map((text) => indent + text),
    ];
  });
}

/** Draws the columns of a record as the lines of a card. Never wraps a value without blanks. */
export const recordLines = <T>(
  columns: readonly Column<T>[],
  row: T,
  canvas: Pane,
  labelWidth?: number,
): string[] =>
  cardLines(
    columns
      .filter(({ only }) => only !== 'rows')
      .map((column) => {
        const value = column.text?.(row) ?? cellText(cellIn(column, row));
        const { title = '', note } = column;
        return { label: title, value, note: note?.(row), whole: !value.includes(' ') };
      }),
    canvas,
    labelWidth,
  );

/** Returns the view of a record whose columns are the lines of its card. */
export const cardView = <T>(view: RowView<T>): RecordView<T> => ({
  ...view,
  screen: (canvas, row) => recordLines(view.columns, row, canvas),
});

/**
 * The minimum width of a value next to its label. A value with less space than the minimum width
 * moves below its label.
 */
const leastValueWidth = 16;

/**
 * Draws a label with its value below. svcpay does not wrap an amount, address, invoice or id, so
 * that people can copy the whole value.
 */
function stackedLine({ label, value, note, whole, paint, paintNote }: Texts, canvas: Pane) {
  const { columns, style } = canvas;
  const below = (text: string): string[] =>
    wrap(text, columns - 2 * margin.length).map((line) => margin + margin + line);
  const indent = widthOf(value) > columns - margin.length ? '' : margin;
  return [
    ...(label === '' ? [] : [margin + style.dim(label)]),
    ...(whole ? [indent + linked(value, canvas)] : below(paint(value, style))),
    ...(note === '' ? [] : below(paintNote(note, style))),
  ];
}

/** Returns the sanitized texts of the lines that have a text, with aligned amounts. */
function textsOf(lines: readonly CardLine[]) {
  const amounts = lines.flatMap(({ value }) => (typeof value === 'object' && value) || []);
  const isOneCurrency = new Set(amounts.map(({ ccy }) => ccy)).size === 1;
  const aligned = pointsAligned(amounts.map(formatAmount).map(sanitize));
  return lines.flatMap(({ label, value, note, ...line }) => {
    if (!value && !note) return [];
    const { whole = false, total = false, style = total ? bold : same } = line;
    const paintNote = line.warns === true ? yellow : dim;
    const texts = {
      label: sanitize(label),
      note: sanitize(note ?? ''),
      total,
      paint: style,
      paintNote,
    };
    if (typeof value !== 'object' || value === null)
      return { ...texts, value: sanitize(value ?? ''), sats: '', whole };
    const hasSats = isOneCurrency && value.ccy === 'BTC' && line.aside !== true;
    const sats = hasSats ? formatSats(value.value) : '';
    return { ...texts, value: aligned[amounts.indexOf(value)] ?? '', sats, whole: true };
  });
}

type Texts = ReturnType<typeof textsOf>[number];
type Paint = NonNullable<CardLine['style']>;

const bold: Paint = (text, style) => style.bold(text);
const yellow: Paint = (text, style) => style.yellow(text);
const same: Paint = (text) => text;

const bitcoinAddress = /^(?:(?:bc|tb|bcrt)1[02-9a-z]{8,87}|[123mn][1-9A-HJ-NP-Za-km-z]{25,34})$/i;

/**
 * Returns a Bitcoin address as a link to the block explorer if an explorer is set, and any other
 * text unchanged.
 */
export const linked = (text: string, { explorer }: Pick<Canvas, 'explorer'>): string =>
  explorer === undefined || !bitcoinAddress.test(text)
    ? text
    : `\u001B]8;;${explorer}/address/${text}\u001B\\${text}\u001B]8;;\u001B\\`;

const barWidth = 20;

/** @param part the part that is done, from 0 to 1 */
export function progressBar(part: number, { style, blocks }: Pick<Canvas, 'style' | 'blocks'>) {
  const filled = Math.floor(part * barWidth);
  return (
    style.green((blocks ? '━' : '#').repeat(filled)) +
    style.dim((blocks ? '─' : '-').repeat(barWidth - filled))
  );
}

/**
 * Draws the form above a wizard's question: a title such as `Payout · step 4 of 6 · Sender`, and
 * the known answers, one line per step.
 * @param asked the index of the step whose questions the person has not all answered
 */
export const formAbove =
  (title: string, answers: readonly (string | undefined)[], asked?: number) =>
  ({ style, columns }: Canvas): string[] => {
    const available = columns - 3;
    const cells = answers.flatMap((text, index) => {
      if (!text) return [];
      const sign = index === asked ? style.dim('…') : style.green('✓');
      return [
        wrap(sanitize(text), available - 2).map((line, i) => `${i > 0 ? ' ' : sign} ${line}`),
      ];
    });
    const titles = wrap(sanitize(title), available).map((line) => style.bold(line));
    return [...titles, ...paired(cells, Math.floor((columns - 2) / 2))].map((line) => `  ${line}`);
  };

/** Puts two short steps on one line. */
function paired([one, two, ...others]: readonly (readonly string[])[], half: number): string[] {
  if (one === undefined) return [];
  if (two === undefined) return [...one];
  const isShort = ([line = '', ...more]: readonly string[]): boolean =>
    more.length === 0 && widthOf(line) < half - 2;
  if (!isShort(one) || !isShort(two)) return [...one, ...paired([two, ...others], half)];
  return [`${padRight(one[0] ?? '', half)}${two[0] ?? ''}`, ...paired(others, half)];
}

/**
 * Returns the view of an object with the given fields. `quiet` is the single value that `-q`
 * prints.
 */
export const objectView = <T extends object>(
  fields: readonly string[],
  quiet = '',
): RecordView<T> => ({
  columns: fieldColumns(fields),
  quiet: () => quiet,
  screen: (canvas, object) => recordLines(labelledColumns(object), object, canvas),
});

/** Returns the view of a result that people read as one sentence. */
export const sentenceView = <T extends object>(
  fields: readonly string[],
  sentence: (result: T) => string,
  quiet: (result: T) => string,
): RecordView<T> => ({
  columns: fieldColumns(fields),
  quiet,
  screen: (_canvas, result) => [`  ${sanitize(sentence(result))}`],
});

const longestLabel = 24;

/** The labels for the fields of a service's objects. */
const labels: Readonly<Record<string, string>> = {
  id: 'Account',
  accountId: 'Account',
  displayName: 'Name',
  accountDisplayName: 'Name',
  status: 'State',
  accountStatus: 'State',
  countryCode: 'Country',
  timezone: 'Time zone',
  extId: 'Your reference',
  parentAccountId: 'Parent account',
  createdAt: 'Created',
};

/**
 * Returns the columns of an object, for example with the title `Name` for `accountDisplayName`. A
 * field without a label shows its name as words. Omits columns that repeat the title and the value
 * of an earlier column.
 */
function labelledColumns(object: object): Column<object>[] {
  const shown = new Set<string>();
  return fieldColumns<object>(Object.keys(object)).flatMap((column) => {
    const title = entryOf(labels, column.name) ?? oneLine(inWords(column.name), longestLabel);
    const text = shownText(cellText(cellIn(column, object)));
    const line = JSON.stringify([title, text]);
    if (shown.has(line)) return [];
    shown.add(line);
    return { ...column, title, text: () => text };
  });
}

/** Returns a text with instants in the local time zone. */
const shownText = (text: string): string =>
  /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/.test(text) ? dateTime(Date.parse(text)) : text;

function inWords(name: string): string {
  const words = name.replaceAll(/(?<=[a-z\d])[A-Z]/g, (start) => ` ${start.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}
