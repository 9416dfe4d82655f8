// The index of references in SQLite: which transactions of the service's list were seen, and what of the list was read.
import * as v from 'valibot';
import { inTransaction, type Connection } from '../files/sqlite.js';
import type { ReferenceIndex, SeenTransaction } from './journal.js';

export const referenceSchema = `
  CREATE TABLE IF NOT EXISTS seen_transactions (
    scope TEXT NOT NULL,
    txn_id TEXT NOT NULL,
    ext_ref_id TEXT,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (scope, txn_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS seen_references ON seen_transactions (scope, ext_ref_id) WHERE ext_ref_id IS NOT NULL;
  CREATE INDEX IF NOT EXISTS seen_created ON seen_transactions (scope, created_at);
  CREATE TABLE IF NOT EXISTS read_spans (
    scope TEXT PRIMARY KEY,
    read_from INTEGER NOT NULL,
    read_to INTEGER NOT NULL
  ) STRICT;
`;

const spanSchema = v.pipe(
  v.object({ read_from: v.number(), read_to: v.number() }),
  v.transform((row) => ({ from: row.read_from, to: row.read_to })),
);
const seenSchema = v.pipe(
  v.object({ txn_id: v.string(), ext_ref_id: v.nullable(v.string()), created_at: v.number() }),
  v.transform((row): SeenTransaction => ({ txnId: row.txn_id, extRefId: row.ext_ref_id, createdAt: row.created_at })),
);
const countSchema = v.object({ count: v.number() });

export function referenceIndex(db: Connection, guard: <T>(action: () => T) => Promise<T>): ReferenceIndex {
  const covered = (scope: string) => {
    const row = db.prepare('SELECT read_from, read_to FROM read_spans WHERE scope = ?').get(scope);
    return row === undefined ? undefined : v.parse(spanSchema, row);
  };
  const select = (condition: string, ...values: unknown[]): SeenTransaction[] =>
    v.parse(
      v.array(seenSchema),
      db.prepare(`SELECT txn_id, ext_ref_id, created_at FROM seen_transactions WHERE ${condition}`).all(...values),
    );
  return {
    covered: (scope) => guard(() => covered(scope)),
    note: (scope, seen, span) =>
      guard(() =>
        inTransaction(db, () => {
          const insert = 'INSERT OR IGNORE INTO seen_transactions (scope, txn_id, ext_ref_id, created_at) VALUES (?, ?, ?, ?)';
          for (const { txnId, extRefId, createdAt } of seen) db.prepare(insert).run(scope, txnId, extRefId, createdAt);
          const { from, to } = joined(covered(scope), span);
          db.prepare('INSERT OR REPLACE INTO read_spans (scope, read_from, read_to) VALUES (?, ?, ?)').run(scope, from, to);
        }),
      ),
    under: (scope, refs) =>
      guard(() => refs.flatMap((ref) => select('scope = ? AND ext_ref_id = ?', scope, ref))),
    attempts: (scope, ref) =>
      guard(() => [
        ...select('scope = ? AND ext_ref_id = ?', scope, ref),
        // Everything that begins with `R~`, by the index: after `~` comes DEL, which no reference begins with.
        ...select('scope = ? AND ext_ref_id > ? AND ext_ref_id < ?', scope, `${ref}~`, `${ref}\x7f`),
      ]),
    countSince: (scope, createdAt) =>
      guard(() => {
        const sql = 'SELECT count(*) AS count FROM seen_transactions WHERE scope = ? AND created_at >= ?';
        return v.parse(countSchema, db.prepare(sql).get(scope, createdAt)).count;
      }),
  };
}

/** What is covered after another span was read: both together where they touch, else the later one. */
export function joined(before: { from: number; to: number } | undefined, span: { from: number; to: number }): { from: number; to: number } {
  if (before === undefined) return span;
  const touch = span.from <= before.to && before.from <= span.to;
  if (touch) return { from: Math.min(before.from, span.from), to: Math.max(before.to, span.to) };
  return before.to > span.to ? before : span;
}
