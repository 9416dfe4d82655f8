// The database interface of the journal and the inbox. SQLite and PostgreSQL receive the same SQL,
// with `?` for values.
import * as v from 'valibot';
import { columnOf, fieldOf } from '../../formats/text.js';

/**
 * A value that the database computes: the time at which a statement runs, plus an offset. A
 * `TimeFromNow` saves svcpay a read of the database's clock.
 */
export class TimeFromNow {
  constructor(readonly plusMs = 0) {}
}

export type SqlValue = string | number | Uint8Array | TimeFromNow | null;

export type Statement = readonly [text: string, ...values: SqlValue[]];

/** The statements of one transaction, or of one read. */
export interface Sql {
  /** Whether this run of the action repeats an earlier run that may have been committed. */
  readonly isAgain: boolean;
  all(...statement: Statement): Promise<readonly unknown[]>;
  /** Runs a statement, and resolves with the number of changed rows. */
  run(...statement: Statement): Promise<number>;
  /** Runs any number of SQL statements without bound parameters. */
  script(text: string): Promise<void>;
  /**
   * Runs the last statements of a transaction, which are sent together with its COMMIT. A
   * transaction must not run another statement after it has called `last`. Resolves with the rows
   * of each statement once the transaction is committed.
   */
  last(...statements: readonly Statement[]): Promise<readonly (readonly unknown[])[]>;
  /**
   * The time in epoch ms by the database's clock, read after the transaction has taken its locks.
   */
  now(): Promise<number>;
  /**
   * Takes the lock `name`, then runs the statement. Every transaction takes the locks in its
   * options before the locks of `whileLocked`.
   */
  whileLocked(name: string, ...statement: Statement): Promise<readonly unknown[]>;
}

export interface TransactionOptions {
  /**
   * Whether the commit and all earlier commits survive a power loss. Without the option `lasts`, a
   * power loss can undo the commit, but a crash of the process cannot.
   */
  readonly lasts?: boolean;
  /** The names of the locks that the transaction takes, and holds until it ends. */
  readonly locks?: readonly string[];
  /**
   * Whether svcpay can do without this database transaction. After one lock timeout, database
   * transactions with `isOptional` wait only briefly for locks.
   */
  readonly isOptional?: boolean;
  /** Whether the statements run without a time limit, for an operator. */
  readonly isUnlimited?: boolean;
}

export interface SqlDatabase {
  readonly kind: 'sqlite' | 'postgres';
  /** The suffix with which a SELECT locks the rows that it reads. */
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

/** The schema of a row, which converts column names to field names. */
export const namedFields = v.pipe(
  v.record(v.string(), v.unknown()),
  v.transform((row): Record<string, unknown> =>
    Object.fromEntries(Object.entries(row).map(([column, value]) => [fieldOf(column), value])),
  ),
);

/** Returns the schema of a row that has at least the given columns. */
export const rowOf = <E extends v.ObjectEntries>(fields: E) =>
  v.pipe(namedFields, v.object(fields));

/** Returns placeholders for values, or for rows of values. */
export const placeholders = (count: number, each = '?'): string =>
  Array(count).fill(each).join(', ');

/**
 * The INSERT statement of rows, which must all have the same fields.
 * @param end what follows the values, such as the conflict clause
 */
export function inserted(
  table: string,
  rows: readonly Readonly<Record<string, SqlValue | undefined>>[],
  end = '',
): Statement {
  const names = Object.keys(rows[0] ?? {});
  const all = placeholders(rows.length, `(${placeholders(names.length)})`);
  return [
    `INSERT INTO ${table} (${names.map(columnOf).join(', ')}) VALUES ${all} ${end}`,
    ...rows.flatMap((row) => names.map((name) => row[name] ?? null)),
  ];
}

/** The schema of a boolean that the database stores as a number. */
export const flag = v.pipe(
  v.number(),
  v.transform((number) => number === 1),
);

/** The schema of a column that stores JSON. */
export const jsonOf = <S extends v.GenericSchema>(schema: S) =>
  v.pipe(v.string(), v.parseJson(), schema);

/**
 * Translates tables from the SQL of SQLite to the SQL of PostgreSQL, which then compares text by
 * its bytes, as SQLite does.
 */
export const inPostgres = (tables: string): string =>
  tables
    .replaceAll(/ STRICT(, WITHOUT ROWID)?;/g, ';')
    .replaceAll('TEXT', 'TEXT COLLATE "C"')
    .replaceAll('BLOB', 'BYTEA')
    .replaceAll('INTEGER', 'BIGINT')
    .replaceAll('BIGINT PRIMARY KEY', 'BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY');
