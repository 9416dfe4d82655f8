// Reads every row of a paged list, whatever the service reports about page size and total.
import { Failure } from '../formats/failure.js';

export interface Page<T> {
  readonly rows: readonly T[];
  /** Rows of all pages, as the service reports. */
  readonly total: number | null | undefined;
}

/**
 * The page size requested first. The maximum is not specified: if a service refuses it or falls
 * back to its default, {@link pageSize} is used from then on.
 */
export const largePageSize = 1_000;
export const pageSize = 100;
/** Specification: the default. */
export const usualPageSize = 20;

/** Pages in flight, because with a distant service most of the time is waiting. */
const pagesAhead = 8;

/** Two million rows in the smallest pages; a list with more is taken to be without an end. */
const mostPages = 100_000;

export interface ListSource<T> {
  readonly fetch: (page: number) => Promise<Page<T>>;
  readonly idOf: (row: T) => string;
  /** The first page, and the requested rows per page. */
  readonly from?: { readonly page: number; readonly size: number };
  /** Called at the end, also after an early exit: stops requests in flight. */
  readonly end?: () => void;
}

/** The rows of {@link eachPage}. */
export async function* eachRow<T>(source: ListSource<T>): AsyncGenerator<T, void, void> {
  for await (const rows of eachPage(source)) yield* rows;
}

/**
 * Yields each row once, in pages. Rows created meanwhile push others onto the next page, where they
 * are skipped. Reading continues until a page is empty, or two in a row have no new rows, whatever
 * limit and total the service reports. The next pages are requested ahead. If rows disappear
 * meanwhile, as from a list of one state, the page and the one before it are read again, because
 * the following rows have moved up. Throws Failure `temporary` if the service repeats a page
 * although rows are missing, or its pages never end.
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
    // An error counts only when its page is needed.
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
    // Without a total, every new page suggests another.
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
    // Requested only now, because a caller may leave before the last, empty page.
    if (coming.length === 0) coming.push(fetchPage(page + 1));
    earlier = new Set(ids);
    first ??= earlier;
    page += 1;
  }
}

const endless = (): Failure =>
  new Failure(
    'temporary',
    `The list has no end: the service still returned rows after ${mostPages} pages.`,
  );

const goingRound = (counted: number, total: number): Failure =>
  new Failure(
    'temporary',
    `The list is incomplete: the service repeats the same page after ${counted} of ${total} rows.`,
  );
