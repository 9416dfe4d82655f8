// The menu of the home screen: the command line that each choice leads to.
import { expect, test } from 'vitest';
import { askWhatNext } from '../../../src/cli/overview/home.js';
import { back } from '../../../src/terminal/ask/ask.js';
import { actor } from '../../support/actor.js';

async function chosen(answer: string, isPending = false) {
  const words = await askWhatNext({
    ask: actor([`COMMAND ${answer}`]).ask,
    isPending,
    isReached: true,
    above: () => [],
  });
  return words === back ? 'left' : words.join(' ');
}

test.each([
  ['<', 'left'],
  ['receive', 'receive'],
  ['send', 'send'],
  ['swap', 'swap'],
  ['pay out', 'payout'],
  ['history', 'tx list'],
])('the home menu turns the answer "%s" into "%s"', async (answer, line) => {
  expect(await chosen(answer)).toBe(line);
});

test('the home menu offers to resume only if a payment is pending', async () => {
  expect(await chosen('resume', true)).toBe('tx resume');
  await expect(chosen('resume')).rejects.toThrow('does not offer resume');
});
