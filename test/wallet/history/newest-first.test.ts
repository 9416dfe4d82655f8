// What is read of a list whose service ignores from when on it was asked for.
import { expect, test } from 'vitest';
import type { ListedTransaction } from '../../../src/api/types.js';
import { createdSince } from '../../../src/wallet/history/newest-first.js';

/** Ids of the rows that came through, and how many pages were read. */
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
    'newest first: it ends at the first page that is older',
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
    'oldest first: it is read to its end',
    [
      [1, 2],
      [3, 4],
      [7, 9],
    ],
    ['t7', 't9'],
    3,
  ],
  ['in no order: it is read to its end', [[9, 2], [4, 8], [3, 1], [7]], ['t9', 't8', 't7'], 4],
  [
    'a row without a time: it stays, and the list is read to its end',
    [[9, null], [2, 1], [8]],
    ['t9', 'tnull', 't8'],
    3,
  ],
] as const)('%s', async ([, pages, ids, read]) => {
  expect(await through(pages, 5)).toEqual([ids, read]);
});
