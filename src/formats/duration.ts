// Parses durations such as `90s` or `1h30m`, and formats durations for screens.
import { clip, counted } from './text.js';
import { Failure } from './failure.js';

const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
  ['ms', 1],
] as const;

const maxDuration = 36_500 * 86_400_000;

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
    throw new Failure(
      'usage',
      bare
        ? `"${text}" has no unit. Write ${text}s, ${text}m, ${text}h or ${text}d.`
        : `"${clip(text)}" is not a duration. Write a duration such as 90s, 10m, 2h, 1d or 1h30m.`,
    );
  }
  const total = units.reduce((sum, [, size], i) => sum + Number(match[i + 1] ?? 0) * size, 0);
  if (total > maxDuration)
    throw new Failure(
      'usage',
      `"${text}" is longer than a hundred years. Write a shorter duration.`,
    );
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

/**
 * Writes a duration in its largest unit for a sentence, such as `48 minutes`, `1 hour` or `less
 * than a second`.
 */
export function describeDuration(ms: number): string {
  const words = ['day', 'hour', 'minute', 'second'];
  const index = units.findIndex(([, size]) => ms >= size);
  const word = words[index];
  const unit = units[index];
  if (word === undefined || unit === undefined) return 'less than a second';
  return counted(Math.floor(ms / unit[1]), word);
}

/**
 * Writes a short form of a duration, in its largest unit, such as `12 s`, `4 min`, `2 h` or `3 d`.
 */
export function roughDuration(ms: number): string {
  const [size, unit] = roughUnits.find(([least]) => ms >= least) ?? [1_000, 's'];
  return `${Math.max(Math.floor(ms / size), 1)} ${unit}`;
}

const roughUnits = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
] as const;
