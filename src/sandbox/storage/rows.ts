// Rows of SQLite, whose columns have the names of fields here. They are named by hand: objects that libsql makes take
// twice as long.
import type Database from 'libsql';
import { columnOf, fieldOf } from '../../formats/text.js';

export type Value = string | number | null;
export type Row = Readonly<Record<string, Value>>;

interface Prepared {
  readonly statement: Database.Statement;
  readonly fields: readonly string[];
}

export function rowReader(db: Database.Database) {
  const prepared = new Map<string, Prepared>();
  const prepare = (sql: string): Prepared => {
    const known = prepared.get(sql);
    if (known !== undefined) return known;
    const statement = db.prepare(sql).raw();
    const fresh = { statement, fields: statement.columns().map(({ name }) => fieldOf(name)) };
    prepared.set(sql, fresh);
    return fresh;
  };
  return {
    first(sql: string, values: readonly Value[]): object | undefined {
      const { statement, fields } = prepare(sql);
      const cells: unknown = statement.get(values);
      return cells === undefined ? undefined : named(fields, cells);
    },
    all(sql: string, values: readonly Value[]): object[] {
      const { statement, fields } = prepare(sql);
      return statement.all(values).map((cells) => named(fields, cells));
    },
  };
}

function named(fields: readonly string[], cells: unknown): object {
  const row: Record<string, unknown> = {};
  if (Array.isArray(cells)) for (const [index, name] of fields.entries()) row[name] = cells[index];
  return row;
}

/** The statements that insert rows, each written once. */
export function insertions(): (table: string, row: Row) => string {
  const written = new Map<string, string>();
  return (table, row) => {
    const fields = Object.keys(row);
    const key = `${table} ${fields.join()}`;
    const known = written.get(key);
    if (known !== undefined) return known;
    const sql = `INSERT INTO ${table} (${fields.map(columnOf).join(', ')}) VALUES (${fields.map(() => '?').join(', ')})`;
    written.set(key, sql);
    return sql;
  };
}
