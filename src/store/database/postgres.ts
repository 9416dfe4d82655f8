// Connects to a PostgreSQL database for the journal and the inbox. Connection poolers work, because
// svcpay's transactions use no session state, such as session locks and prepared statements. After
// a lost connection, svcpay looks up the outcome of a commit instead of assuming an outcome.
import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { Failure } from '../../formats/failure.js';
import { longestDatabaseWaitMs, policies } from '../../formats/policies.js';
import { poll, type PollNext } from '../../formats/poll.js';
import { notAnAddress, strictTls, withoutPassword } from './address.js';
import { databaseFailure, isBusy, isConflict, isLost } from './postgres-failure.js';
import { answerMs, transactionOn } from './postgres-transaction.js';
import type { Sql, SqlDatabase, TransactionOptions } from './sql.js';

export interface PostgresOptions {
  /**
   * The address, including its password if it has one. PG* variables and the password file supply
   * the parts that the address omits.
   */
  readonly url: string;
  /** The setting that contains the address of the database, for use in messages. */
  readonly source: string;
  /** Monotonic milliseconds. */
  readonly clock: () => number;
  /** Waits between two attempts of a transaction while the database is unavailable. */
  readonly sleep?: (ms: number) => Promise<void>;
}

const connectMs = 4_000;
const mostConnections = 6;
const int8 = 20;

export interface Postgres extends SqlDatabase {
  /** The setting that contains the address of the database, for use in messages. */
  readonly source: string;
  /** The address without its password. */
  readonly where: string;
  /**
   * The number of connections to the database that this process has lost so far. After a lost
   * connection, the next connection may lead to a restored database.
   */
  losses(): number;
}

export function postgresDatabase({
  url,
  source,
  clock,
  sleep = (ms) => delay(ms),
}: PostgresOptions): Postgres {
  const sockets = new Set<Socket>();
  let losses = 0;
  const pool = openPool(url, source, sockets, () => (losses += 1));
  let gaveUp = false;

  async function once<T>(
    action: (sql: Sql) => Promise<T>,
    options: TransactionOptions,
    isAgain: boolean,
  ): Promise<T> {
    const client = await pool.connect();
    gaveUp = false;
    const { sql, commit, rollback, isOver } = transactionOn(client, options, clock, isAgain);
    try {
      const result = await action(sql);
      await commit();
      return result;
    } catch (error) {
      if (isLost(error)) losses += 1;
      else await rollback().catch(ignore);
      throw error;
    } finally {
      client.release(!isOver());
    }
  }

  const isAway = (error: unknown): boolean => isBusy(error) || isLost(error);

  async function transaction<T>(
    action: (sql: Sql) => Promise<T>,
    options: TransactionOptions = {},
  ): Promise<T> {
    let failed: unknown;
    const attempt = async ({ number }: { number: number }): Promise<PollNext<T>> => {
      try {
        return { done: await once(action, options, number > 1) };
      } catch (error) {
        // If the database stays unavailable, only the first transaction tries repeatedly to
        // connect. All transactions after the first transaction fail after one try, until a
        // connection succeeds.
        if (!isConflict(error) && (!isAway(error) || gaveUp)) throw error;
        failed = error;
        return {};
      }
    };
    const deps = { now: clock, sleep };
    try {
      const end = await poll(policies.database, attempt, deps, longestDatabaseWaitMs);
      if ('done' in end) return end.done;
      throw failed;
    } catch (error) {
      gaveUp ||= isAway(error);
      throw isOfDatabase(error) ? databaseFailure(source, error, () => roleOf(url)) : error;
    }
  }

  return {
    kind: 'postgres',
    source,
    where: withoutPassword(url).url,
    losses: () => losses,
    forUpdate: ' FOR UPDATE',
    transaction,
    read: (action) => transaction(action),
    close: async () => {
      // Waits at most 500 ms for the pool to close, because closing a connection that no longer
      // responds could hang.
      await Promise.race([pool.end().catch(ignore), delay(500, undefined, { ref: false })]);
      for (const socket of sockets) socket.destroy();
    },
  };
}

const ignore = (): void => undefined;

/** The PostgreSQL role with which svcpay connects, for suggested GRANT statements. */
const roleOf = (url: string): string =>
  new pg.Client({ connectionString: strictTls(url) }).user ?? 'ROLE';

/** Whether the database, not the action, threw the error. */
const isOfDatabase = (error: unknown): boolean =>
  error instanceof Error && !(error instanceof Failure) && error.name !== 'LostClaim';

function openPool(url: string, source: string, sockets: Set<Socket>, onLoss: () => void): pg.Pool {
  try {
    const pool = new pg.Pool({
      connectionString: strictTls(url),
      max: mostConnections,
      connectionTimeoutMillis: connectMs,
      query_timeout: answerMs,
      keepAlive: true,
      allowExitOnIdle: true,
      application_name: 'svcpay',
      types: {
        getTypeParser: (oid: number, format?: 'text' | 'binary') =>
          oid === int8 ? Number : pg.types.getTypeParser(oid, format),
      },
      stream: () => {
        const socket = new Socket();
        sockets.add(socket);
        return socket.once('close', () => sockets.delete(socket));
      },
    });
    pool.on('error', onLoss);
    // Ignores connection errors between statements, because the next statement reports them.
    pool.on('connect', (client) => client.on('error', ignore));
    return pool;
  } catch (cause) {
    throw notAnAddress(source, cause);
  }
}
