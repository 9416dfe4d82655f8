// The building blocks of cards: facts with a label, and lines of money with aligned numbers.
// All values are sanitised here.
import { formatAmount, formatNumber, formatSats, type Money } from '../../formats/amount.js';
import { sanitize } from '../sanitize.js';
import type { Canvas } from '../terminal.js';
import { padLeft, padRight, widthOf, wrap } from '../text.js';

const margin = '  ';
const gap = '   ';

/** A labelled line: `Expires   in 48 minutes`. */
export interface Fact {
  readonly label: string;
  readonly value: string;
  /** Secondary, dim, after the value. */
  readonly note?: string | undefined;
  /** An address, invoice or id to copy: never wrapped if it fits on a line. */
  readonly whole?: boolean;
}

/** A fact, if it has a value. */
export const optionalFact = (
  label: string,
  value: string | null | undefined,
  whole = false,
): Fact[] => (value ? [{ label, value, whole }] : []);

export interface MoneyLine {
  readonly label: string;
  /** Plain text between the amounts, such as a rate. */
  readonly amount: Money | string;
  /** After the amount, dim: a percentage, an arrival time. */
  readonly note?: string | undefined;
  /** The total of the lines above, under a rule and in bold. */
  readonly total?: boolean;
  /** Secondary: without satoshis. */
  readonly aside?: boolean;
  /** The note is a warning. */
  readonly warns?: boolean;
}

/** `0.00050000 BTC (50 000 sat)`; other currencies alone. */
export const amountWithSats = (amount: Money): string =>
  amount.ccy === 'BTC'
    ? `${formatAmount(amount)} (${formatSats(amount.value)})`
    : formatAmount(amount);

/** `≈ 74 260 USD`: an approximate value has at most cents, a large one none. */
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

/** Facts with aligned values; a long value wraps in its column. */
export function factLines(given: readonly Fact[], canvas: Canvas, labelWidth = 7): string[] {
  const { style, columns } = canvas;
  const facts = given.map(harmless);
  const width = Math.max(labelWidth, ...facts.map(({ label }) => widthOf(label)));
  const room = columns - margin.length - width - gap.length;
  if (room < leastRoom) return facts.flatMap((fact) => stackedFact(fact, canvas));
  const beside = (label: string, lines: readonly string[]): string[] =>
    lines.map((line, i) =>
      `${margin}${style.dim(padRight(i === 0 ? label : '', width))}${gap}${line}`.trimEnd(),
    );
  return facts.flatMap(({ label, value, note, whole }) => {
    // Text wrapped by the terminal is copied whole, text wrapped by us is not.
    if (whole === true && widthOf(value) > room) {
      return [
        margin + style.dim(label),
        widthOf(value) > columns - margin.length
          ? linked(value, canvas)
          : margin + linked(value, canvas),
      ];
    }
    const notes = note === undefined ? [] : wrap(note, room).map((line) => style.dim(line));
    if (whole === true && notes.length === 0) return beside(label, [linked(value, canvas)]);
    const inline = note !== undefined && widthOf(value) + gap.length + widthOf(note) <= room;
    return beside(label, inline ? [`${value}${gap}${notes[0]}`] : [...wrap(value, room), ...notes]);
  });
}

/** Values with less room than this beside their labels are put below. */
const leastRoom = 16;

const bitcoinAddress = /^(?:(?:bc|tb|bcrt)1[02-9a-z]{8,87}|[123mn][1-9A-HJ-NP-Za-km-z]{25,34})$/i;

/** A Bitcoin address as a link to the explorer, if there is one; other texts are unchanged. */
export const linked = (text: string, { explorer }: Canvas): string =>
  explorer === undefined || !bitcoinAddress.test(text)
    ? text
    : `\u001B]8;;${explorer}/address/${text}\u001B\\${text}\u001B]8;;\u001B\\`;

function stackedFact({ label, value, note, whole }: Fact, canvas: Canvas): string[] {
  const { columns, style } = canvas;
  const room = columns - 2 * margin.length;
  const lines =
    whole === true
      ? [linked(value, canvas)]
      : wrap(value, room).map((line) => margin + margin + line);
  const notes =
    note === undefined ? [] : wrap(note, room).map((line) => margin + margin + style.dim(line));
  return [margin + style.dim(label), ...lines, ...notes];
}

