// The inbox in a SQLite file. Only one process at a time gets the waiting events of a consumer.
import * as v from 'valibot';
import { inserted, rowOf, type Sql, type SqlDatabase } from '../database/sql.js';
import { sqliteDatabase } from '../database/sqlite-database.js';
import type { SqliteFile } from '../files/sqlite-file.js';
import { eventLeaseMs, type EventStore, type Lease } from './event-store.js';
import { applicationId, sqliteSteps, waitingSchema, openSqlEvents } from './sql-events.js';

/**
 * The number of pages in the write-ahead log between two checkpoints. svcpay makes few checkpoints,
 * because each checkpoint writes the many pages that the index of transactions has changed.
 */
const checkpointPages = 8_000;

/**
 * Opens the inbox. Throws Failure `usage` if the file is damaged, comes from a newer version of
 * svcpay, or cannot be written.
 *
 * @param now the machine's clock, epoch ms
 * @param isAlive whether the process of a worker is still running
 */
export function openEventStore(
  path: string,
  now: () => number,
  isAlive: (worker: string) => boolean = () => true,
): EventStore {
  const database = sqliteDatabase(eventsIn(path), now);
  return openSqlEvents({ database, leaseTable: 'workers', lease: leaseOf(database, isAlive) });
}

export const eventsIn = (path: string): SqliteFile => ({
  path,
  name: 'event store',
  applicationId,
  steps: sqliteSteps,
  advice: {
    hint: 'Move the event store to a different folder. The next command creates a new event store.',
    next: undefined,
  },
  checkpointPages,
});

const holderSchema = v.array(rowOf({ worker: v.string(), leaseUntil: v.number() }));

const leaseOf =
  (database: SqlDatabase, isAlive: (worker: string) => boolean) =>
  (consumer: string, worker: string): Lease => {
    /** The id of the last event that the worker took. */
    let lastGiven: number | undefined;
    const holderOf = async (sql: Sql) =>
      v.parse(
        holderSchema,
        await sql.all('SELECT worker, lease_until FROM workers WHERE consumer = ?', consumer),
      )[0];
    const isHeld = async (sql: Sql): Promise<boolean> => {
      const holder = await holderOf(sql);
      const needed = (await sql.now()) + eventLeaseMs * 0.9;
      return holder?.worker === worker && holder.leaseUntil >= needed;
    };
    const hold = (): Promise<boolean> =>
      database.transaction(async (sql) => {
        const at = await sql.now();
        const holder = await holderOf(sql);
        // svcpay ignores a lease that ends later than a new lease would end, because the clock must
        // have been set back after the old lease began.
        const isCurrent =
          holder !== undefined && holder.leaseUntil > at && holder.leaseUntil <= at + eventLeaseMs;
        if (isCurrent && holder.worker !== worker && isAlive(holder.worker)) return false;
        const ifServed = `ON CONFLICT (consumer) DO UPDATE
          SET worker = excluded.worker, lease_until = excluded.lease_until`;
        const lease = { consumer, worker, leaseUntil: at + eventLeaseMs };
        await sql.run(...inserted('workers', [lease], ifServed));
        return true;
      });
    return {
      async take(limit) {
        if (!(await database.read(isHeld)) && !(await hold())) {
          lastGiven = undefined;
          return [];
        }
        const text =
          'SELECT event_id, txn_id FROM backlog WHERE consumer = ? AND event_id > ? ' +
          'ORDER BY event_id LIMIT ?';
        const rows = await database.read((sql) => sql.all(text, consumer, lastGiven ?? 0, limit));
        const waiting = v.parse(waitingSchema, rows);
        lastGiven = waiting.at(-1)?.eventId ?? lastGiven;
        return waiting;
      },
      extend: async () => lastGiven === undefined || hold(),
      settle: (eventIds) =>
        database.transaction(async (sql) => {
          for (const id of eventIds)
            await sql.run('DELETE FROM backlog WHERE consumer = ? AND event_id = ?', consumer, id);
          return false;
        }),
      async release() {
        lastGiven = undefined;
        await database.transaction((sql) =>
          sql.run('DELETE FROM workers WHERE consumer = ? AND worker = ?', consumer, worker),
        );
      },
    };
  };
