// The truth table above `status()` matches the code for every combination of two attempts.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import {
  priceReference,
  transitions,
  requested,
  status,
  type Attempt,
  type AttemptState,
} from '../../../src/store/journal/payment.js';

const source = resolve(import.meta.dirname, '../../../src/store/journal/payment.ts');

interface Row {
  readonly some: readonly string[];
  readonly latest: readonly string[];
  readonly abandoned: string;
  readonly status: string;
}

const table = readFileSync(source, 'utf8')
  .split('\n')
  .filter((line) => / \* \|/.test(line))
  .slice(2)
  .map((line): Row => {
    const [some = '', latest = '', abandoned = '', is = ''] = line
      .split('|')
      .slice(1)
      .map((cell) => cell.trim());
    return { some: some.split(' or '), latest: latest.split(' or '), abandoned, status: is };
  });

const states = [...new Set(transitions.flatMap(({ from, to }) => [from, to]))];
const attempt = (number: number, state: AttemptState): Attempt => ({
  ...requested(number, '{}'),
  state,
});

function statusOfTable(attempts: readonly Attempt[], abandoned: boolean): string | undefined {
  const fits = (wanted: readonly string[], state: string): boolean =>
    ['-', 'any'].includes(wanted[0] ?? '') || wanted.includes(state);
  return table.find(
    (row) =>
      attempts.some(({ state }) => fits(row.some, state)) &&
      fits(row.latest, attempts.at(-1)?.state ?? '') &&
      ['any', abandoned ? 'yes' : 'no'].includes(row.abandoned),
  )?.status;
}

test('truth table above status() contains every state of an attempt', () => {
  expect(states.toSorted()).toEqual([
    'error',
    'failed',
    'in-flight',
    'lapsed',
    'paid',
    'quoted',
    'requested',
    'submitting',
    'unknown',
  ]);
  expect(table.length).toBeGreaterThan(6);
});

test.for([true, false])(
  'status() matches its truth table for any two attempts (abandoned: %s)',
  (abandoned) => {
    const wrong = states.flatMap((first) =>
      [...states, undefined].flatMap((second) => {
        const attempts = [attempt(1, first), ...(second === undefined ? [] : [attempt(2, second)])];
        const is = status({ attempts, abandoned, ref: 'R' });
        const wanted = statusOfTable(attempts, abandoned);
        return is === wanted ? [] : [{ first, second, is, wanted }];
      }),
    );
    expect(wrong).toEqual([]);
  },
);

test('status() counts an open quote that only shows a price as abandoned, so nothing resumes it', () => {
  const openQuote = { attempts: [attempt(1, 'quoted')], abandoned: false };
  const price = priceReference('4bfcd67a-24f2-4428-8290-6f491d93b093');
  expect([price, 'quote-1'].map((ref) => status({ ...openQuote, ref }))).toEqual([
    'abandoned',
    'open',
  ]);
});
