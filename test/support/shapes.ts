// The live shapes that `npm run test:shapes` selects for the services of all tests.
import { expect } from 'vitest';

export const testedShapes = process.env['SVCPAY_TEST_SHAPES'];

/** Whether responses have exactly the format that the specification defines. */
export const asSpecified = testedShapes === undefined;

const chosen = testedShapes?.split(',') ?? [];

/** Returns whether this test run uses one of the named live response formats. */
export const comesIn = (...names: readonly string[]): boolean =>
  ['all', ...names].some((name) => chosen.includes(name));

/** Returns the content of a response, which a live shape may wrap in `data`. */
export const inside = (answer: unknown): unknown =>
  chosen.includes('data-around') &&
  typeof answer === 'object' &&
  answer !== null &&
  'data' in answer
    ? answer.data
    : answer;

const otherWords: Readonly<Record<string, readonly string[]>> = {
  srccreated: ['srcsent', 'srcpendconfirmfill', 'userconfirmed'],
  destsent: ['srcconfirmfilled', 'destpendsent'],
  usercanceled: ['canceled'],
};

/** Returns a matcher for a state by its specified name and, in a live shape, by its live names. */
export const called = (state: string): unknown =>
  asSpecified
    ? state
    : expect.stringMatching(new RegExp(`^(${[state, ...(otherWords[state] ?? [])].join('|')})$`));
