// In each time zone, a day begins once even if clocks change at midnight, and days follow each
// other without a gap.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  dateAfter,
  dayAndMonth,
  dayWriter,
  parseDate,
  parseZone,
  spanOf,
} from '../../src/formats/calendar.js';

describe('calendar dates', () => {
  test.for([
    ['2026-10-01', 'UTC', '2026-10-01T00:00:00Z', '2026-10-02T00:00:00Z'],
    ['2026-10', 'UTC', '2026-10-01T00:00:00Z', '2026-11-01T00:00:00Z'],
    ['2026-12', 'Asia/Ho_Chi_Minh', '2026-11-30T17:00:00Z', '2026-12-31T17:00:00Z'],
    ['2026-03-29', 'Europe/Berlin', '2026-03-28T23:00:00Z', '2026-03-29T22:00:00Z'],
    ['2024-03-10', 'America/Havana', '2024-03-10T05:00:00Z', '2024-03-11T04:00:00Z'],
    ['2024-11-03', 'America/Havana', '2024-11-03T04:00:00Z', '2024-11-04T05:00:00Z'],
    ['2018-02-18', 'America/Sao_Paulo', '2018-02-18T03:00:00Z', '2018-02-19T03:00:00Z'],
    ['2018-11-04', 'America/Sao_Paulo', '2018-11-04T03:00:00Z', '2018-11-05T02:00:00Z'],
    ['2026-02', 'Asia/Kathmandu', '2026-01-31T18:15:00Z', '2026-02-28T18:15:00Z'],
  ] as const)('spanOf maps %s in %s to the time from %s to %s', ([date, zone, first, end]) => {
    expect(spanOf(date, zone)).toEqual({
      first: Date.parse(first),
      end: Date.parse(end),
    });
  });

  test('spanOf maps a date to exactly the instants that have this date in the time zone', () => {
    const zones = [
      'UTC',
      'Europe/Berlin',
      'America/Havana',
      'America/Sao_Paulo',
      'Australia/Lord_Howe',
      'Asia/Tehran',
      'Pacific/Apia',
      'Asia/Kathmandu',
    ];
    const from = Date.UTC(2012, 0);
    fc.assert(
      fc.property(
        fc.constantFrom(...zones),
        fc.integer({ min: from, max: Date.UTC(2030, 0) }),
        (zone, at) => {
          const day = dayWriter(zone);
          const name = day(at);
          const { first, end } = spanOf(name, zone);
          expect(first <= at && at < end).toBe(true);
          expect([day(first), day(end - 1)]).toEqual([name, name]);
          expect(day(first - 1) < name && day(end) > name).toBe(true);
          expect(spanOf(dateAfter(name), zone).first).toBe(end);
        },
      ),
    );
  });

  test.for(['2026-13', '2026-02-30', '2026-1-1', 'October', '1969-01', ''])(
    'parseDate refuses "%s"',
    (text) => {
      expect(() => parseDate(text)).toThrow('is not a date');
    },
  );

  test('dayAndMonth writes every month with three letters', () => {
    const months = Array.from({ length: 12 }, (_, month) =>
      dayAndMonth(+new Date(2026, month, 3), 0),
    );
    expect(months.map((text) => text.slice(2, 6)).join('')).toBe(
      'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec ',
    );
  });

  test('parseZone refuses an unknown time zone', () => {
    expect(() => parseZone('Mars/Olympus')).toThrow('is not a time zone');
  });
});
