// The clock of the service, put together from Date headers of whole seconds.
import { expect, test } from 'vitest';
import { createServiceClock } from '../../src/api/request/service.js';

const noon = Date.UTC(2025, 0, 15, 12);
const date = (ms: number): string => new Date(ms).toUTCString();

test.for([
  ['without an answer it is that of the machine', undefined, 0, 0],
  ['what is no date changes nothing', 'yesterday', 0, 0],
  ['a date in the same second changes nothing', date(noon), 0, 0],
  ['a service an hour ahead is followed', date(noon + 3_600_000), 0, 3_600_000],
  ['a service an hour behind is followed', date(noon - 3_600_000), 0, -3_600_000 + 999],
  [
    'a date that was long on its way back is not taken for a slow clock',
    date(noon - 2_000),
    2_000,
    0,
  ],
] as const)('%s', ([, header, onTheWay, expected]) => {
  const clock = createServiceClock(() => noon);
  clock.observe(header, noon - onTheWay);
  expect(clock.now() - noon).toBe(expected);
});

test('the service clock approaches the service with every answer and never goes back', () => {
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

test('the service clock is unknown until an answer has a date', () => {
  const clock = createServiceClock(() => noon);
  const seen = [undefined, 'yesterday', date(noon + 7_000)].map((header) => {
    clock.observe(header, noon);
    return clock.datedNow();
  });
  expect(seen).toEqual([undefined, undefined, noon + 7_000]);
});
