// The clock by which limits count a day, under clocks that jump.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { advanced, kept, type LimitClock } from '../../../src/store/journal/spending.js';

const hour = 3_600_000;
const day = 24 * hour;
const year = 365 * day;
const noon = Date.UTC(2025, 0, 15, 12);

/** What passed on the limit clock while the machine's and the service's clock moved so far. */
function passed(machine: number, service: number | null): number {
  const before: LimitClock = { time: noon, machine: noon, service: service === null ? null : noon };
  return advanced(before, noon + machine, service === null ? null : noon + service).time - noon;
}

test.for([
  ['moves with the machine', hour, null, hour],
  ['moves with both clocks', hour, hour, hour],
  ['is not slowed by dates of whole seconds', hour, hour - 900, hour],
  ['has passed a pause of two years that both clocks saw', 2 * year, 2 * year, 2 * year],
  ["ignores a jump ahead that the service's clock does not confirm", 2 * day, hour, hour],
  [
    "ignores an answer with a later date that the machine's clock does not confirm",
    hour,
    2 * day,
    hour,
  ],
  ["follows the service when the machine's clock was set back", -3 * year, hour, hour],
  ['follows the machine when an answer has an earlier date', hour, -3 * year, hour],
  ['ignores a jump of years without a service to ask', 3 * year, null, 0],
  ['stands still for a moment when the only clock was set back', -3 * year, null, 0],
  ['takes a jump of two days for time without a service to ask', 2 * day, null, 2 * day],
] as const)('%s', ([, machine, service, expected]) => {
  expect(passed(machine, service)).toBe(expected);
});

test('the limit clock begins with the machine clock', () => {
  expect(advanced(undefined, noon, null)).toEqual({ time: noon, machine: noon, service: null });
});

test('a reading without the service does not replace one with it', () => {
  const dated = { time: noon, machine: noon, service: noon };
  const undated = advanced(dated, noon + 25 * hour, null);
  expect(kept(dated, undated)).toBe(dated);
  expect(advanced(kept(dated, undated), noon + 25 * hour, noon + hour).time).toBe(noon + hour);
});

test('after a jump the limit clock moves on with the clock that jumped', () => {
  const jumped = advanced({ time: noon, machine: noon, service: null }, noon - 3 * year, null);
  expect(advanced(jumped, noon - 3 * year + day, null).time).toBe(noon + day);
});

describe('while one of two clocks is right', () => {
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
    'a day is never shorter than 24 hours, and ends when the %s clock is right again',
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
          // Clocks that agree may differ by a minute at each reading.
          expect(clock.time - noon).toBeLessThanOrEqual(now - noon + taken.length * 60_000);
          const settled = clock.time;
          now += day;
          expect(read().time - settled).toBe(day);
        }),
      );
    },
  );
});
