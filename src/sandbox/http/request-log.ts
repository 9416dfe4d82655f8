// The log of the last ten thousand requests and responses.
import * as v from 'valibot';
import type { Context } from '../world/context.js';
import type { Store } from '../storage/database.js';
import type { Incoming, Outgoing } from './routing.js';

const kept = 10_000;
const trimEvery = 500;
const maxLoggedBody = 8_192;

const logRow = v.object({
  at: v.number(),
  method: v.string(),
  path: v.string(),
  status: v.number(),
  requestBody: v.string(),
  responseBody: v.string(),
  fault: v.nullable(v.string()),
});

/** A request and the service's response. */
export interface LoggedRequest {
  /** Epoch ms by the service's clock. */
  at: number;
  method: string;
  path: string;
  status: number;
  requestBody: string;
  responseBody: string;
  /**
   * Kind of the applied fault, with which the caller may not have received this response; or a note such as
   * `repeated signature`.
   */
  fault: string | null;
}

export interface LogFilter {
  readonly method?: string | undefined;
  /** Exact path without the query, or with it. */
  readonly path?: string | undefined;
  readonly limit?: number | undefined;
}

export function logRequest(
  ctx: Context,
  incoming: Incoming,
  outgoing: Outgoing,
  fault: string | undefined,
): void {
  const { store, now } = ctx;
  const lastId = store.insert('request_log', {
    at: now,
    method: incoming.method,
    path: incoming.target,
    status: outgoing.status,
    requestBody: Buffer.from(incoming.body ?? '')
      .toString()
      .slice(0, maxLoggedBody),
    responseBody: outgoing.body.slice(0, maxLoggedBody),
    fault: fault ?? outgoing.note ?? null,
  });
  if (lastId % trimEvery === 0) store.run('DELETE FROM request_log WHERE id <= ?', lastId - kept);
}

/** The newest matching requests, oldest first. */
export function readLog(
  store: Store,
  { method, path, limit = kept }: LogFilter = {},
): LoggedRequest[] {
  return store.all(
    logRow,
    `SELECT * FROM (
       SELECT * FROM request_log
       WHERE (?1 IS NULL OR method = ?1)
         AND (?2 IS NULL OR path = ?2 OR substr(path, 1, length(?2) + 1) = ?2 || '?')
       ORDER BY id DESC LIMIT ?3
     ) ORDER BY id`,
    method ?? null,
    path ?? null,
    limit,
  );
}

export function clearLog(store: Store): void {
  store.run('DELETE FROM request_log');
}
