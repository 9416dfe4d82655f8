// The head of an OFX statement: accounts that no program takes for one another, times with a zone.
import { expect, test } from 'vitest';
import { ofxHead } from '../../../src/wallet/books/ofx.js';

const head = (accountId: string, ccy: string): string =>
  ofxHead({ accountId, ccy, bank: 'service' }, { first: 0, end: 1_000 }, 2_000);
const account = (...of: Parameters<typeof head>): string =>
  /<ACCTID>(.*)<\/ACCTID>/.exec(head(...of))?.[1] ?? '';

test('the account ids of two wallets or two accounts differ within 22 characters', () => {
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

test('times name their zone', () => {
  expect(head('a', 'USD')).toContain('<DTEND>19700101000000.999[0:GMT]</DTEND>');
});
