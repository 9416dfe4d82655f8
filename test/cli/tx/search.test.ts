// `svcpay tx list --search` finds transactions by words and by parts of an id.
import { expect, test } from 'vitest';
import { matcher } from '../../../src/cli/tx/history.js';

const txn = {
  txnId: '3f5ada12-5dd8-44ab-a8ca-180194896e17',
  txnState: 'completed',
  note: 'Café, order 7',
  sourceReq: { method: 'servicepay' },
  destReq: { method: 'lnurl', reqDetails: { lnurlAddress: 'bob@example.com' } },
};

test.for([
  ['finds words without accents in any field', 'cafe bob', true],
  ['finds the beginning of an id', '3f5a', true],
  ['finds a long part of an id', '44ab-a8ca', true],
  ['ignores a short word inside an id', 'ada', false],
  ['finds the beginning of a word', 'exam', true],
  ['ignores the middle of a word', 'fe', false],
] as const)(
  'svcpay tx list --search compares words with the fields of a transaction: it %s',
  ([, text, isFound]) => {
    expect(matcher(text)(txn, () => undefined)).toBe(isFound);
  },
);
