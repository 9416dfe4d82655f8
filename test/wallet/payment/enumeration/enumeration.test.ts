// Every state that the payment core can reach: over two attempts, and with every command over one. docs/payments.md lists what is checked.
// `SVCPAY_ENUMERATION=deep` walks two attempts with two confirmations each and with every command, which takes minutes.
import { describe, expect, test } from 'vitest';
import { check } from './checker.js';
import { mistakes } from './mistakes.js';
import { core, type Bounds } from './runs.js';

const oneHome: Bounds = {
  attempts: 2,
  confirmations: 1,
  retries: 1,
  reference: 'own',
  commands: ['the same command', '--retry'],
  ends: ['completed', 'failed'],
};
const sharedReference: Bounds = { ...oneHome, reference: 'given' };
const everyCommand: Bounds = {
  attempts: 1,
  confirmations: 1,
  retries: 0,
  reference: 'given',
  ends: ['completed', 'failed', 'error'],
  commands: ['the same command', 'tx resume', '--quote-only', 'tx confirm'],
};
const deep: Bounds = {
  ...everyCommand,
  attempts: 2,
  confirmations: 2,
  retries: 1,
  commands: [...everyCommand.commands, '--retry'],
};

const isDeep = process.env['SVCPAY_ENUMERATION'] === 'deep';

describe('the payment core', { timeout: 1_800_000 }, () => {
  test.for(Object.entries({ oneHome, sharedReference, everyCommand, ...(isDeep && { deep }) }))(
    'keeps its promises in every state: %s',
    ([name, bounds]) => {
      const { states, broken } = check(core, bounds);
      console.log(`${name}: ${states} states`);
      expect(broken).toEqual(new Map());
    },
  );

  test.for(Object.entries(mistakes))('breaks a promise if it %s', ([, mistaken]) => {
    const found = [sharedReference, everyCommand].some(
      (bounds) => check(mistaken, bounds).broken.size > 0,
    );
    expect(found).toBe(true);
  });
});
