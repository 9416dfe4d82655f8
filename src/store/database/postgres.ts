// Connects to a PostgreSQL database for the journal and the inbox. Connection poolers work, because
// svcpay's transactions use no session state, such as session locks and prepared statements. After
// a lost connection, svcpay looks up the outcome of a commit instead of assuming an outcome.
import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { Failure, type FailureDetails, type FailureKind } from '../../formats/failure.js';
import { longestDatabaseWaitMs, policies, poll, type PollNext } from '../../formats/poll.js';
import { notAnAddress, strictTls, withoutPassword } from './address.js';
import { answerMs, transactionOn } from './postgres-transaction.js';
import type { Sql, SqlDatabase, TransactionOptions } from './sql.js';
import * as v from 'valibot';
import { codeOf, messageOf } from '../../formats/text.js';

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

const networkCode = /^E(CONN|PIPE|TIMEDOUT|HOSTUNREACH|NETUNREACH|AI_AGAIN|NOTFOUND)/;
/**
 * Matches the SQLSTATE codes of lost connections, for example because the server is shutting down,
 * is starting, or has ended an idle transaction.
 */
const lostState = /^(08|57P0[123]|25P03)/;
/** The messages of client library errors that have no code. */
const lostTexts = [
  'Connection terminated',
  'Query read timeout',
  'timeout expired',
  'timeout exceeded',
  'Client has encountered a connection error',
];

/**
 * The SQLSTATE code of an error, corrected for PgBouncer, which reports a wrong password as a
 * protocol violation.
 */
const stateOf = (error: unknown): string =>
  codeOf(error) === '08P01' && /authentication failed|no such user/i.test(messageOf(error))
    ? '28P01'
    : codeOf(error);

/** Whether the connection was lost, together with the response to the last statement. */
const isLost = (error: unknown): boolean =>
  error instanceof Error &&
  (networkCode.test(codeOf(error)) ||
    lostState.test(stateOf(error)) ||
    lostTexts.some((text) => error.message.startsWith(text)));

/**
 * Whether the server rolled the transaction back because of another transaction, so a retry of the
 * transaction is safe.
 */
const isConflict = (error: unknown): boolean => ['40001', '40P01'].includes(codeOf(error));

/**
 * Whether the server refuses connections now, because it is starting or has no free connections.
 */
const isBusy = (error: unknown): boolean => /^(53300|57P03)/.test(codeOf(error));

const rules: readonly (readonly [
  states: RegExp,
  kind: FailureKind,
  what: string,
  hint?: string,
])[] = [
  [
    /^28/,
    'authentication',
    'refuses the user or the password',
    'Set the password in the address, in PGPASSWORD or in .pgpass.',
  ],
  [/^3D000/, 'usage', 'does not exist', 'Create the database first: CREATE DATABASE ...'],
  [/^25006/, 'temporary', 'is read-only now (it may be a replica, or in a failover)'],
  [/^53100/, 'temporary', 'has no disk space left'],
  [/^53/, 'temporary', 'has no free connections'],
  [/^(55P03|57014|40)/, 'temporary', 'was busy for too long'],
];

/**
 * Returns advice after the server refused a statement: the GRANT statements that are necessary, or
 * the role that must run the upgrade.
 */
function grants(role: string, reason: string): string {
  const name = `"${role.replaceAll('"', '""')}"`;
  const [, database] = /for database (\S+)/.exec(reason) ?? [];
  if (database !== undefined)
    return `As the owner of the database: GRANT CREATE ON DATABASE ${database} TO ${name};`;
  if (/must be owner/.test(reason)) return 'Run the upgrade as the role that owns the tables.';
  return (
    `As the owner of the tables: GRANT USAGE ON SCHEMA svcpay TO ${name}; ` +
    `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA svcpay TO ${name}; ` +
    `GRANT USAGE ON ALL SEQUENCES IN SCHEMA svcpay TO ${name};`
  );
}

/**
 * @param source the setting that names the database
 * @param role the user that connects
 */
export function databaseFailure(source: string, cause: unknown, role: () => string): Failure {
  if (cause instanceof Failure) return cause;
  if (codeOf(cause) === 'ERR_INVALID_URL') return notAnAddress(source, cause);
  const reason = messageOf(cause) || codeOf(cause);
  const failure = (kind: FailureKind, text: string, details: FailureDetails = {}): Failure =>
    new Failure(kind, `The database of ${source} ${text}.`, { ...details, cause });
  if (cause instanceof v.ValiError)
    return failure('usage', `is damaged and was not changed: ${reason}`);
  if (codeOf(cause) === '42501')
    return failure('authentication', `refuses the role ${role()}: ${reason}`, {
      hint: grants(role(), reason),
    });
  const rule = rules.find(([states]) => states.test(stateOf(cause)));
  if (rule !== undefined) return failure(rule[1], `${rule[2]}: ${reason}`, { hint: rule[3] });
  if (/password must be a string|no password/i.test(reason)) {
    return failure('authentication', 'needs a password', { hint: rules[0]?.[3] });
  }
  if (isLost(cause)) return failure('temporary', `cannot be reached: ${reason}`);
  if (/SSL|TLS|certificate/i.test(`${reason} ${codeOf(cause)}`)) {
    return failure('usage', `does not match the TLS settings in its address: ${reason}`, {
      hint: 'Check sslmode in the address.',
    });
  }
  return failure('usage', `cannot be used: ${reason}`);
}
