// eachRow reads every row of a list even if the service caps pages, repeats pages or reports wrong
// totals.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { eachRow, type Page } from '../../src/api/pages.js';

interface ListService {
  readonly rows: number;
  /** The largest number of rows in a page, even if the client requests more. */
  readonly cap: number;
  /** Returns the total that the service reports, given the number of rows on the page. */
  readonly total: (onPage: number) => number | undefined;
  /** The answer of the service to a page number after the last page. */
  readonly beyond?: 'nothing' | 'the last page' | 'the first page';
}

function listService({ rows, cap, total, beyond = 'nothing' }: ListService, size = 100) {
  const all = Array.from({ length: rows }, (_, index) => `t${index}`);
  const asked: number[] = [];
  const take = (page: number): string[] =>
    all.slice((page - 1) * Math.min(cap, size), page * Math.min(cap, size));
  const fetch = async (page: number): Promise<Page<string>> => {
    asked.push(page);
    if (asked.length > 500) throw new Error('it never ends');
    const last = Math.ceil(rows / Math.min(cap, size));
    const at = page > last && beyond !== 'nothing' ? (beyond === 'the last page' ? last : 1) : page;
    const given = take(at);
    return { rows: given, total: total(given.length) };
  };
  return { all, asked, fetch };
}

async function rowsOf(rows: AsyncIterable<string>): Promise<string[]> {
  const got: string[] = [];
  for await (const row of rows) got.push(row);
  return got;
}

const totals: Readonly<Record<string, ListService['total']>> = {
  right: () => 95,
  'only the size of the page': (onPage) => onPage,
  zero: () => 0,
  missing: () => undefined,
  'too high': () => 1_000,
};

describe.for([20, 7, 1])('list of 95 rows in pages of %d', (cap) => {
  test.for(Object.entries(totals))(
    'eachRow returns every row if the reported total is %s',
    async ([, total]) => {
      const { all, fetch } = listService({ rows: 95, cap, total });
      expect(await rowsOf(eachRow({ fetch, idOf: (row) => row }))).toEqual(all);
    },
  );
});

test('eachRow returns each row of any list exactly once', async () => {
  const shape = fc.record({
    rows: fc.nat(130),
    cap: fc.integer({ min: 1, max: 120 }),
    size: fc.integer({ min: 1, max: 100 }),
    reported: fc.option(fc.nat(200), { nil: undefined }),
    beyond: fc.constantFrom('nothing', 'the last page', 'the first page'),
  });
  await fc.assert(
    fc.asyncProperty(shape, async ({ rows, cap, size, reported, beyond }) => {
      // If the reported total is too high, eachRow treats a repeated page as an incomplete list.
      const total = beyond === 'nothing' || (reported ?? 0) <= rows ? reported : undefined;
      const { all, fetch } = listService(
        { rows, cap, total: () => total, beyond: rows === 0 ? 'nothing' : beyond },
        size,
      );
      expect(await rowsOf(eachRow({ fetch, idOf: (row) => row, from: { page: 1, size } }))).toEqual(
        all,
      );
    }),
  );
});

test('eachRow reports an incomplete list if the service repeats its first page', async () => {
  const fetch = async (): Promise<Page<string>> => ({ rows: ['a', 'b'], total: 9 });
  await expect(rowsOf(eachRow({ fetch, idOf: (row) => row }))).rejects.toMatchObject({
    kind: 'temporary',
    message: 'The list is incomplete: the service repeats the same page after 2 of 9 rows.',
  });
});

test('eachRow reports an endless list after 100,000 pages', async () => {
  let count = 0;
  const fetch = async (page: number): Promise<Page<string>> => ({
    rows: [`t${page}`],
    total: undefined,
  });
  const reading = async (): Promise<void> => {
    for await (const row of eachRow({ fetch, idOf: (each) => each }))
      count += row.length > 0 ? 1 : 0;
  };
  await expect(reading()).rejects.toMatchObject({
    kind: 'temporary',
    message: 'The list does not end: the service still returned rows after 100000 pages.',
  });
  expect(count).toBe(100_000);
});

test('eachRow returns each row once if the service answers every page number with the whole list', async () => {
  const { asked, fetch } = listService(
    { rows: 30, cap: 1_000, total: () => undefined, beyond: 'the first page' },
    1_000,
  );
  expect(
    await rowsOf(eachRow({ fetch, idOf: (row) => row, from: { page: 1, size: 100 } })),
  ).toHaveLength(30);
  expect(asked).toEqual([1, 2, 3]);
});

test('eachRow reads the pages after a repeated page', async () => {
  const fetch = async (page: number): Promise<Page<string>> => ({
    rows: [['a', 'b'], ['c', 'd'], ['c', 'd'], ['e']][page - 1] ?? [],
    total: undefined,
  });
  expect(await rowsOf(eachRow({ fetch, idOf: (row) => row }))).toEqual(['a', 'b', 'c', 'd', 'e']);
});

test.for([
  ['one page with the right total', 7, 2],
  ['an empty list', 0, 1],
  ['a full page', 100, 2],
  ['three pages with a short last page', 207, 4],
] as const)('eachRow sends no request after the end of %s', async ([, rows, requests]) => {
  const { asked, fetch } = listService({ rows, cap: 100, total: () => rows });
  expect(await rowsOf(eachRow({ fetch, idOf: (row) => row }))).toHaveLength(rows);
  expect(asked).toHaveLength(requests);
});

test.for([
  ['even', 0],
  ['odd', 1],
] as const)(
  'eachRow returns all remaining rows if rows are deleted at each %s request',
  async ([, late]) => {
    let all = Array.from({ length: 57 }, (_, index) => `t${index}`);
    let asked = 0;
    const fetch = async (page: number): Promise<Page<string>> => {
      asked += 1;
      if (asked % 2 === late) all = all.slice(2);
      return { rows: all.slice((page - 1) * 10, page * 10), total: all.length };
    };
    const got = await rowsOf(eachRow({ fetch, idOf: (row) => row, from: { page: 1, size: 10 } }));
    expect(got).toEqual(expect.arrayContaining(all));
    expect(new Set(got).size).toBe(got.length);
  },
);
