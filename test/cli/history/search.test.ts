// What `tx list --search` finds in one transaction.
import { expect, test } from 'vitest';
import { matcher } from '../../../src/cli/history/search.js';

const txn = {
  txnId: '3f5ada12-5dd8-44ab-a8ca-180194896e17',
  txnState: 'completed',
  note: 'Café, order 7',
  sourceReq: { method: 'servicepay' },
  destReq: { method: 'lnurl', reqDetails: { lnurlAddress: 'bob@example.com' } },
};

test.for([
  ['cafe bob', true],
  ['3f5a', true],
  ['44ab-a8ca', true],
  ['ada', false],
] as const)('%s: a short word counts in an id only at its beginning', ([text, isFound]) => {
  expect(matcher(text)(txn, () => undefined)).toBe(isFound);
});
