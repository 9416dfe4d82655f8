// Prepares text for a screen: makes it safe, and measures and arranges it.
import stringWidth from 'fast-string-width';
import { wrapAnsi } from 'fast-wrap-ansi';

// Matches invisible characters and control characters except variation selectors of emoji, which
// are harmless.
const harmful =
  /(?![ -~])(?![\uFE0E\uFE0F])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

const short: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/**
 * Whether a text is printable ASCII, as most texts are. A test for ASCII is much faster than the
 * character classes of `harmful`.
 */
const isPlain = (text: string): boolean => !/[^ -~]/.test(text);

/**
 * Shows every control, escape, bidirectional and zero-width character, and every line break, as a
 * visible escape (`\n`, `\x1b`, `\u202e`). The sanitized text stays on its line and has no effect
 * on the terminal.
 */
export const sanitize = (text: string): string =>
  isPlain(text) ? text : text.replace(harmful, visible);

function visible(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  if (code > 0xffff) return `\\u{${hex}}`;
  return (
    short[character] ?? (code > 0xff ? `\\u${hex.padStart(4, '0')}` : `\\x${hex.padStart(2, '0')}`)
  );
}

/**
 * Escapes the harmful characters in JSON. The resulting JSON is equivalent to the given JSON, and
 * safe on a terminal.
 */
