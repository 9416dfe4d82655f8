// Reads rows of SQLite and names their columns here: objects that libsql makes take twice as long.
import type Database from 'libsql';

export type Value = string | number | null;

interface Prepared {
  readonly statement: Database.Statement;
  readonly columns: readonly string[];
}

export function rowReader(db: Database.Database) {
  const prepared = new Map<string, Prepared>();
  const prepare = (sql: string): Prepared => {
    const known = prepared.get(sql);
    if (known !== undefined) return known;
    const statement = db.prepare(sql).raw();
    const fresh = { statement, columns: statement.columns().map(({ name }) => name) };
    prepared.set(sql, fresh);
    return fresh;
  };
  return {
    first(sql: string, values: readonly Value[]): object | undefined {
      const { statement, columns } = prepare(sql);
      const cells: unknown = statement.get(values);
      return cells === undefined ? undefined : named(columns, cells);
    },
    all(sql: string, values: readonly Value[]): object[] {
      const { statement, columns } = prepare(sql);
      return statement.all(values).map((cells) => named(columns, cells));
    },
  };
}

function named(columns: readonly string[], cells: unknown): object {
  const row: Record<string, unknown> = {};
  if (Array.isArray(cells)) for (const [index, name] of columns.entries()) row[name] = cells[index];
  return row;
}
