// eachItem follows the pages of a list and returns each item once, even if pages overlap or end
// early.
import { describe, expect, test } from 'vitest';
import { eachItem } from '../../../src/cli/api/api.js';

interface Page {
  readonly data: object[];
  readonly pagination?: { page: number; limit: number; total: number };
}

async function items(
  path: string,
  pages: readonly Page[],
): Promise<{ found: object[]; asked: string[] }> {
  const asked: string[] = [];
  const found: object[] = [];
  const get = async (to: string): Promise<unknown> => {
    const page = pages[asked.push(to) - 1];
    if (page === undefined) throw new Error(`asked for too much: ${to}`);
    return page;
  };
  for await (const item of eachItem(path, get)) found.push(item);
  return { found, asked };
}

const [a, b, c] = [{ id: 'a' }, { id: 'b' }, { id: 'c' }];
const page = (number: number, data: object[], total = 3): Page => ({
  data,
  pagination: { page: number, limit: 2, total },
});

describe('eachItem', () => {
  test('reads pages until an empty page, and keeps the other query parameters', async () => {
    const { found, asked } = await items('/t?time=1y', [
      page(1, [a, b]),
      page(2, [c]),
      page(3, []),
    ]);
    expect(found).toEqual([a, b, c]);
    expect(asked).toEqual([1, 2, 3].map((number) => `/t?time=1y&limit=100&page=${number}`));
  });

  test('starts a list at the requested page with the requested page size', async () => {
    expect((await items('/t?limit=2&page=2', [page(2, [c]), page(3, [])])).asked).toEqual([
      '/t?limit=2&page=2',
      '/t?limit=2&page=3',
    ]);
  });

  test('skips an item that appears again because a new item has moved it to the next page', async () => {
    expect(
      (await items('/t', [page(1, [b, a]), page(2, [a, c], 4), page(3, [], 4)])).found,
    ).toEqual([b, a, c]);
  });

  test('ends a list at an empty page, even if the total is larger', async () => {
    expect((await items('/t', [page(1, [a, b], 99), page(2, [], 99)])).found).toEqual([a, b]);
  });

  test('reads a list without pagination as one page', async () => {
    expect((await items('/webhook', [{ data: [a] }, { data: [a] }, { data: [a] }])).found).toEqual([
      a,
    ]);
  });

  test('refuses an answer that is not a list', async () => {
    await expect(items('/t', [{ data: [1] } as never])).rejects.toThrow('not a list');
  });

  test('stops with an error if the service ignores the page number', async () => {
    await expect(
      items(
        '/t',
        Array.from({ length: 5 }, () => page(1, [a, b], 9)),
      ),
    ).rejects.toThrow('repeats the same page');
  });
});
