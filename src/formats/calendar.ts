// Durations such as `90s`, calendar days in a time zone, and instants as people write them.
import { invalid } from './failure.js';
import { clip, counted } from './text.js';

export const dayMs = 86_400_000;

/** The units of durations: the length in ms, the word and the short form. */
const units = [
  { ms: dayMs, word: 'day', short: 'd' },
  { ms: 3_600_000, word: 'hour', short: 'h' },
  { ms: 60_000, word: 'minute', short: 'min' },
  { ms: 1_000, word: 'second', short: 's' },
] as const;

const maxDuration = 36_500 * dayMs;

/**
 * Reads a duration into milliseconds, such as `500ms`, `90s`, `10m`, `2h`, `1d` or `1h30m`. The
 * largest unit of a duration must come first. Throws Failure `usage` for an invalid duration, for a
 * number without a unit, and for more than a hundred years.
 */
export function parseDuration(text: string): number {
  const pattern =
    /^(?:(\d{1,6})d)?(?:(\d{1,7})h)?(?:(\d{1,9})m)?(?:(\d{1,10})s)?(?:(\d{1,13})ms)?$/i;
  const match = text === '' ? null : pattern.exec(text);
  if (match === null) {
    const bare = /^\d{1,20}$/.test(text);
    throw invalid(
      bare
        ? `"${text}" has no unit. Write ${text}s, ${text}m, ${text}h or ${text}d.`
        : `"${clip(text)}" is not a duration. Write a duration such as 90s, 10m, 2h, 1d or 1h30m.`,
    );
  }
  const sizes = [...units.map(({ ms }) => ms), 1];
  const total = sizes.reduce((sum, size, i) => sum + Number(match[i + 1] ?? 0) * size, 0);
  if (total > maxDuration)
    throw invalid(`"${text}" is longer than a hundred years. Write a shorter duration.`);
  return total;
}

/** Limits a delay to 24 days, because a timer with a longer delay would fire immediately. */
export const timerMs = (ms: number): number => Math.min(ms, 0x7fff_ffff);

/**
 * Writes a duration in clock notation, such as `1.8 s`, `12 s`, `59:41`, `2 h 5 min` or `3 d 4 h`.
 */
