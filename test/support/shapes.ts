// The live shapes in which the services of these tests answer, where `npm run test:shapes` has
// chosen some.
import { expect } from 'vitest';

export const testedShapes = process.env['SVCPAY_TEST_SHAPES'];

/** Whether answers carry everything that the specification says. */
export const asSpecified = testedShapes === undefined;

const chosen = testedShapes?.split(',') ?? [];

/** Whether answers come in one of these shapes. */
export const comesIn = (...names: readonly string[]): boolean =>
  ['all', ...names].some((name) => chosen.includes(name));

/** What an answer on the wire holds: these services may put all of it inside `data`. */
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

/** A state of the specification, or what these services call it. */
export const called = (state: string): unknown =>
  asSpecified
    ? state
    : expect.stringMatching(new RegExp(`^(${[state, ...(otherWords[state] ?? [])].join('|')})$`));
