// The head of an OFX statement has distinct account ids, and times with a time zone.
import { expect, test } from 'vitest';
import { ofxHead } from '../../../src/wallet/books/programs.js';

const head = (accountId: string, ccy: string): string =>
  ofxHead({ accountId, ccy, bank: 'service' }, { first: 0, end: 1_000 }, 2_000);
const account = (...of: Parameters<typeof head>): string =>
  /<ACCTID>(.*)<\/ACCTID>/.exec(head(...of))?.[1] ?? '';

test('ofxHead writes a different account id of at most 22 characters for each wallet', () => {
  const long = 'ne01-0123456789abcdef0123456789abcdef';
  const ids = [
    account(long, 'USD'),
    account(long, 'CAD'),
    account(`${long}0`, 'USD'),
    account('ne01-7f3a', 'USD'),
  ];
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids) expect(id).toMatch(/^[A-Z]{3}-[\w-]{1,18}$/);
});

test('ofxHead writes times with their time zone', () => {
  expect(head('a', 'USD')).toContain('<DTEND>19700101000000.999[0:GMT]</DTEND>');
});
