// A PostgreSQL database for journal and inbox. Every transaction stands alone: no session locks, no prepared statements
// with names, nothing that a pooler between us could lose. A commit whose answer was lost is found out about, not assumed.
import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import * as v from 'valibot';
import { Failure } from '../../formats/failure.js';
import { notAnAddress, strictTls, withoutPassword } from './address.js';
import { databaseFailure, isBusy, isConflict, isLost } from './postgres-failure.js';
import type { Sql, SqlDatabase, SqlValue, TransactionOptions } from './sql.js';

export interface PostgresOptions {
  /** With the password, where there is one; what it leaves out comes from PG* variables and the password file. */
  readonly url: string;
  /** The setting that named it, for messages. */
  readonly source: string;
  /** Epoch ms of a clock that is never set. */
  readonly clock: () => number;
}

/** The schema of the database that holds all tables. */
export const schemaName = 'svcpay';

const connectMs = 4_000;
const statementMs = 5_000;
/** A little longer than the database itself waits, which can tell why. */
const answerMs = 6_000;
/** How long a database that was there before is waited for. */
const patienceMs = 12_000;
const firstPauseMs = 50;
const longestPauseMs = 1_000;
const mostConnections = 6;

const settings = {
  search_path: schemaName,
  statement_timeout: statementMs,
  lock_timeout: statementMs,
  idle_in_transaction_session_timeout: answerMs,
};

const ourSettings = Object.entries(settings).map(([name, value]) => `set_config('${name}', '${value}', true)`).join(', ');

/** One journey: a transaction with settings of its own, its locks, and the present once they are held. */
function beginning(locks: readonly string[]): string {
  // In one order for everybody, so that no two wait for each other.
  const held = locks.toSorted().map((name) => `pg_advisory_xact_lock(hashtextextended(${pg.escapeLiteral(name)}, 0))`);
  const lock = held.length === 0 ? '' : `SELECT ${held.join(', ')};`;
  return `BEGIN ISOLATION LEVEL READ COMMITTED; SELECT ${ourSettings}; ${lock}
    SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now`;
}

const int8 = 20;

export interface Postgres extends SqlDatabase {
  /** Where it is, without the password. */
  readonly where: string;
}

export function postgresDatabase({ url, source, clock }: PostgresOptions): Postgres {
  const sockets = new Set<Socket>();
  const pool = openPool(url, source, sockets);
  const failed = (error: unknown): Failure => databaseFailure(source, error);
  let wasThere = false;
  let gaveUp = false;

  async function once<T>(action: (sql: Sql) => Promise<T>, locks: readonly string[], isAgain: boolean): Promise<T> {
    const client = await pool.connect();
    wasThere = true;
    // Whatever happens between statements is told by the next one.
    client.on('error', ignore);
    let isOver = false;
    const commit = async (last: string): Promise<readonly unknown[]> => {
      const results = v.parse(resultsSchema, [await client.query(`${last}COMMIT`)].flat());
      if (results.at(-1)?.command !== 'COMMIT') throw new Error('the transaction was rolled back');
      isOver = true;
      return results[0]?.rows ?? [];
    };
    try {
      const clockThere = await started(client, locks, clock);
      const final: Sql['final'] = (text, ...values) => commit(`${withLiterals(text, values)};`);
      const result = await action({ ...sqlOf(client, clockThere, isAgain), final });
      if (!isOver) await commit('');
      return result;
    } catch (error) {
      if (!isOver && !isLost(error)) isOver = await client.query('ROLLBACK').then(() => true, () => false);
      throw error;
    } finally {
      client.off('error', ignore);
      client.release(!isOver);
    }
  }

  async function transaction<T>(action: (sql: Sql) => Promise<T>, { locks = [] }: TransactionOptions = {}): Promise<T> {
    const until = clock() + patienceMs;
    for (let turn = 0; ; turn += 1) {
      try {
        return await once(action, locks, turn > 0);
      } catch (error) {
        const mayPass = isConflict(error) || (isBusy(error) && !gaveUp) || (isLost(error) && wasThere);
        if (!mayPass || clock() > until) {
          // Once was long enough: the next one asks, and does not wait.
          if (isLost(error)) wasThere = false;
          gaveUp ||= isBusy(error);
          throw isOfDatabase(error) ? failed(error) : error;
        }
        await delay(Math.min(firstPauseMs * 2 ** turn, longestPauseMs));
      }
    }
  }

  return {
    kind: 'postgres',
    where: withoutPassword(url).url,
    forUpdate: ' FOR UPDATE',
    transaction,
    read: (action) => transaction(action),
    close: async () => {
      // A connection that says nothing any more would not end.
      await Promise.race([pool.end().catch(ignore), delay(500, undefined, { ref: false })]);
      for (const socket of sockets) socket.destroy();
    },
  };
}

