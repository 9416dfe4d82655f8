// The index of references in a database: which transactions of the service's list were seen, and what of it was read.
import * as v from 'valibot';
import { places, rowOf } from '../database/rows.js';
import type { Sql, SqlDatabase, SqlValue } from '../database/sql.js';
import type { Coverage, ReferenceIndex, SeenTransaction } from './journal.js';

const spanSchema = v.object({ from: v.number(), to: v.number() });
const seenSchema = rowOf({ txnId: v.string(), extRefId: v.nullable(v.string()), createdAt: v.number() });
const countSchema = v.tuple([v.object({ count: v.number() })]);

/** Rows of one statement: over a network each statement is a journey. */
const rowsAtOnce = 100;

export function referenceIndex(database: SqlDatabase): ReferenceIndex {
  return {
    covered: (scope) => database.read((sql) => covered(sql, scope)),
    note: (scope, seen, span) => database.transaction((sql) => note(sql, scope, seen, span), { locks: [`references ${scope}`] }),
    attempts: (scope, ref) =>
      database.read(async (sql) => [
        ...(await select(sql, 'scope = ? AND ext_ref_id = ?', scope, ref)),
        // Everything that begins with `R~`, by the index: after `~` comes DEL, which no reference begins with.
        ...(await select(sql, 'scope = ? AND ext_ref_id > ? AND ext_ref_id < ?', scope, `${ref}~`, `${ref}\x7f`)),
      ]),
    countSince: (scope, createdAt) =>
      database.read(async (sql) => {
        const text = 'SELECT count(*) AS count FROM seen_transactions WHERE scope = ? AND created_at >= ?';
        return v.parse(countSchema, await sql.all(text, scope, createdAt))[0].count;
      }),
  };
}

async function note(sql: Sql, scope: string, seen: readonly SeenTransaction[], span: Coverage | undefined): Promise<void> {
  for (let at = 0; at < seen.length; at += rowsAtOnce) await add(sql, scope, seen.slice(at, at + rowsAtOnce));
  if (span === undefined) return;
  const { from, to } = joined(await covered(sql, scope), span);
  const write = `INSERT INTO read_spans (scope, read_from, read_to) VALUES (?, ?, ?)
    ON CONFLICT (scope) DO UPDATE SET read_from = excluded.read_from, read_to = excluded.read_to`;
  await sql.run(write, scope, from, to);
}

async function covered(sql: Sql, scope: string): Promise<Coverage | undefined> {
  const rows = await sql.all('SELECT read_from AS "from", read_to AS "to" FROM read_spans WHERE scope = ?', scope);
  return v.parse(v.array(spanSchema), rows)[0];
}

async function select(sql: Sql, condition: string, ...values: SqlValue[]): Promise<SeenTransaction[]> {
  const text = `SELECT txn_id, ext_ref_id, created_at FROM seen_transactions WHERE ${condition}`;
  return v.parse(v.array(seenSchema), await sql.all(text, ...values));
}

async function add(sql: Sql, scope: string, seen: readonly SeenTransaction[]): Promise<void> {
  const values = seen.flatMap(({ txnId, extRefId, createdAt }) => [scope, txnId, extRefId, createdAt]);
  const text = `INSERT INTO seen_transactions (scope, txn_id, ext_ref_id, created_at) VALUES ${places(seen.length, '(?, ?, ?, ?)')} ON CONFLICT DO NOTHING`;
  await sql.run(text, ...values);
}

/** What is covered after another span was read: both together where they touch, else the later one. */
export function joined(before: Coverage | undefined, span: Coverage): Coverage {
  if (before === undefined) return span;
  const touch = span.from <= before.to && before.from <= span.to;
  if (touch) return { from: Math.min(before.from, span.from), to: Math.max(before.to, span.to) };
  return before.to > span.to ? before : span;
}
