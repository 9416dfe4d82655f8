// A list from a moment on, of a service that may ignore the moment that it was asked for.
import type { ListedTransaction } from '../../api/types.js';

/**
 * Leaves rows out that were created before `since`. Where the list is newest first, it ends at the first page that has only such rows:
 * the rest of a long history is not read.
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
