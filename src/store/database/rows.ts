// Rows of tables, whose columns have the names of fields here: `txnId` for `txn_id`, and the other way round.
import * as v from 'valibot';

export const columnOf = (field: string): string => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const fieldOf = (column: string): string => column.replace(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase());

/** Reads a row of at least these columns. */
export const rowOf = <E extends v.ObjectEntries>(fields: E) =>
  v.pipe(
    v.record(v.string(), v.unknown()),
    v.transform((row) => Object.fromEntries(Object.entries(row).map(([column, value]) => [fieldOf(column), value]))),
    v.object(fields),
  );

/** A yes or no, which SQLite has as a number. */
export const flag = v.pipe(v.number(), v.transform((number) => number === 1));
