// The inbox in PostgreSQL, for many receivers. Only one worker at a time, across all machines, gets
// the events of a transaction.
import * as v from 'valibot';
import type { Postgres } from '../database/postgres.js';
import type { TableGroup } from '../database/postgres-schema.js';
import { inserted, placeholders, rowOf, type Sql, type SqlDatabase } from '../database/sql.js';
import { eventLeaseMs, type EventStore, type Lease } from './event-store.js';
import { postgresSteps, waitingSchema, openSqlEvents } from './sql-events.js';

export const inboxPart: TableGroup = { name: 'inbox', table: 'events', steps: postgresSteps };

export const openPostgresEvents = (database: Postgres): EventStore =>
  openSqlEvents({
    database,
    leaseTable: 'leases',
    lease: leaseOf(database),
    offer: (sql, consumer, { eventId, txnId }) => {
      // The INSERT locks the row of the lease, so that no worker deletes this row before the
      // commit.
      const ifOpen = `ON CONFLICT (consumer, txn_id) DO UPDATE
        SET first_event = least(leases.first_event, excluded.first_event)`;
      return sql.run(...inserted('leases', [{ consumer, txnId, firstEvent: eventId }], ifOpen));
    },
    checkSpace: (sql) => sql.script(newPages),
  });

/** Fails on a full disk even if the pages of svcpay's tables have space for further rows. */
const newPages = `CREATE TEMPORARY TABLE new_pages ON COMMIT DROP AS
  SELECT md5(n::text) FROM generate_series(1, 1000) AS n`;

const namesSchema = v.array(rowOf({ txnId: v.string() }));
const namesIn = (rows: readonly unknown[]): string[] =>
  v.parse(namesSchema, rows).map(({ txnId }) => txnId);

const leaseOf =
  (database: SqlDatabase) =>
  (consumer: string, worker: string): Lease => {
    const held = new Set<string>();
    let last: Promise<unknown> = Promise.resolve();
    /**
     * Runs the calls one after the other, because `extend` could otherwise count leases that `take`
     * or `settle` is changing on another connection.
     */
    const inTurn = <T>(action: () => Promise<T>): Promise<T> => {
      const done = last.then(action);
      last = done.catch(() => undefined);
      return done;
    };
    return {
      take: (limit) =>
        inTurn(async () => {
          const waiting = v.parse(
            waitingSchema,
            await database.transaction((sql) => takeEvents(sql, consumer, worker, limit)),
          );
          for (const { txnId } of waiting) held.add(txnId);
          return waiting;
        }),
      extend: () =>
        inTurn(async () => {
          const kept = await database.transaction(async (sql) =>
            sql.run(
              'UPDATE leases SET lease_until = ? WHERE consumer = ? AND worker = ?',
              (await sql.now()) + eventLeaseMs,
              consumer,
              worker,
            ),
          );
          return kept === held.size;
        }),
      settle: (eventIds) =>
        inTurn(async () => {
          const { ended, hasMore } = await database.transaction((sql) =>
            settleEvents(sql, consumer, worker, eventIds),
          );
          for (const txnId of ended) held.delete(txnId);
          return hasMore;
        }),
      release: () =>
        inTurn(async () => {
          held.clear();
          const free =
            'UPDATE leases SET worker = NULL, lease_until = 0 WHERE consumer = ? AND worker = ?';
          await database.transaction((sql) => sql.run(free, consumer, worker));
        }),
    };
  };

async function takeEvents(
  sql: Sql,
  consumer: string,
  worker: string,
  limit: number,
): Promise<readonly unknown[]> {
  const at = await sql.now();
  const text = `WITH free AS (
      SELECT txn_id FROM leases WHERE consumer = ? AND lease_until <= ? ORDER BY first_event
        LIMIT ? FOR UPDATE SKIP LOCKED
    ), taken AS (
      UPDATE leases SET worker = ?, lease_until = ?, taken_to = coalesce(
        (SELECT max(event_id) FROM backlog WHERE backlog.consumer = leases.consumer
          AND backlog.txn_id = leases.txn_id), 0)
      FROM free WHERE leases.consumer = ? AND leases.txn_id = free.txn_id
        RETURNING leases.txn_id, leases.taken_to
    )
    SELECT backlog.event_id, backlog.txn_id FROM taken
    JOIN backlog ON backlog.consumer = ? AND backlog.txn_id = taken.txn_id
      AND backlog.event_id <= taken.taken_to
    ORDER BY backlog.event_id`;
  return sql.all(text, consumer, at, limit, worker, at + eventLeaseMs, consumer, consumer);
}

async function settleEvents(
  sql: Sql,
  consumer: string,
  worker: string,
  ids: readonly number[],
): Promise<{ ended: readonly string[]; hasMore: boolean }> {
  if (ids.length === 0) return { ended: [], hasMore: false };
  const some = `consumer = ? AND event_id IN (${placeholders(ids.length)})`;
  const names = namesIn(
    await sql.all(`SELECT DISTINCT txn_id FROM backlog WHERE ${some}`, consumer, ...ids),
  );
  if (names.length === 0) return { ended: [], hasMore: false };
  const these = `consumer = ? AND txn_id IN (${placeholders(names.length)})`;
  await sql.all(
    `SELECT 1 FROM leases WHERE ${these} ORDER BY txn_id FOR UPDATE`,
    consumer,
    ...names,
  );
  await sql.run(`DELETE FROM backlog WHERE ${some}`, consumer, ...ids);
  const left =
    'SELECT 1 FROM backlog WHERE backlog.consumer = leases.consumer ' +
    'AND backlog.txn_id = leases.txn_id';
  const empty = await sql.all(
    `DELETE FROM leases WHERE ${these} AND NOT EXISTS (${left}) RETURNING txn_id`,
    consumer,
    ...names,
  );
  // Any worker may take the events that arrived during this worker's lease.
  const more = await sql.all(
    `UPDATE leases SET worker = NULL, lease_until = 0
     WHERE ${these} AND worker = ? AND NOT EXISTS (${left} AND event_id <= leases.taken_to)
       RETURNING txn_id`,
    consumer,
    ...names,
    worker,
  );
  return { ended: namesIn([...empty, ...more]), hasMore: more.length > 0 };
}
