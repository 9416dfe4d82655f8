// A PostgreSQL database for journal and inbox. Transactions use no session state, such as session locks and prepared
// statements, so poolers work. After a lost connection, the outcome of a commit is looked up, not assumed.
import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import * as v from 'valibot';
import { Failure } from '../../formats/failure.js';
import { notAnAddress, strictTls, withoutPassword } from './address.js';
import { databaseFailure, isBusy, isConflict, isLost, isNowhere } from './postgres-failure.js';
import {
  Present,
  type Sql,
  type SqlDatabase,
  type SqlValue,
  type TransactionOptions,
} from './sql.js';

export interface PostgresOptions {
  /** With its password, if any; missing parts come from PG* variables and the password file. */
  readonly url: string;
  /** The setting with the address, for messages. */
  readonly source: string;
  /** Monotonic milliseconds. */
  readonly clock: () => number;
}

/** The schema of the database that holds all tables. */
export const schemaName = 'svcpay';

const connectMs = 4_000;
const statementMs = 5_000;
/** Longer than the database's own timeout, whose error is more specific. */
const answerMs = 6_000;
/** Longest wait for a database that was reachable before. */
const reconnectTimeoutMs = 12_000;
const firstPauseMs = 50;
const longestPauseMs = 1_000;
const mostConnections = 6;

const settings = {
  search_path: schemaName,
  statement_timeout: statementMs,
  lock_timeout: statementMs,
  idle_in_transaction_session_timeout: answerMs,
};

const present = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';
/** A day, because the client library has no value for unlimited. */
const unlimitedQuery = { query_timeout: 86_400_000 };
const configured = (values: Readonly<Record<string, string | number>>): string =>
  Object.entries(values)
    .map(([name, value]) => `set_config('${name}', '${value}', true)`)
    .join(', ');

/** Begins a transaction with its settings and locks. */
function beginning({ locks = [], isUnlimited }: TransactionOptions): string {
  const ourSettings = configured(
    isUnlimited === true
      ? {
          ...settings,
          statement_timeout: 0,
          lock_timeout: 0,
          idle_in_transaction_session_timeout: 0,
        }
      : settings,
  );
  // Sorted to prevent deadlocks.
  const held = locks
    .toSorted()
    .map(
      (name) => `pg_advisory_xact_lock(hashtextextended(${pg.escapeLiteral(storable(name))}, 0))`,
    );
  const lock = held.length === 0 ? '' : `; SELECT ${held.join(', ')}`;
  return `BEGIN ISOLATION LEVEL READ COMMITTED; SELECT ${ourSettings}${lock}`;
}

const int8 = 20;

export interface Postgres extends SqlDatabase {
  /** The address without its password. */
  readonly where: string;
  /** Runs a statement that PostgreSQL refuses inside a transaction, without a time limit. */
  alone(text: string): Promise<void>;
}

