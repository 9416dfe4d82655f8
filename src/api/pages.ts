// Every row of a list that comes in pages, whatever the service says of their size and number.
import { Failure } from '../formats/failure.js';

export interface Page<T> {
  readonly rows: readonly T[];
  /** How many rows all pages have, by the service's word. */
  readonly total: number | null | undefined;
}

/**
 * Rows per page asked for first. The largest page is not specified: a service that refuses it, or falls back to its default, is
 * asked for {@link pageSize} from then on.
 */
export const largePageSize = 1_000;
export const pageSize = 100;
/** Specification: the default. */
export const usualPageSize = 20;

/** From far away most of the time is waiting, which this many share. */
const pagesAhead = 8;

export interface ListSource<T> {
  readonly fetch: (page: number) => Promise<Page<T>>;
  readonly idOf: (row: T) => string;
  /** The first page, and how many rows of a page are asked for. */
  readonly from?: { readonly page: number; readonly size: number };
  /** Called when no more pages are wanted, also in the middle: stops those that are on their way. */
  readonly end?: () => void;
}

/** The rows of {@link eachPage}, one by one. */
export async function* eachRow<T>(source: ListSource<T>): AsyncGenerator<T, void, void> {
  for await (const rows of eachPage(source)) yield* rows;
}

/**
 * Yields each row once, in pages: what is created meanwhile pushes others onto the next page, where they are passed over. The rows
 * are counted, and the next page is asked for until one is empty, or two in a row bring nothing new, whatever the service says
 * of limit and total. While a page is used, the next ones are on their way; one that was read before something was created that
 * an earlier page shows already is read again, or it would miss what was pushed on. Where rows have gone meanwhile, as they do from
 * a list of one state, the page before is read again as well: what came next has moved up onto it.
 * Throws Failure `temporary` when the service gives the same page again and more rows are to come.
 */
export async function* eachPage<T>(source: ListSource<T>): AsyncGenerator<readonly T[], void, void> {
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
    // Its failure counts only when it is its turn, which never comes if the caller stops before.
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
    // Without a total every new page is a sign of one more.
    pages += 1;
    const left = total === undefined ? (repeated > 0 ? 1 : pages) : Math.ceil((total - received) / rows.length);
    while (coming.length < Math.min(left, pagesAhead)) coming.push(fetchPage(page + coming.length + 1));
    yield fresh;
    // A reader who has found what it wanted leaves before the page that only proves the end.
    if (coming.length === 0) coming.push(fetchPage(page + 1));
    earlier = new Set(ids);
    first ??= earlier;
    page += 1;
  }
}

const goingRound = (counted: number, total: number): Failure =>
  new Failure('temporary', `The list is incomplete: the service repeats the same page after ${counted} of ${total} rows.`);
