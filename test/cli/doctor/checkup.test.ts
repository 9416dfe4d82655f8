// svcpay doctor compares the machine clock with the service clock.
import { describe, expect, test } from 'vitest';
import { compareClocks } from '../../../src/cli/doctor/doctor.js';

const date = 'Wed, 15 Jan 2025 12:00:00 GMT';
const at = Date.parse(date);

describe('compareClocks', () => {
  test.for([
    ['equal clocks', 0],
    ['a difference of half a minute', 30_000],
  ] as const)('accepts %s', ([, ahead]) => {
    expect(compareClocks(date, at + ahead, false)).toBe('agrees with the service');
  });

  test.for([
    ['two hours ahead', 7_200_000, 'this machine is 2 hours ahead of the service'],
    ['five minutes behind', -300_000, 'this machine is 5 minutes behind the service'],
  ] as const)('reports a machine clock %s as a problem', ([, ahead, detail]) => {
    expect(() => compareClocks(date, at + ahead, false)).toThrow(detail);
  });

  test('accepts the clock of a sandbox with its own time', () => {
    expect(compareClocks(date, at + 7_200_000, true)).toContain('ahead of the service');
  });

  test('accepts a service without a Date header', () => {
    expect(compareClocks(undefined, at, false)).toContain('does not report its time');
  });
});
