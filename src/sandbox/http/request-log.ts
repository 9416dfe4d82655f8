// Logs the last ten thousand requests and responses.
import { requestAnswer, type LoggedRequest } from '../../formats/sandbox/answers.js';
import type { Context } from '../world/context.js';
import type { Store } from '../storage/database.js';
import type { Incoming, Outgoing } from './routing.js';

const kept = 10_000;
const trimEvery = 500;
const maxLoggedBody = 8_192;

export interface LogFilter {
  readonly method?: string | undefined;
  /** The exact path to match, with or without the query. */
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

/** Returns the newest matching requests, sorted from the oldest to the newest. */
export function readLog(
  store: Store,
  { method, path, limit = kept }: LogFilter = {},
): LoggedRequest[] {
  return store.all(
    requestAnswer,
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
