// Draws the building blocks of cards: labelled lines, lines of money with aligned numbers, and the
// form above a wizard's question. Each function sanitizes the values that it draws.
import { formatAmount, formatSats, type Money } from '../../formats/amount.js';
import {
  sanitize,
  fit,
  pointsAligned,
  sideBySide,
  type LayoutPart,
  padLeft,
  padRight,
  widthOf,
  wrap,
  oneLine,
} from '../text.js';
import { dateTime } from '../time.js';
import type { Canvas } from '../terminal.js';
import { cellIn, cellText, fieldAt, fieldColumns, type RecordView } from '../rows/view.js';
import { entryOf } from '../../formats/text.js';

const margin = '  ';
const gap = '   ';

/** A labelled line such as `Expires   in 48 minutes`. A card omits a line without text. */
export interface CardDetail {
  readonly label: string;
  readonly value: string | null | undefined;
  /** A secondary text after the value, shown dim. */
  readonly note?: string | undefined;
  /**
   * Whether the value is an address, invoice or id that people copy. svcpay does not wrap an
   * address, invoice or id, so that people can copy the whole value.
   */
  readonly whole?: boolean;
}

export interface MoneyLine {
  readonly label: string;
  /** The amount, or a text between amounts, such as a rate. Undefined omits the line. */
  readonly amount: Money | string | undefined;
  /** The remark at the end of the line, such as `fee 0.28 %` or `≈ 74 260 USD`. */
  readonly note?: string | undefined;
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

export const heading = (text: string, { style, columns }: Canvas): string[] =>
  wrap(sanitize(text), columns - margin.length).map((line) => margin + style.bold(line));

/**
 * The properties of the terminal that a card uses: the style, the width, and the block explorer for
 * the links of addresses.
 */
type Pane = Pick<Canvas, 'style' | 'columns' | 'explorer'>;

/** Draws labelled lines with aligned values. A long value wraps within its column. */
export function detailLines(given: readonly CardDetail[], canvas: Pane, labelWidth = 7): string[] {
  const { style, columns } = canvas;
  const details = given.filter(({ value, note }) => value || note).map(harmless);
  const width = Math.max(labelWidth, widest(details.map(({ label }) => label)));
  const available = columns - margin.length - width - gap.length;
  return details.flatMap((detail) => {
    const { label, value, whole } = detail;
    if (available < leastValueWidth || (whole && widthOf(value) > available))
      return stackedDetail(detail, canvas);
    const lines = sideBySide(partsOf(detail, canvas), available, gap);
    const [first = '', ...rest] = lines.flatMap((line) => wrap(line, available));
    const start = margin + style.dim(padRight(label, width)) + gap;
    const indent = ' '.repeat(widthOf(start));
    return [(start + first).trimEnd(), ...rest.map((line) => indent + line)];
  });
}

/**
 * The minimum width of a value next to its label. A value with less space than the minimum width
 * moves below its label.
 */
const leastValueWidth = 16;

const partsOf = ({ value, note, whole }: Harmless, canvas: Pane): LayoutPart[] => [
  { text: whole ? linked(value, canvas) : value },
  { text: note && canvas.style.dim(note), priority: 1, below: true },
];

/**
 * Draws a label with its value below. svcpay does not wrap an address, invoice or id, so that
 * people can copy the whole value.
 */
function stackedDetail({ label, value, note, whole }: Harmless, canvas: Pane): string[] {
  const { columns, style } = canvas;
  const indented = (text: string): string[] =>
    wrap(text, columns - 2 * margin.length).map((line) => margin + margin + line);
  const link = linked(value, canvas);
  return [
    margin + style.dim(label),
    ...(!whole
      ? indented(value)
      : [widthOf(value) > columns - margin.length ? link : margin + link]),
    ...(note === '' ? [] : indented(style.dim(note))),
  ];
}

const bitcoinAddress = /^(?:(?:bc|tb|bcrt)1[02-9a-z]{8,87}|[123mn][1-9A-HJ-NP-Za-km-z]{25,34})$/i;

/**
 * Returns a Bitcoin address as a link to the block explorer if an explorer is set, and any other
 * text unchanged.
 */
export const linked = (text: string, { explorer }: Pick<Canvas, 'explorer'>): string =>
  explorer === undefined || !bitcoinAddress.test(text)
    ? text
    : `\u001B]8;;${explorer}/address/${text}\u001B\\${text}\u001B]8;;\u001B\\`;

const harmless = ({ label, value, note, whole = false }: CardDetail) => ({
  label: sanitize(label),
  value: sanitize(value ?? ''),
  note: sanitize(note ?? ''),
  whole,
});

type Harmless = ReturnType<typeof harmless>;

/**
 * Draws the lines of a card that show amounts. Numbers are right-aligned if all lines have the same
 * currency, otherwise left-aligned. In a narrow window, the card first omits the amounts in
 * satoshis, then moves the notes to separate lines.
 */
export function moneyLines(lines: readonly MoneyLine[], canvas: Canvas, labelWidth = 0): string[] {
  const { style, columns } = canvas;
  const cells = cellsOf(lines);
  const label = Math.max(labelWidth, widest(cells.map((cell) => cell.label)));
  const sizes = [
    { width: label },
    { width: widest(cells.filter(({ isMoney }) => isMoney).map((cell) => cell.amount)) },
    { width: widest(cells.map((cell) => cell.sats)), priority: 2 },
    { width: widest(cells.map((cell) => cell.note)), priority: 1 },
  ];
  const widths = fit(sizes, columns - margin.length, gap.length);
  if (widths === undefined) return cells.flatMap((cell) => stackedMoney(cell, canvas));
  const [, amountWidth = 0, satsWidth = 0, noteWidth = 0] = widths;
  const parts = [label, amountWidth, satsWidth].filter((width) => width > 0);
  const rule = parts.reduce((sum, width) => sum + gap.length + width, -gap.length);
  return cells.flatMap(({ label: name, amount, isMoney, sats, note, total, warns }) => {
    const noted = warns ? style.yellow : style.dim;
    const indent = `${margin}${' '.repeat(label)}${gap}`;
    const [start = '', ...rest] = isMoney ? [amount] : wrap(amount, columns - indent.length);
    const strong = total ? style.bold : (text: string) => text;
    const shown = [
      (total ? strong : style.dim)(padRight(name, label)),
      strong(padRight(start, amountWidth)),
      ...(satsWidth > 0 && sats + note !== '' ? [style.dim(padLeft(sats, satsWidth))] : []),
      ...(noteWidth > 0 && note !== '' ? [noted(note)] : []),
    ];
    const notes = noteWidth > 0 || note === '' ? [] : wrap(note, columns - indent.length);
    return [
      ...(total ? [margin + style.dim('─'.repeat(rule))] : []),
      margin + shown.join(gap).trimEnd(),
      ...rest.map((line) => indent + line),
      ...notes.map((line) => indent + noted(line)),
    ];
  });
}

/**
 * Draws a label with its amount below, so that svcpay does not wrap a number that fits on a line.
 */
function stackedMoney(
  { label, amount, note, total, warns }: Cells,
  { columns, style }: Canvas,
): string[] {
  const below = (text: string, paint: (line: string) => string): string[] =>
    wrap(text, columns - 2 * margin.length).map((line) => margin + margin + paint(line));
  const strong = total ? style.bold : (text: string) => text;
  return [
    margin + (total ? style.bold : style.dim)(label),
    ...below(amount.trim(), strong),
    ...(note === '' ? [] : below(note, warns ? style.yellow : style.dim)),
  ];
}

interface Cells {
  readonly label: string;
  readonly amount: string;
  /**
   * True if the cell contains an amount, false if it contains text. The widest amount determines
   * the width of the column.
   */
  readonly isMoney: boolean;
  readonly sats: string;
  readonly note: string;
  readonly total: boolean;
  readonly warns: boolean;
}

function cellsOf(lines: readonly MoneyLine[]): Cells[] {
  const amounts = lines.flatMap(({ amount }) => (typeof amount === 'object' ? [amount] : []));
  const oneCurrency = new Set(amounts.map(({ ccy }) => ccy)).size === 1;
  const aligned = pointsAligned(amounts.map(formatAmount).map(sanitize));
  return lines.flatMap(
    ({ label, amount, note = '', total = false, aside = false, warns = false }) => {
      if (amount === undefined) return [];
      const cells = { label: sanitize(label), note: sanitize(note), total, warns };
      if (typeof amount === 'string')
        return { ...cells, amount: sanitize(amount), isMoney: false, sats: '' };
      const text = (aligned[amounts.indexOf(amount)] ?? '').trimEnd();
      const sats = oneCurrency && amount.ccy === 'BTC' && !aside ? formatSats(amount.value) : '';
      return { ...cells, amount: text, isMoney: true, sats };
    },
  );
}

const widest = (texts: readonly string[]): number => Math.max(0, ...texts.map(widthOf));

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
  screen: (canvas, object) => detailLines(objectDetails(object), canvas),
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
 * Returns the labelled lines of an object, for example with the label `Name` for
 * `accountDisplayName`. A field without a label shows its name as words. Omits empty fields, and
 * lines that repeat the label and the value of an earlier line.
 */
function objectDetails(object: object): CardDetail[] {
  const details = fieldColumns<object>(Object.keys(object)).flatMap((column): CardDetail[] => {
    const { name } = column;
    const text = shownText(cellText(cellIn(column, object)));
    if (text === '') return [];
    const whole = typeof fieldAt(object, name) === 'string' && !text.includes(' ');
    const label = entryOf(labels, name) ?? oneLine(inWords(name), longestLabel);
    return [{ label, value: text, whole }];
  });
  return details.filter(
    ({ label, value }, i) =>
      details.findIndex((each) => each.label === label && each.value === value) === i,
  );
}

/** Returns a text with instants in the local time zone. */
const shownText = (text: string): string =>
  /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/.test(text) ? dateTime(Date.parse(text)) : text;

function inWords(name: string): string {
  const words = name.replaceAll(/(?<=[a-z\d])[A-Z]/g, (start) => ` ${start.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}
