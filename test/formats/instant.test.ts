// parseInstant reads points in time as people type them.
import { describe, expect, test } from 'vitest';
import { parseInstant } from '../../src/formats/calendar.js';

describe('parseInstant', () => {
  test.for([
    ['2h', { ago: 7_200_000 }],
    ['7d', { ago: 604_800_000 }],
    [
      '2026-03-01T14:30:00Z',
      { first: Date.UTC(2026, 2, 1, 14, 30), last: Date.UTC(2026, 2, 1, 14, 30) },
    ],
    [
      '2026-03-01T14:30+02:00',
      { first: Date.UTC(2026, 2, 1, 12, 30), last: Date.UTC(2026, 2, 1, 12, 30) },
    ],
    [
      '2026-03-01 14:30:00.250Z',
      { first: Date.UTC(2026, 2, 1, 14, 30, 0, 250), last: Date.UTC(2026, 2, 1, 14, 30, 0, 250) },
    ],
  ] as const)('reads "%s" as a point in time', ([text, instant]) => {
    expect(parseInstant(text)).toEqual(instant);
  });

  test('reads a date as a whole day in the local time zone', () => {
    expect(parseInstant('2026-03-01')).toEqual({
      first: new Date(2026, 2, 1).getTime(),
      last: new Date(2026, 2, 2).getTime() - 1,
    });
  });

  test.for([
    'yesterday',
    '7',
    '2026-3-1',
    '2026-02-30',
    '2026-13-01',
    '2026-03-01T25:00Z',
    '2026-03-01T10:61',
    '03/01/2026',
    '',
  ])('refuses "%s" as a point in time', (text) => {
    expect(() => parseInstant(text)).toThrow(expect.objectContaining({ kind: 'usage' }));
  });
});
