// Tests the notations of durations on the command line and on screens.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { describeDuration, formatDuration, parseDuration } from '../../src/formats/calendar.js';
import { refusal } from './support.js';

describe('parseDuration', () => {
  test.for([
    ['500ms', 500],
    ['90s', 90_000],
    ['10m', 600_000],
    ['2H', 7_200_000],
    ['1d', 86_400_000],
    ['1h30m', 5_400_000],
    ['1d2h3m4s5ms', 93_784_005],
    ['0s', 0],
  ] as const)('reads "%s" as %i ms', ([text, ms]) => {
    expect(parseDuration(text)).toBe(ms);
  });

  test.for([
    ['90', '"90" has no unit. Write 90s, 90m, 90h or 90d.'],
    ['', 'is not a duration'],
    ['1.5h', 'is not a duration'],
    ['-1s', 'is not a duration'],
    ['30m1h', 'is not a duration'],
    ['1h 30m', 'is not a duration'],
    ['1s1s', 'is not a duration'],
    ['1w', 'is not a duration'],
    ['9'.repeat(30) + 's', 'is not a duration'],
    ['36501d', 'longer than a hundred years'],
  ] as const)('refuses "%s" with the message "%s"', ([text, reason]) => {
    expect(refusal(() => parseDuration(text))).toContain(reason);
  });

  test('adds up the parts of a duration, each of which is optional', () => {
    const parts = fc.tuple(fc.nat(99), fc.nat(99), fc.nat(99), fc.nat(99), fc.nat(9999));
    fc.assert(
      fc.property(parts, ([d, h, m, s, ms]) => {
        const text = `${d ? `${d}d` : ''}${h ? `${h}h` : ''}${m ? `${m}m` : ''}${s ? `${s}s` : ''}${ms}ms`;
        expect(parseDuration(text)).toBe((((d * 24 + h) * 60 + m) * 60 + s) * 1000 + ms);
      }),
    );
  });
});

test.for([
  [-5, '0 s'],
  [0, '0 s'],
  [1_850, '1.8 s'],
  [9_000, '9 s'],
  [9_999, '9.9 s'],
  [12_345, '12 s'],
  [60_000, '1:00'],
  [3_581_000, '59:41'],
  [3_600_000, '1 h'],
  [7_500_000, '2 h 5 min'],
  [86_399_999, '23 h 59 min'],
  [86_400_000, '1 d'],
  [273_600_000, '3 d 4 h'],
] as const)('formatDuration shows %i ms as "%s"', ([ms, shown]) => {
  expect(formatDuration(ms)).toBe(shown);
});

test.for([
  [0, 'less than a second'],
  [999, 'less than a second'],
  [1_000, '1 second'],
  [240_000, '4 minutes'],
  [2_900_000, '48 minutes'],
  [3_600_000, '1 hour'],
  [172_800_000, '2 days'],
] as const)('describeDuration writes %i ms as "%s"', ([ms, text]) => {
  expect(describeDuration(ms)).toBe(text);
});
