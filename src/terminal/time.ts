// Formats instants for people, such as "4 minutes ago" for a recent instant, or date and time for
// an older instant. Functions that need the current time receive it as `now`.
import { dayAndMonth, describeDuration } from '../formats/calendar.js';

const day = 86_400_000;

/**
 * Formats a relative time such as `just now`, `4 minutes ago` or `in 48 minutes`. An instant more
 * than a week away is shown as a date.
 */
export function relativeTime(at: number, now: number): string {
  const distance = Math.abs(at - now);
  if (distance >= 7 * day) return dateTime(at).slice(0, 10);
  if (distance < 1000) return 'just now';
  return at > now ? `in ${describeDuration(distance)}` : `${describeDuration(distance)} ago`;
}

/**
 * Formats a short time for a column, such as `now`, `2 min`, `3 h` or `20 Nov`. A time in another
 * year becomes a date.
 */
export function shortTime(at: number, now: number): string {
  const ago = now - at;
  if (Math.abs(ago) < 60_000) return 'now';
  if (ago < 0) return relativeTime(at, now);
  if (ago < 3_600_000) return `${Math.floor(ago / 60_000)} min`;
  return ago < day ? `${Math.floor(ago / 3_600_000)} h` : dayAndMonth(at, now);
}

/** Formats a time such as `2026-03-01 14:02:31` in the local time zone. */
export function dateTime(at: number): string {
  // The Swedish locale writes ISO dates, which are unambiguous on a receipt.
  return new Date(at).toLocaleString('sv-SE');
}

/** Formats a time such as `14:02:31`, for a timeline with a date above. */
export const clockTime = (at: number): string => dateTime(at).slice(11);

/**
 * Formats a time of today as a clock time such as `11:30`, and a time of any other day as a date.
 */
export function dayTime(at: number, now: number): string {
  const [day, time] = dateTime(at).split(' ');
  return (day === dateTime(now).slice(0, 10) ? time?.slice(0, 5) : day) ?? '';
}

/**
 * Formats a time less than a day away as a clock time such as `11:30`, and any other time with its
 * date.
 */
export const nearTime = (at: number, now: number): string =>
  Math.abs(at - now) < day ? clockTime(at).slice(0, 5) : dateTime(at).slice(0, 16);
