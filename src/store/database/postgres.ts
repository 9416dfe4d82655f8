// Connects to a PostgreSQL database for the journal and the inbox. Connection poolers work, because
// svcpay's transactions use no session state, such as session locks and prepared statements. After
// a lost connection, svcpay looks up the outcome of a commit instead of assuming an outcome. To
// save round trips, svcpay sends BEGIN, settings, locks and the first statement together, and also
// the last statements and COMMIT.
import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { Failure, type FailureDetails, type FailureKind } from '../../formats/failure.js';
import { longestDatabaseWaitMs, policies, poll, type PollNext } from '../../formats/poll.js';
import { notAnAddress, strictTls, withoutPassword } from './address.js';
import {
  type Sql,
  type SqlDatabase,
  type TransactionOptions,
  TimeFromNow,
  type SqlValue,
  type Statement,
} from './sql.js';
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
    return runOn(client, action, options, clock, isAgain).catch((error: unknown) => {
      if (isLost(error)) losses += 1;
      throw error;
    });
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

/** The schema that holds all tables of svcpay. */
export const schemaName = 'svcpay';

const statementMs = 5_000;
/**
 * The client's timeout for a response in ms, which is longer than the database's own timeout,
 * because the database's error is more specific.
 */
const answerMs = 6_000;
/**
 * The timeout of unlimited statements, a day in ms, because the client library has no value for
 * unlimited.
 */
const unlimitedMs = 86_400_000;

const clockTime = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';

/**
 * Runs the action as one transaction on a connection, and releases the connection.
 * @param clock returns monotonic milliseconds
 */
async function runOn<T>(
  client: pg.PoolClient,
  action: (sql: Sql) => Promise<T>,
  options: TransactionOptions,
  clock: () => number,
  isAgain: boolean,
): Promise<T> {
  const timeoutMs = options.isUnlimited === true ? unlimitedMs : answerMs;
  const timeout = { query_timeout: timeoutMs };
  let databaseClock: (() => number) | undefined;
  let isOver = true;

  /**
   * Resolves with the results of the statements. Sends the first statements together with BEGIN.
   */
  async function send(statements: readonly Statement[]): Promise<Result[]> {
    const first = databaseClock === undefined ? opening(options) : [];
    isOver = false;
    const results = await sendTogether(client, [...first, ...statements], timeoutMs);
    databaseClock ??= clockFrom(results[first.length - 1]?.rows, clock);
    return results.slice(first.length);
  }

  async function commitAfter(statements: readonly Statement[]): Promise<Result[]> {
    const results = await send([...statements, ['COMMIT']]);
    isOver = true;
    // PostgreSQL answers the COMMIT of a failed transaction with ROLLBACK.
    if (results.pop()?.command !== 'COMMIT') throw new Error('the transaction was rolled back');
    return results;
  }

  const now = async (): Promise<number> => {
    if (databaseClock === undefined) await send([]);
    return databaseClock?.() ?? 0;
  };
  const sql: Sql = {
    isAgain,
    all: async (...statement) => (await send([statement]))[0]?.rows ?? [],
    run: async (...statement) => (await send([statement]))[0]?.rowCount ?? 0,
    last: async (...statements) => (await commitAfter(statements)).map(({ rows }) => rows),
    now,
    script: async (text) => {
      await now();
      await client.query({ text, ...timeout });
    },
    whileLocked: async (name, ...statement) =>
      (await send([[`SELECT ${takeLock}`, name], statement]))[1]?.rows ?? [],
  };
  try {
    const result = await action(sql);
    // Commits if a statement was sent and `sql.last` has not committed the transaction.
    if (!isOver) await commitAfter([]);
    return result;
  } catch (error) {
    if (!isOver && !isLost(error))
      await client.query('ROLLBACK').then(() => (isOver = true), ignore);
    throw error;
  } finally {
    // The next transaction can use the connection only if it is idle.
    client.release(!isOver);
  }
}

/**
 * The settings of a transaction. svcpay sends the settings with each transaction, because a pooler
 * may give each transaction a different session.
 */
