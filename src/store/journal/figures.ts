// How many payments of a journal have not ended, of all accounts together: for monitoring.
import * as v from 'valibot';
import { Present, type Sql } from '../database/sql.js';

const unfinishedSchema = v.array(
  v.object({
    status: v.picklist(['open', 'in-flight', 'unknown']),
    /** Opened within the last minute, 10 minutes or hour, or before. */
    age: v.picklist(['1m', '10m', '1h', 'older']),
    count: v.number(),
    /** When the oldest of them was opened, epoch ms. */
    oldest: v.number(),
  }),
);

export type UnfinishedPayments = v.InferOutput<typeof unfinishedSchema>[number];

export async function unfinishedPayments(sql: Sql): Promise<readonly UnfinishedPayments[]> {
  const text = `SELECT status, age, count(*) AS count, min(opened_at) AS oldest FROM (
      SELECT opened_at,
        CASE WHEN step = 'confirming' OR doubts <> '[]' OR txn_state IN ('expired', 'usercanceled', 'canceled') THEN 'unknown'
          WHEN step = 'confirmed' THEN 'in-flight' ELSE 'open' END AS status,
        CASE WHEN opened_at > ? THEN '1m' WHEN opened_at > ? THEN '10m' WHEN opened_at > ? THEN '1h' ELSE 'older' END AS age
      FROM intents WHERE step <> 'final' AND closed = 0
    ) AS unfinished GROUP BY status, age ORDER BY status, oldest`;
  return v.parse(unfinishedSchema, await sql.all(text, ...[60_000, 600_000, 3_600_000].map((ms) => new Present(-ms))));
}
