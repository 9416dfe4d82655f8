// The records about the books of an account: adjustments, the last time at which
// the movements of each wallet added up to its balance, and closed months.
import * as v from 'valibot';
import { placeholders, rowOf, type SqlDatabase } from '../database/sql.js';

/**
 * An adjustment, which is money that no transaction explains, such as the opening balance of a
 * wallet. An adjustment never changes. A counter-entry undoes an adjustment.
 */
export interface BookEntry {
  readonly id: string;
  readonly ccy: string;
  /** The amount as a decimal, negative for money that left the wallet. */
  readonly amount: string;
  /** The calendar day of the entry, such as `2026-11-14`. */
  readonly dated: string;
  readonly note: string | null;
  /** The time at which svcpay recorded the entry, in epoch ms by the service's clock. */
  readonly recordedAt: number;
}

/** A record of the time at which the movements of a wallet added up to the service's balance. */
export interface Tie {
  readonly ccy: string;
  /**
   * The time at which the wallet's movements added up to its balance, in epoch ms according to the
   * service's clock.
   */
  readonly tiedAt: number;
  readonly balance: string;
}

export interface Close {
  /** A month such as `2026-10`. */
  readonly month: string;
  readonly zone: string;
  /** The statement of the month as CSV. */
  readonly sealed: string;
  /** The time at which the month was closed, in epoch ms by the service's clock. */
  readonly closedAt: number;
  /** The machine and process that closed the month. */
  readonly closedBy: string;
}

/** A difference between the books and the service that a person has accepted. */
export interface Accepted {
  readonly txnId: string;
  /** What differs, as JSON. svcpay reports a further difference of the same transaction. */
  readonly facts: string;
  readonly note: string;
  /** The time of the acceptance, in epoch ms by the service's clock. */
  readonly acceptedAt: number;
  /** The machine and process that recorded the acceptance. */
  readonly acceptedBy: string;
}

