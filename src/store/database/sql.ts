// The database interface of journal and inbox. SQLite and PostgreSQL get the same SQL, with `?` for
// values.
import * as v from 'valibot';
import { fieldOf } from '../../formats/text.js';

/**
 * The time at which a statement runs, plus an offset, as a value. Saves reading the clock first.
 */
export class TimeFromNow {
  constructor(readonly plusMs = 0) {}
}

export type SqlValue = string | number | Uint8Array | TimeFromNow | null;

export type Statement = readonly [text: string, ...values: SqlValue[]];

/** Statements of one transaction, or of one read. */
export interface Sql {
  /** The action is run again, and its earlier run may have been committed. */
  readonly isAgain: boolean;
  all(...statement: Statement): Promise<readonly unknown[]>;
  /** Resolves with the number of rows that changed. */
  run(...statement: Statement): Promise<number>;
  /** Runs any number of statements without values. */
  script(text: string): Promise<void>;
  /**
   * The last statements of a transaction, which travel together with its COMMIT. Nothing may
   * follow. Resolves, once the transaction is committed, with the rows of each.
   */
  last(...statements: readonly Statement[]): Promise<readonly (readonly unknown[])[]>;
  /** Epoch ms by the database's clock, read once the locks are held. */
  now(): Promise<number>;
  /**
   * Takes a further lock, and then runs the statement; every transaction takes it after those in
   * its options.
   */
  whileLocked(name: string, ...statement: Statement): Promise<readonly unknown[]>;
}

export interface TransactionOptions {
  /**
   * Survives a power loss, together with everything before it; otherwise only the end of the
   * process.
   */
  readonly lasts?: boolean;
  /** Names to lock until the end of the transaction. */
  readonly locks?: readonly string[];
  /** May fail: it does not wait for a lock that was waited for in vain before. */
  readonly isOptional?: boolean;
  /** Has no time limit, for an operator's statements. */
  readonly isUnlimited?: boolean;
}

export interface SqlDatabase {
  readonly kind: 'sqlite' | 'postgres';
  /** Suffix of a SELECT whose rows will be changed. */
  readonly forUpdate: string;
  /**
   * Runs the action as one transaction, completely or not at all. If the connection and the
   * response to the commit were lost, the action runs again and must detect its earlier effects.
   */
  transaction<T>(action: (sql: Sql) => Promise<T>, options?: TransactionOptions): Promise<T>;
  read<T>(action: (sql: Sql) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

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
