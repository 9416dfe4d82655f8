// These tests walk every state that the payment core can reach, and check the invariants that
// docs/simulation.md lists. `npm test` checks payments with one attempt, for all commands except
// `--retry`. `npm run test:all` also checks payments with two attempts. `SVCPAY_ENUMERATION=deep`
// also checks all commands on payments with two attempts and two confirmations of each attempt,
// which takes minutes.
import { describe, expect, test } from 'vitest';
import { check } from './checker.js';
import { transitions } from '../../../../src/store/journal/payment.js';
import { runsAll } from '../../../support/part.js';
import { mutations } from './mutations.js';
import { core, transitionsTaken, type Bounds } from './runs.js';

const twoAttempts: Bounds = {
  attempts: 2,
  confirmations: 1,
  retries: 1,
  reference: 'given',
  commands: ['the same command', '--retry'],
  ends: ['completed', 'failed'],
  suspends: false,
};
const everyCommand: Bounds = {
  ...twoAttempts,
  attempts: 1,
  retries: 0,
  ends: ['completed', 'failed', 'error'],
  commands: ['the same command', 'asked', 'tx resume', '--quote-only', 'tx confirm'],
};
const suspended: Bounds = {
  ...everyCommand,
  ends: ['completed'],
  commands: ['asked', 'tx resume', 'tx confirm'],
  suspends: true,
};
const deep: Bounds = {
  ...everyCommand,
  attempts: 2,
  confirmations: 2,
  retries: 1,
  commands: [...everyCommand.commands, '--retry'],
};
const generated: Bounds = { ...twoAttempts, reference: 'generated' };

const isDeep = process.env['SVCPAY_ENUMERATION'] === 'deep';
const walked = {
  everyCommand,
  ...(runsAll && { suspended, twoAttempts }),
  ...(isDeep && { deep, generated }),
};
/** The search bounds that a mutation can name in its field `foundIn`. */
const boundsOf = { suspended, twoAttempts };

describe('payment core', { timeout: 1_800_000 }, () => {
  test.for(Object.entries(walked))(
    'keeps the invariants of a payment in every state within the bounds "%s"',
    ([name, bounds]) => {
      const { states, broken } = check(core, bounds);
      console.log(`${name}: ${states} states`);
      expect(broken).toEqual(new Map());
    },
  );

  test.runIf(runsAll)('makes every transition of the state table', () => {
    const all = transitions.map(({ from, to }) => `${from} -> ${to}`);
    expect(all.filter((each) => !transitionsTaken.has(each))).toEqual([]);
  });
});

describe('mutated payment core', { timeout: 1_800_000 }, () => {
  test.for(Object.entries(mutations))(
    'violates an invariant because it %s',
    ([, { core: mutated, foundIn }]) => {
      expect(check(mutated, boundsOf[foundIn]).broken.size).toBe(1);
    },
  );
});
