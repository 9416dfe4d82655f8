// Columns become narrower and disappear by fixed rules in a narrow window.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fit, sideBySide, type ColumnWidths, widthOf } from '../../src/terminal/text.js';
import { createTable } from '../../src/terminal/rows/table.js';
import { Chalk } from 'chalk';

const style = new Chalk({ level: 0 });

describe('fit', () => {
  const columns: readonly ColumnWidths[] = [
    { width: 10, priority: 3 },
    { width: 12 },
    { width: 30, usual: 20, least: 10, priority: 1, below: true },
    { width: 8, priority: 2 },
  ];
  test.each(
    [
      { width: 66, what: 'shows all columns at full width', widths: [10, 12, 30, 8] },
      {
        width: 58,
        what: 'narrows the flexible column as far as necessary',
        widths: [10, 12, 22, 8],
      },
      { width: 56, what: 'shows the flexible column at its usual width', widths: [10, 12, 20, 8] },
      { width: 55, what: 'omits the least important column', widths: [undefined, 12, 30, 8] },
      {
        width: 43,
        what: 'omits the two least important columns',
        widths: [undefined, 12, 29, undefined],
      },
      {
        width: 24,
        what: 'narrows the flexible column to its minimum width',
        widths: [undefined, 12, 10, undefined],
      },
      {
        width: 23,
        what: 'moves the flexible column to a line below',
        widths: [undefined, 12, undefined, undefined],
      },
      {
        width: 11,
        what: 'returns undefined because not even the first column fits',
        widths: undefined,
      },
    ].map((each) => [each.width, each.what, each] as const),
  )('fits the columns of a table into %s cells: it %s', (_width, _what, { width, widths }) => {
    expect(fit(columns, width, 2)).toEqual(widths);
  });

  const anyColumn = fc
    .record({
      width: fc.integer({ min: 1, max: 30 }),
      narrower: fc.integer({ min: 0, max: 10 }),
      least: fc.integer({ min: 0, max: 10 }),
      priority: fc.integer({ min: 0, max: 4 }),
    })
    .map(({ width, narrower, least, priority }) => {
      const usual = Math.max(width - narrower, 1);
      return { width, usual, least: Math.max(usual - least, 1), priority };
    });

  test('never exceeds the width, and omits the least important columns first', () => {
    fc.assert(
      fc.property(
        fc.array(anyColumn, { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 1, max: 120 }),
        (any, width) => {
          const widths = fit(any, width, 2);
          if (widths === undefined) return;
          const shown = widths.flatMap((width) => width ?? []);
          const total = shown.reduce((sum, width) => sum + width + 2, -2);
          expect(total).toBeLessThanOrEqual(width);
          const left = any.filter((_, i) => widths[i] === undefined);
          const stayed = any.filter((_, i) => widths[i] !== undefined);
          expect(left.every(({ priority }) => priority > 0)).toBe(true);
          for (const one of left)
            expect(stayed.every(({ priority }) => priority < one.priority)).toBe(true);
        },
      ),
    );
  });
});

describe('sideBySide', () => {
  const parts = [{ text: '2 500 sat' }, { text: 'fee 0.28 %', priority: 1, below: true }];
  test.each(
    [
      { width: 22, what: 'puts both texts on one line', lines: ['2 500 sat   fee 0.28 %'] },
      {
        width: 21,
        what: 'puts the second text below the first text',
        lines: ['2 500 sat', 'fee 0.28 %'],
      },
      {
        width: 8,
        what: 'keeps both texts whole although they do not fit',
        lines: ['2 500 sat', 'fee 0.28 %'],
      },
    ].map((each) => [each.width, each.what, each] as const),
  )('arranges two texts in %s cells: it %s', (_width, _what, { width, lines }) => {
    expect(sideBySide(parts, width, '   ')).toEqual(lines);
  });
});

describe('createTable', () => {
  const sats = fc.integer({ min: 1, max: 2_000_000_000 }).map((value) => `${value} sat`);
  const rows = fc.array(
    fc.record({
      when: fc.constantFrom('now', '2026-11-03'),
      amount: sats,
      with: fc.oneof(
        sats.map((text) => `→ ${text}`),
        fc.constantFrom('Ada', 'Paper & Ink, order 4711'),
      ),
      fee: sats,
    }),
    { minLength: 1, maxLength: 4 },
  );
  const columns = [
    { name: 'when', title: 'When', value: ({ when }: { when: string }) => when, priority: 1 },
    {
      name: 'amount',
      title: 'Amount',
      value: (row: { amount: string }) => row.amount,
      align: 'decimal' as const,
    },
    {
      name: 'with',
      title: 'With',
      value: (row: { with: string }) => row.with,
      shrinks: true,
      priority: 1,
      below: true,
    },
    {
      name: 'fee',
      title: 'Fee',
      value: ({ fee }: { fee: string }) => fee,
      align: 'decimal' as const,
    },
  ];

  test('keeps every amount and fee whole at any width, and cuts no word', () => {
    fc.assert(
      fc.property(rows, fc.integer({ min: 28, max: 120 }), (given, width) => {
        const drawn = createTable<(typeof given)[number]>(columns, { style, columns: width })(
          given,
        );
        const lines = [...drawn.head, ...drawn.rows.flat()];
        expect(Math.max(...lines.map(widthOf))).toBeLessThanOrEqual(width);
        for (const [i, row] of given.entries()) {
          const text = (drawn.rows[i] ?? []).join(' ');
          expect(text).toContain(row.amount);
          expect(text).toContain(row.fee);
          if (row.with.startsWith('→')) expect(text).toContain(row.with);
          else expect(text).toMatch(/Ada|Paper &?(…| Ink)/);
        }
      }),
    );
  });
});
