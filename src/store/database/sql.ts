// What journal and inbox ask of a database, whichever it is. The same SQL goes to all of them, with `?` for a value.

/** The moment at which a statement is carried out, and so many ms more, as a value of it: nobody has to ask for it before. */
export class Present {
  constructor(readonly plusMs = 0) {}
}

export type SqlValue = string | number | Uint8Array | Present | null;

/** Statements of one transaction, or of one read. */
export interface Sql {
  /** The action is run once more: what it did before may be kept already. */
  readonly isAgain: boolean;
  all(sql: string, ...values: SqlValue[]): Promise<readonly unknown[]>;
  /**
   * The last statements of a transaction, divided by `;`. Nothing may follow. Resolves with the rows of the last one when
   * the transaction is committed, which saves a database round trip.
   */
  final(sql: string, ...values: SqlValue[]): Promise<readonly unknown[]>;
  /** Resolves with the number of rows that changed. */
  run(sql: string, ...values: SqlValue[]): Promise<number>;
  /** The present by the clock of this journal, epoch ms: read once the locks are held, which may have taken long. */
  now(): Promise<number>;
  /** The same as among the options, for a name that is needed only at times; it comes after those in every transaction. */
  lock(name: string): Promise<void>;
}

export interface TransactionOptions {
  /** Whether it must survive a loss of power, and all before it; otherwise it survives the process. */
  readonly lasts?: boolean;
  /** Waits until no other transaction holds one of these names, and holds them to the end of this one. */
  readonly locks?: readonly string[];
  /** Whether its statements may take as long as they must: those of an operator, not of a payment. */
  readonly isUnlimited?: boolean;
}

export interface SqlDatabase {
  readonly kind: 'sqlite' | 'postgres';
  /** Ends a SELECT whose rows are about to be changed. */
  readonly forUpdate: string;
  /**
   * Runs the action as one transaction: all of it holds when this resolves, or nothing of it. Where a connection was lost
   * and with it the answer to the commit, the action is run again: it must find out by itself what it did before.
   */
  transaction<T>(action: (sql: Sql) => Promise<T>, options?: TransactionOptions): Promise<T>;
  read<T>(action: (sql: Sql) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}
