// Rows of tables, with columns named as fields.
import * as v from 'valibot';
import { fieldOf } from '../../formats/text.js';

/** A row with its columns named as fields. */
export const namedFields = v.pipe(
  v.record(v.string(), v.unknown()),
  v.transform((row): Record<string, unknown> =>
    Object.fromEntries(Object.entries(row).map(([column, value]) => [fieldOf(column), value])),
  ),
);

/** Reads a row of at least these columns. */
export const rowOf = <E extends v.ObjectEntries>(fields: E) =>
  v.pipe(namedFields, v.object(fields));

/** Placeholders for values, or for rows of values. */
export const placeholders = (count: number, each = '?'): string =>
  Array(count).fill(each).join(', ');

/** A boolean, stored as a number. */
export const flag = v.pipe(
  v.number(),
  v.transform((number) => number === 1),
);
