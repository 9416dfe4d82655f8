// All items of a list endpoint, page by page as the answers themselves count them.
import * as v from 'valibot';
import { Failure } from '../../formats/failure.js';
import { toJson } from '../../terminal/rows/json.js';

const pageSchema = v.object({
  data: v.array(v.looseObject({})),
  pagination: v.optional(v.object({ page: v.number(), limit: v.number(), total: v.number() })),
});

/** Most services can be expected to give this many at once. */
const pageSize = '100';

/**
 * Yields each item once: what is created meanwhile pushes others onto the next page, where they are passed over. A list
 * without pages is one page. Throws Failure: `usage` for what is no list, `unexpected` when the pages do not go on.
 *
 * @param get the text that a path is answered with
 */
export async function* eachItem(
  path: string,
  get: (path: string) => Promise<string>,
): AsyncGenerator<object, void, void> {
  const [pathname = '', search = ''] = path.split('?', 2);
  const query = new URLSearchParams(search);
  if (!query.has('limit')) query.set('limit', pageSize);
  let earlier = new Set<string>();
  for (let page = Number(query.get('page') ?? 1); ; page += 1) {
    query.set('page', String(page));
    const { data, pagination } = readPage(await get(`${pathname}?${query}`));
    const items = data.map((item) => ({ item, text: toJson(item) }));
    for (const { item, text } of items) if (!earlier.has(text)) yield item;
    if (pagination === undefined || data.length === 0 || page * pagination.limit >= pagination.total) return;
    if (pagination.page !== page) {
      throw new Failure('unexpected', `The service was asked for page ${page} and answered with ${pagination.page}.`);
    }
    earlier = new Set(items.map(({ text }) => text));
  }
}

function readPage(body: string): v.InferOutput<typeof pageSchema> {
  const read = v.safeParse(pageSchema, parse(body));
  if (read.success) return read.output;
  throw new Failure('usage', 'The answer is not a list, so it has no pages.', { hint: 'Leave --paginate out.' });
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
