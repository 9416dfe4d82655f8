// Moves a local journal and inbox into a database: safe to interrupt and to run again, open payments included.
import type Database from 'libsql';
import * as v from 'valibot';
import { Failure } from '../../formats/failure.js';
import { isThere } from '../files/home.js';
import { openSqlite, type SqliteFile } from '../files/sqlite-file.js';
import type { Postgres } from './postgres.js';
import { places } from './rows.js';
import type { Sql, SqlValue } from './sql.js';
import { atomically } from './sqlite-database.js';

export interface Moved {
  readonly payments: number;
  readonly events: number;
}

const rowsAtOnce = 200;
const value = v.union([v.string(), v.number(), v.null(), v.instance(Uint8Array)]);
const bytes = v.pipe(v.instance(ArrayBuffer), v.transform((memory) => new Uint8Array(memory)));
const rowsSchema = v.array(v.record(v.string(), v.union([value, bytes])));
type MovedRow = v.InferOutput<typeof rowsSchema>[number];
const heldSchema = v.array(v.object({ owner: v.string() }));
const idSchema = v.tuple([v.object({ id: v.number() })]);

export interface Source {
  readonly journal: SqliteFile;
  readonly inbox: SqliteFile;
}

/**
 * Copies what is not there yet; a row that is there already is brought up to date where the file is ahead of it.
 *
 * @param isAlive whether a process is at work on a payment: then nothing is moved under its hands
 */
export async function moveInto(database: Postgres, { journal, inbox }: Source, isAlive: (owner: string) => boolean): Promise<Moved> {
  const payments = await withFile(journal, async (db) => {
    const count = await movePayments(database, db, isAlive);
    db.exec(closing);
    return count;
  });
  const events = await withFile(inbox, (db) => moveEvents(database, db));
  return { payments: payments ?? 0, events: events ?? 0 };
}

/** Whoever has the file open still would pay on from it, unseen by all others. */
const closing = ['INSERT', 'UPDATE'].map((change) => `CREATE TRIGGER IF NOT EXISTS moved_before_${change} BEFORE ${change} ON intents
  BEGIN SELECT RAISE(ABORT, 'its payments were moved into a database'); END;`).join('\n');

/** Undefined where there is no such file. Nothing else writes to it meanwhile. */
async function withFile<T>(file: SqliteFile, action: (db: Database.Database) => Promise<T>): Promise<T | undefined> {
  if (!isThere(file.path)) return undefined;
  const db = openSqlite(file);
  try {
    return await atomically(db, () => action(db));
  } finally {
    db.close();
  }
}

async function movePayments(database: Postgres, db: Database.Database, isAlive: (owner: string) => boolean): Promise<number> {
  const held = v.parse(heldSchema, db.prepare('SELECT owner FROM intents WHERE owner IS NOT NULL').all());
  if (held.some(({ owner }) => isAlive(owner))) {
    throw new Failure('temporary', 'Nothing was moved: another process is working on a payment of this home.', {
      hint: 'Wait until it ends and run the command again.',
    });
  }
  const count = await copy(database, db, 'intents', whereAhead, unknownThere);
  await copy(database, db, 'seen_transactions', () => 'DO NOTHING');
  await copy(database, db, 'read_spans', () => 'DO NOTHING');
  await copy(database, db, 'settlement_rates', () => 'DO NOTHING');
  return count;
}

function whereAhead(names: readonly string[]): string {
  const sets = names.filter((name) => name !== 'id').map((name) => `${name} = excluded.${name}`);
  return `(id) DO UPDATE SET ${sets.join(', ')} WHERE intents.updated_at < excluded.updated_at`;
}