export interface BookRecords {
  accepted(scope: string): Promise<readonly Accepted[]>;
  /** Records accepted differences, except those that are recorded already. */
  accept(scope: string, differences: readonly Accepted[]): Promise<void>;
  /** All adjustments in the order in which they were recorded. */
  entries(scope: string): Promise<readonly BookEntry[]>;
  add(scope: string, entry: BookEntry): Promise<void>;
  /**
   * For each wallet, the record of the last time at which its movements added up to its balance.
   */
  ties(scope: string): Promise<readonly Tie[]>;
  keepTies(scope: string, ties: readonly Tie[]): Promise<void>;
  /** The settlement times of those transactions for which a statement has stored the time. */
  times(scope: string, txnIds: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** Stores settlement times in epoch ms. A stored time never changes. */
  keepTimes(scope: string, times: ReadonlyMap<string, number>): Promise<void>;
  /** All closed months, sorted by month. */
  closes(scope: string): Promise<readonly Close[]>;
  /** Seals a month, or returns false if the month is sealed already. */
  addClose(scope: string, close: Close): Promise<boolean>;
  /** Deletes all records about the books of an account, after its sandbox was reset. */
  forget(scope: string): Promise<void>;
}

const entryRows = v.array(
  rowOf({
    id: v.string(),
    ccy: v.string(),
    amount: v.string(),
    dated: v.string(),
    note: v.nullable(v.string()),
    recordedAt: v.number(),
  }),
);

const tieRows = v.array(rowOf({ ccy: v.string(), tiedAt: v.number(), balance: v.string() }));

const timeRows = v.array(rowOf({ txnId: v.string(), settledAt: v.number() }));

const acceptedRows = v.array(
  rowOf({
    txnId: v.string(),
    facts: v.string(),
    note: v.string(),
    acceptedAt: v.number(),
    acceptedBy: v.string(),
  }),
);

const closeRows = v.array(
  rowOf({
    month: v.string(),
    zone: v.string(),
    sealed: v.string(),
    closedAt: v.number(),
    closedBy: v.string(),
  }),
);

const acceptedDifferences = (database: SqlDatabase): Pick<BookRecords, 'accepted' | 'accept'> => ({
  async accepted(scope) {
    const text = `SELECT txn_id, facts, note, accepted_at, accepted_by FROM book_accepted
      WHERE scope = ?`;
    return v.parse(acceptedRows, await database.read((sql) => sql.all(text, scope)));
  },
  async accept(scope, differences) {
    const text = `INSERT INTO book_accepted
      (scope, txn_id, facts, note, accepted_at, accepted_by)
      VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`;
    await database.transaction(
      async (sql) => {
        for (const { txnId, facts, note, acceptedAt, acceptedBy } of differences)
          await sql.run(text, scope, txnId, facts, note, acceptedAt, acceptedBy);
      },
      { lasts: true },
    );
  },
});

export const bookRecords = (database: SqlDatabase): BookRecords => ({
  async entries(scope) {
    const text = `SELECT id, ccy, amount, dated, note, recorded_at FROM book_entries
      WHERE scope = ? ORDER BY recorded_at, id`;
    return v.parse(entryRows, await database.read((sql) => sql.all(text, scope)));
  },
  async add(scope, { id, ccy, amount, dated, note, recordedAt }) {
    const text = `INSERT INTO book_entries (scope, id, ccy, amount, dated, note, recorded_at)
      VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`;
    await database.transaction(
      (sql) => sql.run(text, scope, id, ccy, amount, dated, note, recordedAt),
      { lasts: true },
    );
  },
  async ties(scope) {
    const text = 'SELECT ccy, tied_at, balance FROM book_ties WHERE scope = ?';
    return v.parse(tieRows, await database.read((sql) => sql.all(text, scope)));
  },
  async keepTies(scope, ties) {
    const text = `INSERT INTO book_ties (scope, ccy, tied_at, balance) VALUES (?, ?, ?, ?)
      ON CONFLICT (scope, ccy) DO UPDATE
        SET tied_at = excluded.tied_at, balance = excluded.balance`;
    await database.transaction(async (sql) => {
      for (const { ccy, tiedAt, balance } of ties) await sql.run(text, scope, ccy, tiedAt, balance);
    });
  },
  async times(scope, txnIds) {
    if (txnIds.length === 0) return new Map();
    const text = `SELECT txn_id, settled_at FROM book_times
      WHERE scope = ? AND txn_id IN (${placeholders(txnIds.length)})`;
    const found = v.parse(timeRows, await database.read((sql) => sql.all(text, scope, ...txnIds)));
    return new Map(found.map(({ txnId, settledAt }) => [txnId, settledAt]));
  },
  async keepTimes(scope, times) {
    const rows = [...times].map(([txnId, at]) => [scope, txnId, at] as const);
    const text = `INSERT INTO book_times (scope, txn_id, settled_at)
      VALUES ${rows.map(() => '(?, ?, ?)').join(', ')} ON CONFLICT DO NOTHING`;
    await database.transaction((sql) => sql.run(text, ...rows.flat()));
  },
  ...acceptedDifferences(database),
  async closes(scope) {
    const text = `SELECT month, zone, sealed, closed_at, closed_by FROM book_closes
      WHERE scope = ? ORDER BY month`;
    return v.parse(closeRows, await database.read((sql) => sql.all(text, scope)));
  },
  async addClose(scope, { month, zone, sealed, closedAt, closedBy }) {
    const text = `INSERT INTO book_closes (scope, month, zone, sealed, closed_at, closed_by)
      VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`;
    return database.transaction(
      async (sql) =>
        (await sql.run(text, scope, month, zone, sealed, closedAt, closedBy)) > 0 || sql.isAgain,
      { lasts: true },
    );
  },
  async forget(scope) {
    await database.transaction(async (sql) => {
      for (const table of [
        'book_entries',
        'book_ties',
        'book_times',
        'book_accepted',
        'book_closes',
      ])
        await sql.run(`DELETE FROM ${table} WHERE scope = ?`, scope);
    });
  },
});
