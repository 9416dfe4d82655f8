// Instants in user input: `2h` ago, a day, or a date with a time.
import { parseDuration } from './duration.js';
import { Failure } from './failure.js';
import { clip } from './text.js';

/** How long ago, or the first and the last millisecond (epoch ms): a date is its whole day. */
export type Instant = { readonly ago: number } | { readonly first: number; readonly last: number };

const pattern =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)?)?$/i;

/**
 * Reads `2h`, `7d`, `2026-03-01` or `2026-03-01T14:30:00Z`; the default is the local time zone.
 * Throws `Failure` usage.
 */
export function parseInstant(text: string): Instant {
  const match = pattern.exec(text);
  if (match === null) return { ago: parseAgo(text) };
  const [, year, month, day, hour = 0, minute = 0, second = 0, zone] = match;
  const [y, m, d] = [Number(year), Number(month), Number(day)];
  if (!isDay(y, m, d) || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) {
    throw new Failure(
      'usage',
      `"${text}" does not exist in the calendar. Write a date such as 2026-03-01.`,
    );
  }
  if (match[4] === undefined) {
    return {
      first: new Date(y, m - 1, d).getTime(),
      last: new Date(y, m - 1, d + 1).getTime() - 1,
    };
  }
  const at = Date.parse(text.replace(' ', 'T').toUpperCase());
  if (Number.isNaN(at))
    throw new Failure('usage', `"${zone}" in "${text}" is not a time zone. Write Z or +02:00.`);
  return { first: at, last: at };
}

function parseAgo(text: string): number {
  try {
    return parseDuration(text);
  } catch (cause) {
    const advice = 'Write 2h or 7d, or a date such as 2026-03-01.';
    throw new Failure('usage', `"${clip(text)}" is not a time. ${advice}`, { cause });
  }
}

function isDay(year: number, month: number, day: number): boolean {
  const date = new Date(Date.UTC(year, month - 1, day));
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}
