// Text measured in cells of the screen: width, padding, cutting, wrapping. Escape sequences take no room.
import measure from 'fast-string-truncated-width';
import { wrapAnsi } from 'fast-wrap-ansi';
import { sanitize } from './sanitize.js';

const ellipsis = '…';
const resetStyle = '\u001B[0m';

export const widthOf = (text: string): number => measure(text).width;

export const padRight = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - widthOf(text)));

export const padLeft = (text: string, width: number): string => ' '.repeat(Math.max(0, width - widthOf(text))) + text;

/** Cuts a line that is ours, colours included, to a width; the cut shows as an ellipsis. */
export function truncate(line: string, width: number): string {
  const { truncated, index } = measure(line, { limit: Math.max(width, 0), ellipsis });
  if (!truncated) return line;
  if (width < 1) return '';
  const kept = line.slice(0, index);
  return `${kept}${ellipsis}${kept.includes('\u001B') ? resetStyle : ''}`;
}

/** Text from outside on one line of at most `width` cells: line breaks become spaces, the rest is sanitised. */
export function oneLine(text: string, width: number): string {
  return truncate(sanitize(text.trim().replace(/\s+/g, ' ')), width);
}

/** Breaks between words, and within a word only where it alone is wider than the line. */
export function wrap(text: string, width: number): string[] {
  return wrapAnsi(text, Math.max(width, 1), { hard: true }).split('\n');
}

/** Breaks anywhere, for an invoice or an address: every line but the last is full, so that copying joins it again. */
export function chop(text: string, width: number): string[] {
  const room = Math.max(width, 1);
  return Array.from({ length: Math.ceil(text.length / room) }, (_, i) => text.slice(i * room, (i + 1) * room));
}
