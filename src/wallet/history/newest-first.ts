// Omits list rows from before a given time, because a service may ignore the time in the request.
import type { ListedTransaction } from '../../api/types.js';

/**
 * Omits rows created before `since`. If the list starts with the newest row, stops at the first
 * page that has only rows from before `since`, instead of reading a long history.
 */
export async function* createdSince(
  pages: AsyncIterable<readonly ListedTransaction[]>,
  since: number,
): AsyncGenerator<readonly ListedTransaction[], void, void> {
  let isNewestFirst = true;
  let previous = Infinity;
  for await (const page of pages) {
    for (const { createdAt } of page) {
      isNewestFirst &&= createdAt != null && createdAt <= previous;
      previous = createdAt ?? previous;
    }
    const rows = page.filter(({ createdAt }) => createdAt == null || createdAt >= since);
    yield rows;
    if (isNewestFirst && page.length > 0 && rows.length === 0) return;
  }
}
