// The machine's clock against the service's, as doctor sees it.
import { describe, expect, test } from 'vitest';
import { compareClocks } from '../../../src/cli/settings/doctor.js';

const date = 'Wed, 15 Jan 2025 12:00:00 GMT';
const at = Date.parse(date);

describe('compareClocks', () => {
  test.for([
    ['the same time', 0, 'ok', 'agrees with the service'],
    ['half a minute', 30_000, 'ok', 'agrees with the service'],
    ['two hours ahead', 7_200_000, 'problem', 'this machine is 2 hours ahead of the service'],
    ['five minutes behind', -300_000, 'problem', 'this machine is 5 minutes behind the service'],
  ] as const)('%s', ([, ahead, state, detail]) => {
    expect(compareClocks(date, at + ahead, false)).toMatchObject({ state, detail });
  });

  test('accepts a sandbox with its own time', () => {
    expect(compareClocks(date, at + 7_200_000, true)).toMatchObject({ state: 'ok', advice: null });
  });

  test('accepts a service without a Date header', () => {
    expect(compareClocks(undefined, at, false)).toMatchObject({ state: 'ok' });
  });
});
