// svcpay doctor compares the machine clock with the service clock.
import { describe, expect, test } from 'vitest';
import { compareClocks } from '../../../src/cli/doctor/doctor.js';

const date = 'Wed, 15 Jan 2025 12:00:00 GMT';
const at = Date.parse(date);

describe('compareClocks', () => {
  test.for([
    ['equal clocks as ok', 0, 'ok', 'agrees with the service'],
    ['a difference of half a minute as ok', 30_000, 'ok', 'agrees with the service'],
    [
      'a machine clock two hours ahead as a problem',
      7_200_000,
      'problem',
      'this machine is 2 hours ahead of the service',
    ],
    [
      'a machine clock five minutes behind as a problem',
      -300_000,
      'problem',
      'this machine is 5 minutes behind the service',
    ],
  ] as const)('reports %s', ([, ahead, state, detail]) => {
    expect(compareClocks(date, at + ahead, false)).toMatchObject({ state, detail });
  });

  test('accepts the clock of a sandbox with its own time', () => {
    expect(compareClocks(date, at + 7_200_000, true)).toMatchObject({ state: 'ok', advice: null });
  });

  test('accepts a service without a Date header', () => {
    expect(compareClocks(undefined, at, false)).toMatchObject({ state: 'ok' });
  });
});
