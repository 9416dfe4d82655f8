// Reads all items of a list endpoint page by page.
import { eachRow, pageSize, type Page } from '../../api/pages.js';
import { count, Misread, rowsOf, text } from '../../api/reading/readers.js';
import { Failure } from '../../formats/failure.js';
import { isFields } from '../../formats/unknown.js';
import { toJson } from '../../terminal/rows/json.js';

/**
 * Yields each item of the list once (see {@link eachRow}). Throws Failure `usage` if the response
 * is not a list, and `temporary` if a page repeats the previous page.
 * @param get reads the JSON of a path
 */
export function eachItem(
  path: string,
  get: (path: string) => Promise<unknown>,
): AsyncGenerator<object, void, void> {
  const [pathname = '', search = ''] = path.split('?', 2);
  const query = new URLSearchParams(search);
  if (!query.has('limit')) query.set('limit', String(pageSize));
  const fetch = async (page: number): Promise<Page<object>> => {
    const asked = new URLSearchParams(query);
    asked.set('page', String(page));
    return readPage(await get(`${pathname}?${asked}`));
  };
  const page = count.read(query.get('page')) ?? 1;
  const size = count.read(query.get('limit')) ?? pageSize;
  return eachRow({ fetch, idOf, from: { page, size } });
}

/** Returns the id of an item, or the whole content of an item without an id. */
const idOf = (item: object): string =>
  (isFields(item) ? (text.read(item['txnId']) ?? text.read(item['id'])) : undefined) ??
  toJson(item);

function readPage(json: unknown): Page<object> {
  const rows = listOf(json);
  const pagination = isFields(json) && isFields(json['pagination']) ? json['pagination'] : {};
  const isList =
    rows?.every((row): row is object => typeof row === 'object' && row !== null) === true;
  if (rows !== undefined && isList) return { rows, total: count.read(pagination['total']) };
  throw new Failure('usage', 'The response is not a list, so it has no pages.', {
    hint: 'Remove --paginate.',
  });
}

function listOf(json: unknown): unknown[] | undefined {
  try {
    return rowsOf(json);
  } catch (error) {
    if (error instanceof Misread) return undefined;
    throw error;
  }
}
