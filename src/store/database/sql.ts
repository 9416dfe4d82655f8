// The database interface of journal and inbox. SQLite and PostgreSQL receive the same SQL, with `?`
// for values.
import * as v from 'valibot';
import { fieldOf } from '../../formats/text.js';

/**
 * A value: the time at which a statement runs, plus an offset. Such a value saves a read of the
 * clock.
 */
export class TimeFromNow {
  constructor(readonly plusMs = 0) {}
}

export type SqlValue = string | number | Uint8Array | TimeFromNow | null;

export type Statement = readonly [text: string, ...values: SqlValue[]];

/** Statements of one transaction, or of one read. */
export interface Sql {
  /** Whether the action runs again, after an earlier run that may have been committed. */
  readonly isAgain: boolean;
  all(...statement: Statement): Promise<readonly unknown[]>;
  /** Runs a statement. Resolves with the number of changed rows. */
  run(...statement: Statement): Promise<number>;
  /** Runs any number of statements without values. */
  script(text: string): Promise<void>;
  /**
   * Runs the last statements of a transaction, which travel together with its COMMIT. No statement
   * may follow. Resolves with the rows of each statement once the transaction is committed.
   */
  last(...statements: readonly Statement[]): Promise<readonly (readonly unknown[])[]>;
  /** Epoch ms by the database's clock, read once the locks are held. */
  now(): Promise<number>;
  /**
   * Takes a further lock, then runs the statement. Every transaction takes this lock after the
   * locks in its options.
   */
  whileLocked(name: string, ...statement: Statement): Promise<readonly unknown[]>;
}

export interface TransactionOptions {
  /**
   * Whether the commit survives a power loss, together with everything before it. Otherwise it
   * survives only the end of the process.
   */
  readonly lasts?: boolean;
  /** Names to lock until the end of the transaction. */
  readonly locks?: readonly string[];
  /**
   * Whether the transaction may fail. An optional transaction does not wait for a lock after an
   * earlier wait has failed.
   */
  readonly isOptional?: boolean;
  /** Without a time limit, for an operator's statements. */
  readonly isUnlimited?: boolean;
}

export interface SqlDatabase {
  readonly kind: 'sqlite' | 'postgres';
  /** The suffix of a SELECT whose rows the transaction changes. */
  readonly forUpdate: string;
  /**
   * Runs the action as one transaction, completely or not at all. If the connection was lost
   * together with the response to the commit, the action runs again, and must detect the effects of
   * its earlier run.
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

/** Reads a row that has at least these columns. */
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
