// The database interface of journal and inbox. SQLite and PostgreSQL get the same SQL, with `?` for values.

/** The time at which a statement runs, plus an offset, as a value. Saves reading the clock first. */
export class Present {
  constructor(readonly plusMs = 0) {}
}

export type SqlValue = string | number | Uint8Array | Present | null;

/** Statements of one transaction, or of one read. */
export interface Sql {
  /** The action is run again, and its earlier run may have been committed. */
  readonly isAgain: boolean;
  all(sql: string, ...values: SqlValue[]): Promise<readonly unknown[]>;
  /**
   * The last statements of a transaction, separated by `;`. Nothing may follow. Resolves with the rows of the last statement once
   * the transaction is committed, which saves a database round trip.
   */
  final(sql: string, ...values: SqlValue[]): Promise<readonly unknown[]>;
  /** Resolves with the number of rows that changed. */
  run(sql: string, ...values: SqlValue[]): Promise<number>;
  /** Epoch ms by the database's clock, read once the locks are held. */
  now(): Promise<number>;
  /** Takes a further lock; every transaction takes it after those in its options. */
  lock(name: string): Promise<void>;
}

export interface TransactionOptions {
  /** Survives a power loss, together with everything before it; otherwise only the end of the process. */
  readonly lasts?: boolean;
  /** Names to lock until the end of the transaction. */
  readonly locks?: readonly string[];
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
