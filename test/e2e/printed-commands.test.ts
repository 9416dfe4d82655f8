// Every test runs the commands that svcpay printed in it, and counts the payments. Here: this check
// finds a printed command that pays twice, or what nobody asked for.
import { expect } from 'vitest';
import { svcpay } from '../support/in-process.js';
import { followPrinted, remember } from '../support/followed-commands.js';
import { test } from '../support/svcpay.js';

const send = ['send', 'ada@example.com', '1300sat'];
const printed = (reason: string, ...words: string[]) => ({
  text: `svcpay ${words.join(' ')}`,
  words,
  name: 'send',
  movesMoney: true,
  reason,
});

test.for([
  ['a command that pays twice', 'pays 0.000013 BTC to ada@example.com twice', send],
  [
    'a command that pays another payee',
    'pays 0.000013 BTC to bob@example.com, which nobody asked for',
    ['send', 'bob@example.com', '1300sat'],
  ],
] as const)('the check of printed commands finds %s', async ([, complaint, words], { around }) => {
  await svcpay([...send, '--ref', 'order-1', '--yes'], around);
  await remember(send, around, [printed(complaint, ...words, '--ref', 'order-2')]);
  const follow = followPrinted(around.sandbox.url, svcpay);
  await expect(follow).rejects.toThrow(complaint);
});

test('the check of printed commands accepts a command that continues a payment', async ({
  around,
}) => {
  await svcpay([...send, '--ref', 'order-1', '--quote-only'], around);
  await remember(send, around, [printed('To pay', 'tx', 'confirm', 'order-1')]);
  await followPrinted(around.sandbox.url, svcpay);
  expect(around.sandbox.requests('PUT')).toHaveLength(1);
});
