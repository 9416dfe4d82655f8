// Moves a local journal and inbox, unfinished payments included, into a database. Safe to interrupt and repeat.
import type Database from 'libsql';
import * as v from 'valibot';
import { Failure } from '../../formats/failure.js';
import { isThere } from '../files/home.js';
import { openSqlite, type SqliteFile } from '../files/sqlite-file.js';
import { closing } from '../journal/schema.js';
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
const bytes = v.pipe(
  v.instance(ArrayBuffer),
  v.transform((memory) => new Uint8Array(memory)),
);
const rowsSchema = v.array(v.record(v.string(), v.union([value, bytes])));
type MovedRow = v.InferOutput<typeof rowsSchema>[number];
const heldSchema = v.array(v.object({ owner: v.string() }));
const idSchema = v.tuple([v.object({ id: v.number() })]);
const idsSchema = v.array(v.object({ id: v.string() }));

export interface Source {
  readonly journal: SqliteFile;
  readonly inbox: SqliteFile;
}

/**
 * Copies missing rows, and updates a payment if the file has a later version of it.
 *
 * @param isAlive whether a process still works on a payment: then nothing is moved
 */
export async function moveInto(
  database: Postgres,
  { journal, inbox }: Source,
  isAlive: (owner: string) => boolean,
): Promise<Moved> {
  const payments = await withFile(journal, async (db) => {
    const count = await movePayments(database, db, isAlive);
    db.exec(closing);
    return count;
  });
  const events = await withFile(inbox, (db) => moveEvents(database, db));
  return { payments: payments ?? 0, events: events ?? 0 };
}

/** Undefined if there is no such file. Nothing else writes to it meanwhile. */
async function withFile<T>(
  file: SqliteFile,
  action: (db: Database.Database) => Promise<T>,
): Promise<T | undefined> {
  if (!isThere(file.path)) return undefined;
  const db = openSqlite(file);
  try {
    return await atomically(db, () => action(db));
  } finally {
    db.close();
  }
}

async function movePayments(
  database: Postgres,
  db: Database.Database,
  isAlive: (owner: string) => boolean,
): Promise<number> {
  const held = v.parse(
    heldSchema,
    db.prepare('SELECT owner FROM payments WHERE owner IS NOT NULL').all(),
  );
  if (held.some(({ owner }) => isAlive(owner))) {
    throw new Failure(
      'temporary',
      'Another process works on a payment of this home: nothing was moved.',
      {
        hint: 'Wait until it ends, then run the same command again.',
      },
    );
  }
  let count = 0;
  for (let last = ''; ;) {
    const payments = v.parse(
      rowsSchema,
      db.prepare('SELECT * FROM payments WHERE id > ? ORDER BY id LIMIT ?').all(last, rowsAtOnce),
    );
    if (payments.length === 0) break;
    count += payments.length;
    last = String(payments.at(-1)?.['id']);
    const ids = payments.map(({ id }) => id);
    const attempts = v.parse(
      rowsSchema,
      db.prepare(`SELECT * FROM attempts WHERE payment_id IN (${places(ids.length)})`).all(...ids),
    );
    await database.transaction((sql) => copy(sql, payments, attempts), {
      locks: ['move'],
      isUnlimited: true,
    });
  }
  const rates = v.parse(rowsSchema, db.prepare('SELECT * FROM settlement_rates').all());
  for (let at = 0; at < rates.length; at += rowsAtOnce) {
    await database.transaction(
      (sql) =>
        sql.run(...inserted('settlement_rates', rates.slice(at, at + rowsAtOnce), 'DO NOTHING')),
      { locks: ['move'], isUnlimited: true },
    );
  }
  return count;
}

async function copy(
  sql: Sql,
  payments: readonly MovedRow[],
  attempts: readonly MovedRow[],
): Promise<void> {
  const missing = await withoutOthers(sql, payments, attempts);
  const later = `${overwritten(missing, ['id'])} WHERE payments.updated_at < excluded.updated_at RETURNING id`;
  const written =
    missing.length === 0
      ? []
      : await sql.all(...inserted('payments', missing, `(id) DO UPDATE SET ${later}`));
  const ids = new Set(v.parse(idsSchema, written).map(({ id }) => id));
  const theirs = attempts.filter((row) => ids.has(String(row['payment_id'])));
  const key = ['payment_id', 'number'];
  if (theirs.length > 0)
    await sql.run(
      ...inserted(
        'attempts',
        theirs,
        `(${key.join(', ')}) DO UPDATE SET ${overwritten(theirs, key)}`,
      ),
    );
}