export function formatDuration(ms: number): string {
  const seconds = Math.floor(Math.max(ms, 0) / 1000);
  if (seconds < 10) return `${Math.floor(Math.max(ms, 0) / 100) / 10} s`;
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}:${String(seconds % 60).padStart(2, '0')}`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  return hours % 24 === 0
    ? `${Math.floor(hours / 24)} d`
    : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

const largestUnit = (ms: number) => units.find((unit) => ms >= unit.ms);

/**
 * Writes a duration in its largest unit for a sentence, such as `48 minutes`, `1 hour` or `less
 * than a second`.
 */
export function describeDuration(ms: number): string {
  const unit = largestUnit(ms);
  return unit === undefined ? 'less than a second' : counted(Math.floor(ms / unit.ms), unit.word);
}

/**
 * Writes a short form of a duration, in its largest unit, such as `12 s`, `4 min`, `2 h` or `3 d`.
 */
export function roughDuration(ms: number): string {
  const unit = largestUnit(ms);
  return unit === undefined ? '1 s' : `${Math.floor(ms / unit.ms)} ${unit.short}`;
}

/**
 * A span of whole days in epoch ms. `first` is the first millisecond of the span, and `end` is the
 * first millisecond after the span.
 */
export interface Span {
  readonly first: number;
  readonly end: number;
}

/** The name of the local time zone, such as `Europe/Berlin`. */
export const ownZone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Reads the name of a time zone, such as `UTC` or `Asia/Ho_Chi_Minh`. Throws Failure `usage`. */
export function parseZone(text: string): string {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone;
  } catch (cause) {
    throw invalid(
      `"${clip(text)}" is not a time zone. Write a name such as UTC or Asia/Ho_Chi_Minh.`,
      { cause },
    );
  }
}

/** Whether a text is a day such as `2026-10-01`, or a month such as `2026-10`, that exists. */
function isDate(text: string): boolean {
  const at = Date.parse(text);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text);
}

/** Reads a day such as `2026-10-01`, or a whole month such as `2026-10`. Throws Failure `usage`. */
export function parseDate(text: string): string {
  if (/^(?:19[7-9]\d|2\d{3})-\d\d(?:-\d\d)?$/.test(text) && isDate(text)) return text;
  throw invalid(
    `"${clip(text)}" is not a date. Write a day such as 2026-10-01, or a month such as 2026-10.`,
  );
}

export const isMonth = (date: string): boolean => date.length === '2026-10'.length;

/** Reads a month such as `2026-10`, or `last` for the month before the present. */
export function parseMonth(text: string): string {
  if (text.toLowerCase() === 'last') return 'last';
  if (isMonth(parseDate(text))) return text;
  throw invalid(`"${clip(text)}" is not a month. Write 2026-10 or last.`);
}

/**
 * @param month a month, or `last` for the month before the present, or undefined for the present
 * @param now the present in epoch ms
 */
export function monthSpan(month: string | undefined, zone: string, now: number): Span {
  const monthAt = (at: number): Span => spanOf(dayWriter(zone)(at).slice(0, 7), zone);
  const present = monthAt(now);
  if (month === undefined) return present;
  return month === 'last' ? monthAt(present.first - 1) : spanOf(month, zone);
}

/** Returns the instants of a day or of a month. */
export const spanOf = (date: string, zone: string): Span => ({
  first: startOf(date, zone),
  end: startOf(dateAfter(date), zone),
});

/** Returns the day after a day, such as `2026-11-01`, or the month after a month. */
export function dateAfter(date: string): string {
  const next = new Date(date);
  if (isMonth(date)) next.setUTCMonth(next.getUTCMonth() + 1);
  else next.setUTCDate(next.getUTCDate() + 1);
  return next.toISOString().slice(0, date.length);
}

/**
 * Returns the first instant of a day or of a month. A clock change at midnight skips the first hour
 * of the day, or repeats the last hour of the previous day. Because of clock changes, `startOf`
 * tries the zone's offsets a day before and a day after midnight, and returns the earlier instant
 * that is within the day.
 */
function startOf(date: string, zone: string): number {
  const dayOf = dayWriter(zone);
  const midnightUtc = Date.parse(date);
  const day = new Date(midnightUtc).toISOString().slice(0, 10);
  const tries = [-dayMs, dayMs].map((side) => midnightUtc - offsetAt(midnightUtc + side, zone));
  return Math.min(...tries.filter((at) => dayOf(at) === day));
}

/** The offset of the time zone from UTC, in ms. */
function offsetAt(at: number, zone: string): number {
  const whole = Math.floor(at / 1000) * 1000;
  return Date.parse(`${clockIn(zone).format(whole).replace(' ', 'T')}Z`) - whole;
}

/** A formatter for dates and times in ISO format, which the Swedish locale uses. */
const clockIn = (timeZone: string): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });

export const always: Span = { first: 0, end: Number.MAX_SAFE_INTEGER };

/**
 * Returns a function that formats an instant as a date, such as `2026-10-01`. The returned function
 * caches the day of the last quarter of an hour, because the instants of a history are close
 * together.
 */
export function dayWriter(zone: string): (at: number) => string {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short' });
  // Every time zone offset since 1980 is a multiple of a quarter of an hour, so a quarter of an
  // hour in UTC never spans two local days.
  const quarter = 900_000;
  let formattedQuarter = NaN;
  let day = '';
  return (at) => {
    if (Math.floor(at / quarter) === formattedQuarter) return day;
    formattedQuarter = Math.floor(at / quarter);
    day = format.format(at);
    return day;
  };
}

/** Writes the day and month, such as `22 Oct`, and the year if the year is not the current year. */
export function dayAndMonth(at: number, now: number): string {
  const isThisYear = new Date(at).getFullYear() === new Date(now).getFullYear();
  const text = new Date(at).toLocaleDateString('en-GB', {
    day: 'numeric',
    month: 'short',
    ...(!isThisYear && { year: 'numeric' }),
  });
  // British English abbreviates one month by four letters, which would widen a column.
  return text.replace('Sept', 'Sep');
}

/**
 * A point in time: `ago` is the number of ms before now, and `first` and `last` are the first and
 * the last millisecond of a date or time, in epoch ms. A date without a time means the whole day,
 * from its first to its last millisecond.
 */
export type Instant = { readonly ago: number } | { readonly first: number; readonly last: number };

const pattern =
  /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)?)?$/i;

/**
 * Reads a point in time such as `2h`, `7d`, `2026-03-01` or `2026-03-01T14:30:00Z`. A time without
 * a zone is in the local time zone. Throws Failure `usage`.
 */
export function parseInstant(text: string): Instant {
  const match = pattern.exec(text);
  if (match === null) return { ago: parseAgo(text) };
  const [, day = '', hour, minute = 0, second = 0, zone] = match;
  if (!isDate(day) || Number(hour ?? 0) > 23 || Number(minute) > 59 || Number(second) > 59) {
    throw invalid(`"${text}" does not exist in the calendar. Write a date such as 2026-03-01.`);
  }
  if (hour === undefined) {
    const [y = 0, m = 1, d = 1] = day.split('-').map(Number);
    return {
      first: new Date(y, m - 1, d).getTime(),
      last: new Date(y, m - 1, d + 1).getTime() - 1,
    };
  }
  const at = Date.parse(text.replace(' ', 'T').toUpperCase());
  if (Number.isNaN(at))
    throw invalid(`"${zone}" in "${text}" is not a time zone. Write a zone such as Z or +02:00.`);
  return { first: at, last: at };
}

function parseAgo(text: string): number {
  try {
    return parseDuration(text);
  } catch (cause) {
    const advice = 'Write 2h or 7d, or a date such as 2026-03-01.';
    throw invalid(`"${clip(text)}" is not a time. ${advice}`, { cause });
  }
}
