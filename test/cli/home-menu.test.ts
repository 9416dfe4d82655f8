// The menu of the home screen: which command line each way through it comes to.
import { describe, expect, test } from 'vitest';
import type { Wallet } from '../../src/api/types.js';
import { askWhatNext } from '../../src/cli/overview/home-menu.js';
import { back } from '../../src/terminal/ask/ask.js';
import { actor, type Script } from '../support/actor.js';

const wallets: readonly Wallet[] = [
  { ccy: 'BTC', amount: 1, availableBalance: 1 },
  { ccy: 'USDT', amount: 10, availableBalance: 0 },
];

async function chosen(script: Script, isPending = false) {
  const { ask, left } = actor(script);
  const words = await askWhatNext({ ask, wallets, isPending });
  expect(left()).toEqual([]);
  return words === back ? 'left' : words.join(' ');
}

const address = 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx';
const tron = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';

const ways: { script: Script; line: string }[] = [
  { script: ['COMMAND <'], line: 'left' },
  { script: ['COMMAND pay out'], line: 'payout' },
  { script: ['COMMAND history'], line: 'tx list' },
  { script: ['COMMAND receive', 'METHOD lightning', 'AMOUNT 50000sat'], line: 'receive lightning 0.0005btc' },
  { script: ['COMMAND receive', 'METHOD on-chain', 'AMOUNT 0.01btc'], line: 'receive onchain 0.01btc' },
  { script: ['COMMAND receive', 'METHOD tron'], line: 'receive address usdt --chain tron' },
  { script: ['COMMAND receive', 'METHOD <', 'COMMAND history'], line: 'tx list' },
  { script: ['COMMAND send', 'DESTINATION a@example.com', 'AMOUNT 21sat'], line: 'send a@example.com 0.00000021btc' },
  { script: ['COMMAND send', `DESTINATION ${address}`, 'AMOUNT 0.01btc'], line: `send ${address} 0.01btc` },
  { script: ['COMMAND send', `DESTINATION ${tron}`, 'AMOUNT 25'], line: `send ${tron} 25usdt` },
  { script: ['COMMAND send', `DESTINATION bitcoin:${address}?amount=0.01`], line: `send bitcoin:${address}?amount=0.01` },
  { script: ['COMMAND swap', 'FROM BTC', 'TO USDT', 'AMOUNT <', 'TO USDT', 'AMOUNT 5sat'], line: 'swap 0.00000005btc BTC USDT' },
];

describe('the menu', () => {
  test.each(ways)('$script is $line', async ({ script, line }) => {
    expect(await chosen(script)).toBe(line);
  });

  test('offers to resume only where something is pending', async () => {
    expect(await chosen(['COMMAND resume'], true)).toBe('tx resume');
    await expect(chosen(['COMMAND resume'])).rejects.toThrow('does not offer resume');
  });

  test('swaps only from a wallet that has something', async () => {
    await expect(chosen(['COMMAND swap', 'FROM USDT'])).rejects.toThrow('does not offer USDT');
  });

  test('does not take a destination with a wrong checksum', async () => {
    await expect(chosen(['COMMAND send', `DESTINATION ${address.replace(/x$/, 'z')}`])).rejects.toThrow();
  });
});
