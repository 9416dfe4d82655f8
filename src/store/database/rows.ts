// Rows of tables, whose columns have the names of fields here.
import * as v from 'valibot';
import { fieldOf } from '../../formats/text.js';

/** Reads a row of at least these columns. */
export const rowOf = <E extends v.ObjectEntries>(fields: E) =>
  v.pipe(
    v.record(v.string(), v.unknown()),
    v.transform((row) => Object.fromEntries(Object.entries(row).map(([column, value]) => [fieldOf(column), value]))),
    v.object(fields),
  );

/** So many places for values in a statement, or for rows of them. */
export const places = (count: number, place = '?'): string => Array(count).fill(place).join(', ');

/** A yes or no, which SQLite has as a number. */
export const flag = v.pipe(v.number(), v.transform((number) => number === 1));
