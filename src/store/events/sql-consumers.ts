// The consumers of the inbox in a database. The name of a consumer identifies its backlog.
import * as v from 'valibot';
import { Failure } from '../../formats/failure.js';
import { inserted, rowOf, type Sql, type SqlDatabase } from '../database/sql.js';
import type { Consumers } from './event-store.js';

export type LeaseTable = 'leases' | 'workers';

/**
 * The largest number of rows in one DELETE, which takes a third of a second in PostgreSQL, well
 * below the statement timeout.
 */
const droppedAtOnce = 5_000;

const consumersSchema = v.array(
  rowOf({
    consumer: v.string(),
    count: v.number(),
    oldest: v.nullable(v.number()),
    servedAt: v.nullable(v.number()),
  }),
);

const listed = `SELECT named.consumer, coalesce(waiting.count, 0) AS count,
    (SELECT queued_at FROM backlog WHERE backlog.consumer = named.consumer
      AND event_id = waiting.first) AS oldest,
    consumers.served_at
  FROM (SELECT consumer FROM consumers UNION SELECT consumer FROM backlog) AS named
  LEFT JOIN consumers ON consumers.consumer = named.consumer
  LEFT JOIN (SELECT consumer, count(*) AS count, min(event_id) AS first
    FROM backlog GROUP BY consumer) AS waiting
    ON waiting.consumer = named.consumer
  ORDER BY named.consumer`;

export function sqlConsumers(database: SqlDatabase, leaseTable: LeaseTable): Consumers {
  const refuseIfServed = async (sql: Sql, name: string): Promise<void> => {
    const text = `SELECT 1 FROM ${leaseTable} WHERE consumer = ? AND lease_until > ? LIMIT 1`;
    if ((await sql.all(text, name, await sql.now())).length > 0) throw beingServed(name);
  };
  /**
   * Drops some rows of a consumer's backlog. Resolves with the number of dropped rows, and with
   * whether the backlog is now empty.
   */
  const dropSome = async (sql: Sql, name: string): Promise<readonly [number, boolean]> => {
    await refuseIfServed(sql, name);
    const some = `DELETE FROM backlog WHERE consumer = ? AND event_id IN
      (SELECT event_id FROM backlog WHERE consumer = ? ORDER BY event_id LIMIT ${droppedAtOnce})`;
    const dropped = await sql.run(some, name, name);
    if (dropped === droppedAtOnce) return [dropped, false];
    for (const table of [leaseTable, 'consumers'])
      await sql.run(`DELETE FROM ${table} WHERE consumer = ?`, name);
    return [dropped, true];
  };
  return {
    serve: (names) =>
      database.transaction(async (sql) => {
        const at = await sql.now();
        if (names.length > 0)
          await sql.run(
            ...inserted(
              'consumers',
              names.toSorted().map((consumer) => ({ consumer, servedAt: at })),
              'ON CONFLICT (consumer) DO UPDATE SET served_at = excluded.served_at',
            ),
          );
        const others = `INSERT INTO consumers (consumer, served_at)
          SELECT DISTINCT consumer, CAST(? AS BIGINT) FROM backlog
          WHERE consumer NOT IN (SELECT consumer FROM consumers) ON CONFLICT DO NOTHING`;
        await sql.run(others, at);
      }),
    list: () =>
      database.read(async (sql) => {
        const [rows, at] = [v.parse(consumersSchema, await sql.all(listed)), await sql.now()];
        const ago = (time: number | null): number | null =>
          time === null ? null : Math.max(0, at - time) / 1_000;
        return rows.map(({ servedAt, ...row }) => ({
          ...row,
          oldestSeconds: ago(row.oldest),
          servedSeconds: ago(servedAt),
        }));
      }),
    async remove(name) {
      for (let total = 0; ;) {
        const [dropped, isLast] = await database.transaction((sql) => dropSome(sql, name));
        total += dropped;
        if (isLast) return total;
      }
    },
    rename: (name, to) =>
      database.transaction(
        async (sql) => {
          const stored = `SELECT consumer FROM consumers WHERE consumer = ?
            UNION SELECT consumer FROM backlog WHERE consumer = ?`;
          if ((await sql.all(stored, to, to)).length > 0) throw taken(to);
          await refuseIfServed(sql, name);
          for (const table of ['backlog', leaseTable, 'consumers'])
            await sql.run(`UPDATE ${table} SET consumer = ? WHERE consumer = ?`, to, name);
        },
        { isUnlimited: true },
      ),
  };
}

const beingServed = (name: string): Failure =>
  new Failure('temporary', `Nothing was changed: a receiver is delivering to ${name}.`, {
    hint: 'Stop the receivers of this consumer, then run the same command again.',
  });

const taken = (name: string): Failure =>
  new Failure('usage', `Nothing was changed: the consumer ${name} already exists.`, {
    hint: 'Choose another name, or remove the existing consumer first.',
  });
