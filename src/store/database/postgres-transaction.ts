// Runs one transaction on a connection to PostgreSQL. To save database round trips, svcpay sends
// BEGIN, settings, locks and the first statement together, and also the last statements and COMMIT.
import pg from 'pg';
import * as v from 'valibot';
import {
  TimeFromNow,
  type Sql,
  type SqlValue,
  type Statement,
  type TransactionOptions,
} from './sql.js';

/** The schema that holds all tables of svcpay. */
export const schemaName = 'svcpay';

const statementMs = 5_000;
/**
 * The client's timeout for a response in ms, which is longer than the database's own timeout,
 * because the database's error is more specific.
 */
export const answerMs = 6_000;
/**
 * The timeout of unlimited statements, a day in ms, because the client library has no value for
 * unlimited.
 */
const unlimitedMs = 86_400_000;

const clockTime = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';

export interface Transaction {
  readonly sql: Sql;
  /** Commits if a statement was sent and `sql.last` has not committed the transaction. */
  commit(): Promise<void>;
  rollback(): Promise<void>;
  /** Whether the connection is idle, so that the next transaction can use the connection. */
  isOver(): boolean;
}

/**
 * Returns a transaction on a connection.
 * @param clock returns monotonic milliseconds
 */
export function transactionOn(
  client: pg.PoolClient,
  options: TransactionOptions,
  clock: () => number,
  isAgain: boolean,
): Transaction {
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
  return {
    sql,
    commit: async () => {
      if (!isOver) await commitAfter([]);
    },
    rollback: async () => {
      if (isOver) return;
      await client.query('ROLLBACK');
      isOver = true;
    },
    isOver: () => isOver,
  };
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
