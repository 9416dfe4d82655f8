// Instants in readable form: "4 minutes ago" for recent instants, otherwise date and time. The
// current time is a parameter.
import { describeDuration } from '../formats/duration.js';

const day = 86_400_000;

/**
 * A relative time: `just now`, `4 minutes ago`, `in 48 minutes`, or the date if it is more than a
 * week away.
 */
export function relativeTime(at: number, now: number): string {
  const distance = Math.abs(at - now);
  if (distance >= 7 * day) return dateTime(at).slice(0, 10);
  if (distance < 1000) return 'just now';
  return at > now ? `in ${describeDuration(distance)}` : `${describeDuration(distance)} ago`;
}

/**
 * A short time for a column: `now`, `2 min`, `3 h ago`, `5 d ago`, or the date if it is more than a
 * week away.
 */
export function shortTime(at: number, now: number): string {
  const ago = now - at;
  if (Math.abs(ago) >= 7 * day) return dateTime(at).slice(0, 10);
  if (Math.abs(ago) < 60_000) return 'now';
  if (ago < 0) return relativeTime(at, now);
  if (ago < 3_600_000) return `${Math.floor(ago / 60_000)} min`;
  return ago < day ? `${Math.floor(ago / 3_600_000)} h ago` : `${Math.floor(ago / day)} d ago`;
}

/** A time such as `2026-03-01 14:02:31` in the local time zone. */
export function dateTime(at: number): string {
  // The Swedish locale writes ISO dates, which are unambiguous on a receipt.
  return new Date(at).toLocaleString('sv-SE');
}

/** A time such as `14:02:31`, for a timeline with a date above it. */
export const clockTime = (at: number): string => dateTime(at).slice(11);

/** A time such as `11:30` today, otherwise the date. */
export function dayTime(at: number, now: number): string {
  const [day, time] = dateTime(at).split(' ');
  return (day === dateTime(now).slice(0, 10) ? time?.slice(0, 5) : day) ?? '';
}

/** A time such as `11:30` if it is less than a day away, otherwise with its date. */
export const nearTime = (at: number, now: number): string =>
  Math.abs(at - now) < day ? clockTime(at).slice(0, 5) : dateTime(at).slice(0, 16);
