// Sorts rows on disk with SQLite, so that memory use stays constant. SQLite unlinks the temporary
// file with the rows at once, so that the file disappears with the process.
import Database from 'libsql';
import * as v from 'valibot';

export interface SortedRow {
  /** The group to which the row belongs. The method `each` yields the rows of one group. */
  readonly group: string;
  /** The position of the row within its group. Rows with the same position are sorted by id. */
  readonly at: number;
  /** The id of the row. Rows of different groups may have the same id. */
  readonly id: string;
  readonly data: string;
}

export interface SortedRows {
  /** Removes all rows with one of the given ids from every group, and adds the given rows. */
  replace(ids: readonly string[], rows: readonly SortedRow[]): void;
  /** Adds a row, or replaces the row with the same group, position and id. */
  add(row: SortedRow): void;
  has(id: string): boolean;
  /** The `data` of a row, or undefined if the group has no row with this id. */
  find(group: string, id: string): string | undefined;
  groups(): readonly string[];
  /**
   * Yields the `data` of a group's rows in order, from position `from` to position `to`
   * (exclusive).
   */
  each(group: string, from?: number, to?: number): Iterable<string>;
  close(): void;
}

const groupRows = v.array(v.object({ grp: v.string() }));
const dataRow = v.object({ data: v.string() });

export function openSortedRows(): SortedRows {
  const db = new Database('');
  db.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
    CREATE TABLE rows (grp TEXT, at INTEGER, id TEXT, data TEXT, PRIMARY KEY (grp, at, id))
      STRICT, WITHOUT ROWID;
    CREATE INDEX rows_id ON rows (id);`);
  const insert = db.prepare('INSERT OR REPLACE INTO rows VALUES (?, ?, ?, ?)');
  const remove = db.prepare('DELETE FROM rows WHERE id = ?');
  const select = db.prepare(
    'SELECT data FROM rows WHERE grp = ? AND at >= ? AND at < ? ORDER BY at, id',
  );
  const find = db.prepare('SELECT data FROM rows WHERE id = ? AND grp = ifnull(?, grp)');
  const found = (id: string, group: string | null): string | undefined =>
    v.parse(v.optional(dataRow), find.get(id, group))?.data;
  return {
    replace: db.transaction((ids: readonly string[], rows: readonly SortedRow[]) => {
      for (const id of ids) remove.run(id);
      for (const { group, at, id, data } of rows) insert.run(group, at, id, data);
    }),
    add({ group, at, id, data }) {
      insert.run(group, at, id, data);
    },
    has: (id) => found(id, null) !== undefined,
    find: (group, id) => found(id, group),
    groups: () =>
      v
        .parse(groupRows, db.prepare('SELECT DISTINCT grp FROM rows ORDER BY grp').all())
        .map(({ grp }) => grp),
    *each(group, from = 0, to = Number.MAX_SAFE_INTEGER) {
      for (const row of select.iterate(group, from, to)) yield v.parse(dataRow, row).data;
    },
    close: () => void db.close(),
  };
}
