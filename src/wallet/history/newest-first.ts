// Reads a list from a given time on. Services may ignore the requested time.
import type { ListedTransaction } from '../../api/types.js';

/**
 * Omits rows created before `since`. In a list with the newest row first, it stops at the first
 * page that contains only such rows, so it does not read a long history.
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
