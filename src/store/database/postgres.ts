// A PostgreSQL database for journal and inbox. Every transaction stands alone: no session locks, no prepared statements
// with names, nothing that a pooler between us could lose. A commit whose answer was lost is found out about, not assumed.
import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import * as v from 'valibot';
import { Failure } from '../../formats/failure.js';
import { notAnAddress, strictTls, withoutPassword } from './address.js';
import { databaseFailure, isBusy, isConflict, isLost, isNowhere } from './postgres-failure.js';
import { Present, type Sql, type SqlDatabase, type SqlValue, type TransactionOptions } from './sql.js';

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
/** A day, in ms: the client library has no word for never. */
const unlimitedQuery = { query_timeout: 86_400_000 };
const configured = (values: Readonly<Record<string, string | number>>): string =>
  Object.entries(values).map(([name, value]) => `set_config('${name}', '${value}', true)`).join(', ');

/** A transaction with settings of its own, and its locks. */
function beginning({ locks = [], isUnlimited }: TransactionOptions): string {
  const ourSettings = configured(isUnlimited === true ? { ...settings, statement_timeout: 0, lock_timeout: 0, idle_in_transaction_session_timeout: 0 } : settings);
  // In one order for everybody, so that no two wait for each other.
  const held = locks.toSorted().map((name) => `pg_advisory_xact_lock(hashtextextended(${pg.escapeLiteral(storable(name))}, 0))`);
  const lock = held.length === 0 ? '' : `; SELECT ${held.join(', ')}`;
  return `BEGIN ISOLATION LEVEL READ COMMITTED; SELECT ${ourSettings}${lock}`;
}

const int8 = 20;

export interface Postgres extends SqlDatabase {
  /** Where it is, without the password. */
  readonly where: string;
  /** Runs a statement that PostgreSQL refuses within a transaction, for as long as it takes. */
  alone(text: string): Promise<void>;
}

export function postgresDatabase({ url, source, clock }: PostgresOptions): Postgres {
  const sockets = new Set<Socket>();
  const pool = openPool(url, source, sockets);
  const failed = (error: unknown): Failure => databaseFailure(source, error, () => roleOf(url));
  let wasThere = false;
  let gaveUp = false;

  async function once<T>(action: (sql: Sql) => Promise<T>, options: TransactionOptions, isAgain: boolean): Promise<T> {
    const client = await pool.connect();
    [wasThere, gaveUp] = [true, false];
    const timeout = options.isUnlimited === true ? unlimitedQuery : {};
    let isOver = false;
    let clockThere: (() => number) | undefined;
    /** Carries out a statement together with the beginning of the transaction, with its end, or with both. */
    const send = async (text: string, isLast: boolean): Promise<readonly unknown[]> => {
      const isFirst = clockThere === undefined;
      const statements = [isFirst ? beginning(options) : '', text, isLast ? 'COMMIT' : `SELECT ${present} AS now`].filter((each) => each !== '');
      const results = v.parse(resultsSchema, [await client.query({ text: statements.join('; '), ...timeout })].flat());
      const [last] = results.slice(-1);
      if (isLast && last?.command !== 'COMMIT') throw new Error('the transaction was rolled back');
      if (!isLast) clockThere = clockFrom(last?.rows, clock);
      isOver = isLast;
      return results.at(-2)?.rows ?? [];
    };
    try {
      const result = await action(sqlOf((text, values) => client.query({ text, values: [...values], ...timeout }), send, () => clockThere, isAgain));
      if (!isOver && clockThere !== undefined) await send('', true);
      return result;
    } catch (error) {
      if (!isOver && !isLost(error)) isOver = await client.query('ROLLBACK').then(() => true, () => false);
      throw error;
    } finally {
      client.release(!isOver);
    }
  }

  async function transaction<T>(action: (sql: Sql) => Promise<T>, options: TransactionOptions = {}): Promise<T> {
    const until = clock() + reconnectTimeoutMs;
    for (let turn = 0; ; turn += 1) {
      try {
        return await once(action, options, turn > 0);
      } catch (error) {
        const isAway = isBusy(error) || (isLost(error) && (wasThere || !isNowhere(error)));
        if (!(isConflict(error) || (isAway && !gaveUp)) || clock() > until) {
          // Waited once: until a connection is made the next transaction only tries.
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
      // A connection that says nothing any more would not end.
      await Promise.race([pool.end().catch(ignore), delay(500, undefined, { ref: false })]);
      for (const socket of sockets) socket.destroy();
    },
  };
}

const ignore = (): void => undefined;

/** The role that connects, for GRANT statements. */
const roleOf = (url: string): string => new pg.Client({ connectionString: strictTls(url) }).user ?? 'ROLE';

/** And not thrown by an action on purpose. */
const isOfDatabase = (error: unknown): boolean => error instanceof Error && !(error instanceof Failure) && error.name !== 'LostClaim';

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
    // What happens between statements is told by the next one, from the moment that a connection is made.
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

/** Several statements in one message take no parameters. */
function withLiterals(text: string, values: readonly SqlValue[]): string {
  let at = 0;
  return text.replaceAll('?', () => literal(values[at++] ?? null));
}

function literal(value: SqlValue): string {
  if (value === null) return 'NULL';
  if (typeof value === 'number') return `(${value})`;
  if (value instanceof Present) return `(${present} + ${value.plusMs})`;
  return typeof value === 'string' ? pg.escapeLiteral(storable(value)) : `decode('${Buffer.from(value).toString('hex')}', 'hex')`;
}

/** The one character that PostgreSQL cannot keep in a text, and that would end a message. */
const storable = (text: string): string => text.replaceAll('\0', '\uFFFD');

const resultsSchema = v.array(v.object({ command: v.string(), rows: v.array(v.unknown()) }));
const presentSchema = v.tuple([v.object({ now: v.number() })]);

/**
 * The clock of the database: read once, as soon as the first statement is done, and followed by how long it was since by a
 * clock that is never set, so that the present is known after every wait without asking again.
 */
function clockFrom(rows: unknown, clock: () => number): () => number {
  const [{ now }] = v.parse(presentSchema, rows);
  const askedAt = clock();
  return () => now + Math.floor(clock() - askedAt);
}

/** @param send carries out a statement together with the beginning of the transaction, with its end, or with both */
function sqlOf(
  carryOut: (text: string, values: readonly unknown[]) => Promise<pg.QueryResult<Record<string, unknown>>>,
  send: (text: string, isLast: boolean) => Promise<readonly unknown[]>,
  clockThere: () => (() => number) | undefined,
  isAgain: boolean,
): Sql {
  const now = async (): Promise<number> => {
    if (clockThere() === undefined) await send('', false);
    return clockThere()?.() ?? 0;
  };
  const query = async (text: string, values: readonly SqlValue[]): Promise<pg.QueryResult<Record<string, unknown>>> => {
    const at = await now();
    const plain = values.map((value) => {
      if (value instanceof Present) return at + value.plusMs;
      return typeof value === 'string' ? storable(value) : value;
    });
    return carryOut(numberedText(text), plain);
  };
  const all = async (text: string, ...values: SqlValue[]): Promise<readonly unknown[]> =>
    clockThere() === undefined ? send(withLiterals(text, values), false) : (await query(text, values)).rows;
  return {
    isAgain,
    all,
    final: (text, ...values) => send(withLiterals(text, values), true),
    run: async (text, ...values) => (await query(text, values)).rowCount ?? 0,
    now,
    lock: async (name) => void (await all('SELECT pg_advisory_xact_lock(hashtextextended(?, 0))', name)),
  };
}
