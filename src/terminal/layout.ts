// Layout in screen cells: width, padding, truncation and wrapping of texts, in which escape
// sequences have no width, and the rule for everything in columns (tables, cards, screens, live
// lines): which columns fit into a window, and how wide they are. The least important column leaves
// first.
import stringWidth from 'fast-string-width';
import { wrapAnsi } from 'fast-wrap-ansi';
import { sanitize } from './sanitize.js';

const ellipsis = '…';
const resetStyle = '\u001B[0m';

export const widthOf = (text: string): number => stringWidth(text);

export const padRight = (text: string, width: number): string =>
  text + ' '.repeat(Math.max(0, width - widthOf(text)));

export const padLeft = (text: string, width: number): string =>
  ' '.repeat(Math.max(0, width - widthOf(text))) + text;

/**
 * Shortens a line of svcpay's own text, colours included, with an ellipsis. The cut is after a word
 * and not within parentheses. Only the first word may be cut, and a path or an address is cut after
 * its last separator. An id keeps its beginning and its end.
 */
export function truncate(line: string, width: number): string {
  if (widthOf(line) <= width) return line;
  if (width < 1) return '';
  if (width >= leastMiddle && isId(line)) return middleOut(line, width);
  let kept = '';
  for (const piece of piecesOf(line)) {
    if (widthOf(kept + piece) > width - 1) break;
    kept += piece;
  }
  const words = /^\s/.test(line.slice(kept.length))
    ? kept
    : kept.replace(/\S\s/.test(kept) ? /(?<=\S)\s+\S*$/ : /(?<=.{8}[/?&=@])[^/?&=@]*$/, '');
  const whole = words.replace(/(\S) *\([^)]*$/, '$1').replace(/(\w)[\s,;:]+$/, '$1');
  return `${whole}${ellipsis}${whole.includes('\u001B') ? resetStyle : ''}`;
}

/** An address, an account number or an id: people compare its beginning and its end. */
const isId = (text: string): boolean => /^(?=.*\d)[\w-]{16,}$/.test(text);

/** The least width for `tb1q…jzsx`. */
const leastMiddle = 9;

function middleOut(text: string, width: number): string {
  const end = Math.floor((width - 1) / 2);
  return `${text.slice(0, width - 1 - end)}${ellipsis}${text.slice(-end)}`;
}

/**
 * Text from outside on one line of at most `width` cells. Line breaks become spaces, and the rest
 * is sanitized.
 */
export const oneLine = (text: string, width: number): string =>
  truncate(sanitize(text.trim().replace(/\s+/g, ' ')), width);

/** The blank within `50 000 sat` and `5 %`. */
const inAmount = / (?<=\d )(?=\d{3}(?!\d)|(?:sat|%|[A-Z]{3,4})(?!\w))/;
/** The blank between a flag and its value. */
const afterFlag = / (?<=(?:^| )--?[a-z][a-z-]* )(?=[A-Z\d][A-Z\d]*(?![a-z]))/;
const tied = new RegExp(`${inAmount.source}|${afterFlag.source}`, 'g');

/**
 * Wraps between words, and within a word only if the word is wider than the line. Never splits a
 * number.
 */
export function wrap(text: string, width: number): string[] {
  const kept = text.replace(tied, '\u00A0');
  const lines = wrapAnsi(kept, Math.max(width, 1), { hard: true }).split('\n');
  return kept === text ? lines : lines.map((line) => line.replaceAll('\u00A0', ' '));
}

/** Escape sequences and visible characters, which are never split. */
function* piecesOf(text: string): Generator<string> {
  const characters = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  for (const part of text.split(/(\u001B\[[\d;]*m)/)) {
    if (part.startsWith('\u001B')) yield part;
    else for (const { segment } of characters.segment(part)) yield segment;
  }
}

/** How a column yields in a window that is too narrow. */
export interface GivesWay {
  /**
   * Columns with the highest number leave first. Columns with 0 (the default) stay: amounts, fees,
   * units and the recipient.
   */
  readonly priority?: number;
  /** Whether the column moves to a line below its row instead of leaving. */
  readonly below?: boolean;
}

export interface ColumnWidths extends GivesWay {
  /** The width of its widest cell. */
  readonly width: number;
  /** Its width before another column leaves in its favour. */
  readonly usual?: number;
  /** Its width before the column itself leaves. */
  readonly least?: number;
}

const priorityOf = ({ priority = 0 }: GivesWay): number => priority;

/**
 * The width of each column, or undefined for a column that leaves or moves below. Undefined as a
 * whole if the columns that stay do not fit.
 */
export function fit(
  columns: readonly ColumnWidths[],
  available: number,
  gap: number,
): (number | undefined)[] | undefined {
  const turns = [...new Set(columns.map(priorityOf))].toSorted((a, b) => b - a);
  for (const turn of turns) {
    const staying = columns.filter((column) => priorityOf(column) <= turn && column.width > 0);
    const gaps = gap * Math.max(staying.length - 1, 0);
    let excess = staying.reduce((sum, { width }) => sum + width, gaps) - available;
    const widths = new Map(staying.map((column) => [column, column.width]));
    for (const column of staying.toSorted((a, b) => priorityOf(b) - priorityOf(a))) {
      const { width, usual = width, least = usual } = column;
      const given = Math.min(width - (priorityOf(column) === turn ? least : usual), excess);
      if (given <= 0) continue;
      widths.set(column, width - given);
      excess -= given;
    }
    if (excess <= 0) return columns.map((column) => widths.get(column));
  }
  return undefined;
}

/** A sanitized text next to other texts, possibly coloured. */
export interface LayoutPart extends GivesWay {
  readonly text: string;
}

/**
 * Texts on one line, as far as they fit. Texts that move below follow, each on its own line. If the
 * texts that stay do not fit, each text has its own line.
 */
export function sideBySide(parts: readonly LayoutPart[], available: number, gap: string): string[] {
  const shown = parts.filter(({ text }) => text !== '');
  if (shown.length === 0) return [];
  const widths = fit(
    shown.map((part) => ({ ...part, width: widthOf(part.text) })),
    available,
    widthOf(gap),
  );
  const texts = (parts: readonly LayoutPart[]): string[] => parts.map(({ text }) => text);
  if (widths === undefined) return texts(shown);
  const beside = shown.filter((_, i) => widths[i] !== undefined);
  const below = shown.filter((part, i) => widths[i] === undefined && part.below === true);
  return [texts(beside).join(gap), ...texts(below)];
}
