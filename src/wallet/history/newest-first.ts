// Omits list rows from before a given time, because services may ignore the requested time.
import type { ListedTransaction } from '../../api/types.js';

/**
 * Omits rows created before `since`. If the newest row comes first, stops at the first page with
 * only older rows, instead of reading a long history.
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
