// Rows of tables that seldom change, kept in memory for as long as their table stays as it was read.

export interface RowMemory {
  /** The rows that were read by this statement with these values, or what `read` gives, which is then kept. */
  recall(sql: string, values: readonly unknown[], read: () => unknown[]): unknown[];
  /** A statement has changed rows: those of its table are forgotten. */
  changed(sql: string): void;
  /** Something may have changed that was not seen here. */
  clear(): void;
}

export function createRowMemory(): RowMemory {
  const tables = new Map<string, Map<string, unknown[]>>();
  const read = eachOnce((sql) => /\bFROM (\w+)/.exec(sql)?.[1] ?? '');
  const written = eachOnce((sql) => /^\s*(?:INSERT INTO|UPDATE|DELETE FROM) (\w+)/.exec(sql)?.[1]);
  return {
    recall(sql, values, readRows) {
      const table = read(sql);
      const known = tables.get(table) ?? new Map<string, unknown[]>();
      const key = values.length === 0 ? sql : `${sql}\n${values.join('\n')}`;
      const kept = known.get(key);
      if (kept !== undefined) return kept;
      const rows = readRows();
      if (known.size >= maxKept) known.clear();
      tables.set(table, known.set(key, rows));
      return rows;
    },
    changed(sql) {
      const table = written(sql);
      if (table === undefined) tables.clear();
      else tables.get(table)?.clear();
    },
    clear: () => tables.clear(),
  };
}

/** Readings of each table. */
const maxKept = 1_000;

/** Statements are few and come often. */
function eachOnce<T>(find: (sql: string) => T): (sql: string) => T {
  const found = new Map<string, { readonly value: T }>();
  return (sql) => {
    const known = found.get(sql);
    if (known !== undefined) return known.value;
    const value = find(sql);
    found.set(sql, { value });
    return value;
  };
}
