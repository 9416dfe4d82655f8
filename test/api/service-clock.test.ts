// The service clock estimates the time of the service from Date headers, which contain whole
// seconds.
import { expect, test } from 'vitest';
import { createServiceClock } from '../../src/api/service.js';

const noon = Date.UTC(2025, 0, 15, 12);
const date = (ms: number): string => new Date(ms).toUTCString();

test.for([
  ['follows the machine clock before any answer', undefined, 0, 0],
  ['ignores a Date header that is not a date', 'yesterday', 0, 0],
  ['ignores a Date header in the current second', date(noon), 0, 0],
  ['follows a service that is an hour ahead', date(noon + 3_600_000), 0, 3_600_000],
  ['follows a service that is an hour behind', date(noon - 3_600_000), 0, -3_600_000 + 999],
  ['ignores the delay of a slow answer', date(noon - 2_000), 2_000, 0],
] as const)(
  'service clock estimates its time from a Date header: it %s',
  ([, header, onTheWay, expected]) => {
    const clock = createServiceClock(() => noon);
    clock.observe(header, noon - onTheWay);
    expect(clock.now() - noon).toBe(expected);
  },
);

test('service clock approaches the time of the service with each answer and never goes back', () => {
  let machine = noon;
  const clock = createServiceClock(() => machine);
  const ahead = 7_300;
  const errors: number[] = [];
  for (let step = 0; step < 50; step += 1) {
    const sentAt = machine;
    machine += 40;
    clock.observe(date(machine + ahead), sentAt);
    machine += 190;
    errors.push(machine + ahead - clock.now());
  }
  expect(errors).toEqual(errors.toSorted((one, other) => other - one));
  expect(errors[0]).toBeLessThan(1_000);
  expect(errors.at(-1)).toBeGreaterThanOrEqual(0);
  expect(errors.at(-1)).toBeLessThan(100);
});

test('service clock stays unknown until an answer has a Date header', () => {
  const clock = createServiceClock(() => noon);
  const seen = [undefined, 'yesterday', date(noon + 7_000)].map((header) => {
    clock.observe(header, noon);
    return clock.datedNow();
  });
  expect(seen).toEqual([undefined, undefined, noon + 7_000]);
});
