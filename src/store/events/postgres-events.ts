// The log of webhook events in PostgreSQL, for many receivers: each lane is with one worker, on whichever machine.
import * as v from 'valibot';
import type { Postgres } from '../database/postgres.js';
import type { Part } from '../database/postgres-schema.js';
import { places } from '../database/rows.js';
import type { Sql, SqlDatabase } from '../database/sql.js';
import { laneLeaseMs, type EventStore, type Lanes } from './event-store.js';
import { sharedEventSteps, waitingSchema } from './schema.js';
import { openSqlEvents } from './sql-events.js';

export const inboxPart: Part = { name: 'inbox', steps: sharedEventSteps };

export const openPostgresEvents = (database: Postgres): EventStore =>
  openSqlEvents({
    database,
    lanes: lanesOf(database),
    queue: async (sql, consumer, { id, txnId }) => {
      const lane = txnId ?? '';
      await sql.run('INSERT INTO backlog (consumer, event_id, lane) VALUES (?, ?, ?)', consumer, id, lane);
      // Locks the lane, so that nobody takes it away as empty meanwhile.
      const open = `INSERT INTO lanes (consumer, lane, first_event) VALUES (?, ?, ?)
        ON CONFLICT (consumer, lane) DO UPDATE SET first_event = least(lanes.first_event, excluded.first_event)`;
      await sql.run(open, consumer, lane, id);
    },
    // A commit outlives a loss of power by itself.
    sync: () => Promise.resolve(),
    close: () => database.close(),
  });

const lanesSchema = v.array(v.object({ lane: v.string() }));

function lanesOf(database: SqlDatabase): Lanes {
  /** The lanes that were handed to each worker of this process. */
  const handed = new Map<string, Set<string>>();
  const lanesOfWorker = (consumer: string, worker: string): Set<string> => {
    const name = JSON.stringify([consumer, worker]);
    const known = handed.get(name) ?? new Set();
    handed.set(name, known);
    return known;
  };
  return {
    async take(consumer, worker, limit) {
      const waiting = v.parse(waitingSchema, await database.transaction((sql) => takeLanes(sql, consumer, worker, limit)));
      for (const { lane } of waiting) lanesOfWorker(consumer, worker).add(lane);
      return waiting;
    },
    async renew(consumer, worker) {
      const expected = lanesOfWorker(consumer, worker).size;
      const kept = await database.transaction(async (sql) => {
        const until = (await sql.now()) + laneLeaseMs;
        return sql.run('UPDATE lanes SET lease_until = ? WHERE consumer = ? AND worker = ?', until, consumer, worker);
      });
      return kept >= Math.min(expected, lanesOfWorker(consumer, worker).size);
    },
    async settle(consumer, worker, eventIds) {
      const { given, hasMore } = await database.transaction((sql) => settleEvents(sql, consumer, worker, eventIds));
      for (const lane of given) lanesOfWorker(consumer, worker).delete(lane);
      return hasMore;
    },
    async release(consumer, worker) {
      handed.delete(JSON.stringify([consumer, worker]));
      const free = 'UPDATE lanes SET worker = NULL, lease_until = 0 WHERE consumer = ? AND worker = ?';
      await database.transaction((sql) => sql.run(free, consumer, worker));
    },
  };
}

async function takeLanes(sql: Sql, consumer: string, worker: string, limit: number): Promise<readonly unknown[]> {
  const at = await sql.now();
  const text = `WITH free AS (
      SELECT lane FROM lanes WHERE consumer = ? AND lease_until <= ? ORDER BY first_event LIMIT ? FOR UPDATE SKIP LOCKED
    ), taken AS (
      UPDATE lanes SET worker = ?, lease_until = ?, taken_to = coalesce(
        (SELECT max(event_id) FROM backlog WHERE backlog.consumer = lanes.consumer AND backlog.lane = lanes.lane), 0)
      FROM free WHERE lanes.consumer = ? AND lanes.lane = free.lane RETURNING lanes.lane, lanes.taken_to
    )
    SELECT backlog.event_id, backlog.lane FROM taken
    JOIN backlog ON backlog.consumer = ? AND backlog.lane = taken.lane AND backlog.event_id <= taken.taken_to
    ORDER BY backlog.event_id`;
  return sql.all(text, consumer, at, limit, worker, at + laneLeaseMs, consumer, consumer);
}

async function settleEvents(
  sql: Sql,
  consumer: string,
  worker: string,
  ids: readonly number[],
): Promise<{ given: readonly string[]; hasMore: boolean }> {
  if (ids.length === 0) return { given: [], hasMore: false };
  const some = `consumer = ? AND event_id IN (${places(ids.length)})`;
  const found = v.parse(lanesSchema, await sql.all(`SELECT DISTINCT lane FROM backlog WHERE ${some}`, consumer, ...ids));
  const names = found.map(({ lane }) => lane);
  if (names.length === 0) return { given: [], hasMore: false };
  const these = `consumer = ? AND lane IN (${places(names.length)})`;
  await sql.all(`SELECT 1 FROM lanes WHERE ${these} ORDER BY lane FOR UPDATE`, consumer, ...names);
  await sql.run(`DELETE FROM backlog WHERE ${some}`, consumer, ...ids);
  const left = 'SELECT 1 FROM backlog WHERE backlog.consumer = lanes.consumer AND backlog.lane = lanes.lane';
  const empty = await sql.all(`DELETE FROM lanes WHERE ${these} AND NOT EXISTS (${left}) RETURNING lane`, consumer, ...names);
  // Something came for a lane since it was taken: it waits for whoever is first.
  const more = await sql.all(
    `UPDATE lanes SET worker = NULL, lease_until = 0
     WHERE ${these} AND worker = ? AND NOT EXISTS (${left} AND event_id <= lanes.taken_to) RETURNING lane`,
    consumer,
    ...names,
    worker,
  );
  const given = v.parse(lanesSchema, [...empty, ...more]).map(({ lane }) => lane);
  return { given, hasMore: more.length > 0 };
}
