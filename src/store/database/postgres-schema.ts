// The tables in PostgreSQL, and the databases that svcpay refuses to use. Each group of tables has
// a version, and each upgrade to the next version is a transaction.
import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { type Postgres, schemaName } from './postgres.js';
import { flag, type Sql, type Statement } from './sql.js';
import { type Failure, type NextStep, invalid } from '../../formats/failure.js';
import { databaseIdVariable } from './address.js';

/** A group of tables that share one version number. */
export interface TableGroup {
  readonly name: 'journal' | 'inbox';
  /** The main table of the journal or the inbox, with one row for each payment or event. */
  readonly table: string;
  /**
   * The SQL scripts that each upgrade the tables of the group by one version. The first SQL script
   * creates version 1 of the tables.
   */
  readonly steps: readonly string[];
}

/**
 * The tables with the identity of the database, the latest submission of each account, and the
 * version of each table group.
 */
const commonTables = `
  CREATE TABLE identity (
    id TEXT COLLATE "C" PRIMARY KEY,
    generation BIGINT NOT NULL DEFAULT 1,
    restored BIGINT NOT NULL DEFAULT 0,
    place TEXT COLLATE "C" -- database, table and transaction that wrote the row
  );
  CREATE TABLE submissions (
    account TEXT COLLATE "C" PRIMARY KEY,
    latest TEXT COLLATE "C" NOT NULL, -- the payment of the latest submission
    submitted_at BIGINT NOT NULL
  ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);
  CREATE TABLE part_versions (
    part TEXT COLLATE "C" PRIMARY KEY,
    version BIGINT NOT NULL
  );`;

/**
 * Returns the SQL expression for the place of a row: the oid of its database, its table, and the
 * transaction that wrote the row. svcpay compares the stored place of the identity row with its
 * current place, to detect a copy of the database. In a database that was restored from a dump or
 * logically replicated, a different transaction wrote the identity row than in the original
 * database. A copied database has a different oid from the original database. The place of a row
 * (database oid, table and transaction) stays the same after a failover, a vacuum or pg_upgrade.
 */
const placeOf = (transaction: string): string =>
  `concat_ws(' ', (SELECT oid FROM pg_database WHERE datname = current_database()), tableoid,
    ${transaction})`;
const staysHere = `place = ${placeOf('txid_current() % 4294967296')}`;
const isCopy = `place IS DISTINCT FROM ${placeOf('xmin')}`;

const countSchema = v.tuple([v.object({ counted: v.number(), estimated: v.number() })]);
const namesSchema = v.array(v.object({ name: v.string() }));
const stateSchema = v.tuple([
  v.pipe(
    v.object({
      id: v.string(),
      generation: v.number(),
      restored: flag,
      latest: v.nullable(v.string()),
      version: v.nullable(v.number()),
    }),
    v.transform(({ version, ...identity }): PartState => ({ identity, version: version ?? 0 })),
  ),
]);

/** The identity of a database, and whether payments may be missing from it. */
export interface Identity {
  readonly id: string;
  /**
   * The number of the journal's generation, counted from 1. `db import` starts a new
   * generation of the journal.
   */
  readonly generation: number;
  /** The random id of the payment that was submitted last. */
  readonly latest: string | null;
  /**
   * Whether payments may be missing, because the database is a copy, such as a restored dump,
   * because it lacks the payment that this home remembers, as a restored backup and a
   * promoted replica may, or because another home noticed this.
   */
  readonly restored: boolean;
}

/** The state of the database when this home last used it. */
export type SeenDatabase = Pick<Identity, 'generation' | 'latest'>;

export interface PartState {
  /** The identity of the database, or undefined if the tables are missing. */
  readonly identity: Identity | undefined;
  /** The version of the group's tables, or 0 if the tables are missing. */
  readonly version: number;
}

/** @param seen the state of the database that this home remembers */
export const readVersion = (
  database: Postgres,
  part: TableGroup,
  seen?: SeenDatabase,
): Promise<PartState> => database.read((sql) => stateOf(sql, database, part, seen));

