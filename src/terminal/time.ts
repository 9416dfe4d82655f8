// Points in time as people say them: "4 minutes ago" near by, date and clock further away. The present is handed in.
import { describeDuration } from '../formats/duration.js';

const day = 86_400_000;

/** `just now`, `4 minutes ago`, `in 48 minutes`; the date where that is more than a week away. */
export function relativeTime(at: number, now: number): string {
  const distance = Math.abs(at - now);
  if (distance >= 7 * day) return dateTime(at).slice(0, 10);
  if (distance < 1000) return 'just now';
  return at > now ? `in ${describeDuration(distance)}` : `${describeDuration(distance)} ago`;
}

/** As short as a column wants it: `now`, `2 min`, `3 h ago`, `5 d ago`; the date where that is more than a week away. */
export function shortTime(at: number, now: number): string {
  const ago = now - at;
  if (Math.abs(ago) >= 7 * day) return dateTime(at).slice(0, 10);
  if (Math.abs(ago) < 60_000) return 'now';
  if (ago < 0) return relativeTime(at, now);
  if (ago < 3_600_000) return `${Math.floor(ago / 60_000)} min`;
  return ago < day ? `${Math.floor(ago / 3_600_000)} h ago` : `${Math.floor(ago / day)} d ago`;
}

/** `2026-03-01 14:02:31` in the machine's own time zone. */
export function dateTime(at: number): string {
  // Swedish writes dates in ISO order, which every reader of a receipt can tell from a day-first or month-first one.
  return new Date(at).toLocaleString('sv-SE');
}

/** `14:02:31`, for a timeline whose date stands above it. */
export const clockTime = (at: number): string => dateTime(at).slice(11);

/** `11:30` where it is less than a day away, else with its date. */
export const nearTime = (at: number, now: number): string =>
  Math.abs(at - now) < day ? clockTime(at).slice(0, 5) : dateTime(at).slice(0, 16);
