// Reads every row of a paged list, whatever the service reports about page size and total.
import { Failure } from '../formats/failure.js';

export interface Page<T> {
  readonly rows: readonly T[];
  /** The number of rows on all pages, as the service reports it. */
  readonly total: number | null | undefined;
}

/**
 * The page size of the first request. If the service refuses such a large page, or returns only as
 * many rows as its default page has, the client tries {@link pageSize} next.
 */
export const largePageSize = 1_000;
export const pageSize = 100;
/** The default page size from the specification. */
export const usualPageSize = 20;

/**
 * The number of pages that the client requests in advance, so that it waits less for a distant
 * service.
 */
const pagesAhead = 8;

/** The page count above which a list counts as endless: two million rows in pages of 20. */
const mostPages = 100_000;

/** The latest end of a searched period, because this machine's clock may be slow. */
const latest = Date.UTC(2100, 0);

/**
 * Returns the list filter for transactions created since a time and before an end, in epoch ms by
 * the service's clock. Without a limit, the client reads pages as large as the service allows.
 */
export const spanFilter = (since: number, end = Infinity) =>
  ({
    time: 'other',
    startTime: new Date(Math.max(since, 0)).toISOString(),
    endTime: new Date(Math.max(Math.min(end - 1, latest), 0)).toISOString(),
  }) as const;

export interface ListSource<T> {
  readonly fetch: (page: number) => Promise<Page<T>>;
  readonly idOf: (row: T) => string;
  /** The number of the first page to read, and the requested number of rows per page. */
  readonly from?: { readonly page: number; readonly size: number };
  /**
   * Stops requests in flight. `eachPage` calls `end` when it ends, even if the caller leaves the
   * loop early.
   */
  readonly end?: () => void;
}

export async function* eachRow<T>(source: ListSource<T>): AsyncGenerator<T, void, void> {
  for await (const rows of eachPage(source)) yield* rows;
}

/**
 * Yields each row of a list once, in pages. If new rows push known rows onto the next page,
 * `eachPage` skips the known rows. The list ends at an empty page, or after two pages in a row
 * without new rows, whatever limit and total the service reports. `eachPage` requests the next
 * pages in advance. If rows leave the list while `eachPage` reads it, later rows move up, so
 * `eachPage` re-reads the current page and the previous page. Throws Failure `temporary` if the
 * service repeats a page although rows are missing, or if the pages never end.
 */
export async function* eachPage<T>(
  source: ListSource<T>,
): AsyncGenerator<readonly T[], void, void> {
  try {
    yield* pagesOf(source);
  } finally {
    source.end?.();
  }
}

async function* pagesOf<T>(source: ListSource<T>): AsyncGenerator<readonly T[], void, void> {
  const { fetch, idOf, from = { page: 1, size: pageSize } } = source;
  const fetchPage = (page: number): Promise<Page<T>> => {
    const fetched = fetch(page);
    // Ignores errors here, because the error of a page requested in advance matters only if the
    // caller needs that page.
    fetched.catch(() => undefined);
    return fetched;
  };
  let { page } = from;
  let received = (page - 1) * from.size;
  let counted = received;
  let total: number | undefined;
  let repeated = 0;
  let pages = 0;
  let first: ReadonlySet<string> | undefined;
  let earlier: ReadonlySet<string> = new Set();
  const coming = [fetchPage(page)];
  for (let next = coming.shift(); next !== undefined; next = coming.shift()) {
    let current = await next;
    let before: readonly T[] = [];
    if (total !== undefined && (current.total ?? total) < total) {
      current = await fetchPage(page);
      if (first !== undefined) before = (await fetchPage(page - 1)).rows;
    }
    const { rows } = current;
    total = current.total ?? undefined;
    const ids = rows.map(idOf);
    const seen = (id: string): boolean => earlier.has(id) || first?.has(id) === true;
    const movedUp = before.filter((row) => !seen(idOf(row)) && !ids.includes(idOf(row)));
    if (movedUp.length > 0) yield movedUp;
    if (rows.length === 0) return;
    counted += movedUp.length;
    const fresh = rows.filter((_, index) => !seen(ids[index] ?? ''));
    received += rows.length;
    counted += fresh.length;
    repeated = fresh.length === 0 ? repeated + 1 : 0;
    if (repeated > 1 && total !== undefined && counted < total) throw goingRound(counted, total);
    if (repeated > 1) return;
    // If the service reports no total, the client requests at most as many pages in advance as it
    // has read.
    pages += 1;
    if (pages > mostPages) throw endless();
    const left =
      total === undefined
        ? repeated > 0
          ? 1
          : pages
        : Math.ceil((total - received) / rows.length);
    while (coming.length < Math.min(left, pagesAhead))
      coming.push(fetchPage(page + coming.length + 1));
    yield fresh;
    // If no page was requested in advance, requests the next page only after `yield`, because the
    // caller may leave the loop first.
    if (coming.length === 0) coming.push(fetchPage(page + 1));
    earlier = new Set(ids);
    first ??= earlier;
    page += 1;
  }
}

const endless = (): Failure =>
  new Failure(
    'temporary',
    `The list does not end: the service still returned rows after ${mostPages} pages.`,
  );

const goingRound = (counted: number, total: number): Failure =>
  new Failure(
    'temporary',
    `The list is incomplete: the service repeats the same page after ${counted} of ${total} rows.`,
  );