const settings = (statementTimeout: number, idleTimeout: number): string =>
  `set_config('search_path', '${schemaName}', true),
    set_config('statement_timeout', '${statementTimeout}', true),
    set_config('lock_timeout', '${statementTimeout}', true),
    set_config('idle_in_transaction_session_timeout', '${idleTimeout}', true)`;
const limited = settings(statementMs, answerMs);
const unlimited = settings(0, 0);

/**
 * The first statements of a transaction, which set the timeouts, take the locks in order, and then
 * read the clock.
 */
function opening({ locks = [], isUnlimited = false }: TransactionOptions): Statement[] {
  const calls = [isUnlimited ? unlimited : limited, ...locks.map(() => takeLock), clockTime];
  return [
    ['BEGIN ISOLATION LEVEL READ COMMITTED'],
    // Sorts the locks, to prevent deadlocks.
    [`SELECT ${calls.join(', ')} AS now`, ...locks.toSorted()],
  ];
}

const takeLock = 'pg_advisory_xact_lock(hashtextextended(?, 0))';

const resultsSchema = v.array(
  v.object({
    command: v.nullable(v.string()),
    rowCount: v.nullable(v.number()),
    rows: v.array(v.unknown()),
  }),
);
type Result = v.InferOutput<typeof resultsSchema>[number];

const sendTogether = (
  client: pg.PoolClient,
  statements: readonly Statement[],
  timeoutMs: number,
): Promise<Result[]> =>
  new Promise((resolve, reject) => {
    const answered = (error: Error | undefined, results: unknown): void => {
      // The client library returns one result for a single statement, and a list of results for
      // several statements.
      if (error) reject(error);
      else resolve(v.parse(resultsSchema, [results].flat()));
    };
    client.query(new StatementBatch(statements, timeoutMs, answered));
  });

/**
 * A batch of statements with parameters, sent in one message and answered in one message. The
 * client library itself sends only single statements, but it reads any number of results. If a
 * statement of the batch fails, PostgreSQL skips the remaining statements.
 */
class StatementBatch extends pg.Query {
  /** The timeout in ms, a field that the client library reads. */
  readonly query_timeout: number;
  override readonly submit: (connection: pg.Connection) => void;

  constructor(
    statements: readonly Statement[],
    timeoutMs: number,
    answered: (error: Error | undefined, results: unknown) => void,
  ) {
    super({ text: '' }, answered);
    this.query_timeout = timeoutMs;
    this.submit = (connection) => {
      connection.stream.cork();
      for (const [text, ...values] of statements) {
        connection.parse({ name: '', text: numbered(text, values), types: [] }, true);
        connection.bind({ values: values.map(wireValue) }, true);
        connection.describe({ type: 'P', name: '' }, true);
        connection.execute({}, true);
      }
      connection.sync();
      connection.stream.uncork();
    };
  }
}

/** Replaces the placeholders `?` with `$1`, `$2` and so on. */
function numbered(text: string, values: readonly SqlValue[]): string {
  let count = 0;
  return text.replaceAll('?', () => {
    const place = `$${(count += 1)}`;
    return values[count - 1] instanceof TimeFromNow ? `(${clockTime} + ${place})` : place;
  });
}

function wireValue(value: SqlValue): string | Buffer | null {
  if (value instanceof TimeFromNow) return String(value.plusMs);
  if (value instanceof Uint8Array) return Buffer.from(value);
  // PostgreSQL text cannot contain NUL.
  return value === null ? null : String(value).replaceAll('\0', '\uFFFD');
}

const nowSchema = v.tuple([v.object({ now: v.number() })]);

/**
 * Returns the database's clock. svcpay reads the clock once, with the first statement, and then
 * adds the time that has passed on a monotonic clock, to save round trips.
 */
function clockFrom(rows: unknown, clock: () => number): () => number {
  const [{ now }] = v.parse(nowSchema, rows);
  const askedAt = clock();
  return () => now + Math.floor(clock() - askedAt);
}
