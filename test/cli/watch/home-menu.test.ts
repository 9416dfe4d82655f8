// Each choice in the menu of the home screen leads to a command line.
import { expect, test } from 'vitest';
import { askWhatNext } from '../../../src/cli/watch/home.js';
import { back } from '../../../src/terminal/ask/questions.js';
import { actor } from '../../support/actor.js';

async function chosen(answer: string, isPending = false) {
  const words = await askWhatNext({
    pose: actor([`COMMAND ${answer}`]).pose,
    isPending,
    isReached: true,
    hasStory: true,
    above: () => [],
  });
  return words === back ? 'leave the menu' : words.join(' ');
}

test.each([
  ['<', 'leave the menu'],
  ['receive', 'receive'],
  ['send', 'send'],
  ['swap', 'swap'],
  ['pay out', 'payout'],
  ['history', 'tx list'],
  ["last payment's story", 'tx explain'],
])('the home menu maps the answer "%s" to "%s"', async (answer, line) => {
  expect(await chosen(answer)).toBe(line);
});

test('the home menu offers to resume only if a payment is pending', async () => {
  expect(await chosen('resume', true)).toBe('tx resume');
  await expect(chosen('resume')).rejects.toThrow('does not offer resume');
});