/** Without the payments that another home has moved before, or made there, under the same reference. */
async function unknownThere(sql: Sql, rows: readonly MovedRow[]): Promise<readonly MovedRow[]> {
  const values = rows.flatMap((row) => [row['scope'] ?? null, row['ref'] ?? null]);
  const text = `SELECT id, scope, ref, txn_id FROM intents WHERE (scope, ref) IN (${places(rows.length, '(?, ?)')})`;
  const there = v.parse(rowsSchema, await sql.all(text, ...values));
  const other = (row: MovedRow): MovedRow | undefined =>
    there.find((each) => each['scope'] === row['scope'] && each['ref'] === row['ref'] && each['id'] !== row['id']);
  for (const row of rows) {
    const found = other(row);
    if (found === undefined || row['txn_id'] === null || found['txn_id'] === row['txn_id']) continue;
    throw new Failure('usage', `The payment ${String(row['ref'])} differs from the payment of that name in the database. Nothing more was moved.`, {
      hint: 'Compare both with the service first.',
    });
  }
  return rows.filter((row) => other(row) === undefined);
}

/**
 * Copies a table a piece at a time; how a row that is there already is met is for `conflict` to say, and which rows are
 * copied at all for `choose`.
 */
async function copy(
  database: Postgres,
  db: Database.Database,
  table: string,
  conflict: (names: readonly string[]) => string,
  choose: (sql: Sql, rows: readonly MovedRow[]) => Promise<readonly MovedRow[]> = async (_sql, rows) => rows,
): Promise<number> {
  let count = 0;
  for (;;) {
    const rows = v.parse(rowsSchema, db.prepare(`SELECT * FROM ${table} LIMIT ? OFFSET ?`).all(rowsAtOnce, count));
    const [first] = rows;
    if (first === undefined) return count;
    const names = Object.keys(first);
    await database.transaction(async (sql) => {
      const chosen = await choose(sql, rows);
      if (chosen.length === 0) return;
      const values = chosen.flatMap((row) => names.map((name): SqlValue => row[name] ?? null));
      const all = places(chosen.length, `(${places(names.length)})`);
      await sql.run(`INSERT INTO ${table} (${names.join(', ')}) VALUES ${all} ON CONFLICT ${conflict(names)}`, ...values);
    }, { locks: ['move'] });
    count += rows.length;
  }
}

/** Events get numbers of their own there; one that was moved is known by its batch. */
async function moveEvents(database: Postgres, db: Database.Database): Promise<number> {
  const rows = db.prepare('SELECT * FROM events ORDER BY id');
  const waiting = db.prepare('SELECT consumer, txn_id AS txnId FROM backlog WHERE event_id = ?');
  const numbers = new Map<number, number>();
  for (const row of v.parse(rowsSchema, rows.all())) {
    const id = Number(row['id']);
    const consumers = v.parse(v.array(v.object({ consumer: v.string(), txnId: v.string() })), waiting.all(id));
    numbers.set(id, await moveEvent(database, row, consumers, numbers.get(Number(row['duplicate_of']))));
  }
  return numbers.size;
}

async function moveEvent(
  database: Postgres,
  row: MovedRow,
  consumers: readonly { consumer: string; txnId: string }[],
  duplicateOf: number | undefined,
): Promise<number> {
  const given = (name: string): SqlValue => row[name] ?? null;
  const batch = `moved ${given('id')} ${given('received_at')} ${given('signature')}`;
  return database.transaction(async (sql) => {
    const known = await sql.all('SELECT id FROM events WHERE received_at = ? AND batch = ?', given('received_at'), batch);
    if (known.length > 0) return v.parse(idSchema, known)[0].id;
    const names = ['received_at', 'body', 'signature', 'txn_id', 'txn_state', 'updated_at', 'out_of_order', 'missing'];
    const text = `INSERT INTO events (${names.join(', ')}, duplicate_of, batch)
      VALUES (${places(names.length)}, ?, ?) RETURNING id`;
    const { id } = v.parse(idSchema, await sql.all(text, ...names.map(given), duplicateOf ?? null, batch))[0];
    for (const { consumer, txnId } of consumers) {
      await sql.run('INSERT INTO backlog (consumer, event_id, txn_id) VALUES (?, ?, ?)', consumer, id, txnId);
      await sql.run('INSERT INTO leases (consumer, txn_id, first_event) VALUES (?, ?, ?) ON CONFLICT DO NOTHING', consumer, txnId, id);
    }
    return id;
  }, { locks: ['move'] });
}