const overwritten = (rows: readonly MovedRow[], key: readonly string[]): string =>
  Object.keys(rows[0] ?? {})
    .filter((name) => !key.includes(name))
    .map((name) => `${name} = excluded.${name}`)
    .join(', ');

function inserted(
  table: string,
  rows: readonly MovedRow[],
  conflict: string,
): [text: string, ...values: SqlValue[]] {
  const names = Object.keys(rows[0] ?? {});
  const all = places(rows.length, `(${places(names.length)})`);
  const values = rows.flatMap((row) => names.map((name): SqlValue => row[name] ?? null));
  return [
    `INSERT INTO ${table} (${names.join(', ')}) VALUES ${all} ON CONFLICT ${conflict}`,
    ...values,
  ];
}

const knownSchema = v.array(
  v.object({ id: v.string(), scope: v.string(), ref: v.string(), txn_id: v.nullable(v.string()) }),
);

/** Excludes payments that another home moved or made under the same reference. */
async function withoutOthers(
  sql: Sql,
  payments: readonly MovedRow[],
  attempts: readonly MovedRow[],
): Promise<readonly MovedRow[]> {
  const values = payments.flatMap((row) => [row['scope'] ?? null, row['ref'] ?? null]);
  const text = `SELECT id, scope, ref, txn_id FROM payments JOIN attempts ON payment_id = id WHERE (scope, ref) IN (${places(payments.length, '(?, ?)')})`;
  const known = v.parse(knownSchema, await sql.all(text, ...values));
  const namesakes = (row: MovedRow) =>
    known.filter(
      ({ id, scope, ref }) => scope === row['scope'] && ref === row['ref'] && id !== row['id'],
    );
  for (const row of payments) {
    const others = namesakes(row);
    const own = attempts.filter(
      (attempt) => attempt['payment_id'] === row['id'] && attempt['txn_id'] !== null,
    );
    if (
      others.length === 0 ||
      own.every((attempt) => others.some(({ txn_id: id }) => id === attempt['txn_id']))
    )
      continue;
    throw new Failure(
      'usage',
      `The database has another payment with the reference ${String(row['ref'])}: nothing more was moved.`,
      {
        hint: 'Compare both with the service before you move the rest.',
      },
    );
  }
  return payments.filter((row) => namesakes(row).length === 0);
}

/** Events get new numbers in the database; a moved event is recognized by its batch. */
async function moveEvents(database: Postgres, db: Database.Database): Promise<number> {
  const rows = db.prepare('SELECT * FROM events ORDER BY id');
  const waiting = db.prepare('SELECT consumer, txn_id AS txnId FROM backlog WHERE event_id = ?');
  const numbers = new Map<number, number>();
  for (const row of v.parse(rowsSchema, rows.all())) {
    const id = Number(row['id']);
    const consumers = v.parse(
      v.array(v.object({ consumer: v.string(), txnId: v.string() })),
      waiting.all(id),
    );
    numbers.set(
      id,
      await moveEvent(database, row, consumers, numbers.get(Number(row['duplicate_of']))),
    );
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
  return database.transaction(
    async (sql) => {
      const known = await sql.all(
        'SELECT id FROM events WHERE received_at = ? AND batch = ?',
        given('received_at'),
        batch,
      );
      if (known.length > 0) return v.parse(idSchema, known)[0].id;
      const names = [
        'received_at',
        'body',
        'signature',
        'txn_id',
        'txn_state',
        'updated_at',
        'out_of_order',
        'missing',
      ];
      const text = `INSERT INTO events (${names.join(', ')}, duplicate_of, batch)
      VALUES (${places(names.length)}, ?, ?) RETURNING id`;
      const { id } = v.parse(
        idSchema,
        await sql.all(text, ...names.map(given), duplicateOf ?? null, batch),
      )[0];
      for (const { consumer, txnId } of consumers) {
        await sql.run(
          'INSERT INTO backlog (consumer, event_id, txn_id) VALUES (?, ?, ?)',
          consumer,
          id,
          txnId,
        );
        await sql.run(
          'INSERT INTO leases (consumer, txn_id, first_event) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
          consumer,
          txnId,
          id,
        );
      }
      return id;
    },
    { locks: ['move'], isUnlimited: true },
  );
}