const harmless = ({ label, value, note, whole }: Fact): Fact => ({
  label: sanitize(label),
  value: sanitize(value),
  note: note === undefined ? undefined : sanitize(note),
  whole: whole === true,
});

/**
 * Lines of money. Numbers of one currency are aligned right, those of several left. A narrow window omits the
 * satoshis first, then moves the notes to separate lines.
 */
export function moneyLines(lines: readonly MoneyLine[], canvas: Canvas, labelWidth = 0): string[] {
  const { style } = canvas;
  const cells = cellsOf(lines);
  const layout = fit(cells, canvas.columns - margin.length, labelWidth);
  if (margin.length + layout.label + gap.length + layout.amount > canvas.columns)
    return cells.flatMap((cell) => stackedMoney(cell, canvas));
  return cells.flatMap(({ label, amount, isMoney, sats, note, total, warns }) => {
    const noted = warns ? style.yellow : style.dim;
    const indent = `${margin}${' '.repeat(layout.label)}${gap}`;
    const [start = '', ...rest] = isMoney ? [amount] : wrap(amount, canvas.columns - indent.length);
    const strong = total ? style.bold : (text: string) => text;
    const shown = [
      total ? strong(padRight(label, layout.label)) : style.dim(padRight(label, layout.label)),
      strong(padRight(start, layout.amount)),
      ...(layout.sats > 0 && sats + note !== '' ? [style.dim(padLeft(sats, layout.sats))] : []),
      ...(layout.inlineNotes && note !== '' ? [noted(note)] : []),
    ];
    const notes =
      layout.inlineNotes || note === '' ? [] : wrap(note, canvas.columns - indent.length);
    return [
      ...(total ? [margin + style.dim('─'.repeat(layout.rule))] : []),
      margin + shown.join(gap).trimEnd(),
      ...rest.map((line) => indent + line),
      ...notes.map((line) => indent + noted(line)),
    ];
  });
}

/** The label, and the amount below it, so that no number is wrapped if it fits on a line. */
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
  /** Whether the amount counts for the width of its column. */
  readonly isMoney: boolean;
  readonly sats: string;
  readonly note: string;
  readonly total: boolean;
  readonly warns: boolean;
}

function cellsOf(lines: readonly MoneyLine[]): Cells[] {
  const amounts = lines.flatMap(({ amount }) => (typeof amount === 'string' ? [] : [amount]));
  const oneCurrency = new Set(amounts.map(({ ccy }) => ccy)).size === 1;
  const numberWidth = oneCurrency ? widest(amounts.map(formatNumber)) : 0;
  return lines.map(({ label, amount, note = '', total = false, aside = false, warns = false }) => {
    const cells = { label: sanitize(label), note: sanitize(note), total, warns };
    if (typeof amount === 'string')
      return { ...cells, amount: sanitize(amount), isMoney: false, sats: '' };
    const sats = oneCurrency && amount.ccy === 'BTC' && !aside ? formatSats(amount.value) : '';
    const text = `${padLeft(formatNumber(amount), numberWidth)} ${sanitize(amount.ccy)}`;
    return { ...cells, amount: text, isMoney: true, sats };
  });
}

interface Layout {
  readonly label: number;
  readonly amount: number;
  /** 0 if satoshis have no room, or nothing is in bitcoin. */
  readonly sats: number;
  readonly inlineNotes: boolean;
  readonly rule: number;
}

const widest = (texts: readonly string[]): number => Math.max(0, ...texts.map(widthOf));

function fit(cells: readonly Cells[], room: number, labelWidth: number): Layout {
  const label = Math.max(labelWidth, widest(cells.map((cell) => cell.label)));
  const amount = widest(cells.filter(({ isMoney }) => isMoney).map((cell) => cell.amount));
  const sats = widest(cells.map((cell) => cell.sats));
  const note = widest(cells.map((cell) => cell.note));
  const widthWith = (...others: number[]): number =>
    label +
    gap.length +
    amount +
    others.reduce((sum, width) => sum + (width > 0 ? gap.length + width : 0), 0);
  const shownSats = widthWith(sats, note) <= room ? sats : 0;
  return {
    label,
    amount,
    sats: shownSats,
    inlineNotes: widthWith(shownSats, note) <= room,
    rule: Math.min(room, widthWith(shownSats)),
  };
}
