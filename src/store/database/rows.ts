// Rows of tables, with columns named as fields.
import * as v from 'valibot';
import { fieldOf } from '../../formats/text.js';

/** Reads a row of at least these columns. */
export const rowOf = <E extends v.ObjectEntries>(fields: E) =>
  v.pipe(
    v.record(v.string(), v.unknown()),
    v.transform((row) =>
      Object.fromEntries(Object.entries(row).map(([column, value]) => [fieldOf(column), value])),
    ),
    v.object(fields),
  );

/** Placeholders for values, or for rows of values. */
export const places = (count: number, place = '?'): string => Array(count).fill(place).join(', ');

/** A boolean, stored as a number. */
export const flag = v.pipe(
  v.number(),
  v.transform((number) => number === 1),
);