/** The condition that the database lacks what this home remembers. */
const lacks = ({ generation, latest }: SeenDatabase): Statement =>
  latest === null
    ? ['generation < ?', generation]
    : [
        'generation < ? OR (generation = ? AND ' +
          `NOT EXISTS (SELECT 1 FROM ${schemaName}.payments WHERE id = ?))`,
        generation,
        generation,
        latest,
      ];

/**
 * Reads the table names from the catalogue, because PostgreSQL may resolve a table name from an
 * outdated cache.
 */
async function stateOf(
  sql: Sql,
  { source }: Postgres,
  part: TableGroup,
  seen: SeenDatabase = { generation: 1, latest: null },
): Promise<PartState> {
  const tables = await namesIn(
    sql,
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = '${schemaName}'`,
  );
  if (tables.length === 0) return { identity: undefined, version: 0 };
  if (!['part_versions', 'identity', 'submissions'].every((name) => tables.includes(name)))
    throw refused(
      `The schema ${schemaName} in the database of ${source} was written by a development build ` +
        'or another program and was not changed.',
      'Use a new database',
      { do: 'upgrade-database' },
    );
  // The statement names the schema, so that the error for a role without permission names the
  // schema too.
  const [isBehind, ...values] = lacks(seen);
  const text = `SELECT id, generation, (restored = 1 OR ${isCopy} OR ${isBehind})::int AS restored,
      (SELECT latest FROM ${schemaName}.submissions ORDER BY submitted_at DESC LIMIT 1) AS latest,
      (SELECT version FROM ${schemaName}.part_versions WHERE part = ?) AS version
    FROM ${schemaName}.identity`;
  const [state] = v.parse(stateSchema, await sql.all(text, ...values, part.name));
  if (state.version > part.steps.length)
    throw refused(
      `The ${part.name} in the database of ${source} was written by a newer svcpay and was not ` +
        'changed.',
      'Use the newer version of svcpay, or another database.',
    );
  return state;
}

const namesIn = async (sql: Sql, text: string): Promise<string[]> =>
  v.parse(namesSchema, await sql.all(text)).map(({ name }) => name);

/**
 * Returns the identity of the database. Throws Failure `usage` if the tables are missing or have a
 * different version. Payments never create tables, because an empty database may be the wrong
 * database.
 */
export async function checkTables(
  database: Postgres,
  part: TableGroup,
  seen?: SeenDatabase,
): Promise<Identity> {
  const { identity, version } = await readVersion(database, part, seen);
  if (identity === undefined) throw empty(database);
  if (version < part.steps.length)
    throw refused(
      `The ${part.name} in the database of ${database.source} has version ${version}, but ` +
        `this program requires version ${part.steps.length}.`,
      'Upgrade the database when older programs no longer use it',
      { do: 'upgrade-database' },
    );
  return identity;
}

/** Stops the payments of every home until someone compares the journal with the service. */
export const markRestored = (database: Postgres): Promise<unknown> =>
  database.transaction((sql) => sql.last(['UPDATE identity SET restored = 1']));

/**
 * Allows payments again, after svcpay compared the journal with the service and added the missing
 * payments.
 */
export const startGeneration = (database: Postgres): Promise<unknown> =>
  database.transaction((sql) =>
    sql.last([`UPDATE identity SET generation = generation + 1, restored = 0, ${staysHere}`]),
  );

/** The options for statements of an operator, which have no time limit. */
const unlimited = { isUnlimited: true } as const;

export interface UpgradeOptions {
  /** Whether the operator expects the database to be empty. */
  readonly isNew?: boolean;
  /** Called before each step of an upgrade, with the version of the existing tables. */
  readonly onStep?: (version: number) => void;
}

const empty = ({ source }: Postgres): Failure =>
  refused(
    `The database of ${source} has no tables, so it is either new or the wrong database.`,
    'If the database is new, create its tables',
    { do: 'create-tables' },
  );

/**
 * Upgrades the tables, with one transaction for each version, or creates all tables. Other
 * processes wait until the upgrade of the tables ends. Throws Failure `usage` for an empty
 * database, unless the caller expects an empty database.
 */
export async function upgradeTables(
  database: Postgres,
  part: TableGroup,
  options: UpgradeOptions = {},
): Promise<void> {
  const limits = { locks: [`${schemaName} versions`], ...unlimited };
  const step = (): Promise<number> =>
    database.transaction((sql) => takeStep(sql, database, part, options), limits);
  while ((await step()) < part.steps.length);
}

/** Takes one upgrade step, and returns the version that the step reached. */
async function takeStep(
  sql: Sql,
  database: Postgres,
  part: TableGroup,
  { isNew = false, onStep }: UpgradeOptions,
): Promise<number> {
  const { identity, version } = await stateOf(sql, database, part);
  if (identity === undefined && !isNew) throw empty(database);
  if (identity === undefined) await createCommonTables(sql);
  if (version === part.steps.length) return version;
  if (version > 0) onStep?.(version);
  const steps = version === 0 ? part.steps : part.steps.slice(version, version + 1);
  for (const step of steps) await sql.script(step);
  const reached = version + steps.length;
  await sql.run(
    'INSERT INTO part_versions (part, version) VALUES (?, ?) ' +
      'ON CONFLICT (part) DO UPDATE SET version = excluded.version',
    part.name,
    reached,
  );
  return reached;
}

/**
 * Creates the schema and the common tables. A role that may not create schemas uses an existing
 * schema.
 */
async function createCommonTables(sql: Sql): Promise<void> {
  const schemas = await namesIn(sql, 'SELECT nspname AS name FROM pg_namespace');
  if (!schemas.includes(schemaName)) await sql.run(`CREATE SCHEMA ${schemaName}`);
  await sql.script(commonTables);
  await sql.run('INSERT INTO identity (id) VALUES (?)', randomUUID());
  await sql.run(`UPDATE identity SET ${staysHere}`);
}

/**
 * The largest number of rows that svcpay counts exactly, because counting these rows takes only a
 * few ms. For a table with more than `countedMost` rows, svcpay uses the row count that the
 * database estimates.
 */
const countedMost = 10_000;

/**
 * Counts the rows of a table. For a table with more than `countedMost` rows, returns the row count
 * that the last vacuum or analyze estimated, rounded to two digits.
 */
export const countRows = (database: Postgres, { table }: TableGroup): Promise<number> =>
  database.read(async (sql) => {
    const text = `SELECT count(*) AS counted,
        (SELECT reltuples::bigint FROM pg_class WHERE oid = '${table}'::regclass) AS estimated
      FROM (SELECT 1 FROM ${table} LIMIT ${countedMost + 1}) AS first_rows`;
    const [{ counted, estimated }] = v.parse(countSchema, await sql.all(text));
    return counted <= countedMost ? counted : Number(Math.max(counted, estimated).toPrecision(2));
  });

/** The refusal of a database, to which svcpay neither writes nor pays from it. */
const refused = (text: string, hint: string, next?: NextStep): Failure =>
  invalid(text, { hint, next });

/**
 * @param id the id of the database
 * @param known the id of the database that this home has used until now
 */
export const anotherDatabase = (source: string, id: string, known: string): Failure =>
  refused(
    `The database of ${source} has the id ${id}, but this home recorded its payments ` +
      `in the database ${known}. With the database ${id}, svcpay could make those payments again.`,
    'Set the earlier database again. If all its payments are also in the new database, ' +
      'accept the new database',
    { do: 'accept-database', id },
  );

/** @param expected the database id that the environment variable or the program specifies */
export const unexpectedDatabase = (source: string, id: string, expected: string): Failure =>
  refused(
    `The database of ${source} is not used: its id is ${id}, but the expected id is ${expected}.`,
    'If this database has all payments of the expected database, set ' +
      `${databaseIdVariable}=${id}`,
  );

/**
 * The failure if no id is set for the database and the settings cannot store an id. If svcpay did
 * not know the id of the right database, it could pay from an empty or older database, and repeat
 * payments that the wrong database lacks.
 */
export const unidentifiedDatabase = (source: string, id: string): Failure =>
  refused(
    `No id is set for the database of ${source}, and the settings cannot store an id.`,
    `If this is the right database, set ${databaseIdVariable}=${id}`,
  );

export const restoredDatabase = (source: string, generation: number): Failure =>
  refused(
    `The database of ${source} was restored from a backup (generation ${generation}) ` +
      'and may lack payments made since the backup.',
    'Import the missing payments of each account from the service',
    { do: 'import-payments' },
  );