export function sanitizeJson(json: string): string {
  // JSON has already escaped all ASCII control characters except DEL.
  if (Buffer.byteLength(json) === json.length && !json.includes('\x7f')) return json;
  return json.replace(harmful, (character) => {
    // A line feed separates the lines of indented JSON. Within a string, JSON has already escaped
    // the line feed.
    if (character === '\n') return character;
    return character.replace(
      /[^]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
  });
}

const ascii: Readonly<Record<string, string>> = {
  '─': '-',
  '·': '-',
  '–': '-',
  '→': '>',
  '←': '<',
  '≈': '~',
  '…': '~',
  '✓': '+',
  '✗': 'x',
  '●': '>',
  '○': '-',
  '❯': '>',
  '↑': '^',
  '↓': 'v',
  '⇄': '=',
  '\u2212': '-',
};

const ours = new RegExp(`[${Object.keys(ascii).join('')}]`, 'g');

/** Replaces svcpay's symbols with ASCII text of equal width, so that columns stay aligned. */
export const asciiGlyphs = (line: string): string =>
  line.replace(ours, (glyph) => ascii[glyph] ?? glyph);

const ellipsis = '…';
const resetStyle = '\u001B[0m';

export const widthOf = (text: string): number => stringWidth(text);

export const padRight = (text: string, width: number): string =>
  text + ' '.repeat(Math.max(0, width - widthOf(text)));

export const padLeft = (text: string, width: number): string =>
  ' '.repeat(Math.max(0, width - widthOf(text))) + text;

/**
 * Shortens a line of svcpay's own text, which may contain colours, with an ellipsis. A shortened
 * line ends after a word and outside parentheses, unless the line is too narrow for the first word.
 * A path or an address is cut after the last separator that still fits. A shortened id keeps its
 * beginning and its end.
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
    : kept.replace(
        /[^\p{S}\s]\s/u.test(kept) ? /(?<=\S)\s+\S*$/ : /(?<=.{8}[/?&=@])[^/?&=@]*$/,
        '',
      );
  const whole = words.replace(/(\S) *\([^)]*$/, '$1').replace(/(\w)[\s,;:]+$/, '$1');
  return `${whole}${ellipsis}${whole.includes('\u001B') ? resetStyle : ''}`;
}

/**
 * Whether a text is an address, an account number or an id, whose beginning and end people compare.
 */
const isId = (text: string): boolean => /^(?=.*\d)[\w-]{16,}$/.test(text);

/** The minimum width of an id that is cut in the middle, such as `tb1q…jzsx`. */
const leastMiddle = 9;

function middleOut(text: string, width: number): string {
  const end = Math.floor((width - 1) / 2);
  return `${text.slice(0, width - 1 - end)}${ellipsis}${text.slice(-end)}`;
}

/**
 * Sanitizes text from outside and puts it on one line of at most `width` cells. Line breaks become
 * spaces.
 */
export const oneLine = (text: string, width: number): string =>
  truncate(sanitize(text.trim().replace(/\s+/g, ' ')), width);

/** Matches a blank within an amount such as `50 000 sat` or `5 %`. */
const inAmount = / (?<=\d )(?=\d{3}(?!\d)|(?:sat|%|[A-Z]{3,4})(?!\w))/;
/** Matches the blank between a flag and its value. */
const afterFlag = / (?<=(?:^| )--?[a-z][a-z-]* )(?=[A-Z\d][A-Z\d]*(?![a-z]))/;
/** Matches the blank after the sign of an approximate amount, and between a label and its flag. */
const afterSign = / (?<=≈ )(?=\d)| (?<=\w: )(?=--)/;
const tied = new RegExp(
  [inAmount, afterFlag, afterSign].map(({ source }) => source).join('|'),
  'g',
);

/**
 * Wraps text between words. Splits a word only if the word is wider than the line, but never splits
 * a number.
 */
export function wrap(text: string, width: number): string[] {
  const kept = text.replace(tied, '\u00A0');
  const lines = wrapAnsi(kept, Math.max(width, 1), { hard: true }).split('\n');
  return kept === text ? lines : lines.map((line) => line.replaceAll('\u00A0', ' '));
}

/** Wraps a text to the lines of a paragraph with a margin. */
export const paragraph = (
  text: string,
  { columns }: { readonly columns: number },
  paint = (line: string): string => line,
): string[] => wrap(text, columns - 2).map((line) => `  ${paint(line)}`);

/** Yields escape sequences and visible characters, which truncation never splits. */
function* piecesOf(text: string): Generator<string> {
  const characters = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  for (const part of text.split(/(\u001B\[[\d;]*m)/)) {
    if (part.startsWith('\u001B')) yield part;
    else for (const { segment } of characters.segment(part)) yield segment;
  }
}

/** Defines how a narrow window treats a column. */
export interface GivesWay {
  /**
   * The priority of the column, by default 0. In a narrow window, svcpay first omits the columns
   * with the highest priority number. Columns with priority 0 always stay, such as amounts, fees,
   * units and the recipient.
   */
  readonly priority?: number;
  /**
   * Whether svcpay, in a narrow window, moves the column below its row instead of omitting the
   * column.
   */
  readonly below?: boolean;
}

export interface ColumnWidths extends GivesWay {
  /** The width of the widest cell in the column. */
  readonly width: number;
  /** The width to which the column shrinks before svcpay omits a different column. */
  readonly usual?: number;
  /** The minimum width of the column. */
  readonly least?: number;
}

const priorityOf = ({ priority = 0 }: GivesWay): number => priority;

/**
 * Returns the width of each column, or undefined for each column that svcpay omits or moves below
 * its row. Returns undefined instead of the list if the columns that must stay do not fit.
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

/** One of several texts that may share a line, sanitized and possibly coloured. */
export interface LayoutPart extends GivesWay {
  readonly text: string;
}

/**
 * Puts as many texts as fit side by side on one line. Omits a text that does not fit or, if its
 * `below` is true, puts the text on a separate line below. If the texts that must stay do not fit
 * on one line, each text has its own line.
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

/**
 * The maximum width of a line with two ends, so that the right part of the line stays near the left
 * part.
 */
const widestLine = 78;

/**
 * Puts two texts at both ends of a line or, in a narrow window, below each other. A text wider than
 * the window is wrapped, so that a command in the text stays complete.
 */
export function atBothEnds(left: string, right: string, available: number): string[] {
  const gap = Math.max(Math.min(available, widestLine) - widthOf(left) - widthOf(right), 2);
  const parts = [{ text: left }, { text: right, priority: 1, below: true }];
  return sideBySide(parts, available, ' '.repeat(gap)).flatMap((line) =>
    widthOf(line) > available ? wrap(line, available) : [line],
  );
}

/**
 * Aligns amounts such as `50 000 sat` and `25.00 USDT` at the end of their integer parts. Texts
 * that are not amounts stay unchanged.
 */
export function pointsAligned(texts: readonly string[]): string[] {
  const parts = texts.map(
    (text) => /^(\D{0,2}\d[\d ]*?)((?:\.\d+)?(?: \D.*)?)$/u.exec(text)?.slice(1) ?? [text, ''],
  );
  const whole = widestOf(parts.map(([units = '']) => units));
  const rest = widestOf(parts.map(([, after = '']) => after));
  return parts.map(([units = '', after = '']) => padLeft(units, whole) + padRight(after, rest));
}

export const widestOf = (texts: readonly string[]): number =>
  texts.reduce((width, text) => Math.max(width, widthOf(text)), 0);
