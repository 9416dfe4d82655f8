// Tests the clock of the daily limits while the clocks of the machine and the service jump.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { advanced, kept, type LimitClock } from '../../../src/store/journal/spending.js';

const hour = 3_600_000;
const day = 24 * hour;
const year = 365 * day;
const noon = Date.UTC(2025, 0, 15, 12);

/**
 * Returns how far the limit clock moves, in ms, if the machine clock and the service clock move by
 * the given times.
 */
function passed(machine: number, service: number | null): number {
  const before: LimitClock = { time: noon, machine: noon, service: service === null ? null : noon };
  return advanced(before, noon + machine, service === null ? null : noon + service).time - noon;
}

test.for([
  ['advances with the machine clock', hour, null, hour],
  ['advances with both clocks', hour, hour, hour],
  [
    'keeps the pace of the machine clock despite service dates in whole seconds',
    hour,
    hour - 900,
    hour,
  ],
  ['counts a pause of two years that both clocks confirm', 2 * year, 2 * year, 2 * year],
  [
    'ignores a jump of the machine clock that the service clock does not confirm',
    2 * day,
    hour,
    hour,
  ],
  [
    'ignores a later date of the service that the machine clock does not confirm',
    hour,
    2 * day,
    hour,
  ],
  ['follows the service if the machine clock is set back', -3 * year, hour, hour],
  ['follows the machine if the service returns an earlier date', hour, -3 * year, hour],
  ['ignores a jump of years of the machine clock if no service clock is known', 3 * year, null, 0],
  ['stands still if the only known clock is set back', -3 * year, null, 0],
  ['counts a jump of two days if no service clock is known', 2 * day, null, 2 * day],
] as const)(
  'limit clock computes its time from the machine clock and the service clock: it %s',
  ([, machine, service, expected]) => {
    expect(passed(machine, service)).toBe(expected);
  },
);

test('limit clock starts at the time of the machine clock', () => {
  expect(advanced(undefined, noon, null)).toEqual({ time: noon, machine: noon, service: null });
});

test('limit clock keeps a reading with the service time if the next reading lacks the service time', () => {
  const dated = { time: noon, machine: noon, service: noon };
  const undated = advanced(dated, noon + 25 * hour, null);
  expect(kept(dated, undated)).toBe(dated);
  expect(advanced(kept(dated, undated), noon + 25 * hour, noon + hour).time).toBe(noon + hour);
});

test('limit clock advances with the machine clock after a jump', () => {
  const jumped = advanced({ time: noon, machine: noon, service: null }, noon - 3 * year, null);
  expect(advanced(jumped, noon - 3 * year + day, null).time).toBe(noon + day);
});

describe('limit clock', () => {
  const steps = fc.array(
    fc.record({
      ms: fc.integer({ min: 0, max: 40 * day }),
      jump: fc.oneof(
        { weight: 3, arbitrary: fc.constant(0) },
        { weight: 1, arbitrary: fc.integer({ min: -9 * year, max: 9 * year }) },
      ),
    }),
    { maxLength: 30 },
  );

  test.each(['machine', 'service'] as const)(
    'counts a day of at least 24 hours even if the %s clock is wrong',
    (wrong) => {
      fc.assert(
        fc.property(steps, (taken) => {
          let [now, offset] = [noon, 0];
          let clock = advanced(undefined, noon, noon);
          const read = (): LimitClock => {
            const [machine, service] =
              wrong === 'machine' ? [now + offset, now] : [now, now + offset];
            return advanced(clock, machine, service);
          };
          for (const { ms, jump } of taken) {
            now += ms;
            offset += jump;
            clock = read();
          }
          // The limit clock tolerates a difference of up to a minute between the machine clock and
          // the service clock, so the limit clock may gain a minute with each reading.
          expect(clock.time - noon).toBeLessThanOrEqual(now - noon + taken.length * 60_000);
          const settled = clock.time;
          now += day;
          expect(read().time - settled).toBe(day);
        }),
      );
    },
  );
});
