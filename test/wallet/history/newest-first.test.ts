// createdSince reads a list from a service that ignores the requested start time.
import { expect, test } from 'vitest';
import type { ListedTransaction } from '../../../src/api/types.js';
import { createdSince } from '../../../src/wallet/history/moved-amounts.js';

/** Returns the ids of the rows that createdSince returns, and the number of pages that it reads. */
async function through(
  pages: readonly (readonly (number | null)[])[],
  since: number,
): Promise<[ids: string[], read: number]> {
  let read = 0;
  async function* listed(): AsyncGenerator<readonly ListedTransaction[]> {
    for (const page of pages) {
      read += 1;
      yield page.map((createdAt) => ({
        txnId: `t${createdAt}`,
        txnState: 'completed',
        createdAt,
        sourceReq: {},
        destReq: {},
      }));
    }
  }
  const ids: string[] = [];
  for await (const rows of createdSince(listed(), since))
    ids.push(...rows.map(({ txnId }) => txnId));
  return [ids, read];
}

test.for([
  [
    'stops at the first page of older rows if the list is newest first',
    [
      [9, 8],
      [7, 4],
      [3, 3],
      [2, 1],
    ],
    ['t9', 't8', 't7'],
    3,
  ],
  [
    'reads the whole list if the list is oldest first',
    [
      [1, 2],
      [3, 4],
      [7, 9],
    ],
    ['t7', 't9'],
    3,
  ],
  [
    'reads the whole list if the list is unordered',
    [[9, 2], [4, 8], [3, 1], [7]],
    ['t9', 't8', 't7'],
    4,
  ],
  [
    'keeps a row without a creation time and reads the whole list',
    [[9, null], [2, 1], [8]],
    ['t9', 'tnull', 't8'],
    3,
  ],
] as const)('createdSince %s', async ([, pages, ids, read]) => {
  expect(await through(pages, 5)).toEqual([ids, read]);
});
