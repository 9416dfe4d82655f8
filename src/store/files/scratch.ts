// A temporary SQLite database, for data that must not fill the memory. libsql keeps a database
// without a name in memory, so the database is a file, which disappears with the process.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';

type SqlValue = string | number | null;

export interface Scratch {
  run(text: string, ...values: readonly SqlValue[]): void;
  /** Yields the rows of a query one at a time. */
  each(text: string, ...values: readonly SqlValue[]): Iterable<unknown>;
  /** The first row of a query, or undefined. */
  first(text: string, ...values: readonly SqlValue[]): unknown;
  /** Groups statements, which is faster than one statement at a time. */
  together(work: () => void): void;
  close(): void;
}

/** @param tables the SQL statements that create the tables */
export function openScratch(tables: string): Scratch {
  const folder = mkdtempSync(join(tmpdir(), 'svcpay-'));
  const removeFolder = (): void => {
    try {
      rmSync(folder, { recursive: true, force: true });
    } catch {
      // Windows removes the file only after it is closed.
    }
  };
  const db = new Database(join(folder, 'rows.db'));
  removeFolder();
  db.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; ${tables}`);
  const prepared = new Map<string, Database.Statement>();
  const statement = (text: string): Database.Statement => {
    const known = prepared.get(text) ?? db.prepare(text);
    prepared.set(text, known);
    return known;
  };
  return {
    run: (text, ...values) => void statement(text).run(...values),
    *each(text, ...values) {
      yield* db.prepare(text).iterate(...values);
    },
    first: (text, ...values): unknown => statement(text).get(...values),
    together: (work) => db.transaction(work)(),
    close() {
      db.close();
      removeFolder();
    },
  };
}