export function postgresDatabase({ url, source, clock }: PostgresOptions): Postgres {
  const sockets = new Set<Socket>();
  const pool = openPool(url, source, sockets);
  const failed = (error: unknown): Failure => databaseFailure(source, error, () => roleOf(url));
  let wasThere = false;
  let gaveUp = false;

  async function once<T>(
    action: (sql: Sql) => Promise<T>,
    options: TransactionOptions,
    isAgain: boolean,
  ): Promise<T> {
    const client = await pool.connect();
    [wasThere, gaveUp] = [true, false];
    const timeout = options.isUnlimited === true ? unlimitedQuery : {};
    let isOver = false;
    let clockThere: (() => number) | undefined;
    /** Sends a statement, combined with the beginning and the end of the transaction. */
    const send = async (text: string, isLast: boolean): Promise<readonly unknown[]> => {
      const isFirst = clockThere === undefined;
      const statements = [
        isFirst ? beginning(options) : '',
        text,
        isLast ? 'COMMIT' : `SELECT ${present} AS now`,
      ].filter((each) => each !== '');
      const results = v.parse(
        resultsSchema,
        [await client.query({ text: statements.join('; '), ...timeout })].flat(),
      );
      const [last] = results.slice(-1);
      if (isLast && last?.command !== 'COMMIT') throw new Error('the transaction was rolled back');
      if (!isLast) clockThere = clockFrom(last?.rows, clock);
      isOver = isLast;
      return results.at(-2)?.rows ?? [];
    };
    try {
      const result = await action(
        sqlOf(
          (text, values) => client.query({ text, values: [...values], ...timeout }),
          send,
          () => clockThere,
          isAgain,
        ),
      );
      if (!isOver && clockThere !== undefined) await send('', true);
      return result;
    } catch (error) {
      if (!isOver && !isLost(error))
        isOver = await client.query('ROLLBACK').then(
          () => true,
          () => false,
        );
      throw error;
    } finally {
      client.release(!isOver);
    }
  }

  async function transaction<T>(
    action: (sql: Sql) => Promise<T>,
    options: TransactionOptions = {},
  ): Promise<T> {
    const until = clock() + reconnectTimeoutMs;
    for (let turn = 0; ; turn += 1) {
      try {
        return await once(action, options, turn > 0);
      } catch (error) {
        const isAway = isBusy(error) || (isLost(error) && (wasThere || !isNowhere(error)));
        if (!(isConflict(error) || (isAway && !gaveUp)) || clock() > until) {
          // Waits only once; until a connection succeeds, further transactions try once.
          gaveUp ||= isAway;
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
    alone: async (text) => {
      try {
        await pool.query({ text, ...unlimitedQuery });
      } catch (error) {
        throw failed(error);
      }
    },
    close: async () => {
      // A silent connection would never end.
      await Promise.race([pool.end().catch(ignore), delay(500, undefined, { ref: false })]);
      for (const socket of sockets) socket.destroy();
    },
  };
}

const ignore = (): void => undefined;

/** The role that connects, for GRANT statements. */
const roleOf = (url: string): string =>
  new pg.Client({ connectionString: strictTls(url) }).user ?? 'ROLE';

/** Whether the database threw the error, and not the action. */
const isOfDatabase = (error: unknown): boolean =>
  error instanceof Error && !(error instanceof Failure) && error.name !== 'LostClaim';

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
    pool.on('error', ignore);
    // The next statement reports errors that occur between statements.
    pool.on('connect', (client) => client.on('error', ignore));
    return pool;
  } catch (cause) {
    throw notAnAddress(source, cause);
  }
}

/** `$1` for the first `?`, and so on. */
function numberedText(text: string): string {
  let count = 0;
  return text.replaceAll('?', () => `$${(count += 1)}`);
}

/** Inserts literals, because several statements in one message take no parameters. */
function withLiterals(text: string, values: readonly SqlValue[]): string {
  let at = 0;
  return text.replaceAll('?', () => literal(values[at++] ?? null));
}

function literal(value: SqlValue): string {
  if (value === null) return 'NULL';
  if (typeof value === 'number') return `(${value})`;
  if (value instanceof Present) return `(${present} + ${value.plusMs})`;
  return typeof value === 'string'
    ? pg.escapeLiteral(storable(value))
    : `decode('${Buffer.from(value).toString('hex')}', 'hex')`;
}

/** Replaces NUL, which PostgreSQL text cannot contain. */
const storable = (text: string): string => text.replaceAll('\0', '\uFFFD');

const resultsSchema = v.array(v.object({ command: v.string(), rows: v.array(v.unknown()) }));
const presentSchema = v.tuple([v.object({ now: v.number() })]);

/**
 * The clock of the database: read once with the first statement, then advanced by a monotonic
 * clock, which saves round trips.
 */
function clockFrom(rows: unknown, clock: () => number): () => number {
  const [{ now }] = v.parse(presentSchema, rows);
  const askedAt = clock();
  return () => now + Math.floor(clock() - askedAt);
}

/** @param send sends a statement, combined with the beginning and the end of the transaction */
function sqlOf(
  carryOut: (
    text: string,
    values: readonly unknown[],
  ) => Promise<pg.QueryResult<Record<string, unknown>>>,
  send: (text: string, isLast: boolean) => Promise<readonly unknown[]>,
  clockThere: () => (() => number) | undefined,
  isAgain: boolean,
): Sql {
  const now = async (): Promise<number> => {
    if (clockThere() === undefined) await send('', false);
    return clockThere()?.() ?? 0;
  };
  const query = async (
    text: string,
    values: readonly SqlValue[],
  ): Promise<pg.QueryResult<Record<string, unknown>>> => {
    const at = await now();
    const plain = values.map((value) => {
      if (value instanceof Present) return at + value.plusMs;
      return typeof value === 'string' ? storable(value) : value;
    });
    return carryOut(numberedText(text), plain);
  };
  const all = async (text: string, ...values: SqlValue[]): Promise<readonly unknown[]> =>
    clockThere() === undefined
      ? send(withLiterals(text, values), false)
      : (await query(text, values)).rows;
  return {
    isAgain,
    all,
    final: (text, ...values) => send(withLiterals(text, values), true),
    run: async (text, ...values) => (await query(text, values)).rowCount ?? 0,
    now,
    lock: async (name) =>
      void (await all('SELECT pg_advisory_xact_lock(hashtextextended(?, 0))', name)),
  };
}
