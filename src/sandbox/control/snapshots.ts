// Saves and restores snapshots. A snapshot is a named copy of the sandbox's state, in the sandbox's
// own file.
import * as v from 'valibot';
import { readClock, setClock } from '../world/schedule.js';
import type { Context } from '../world/context.js';
import type { Store } from '../storage/database.js';
import type { Snapshot } from '../../formats/sandbox/answers.js';
import { control, readBody, type Route } from '../http/routing.js';
import { notFound } from '../wire/refusal.js';
import { readCredentials, setCredentials } from './seed.js';

const row = v.object({
  id: v.number(),
  name: v.string(),
  savedAt: v.number(),
  clock: v.number(),
  frozen: v.number(),
  transactions: v.number(),
});

const saveBody = v.object({
  name: v.pipe(
    v.string(),
    v.regex(/^[\w.-]{1,64}$/, 'must have 1 to 64 letters, digits, ".", "_" or "-"'),
  ),
});

/**
 * The tables that a snapshot omits: settings and keys of this file, faults, the request log, and
 * used signatures. Restoring a snapshot does not make used signatures valid again.
 */
const omittedTables = ['setting', 'used_signature', 'request_log', 'fault', 'snapshot'];

export function snapshotControls(machineTime: () => number): Route[] {
  return [
    control('GET', 'snapshots', ({ ctx }) => ({ data: listSnapshots(ctx.store) })),
    control('POST', 'snapshots', ({ ctx, incoming }) =>
      save(ctx, machineTime(), readBody(incoming, saveBody).name),
    ),
    control('POST', 'snapshots/:name/load', ({ ctx, params }) =>
      load(ctx, machineTime(), params['name'] ?? ''),
    ),
    control('DELETE', 'snapshots/:name', ({ ctx, params }) => {
      remove(ctx.store, requireSnapshot(ctx.store, params['name'] ?? '').id);
      return { data: listSnapshots(ctx.store) };
    }),
  ];
}

export function listSnapshots(store: Store): Snapshot[] {
  return store.all(row, 'SELECT * FROM snapshot ORDER BY id').map(show);
}

/** Saves the state under a name, and replaces an earlier snapshot of this name. */
function save({ store }: Context, machine: number, name: string): Snapshot {
  const before = find(store, name);
  if (before !== undefined) remove(store, before.id);
  const { now, frozen } = readClock(store, machine);
  store.run(
    `INSERT INTO snapshot (name, saved_at, clock, frozen, transactions)
     VALUES (?, ?, ?, ?, (SELECT count(*) FROM txn))`,
    name,
    machine,
    now,
    Number(frozen),
  );
  const saved = requireSnapshot(store, name);
  for (const table of savedTables(store))
    store.run(`CREATE TABLE ${copyOf(saved.id, table)} AS SELECT * FROM ${table}`);
  return show(saved);
}

/**
 * Restores a snapshot, including its clock. Restoring a snapshot keeps the current credentials of
 * the main account.
 */
function load({ store }: Context, machine: number, name: string): Snapshot {
  const snapshot = requireSnapshot(store, name);
  const { apiKey, apiSecret, accountId } = readCredentials(store);
  // Lets SQLite check foreign keys only at the commit, because restored rows refer to each other.
  store.run('PRAGMA defer_foreign_keys = ON');
  for (const table of savedTables(store)) {
    store.run(`DELETE FROM ${table}`);
    store.run(`INSERT INTO ${table} SELECT * FROM ${copyOf(snapshot.id, table)} ORDER BY rowid`);
  }
  // A higher claim number invalidates the claims of workers that are posting now.
  store.run('UPDATE webhook SET claim = max(claim + 1, ?), claimed_until = 0', machine);
  setCredentials(store, accountId, apiKey, apiSecret);
  const shown = show(snapshot);
  setClock(store, machine, shown.clock);
  return shown;
}

function remove(store: Store, id: number): void {
  for (const table of savedTables(store)) store.run(`DROP TABLE ${copyOf(id, table)}`);
  store.run('DELETE FROM snapshot WHERE id = ?', id);
}

function find(store: Store, name: string): v.InferOutput<typeof row> | undefined {
  return store.one(row, 'SELECT * FROM snapshot WHERE name = ?', name);
}

function requireSnapshot(store: Store, name: string): v.InferOutput<typeof row> {
  const found = find(store, name);
  if (found === undefined) throw notFound();
  return found;
}

function show({ name, savedAt, clock, frozen, transactions }: v.InferOutput<typeof row>): Snapshot {
  return { name, savedAt, clock: { now: clock, frozen: frozen === 1 }, transactions };
}

/** Lists every table that a snapshot includes. */
function savedTables(store: Store): string[] {
  const tables = store.all(
    v.object({ name: v.string() }),
    `SELECT name FROM sqlite_schema
     WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name NOT LIKE 'copy%' ORDER BY name`,
  );
  return tables.map(({ name }) => name).filter((name) => !omittedTables.includes(name));
}

const copyOf = (id: number, table: string): string => `copy_${id}_${table}`;