const ignore = (): void => undefined;

const isOfDatabase = (error: unknown): boolean => error instanceof Error && !(error instanceof Failure) && !isOurs(error);

/** Thrown by an action on purpose, such as LostClaim. */
const isOurs = (error: Error): boolean => error.name === 'LostClaim' || error.name === 'ValiError';

function openPool(url: string, source: string, sockets: Set<Socket>): pg.Pool {
  try {
    const pool = new pg.Pool({
      connectionString: strictTls(url),
      max: mostConnections,
      connectionTimeoutMillis: connectMs,
      query_timeout: answerMs,
      keepAlive: true,
      allowExitOnIdle: true,
      application_name: 'svcpay',
      types: { getTypeParser: (oid: number, format?: 'text' | 'binary') => (oid === int8 ? Number : pg.types.getTypeParser(oid, format)) },
      stream: () => {
        const socket = new Socket();
        sockets.add(socket);
        return socket.once('close', () => sockets.delete(socket));
      },
    });
    pool.on('error', ignore);
    return pool;
  } catch (cause) {
    throw notAnAddress(source, cause);
  }
}

const numbered = new Map<string, string>();

/** `$1` for the first `?`, and so on. */
function numberedText(text: string): string {
  let count = 0;
  const known = numbered.get(text) ?? text.replaceAll('?', () => `$${(count += 1)}`);
  numbered.set(text, known);
  return known;
}

/** Several statements in one message take no parameters. */
function withLiterals(text: string, values: readonly SqlValue[]): string {
  let at = 0;
  return text.replaceAll('?', () => literal(values[at++] ?? null));
}

function literal(value: SqlValue): string {
  if (value === null) return 'NULL';
  if (typeof value === 'number') return `(${value})`;
  return typeof value === 'string' ? pg.escapeLiteral(value) : `decode('${Buffer.from(value).toString('hex')}', 'hex')`;
}

/**
 * Begins a transaction. Gives the clock of the database: read once here, and followed by how long it was since by a clock
 * that is never set, so that the present is known after every wait without asking again.
 */
async function started(client: pg.PoolClient, locks: readonly string[], clock: () => number): Promise<() => number> {
  // One result for each statement, which the types do not know.
  const results: unknown = await client.query(beginning(locks));
  const { rows } = v.parse(presentSchema, Array.isArray(results) ? results.at(-1) : results);
  const askedAt = clock();
  return () => rows[0].now + Math.floor(clock() - askedAt);
}

const resultsSchema = v.array(v.object({ command: v.string(), rows: v.array(v.unknown()) }));
const presentSchema = v.object({ rows: v.tuple([v.object({ now: v.number() })]) });

function sqlOf(client: pg.PoolClient, clockThere: () => number, isAgain: boolean): Omit<Sql, 'final'> {
  const query = (text: string, values: SqlValue[]): Promise<pg.QueryResult<Record<string, unknown>>> =>
    client.query(numberedText(text), values);
  return {
    isAgain,
    all: async (text, ...values) => (await query(text, values)).rows,
    run: async (text, ...values) => (await query(text, values)).rowCount ?? 0,
    now: async () => clockThere(),
    lock: async (name) => void (await query('SELECT pg_advisory_xact_lock(hashtextextended(?, 0))', [name])),
  };
}

