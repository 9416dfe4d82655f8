// The tables in PostgreSQL: the numbered steps of a file, each in one transaction.
import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { Failure } from '../../formats/failure.js';
import { codeOf } from '../../formats/unknown.js';
import { schemaName, type Postgres } from './postgres.js';
import type { Sql } from './sql.js';

/** Tables with a version of their own. */
export interface Part {
  readonly name: 'journal' | 'inbox';
  /** The table with a row for each payment or event. */
  readonly table: string;
  /** The SQLite steps; the first creates version 1. */
  readonly steps: readonly string[];
  /** Tables that the step to a version rewrites while other processes wait. */
  readonly rewrites?: Readonly<Record<number, string>>;
}

const countSchema = v.tuple([v.object({ count: v.number() })]);
const existsSchema = v.tuple([v.object({ found: v.boolean() })]);
const versionsSchema = v.array(
  v.object({
    part: v.string(),
    version: v.number(),
    database_id: v.optional(v.nullable(v.string()), null),
  }),
);

/** The id of the database, and the version of a part in it; null and 0 if it has none. */
export async function readVersion(
  database: Postgres,
  part: Part,
): Promise<{ readonly id: string | null; readonly version: number }> {
  return database.read((sql) => versionIn(sql, part));
}

/** Reads the catalogue, because name resolution may be cached. */
async function exists(sql: Sql, catalogue: string): Promise<boolean> {
  return v.parse(
    existsSchema,
    await sql.all(`SELECT EXISTS (SELECT 1 FROM ${catalogue}) AS found`),
  )[0].found;
}

async function versionIn(
  sql: Sql,
  { name }: Part,
): Promise<{ id: string | null; version: number }> {
  if (
    !(await exists(sql, `pg_tables WHERE schemaname = '${schemaName}' AND tablename = 'versions'`))
  )
    return { id: null, version: 0 };
  const rows = v.parse(versionsSchema, await sql.all(`SELECT * FROM ${schemaName}.versions`));
  return {
    id: rows.find(({ database_id: id }) => id !== null)?.database_id ?? null,
    version: rows.find(({ part }) => part === name)?.version ?? 0,
  };
}

/**
 * Returns the id of the database. Throws Failure `usage` if the tables are missing or of another version:
 * a payment creates none, because an empty database may be the wrong one.
 */
export async function checkTables(database: Postgres, source: string, part: Part): Promise<string> {
  const { id, version } = await readVersion(database, part);
  checkVersion(version, source, part);
  if (version === 0) throw empty(source, part);
  if (version < part.steps.length || id === null) throw older(version, source, part);
  return id;
}

/** Creates the tables if there are none. Throws Failure `usage` for tables of another version. */
export async function prepareTables(database: Postgres, source: string, part: Part): Promise<void> {
  const { version } = await readVersion(database, part);
  if (version === 0) await upgradeTables(database, source, part);
  await checkTables(database, source, part);
}

/** An operator's statements have no time limit. */
const unlimited = { isUnlimited: true } as const;

/** Upgrades version by version, each in a transaction, or creates all tables. Other processes wait meanwhile. */
export async function upgradeTables(database: Postgres, source: string, part: Part): Promise<void> {
  const take = (): Promise<number> =>
    database.transaction((sql) => takeStep(sql, source, part), {
      locks: [`${schemaName} versions`],
      ...unlimited,
    });
  do await buildIndexes(database, part);
  while ((await take()) < part.steps.length);
}

/** Builds indexes of the next step on existing tables, while others continue to write. */
async function buildIndexes(database: Postgres, part: Part): Promise<void> {
  const { version } = await readVersion(database, part);
  const step = version === 0 ? '' : (part.steps[version] ?? '');
  for (const text of statementsOf(step)) {
    const [, name = '', rest = '', table = ''] =
      /^CREATE INDEX (\w+) (ON (\w+) .*)$/s.exec(text) ?? [];
    if (
      name === '' ||
      !(await database.read((sql) =>
        exists(sql, `pg_tables WHERE schemaname = '${schemaName}' AND tablename = '${table}'`),
      ))
    )
      continue;
    const broken = `pg_index JOIN pg_class ON pg_class.oid = indexrelid WHERE relname = '${name}' AND NOT indisvalid`;
    // Left by an interrupted build.
    if (await database.read((sql) => exists(sql, broken)))
      await database.alone(`DROP INDEX CONCURRENTLY IF EXISTS ${schemaName}.${name}`);
    // The step creates or renames the column, and then builds the index.
    const isMissing = (error: unknown): boolean =>
      error instanceof Failure && codeOf(error.cause) === '42703';
    const build = `CREATE INDEX CONCURRENTLY IF NOT EXISTS ${name} ${rest.replace(/^ON /, `ON ${schemaName}.`)}`;
    await database.alone(build).catch((error: unknown) => {
      if (!isMissing(error)) throw error;
    });
  }
}

/** Estimates the rows that the upgrade rewrites, from database statistics. */
export async function rowsToRewrite(database: Postgres, part: Part): Promise<number> {
  const { version } = await readVersion(database, part);
  const tables = Object.entries(part.rewrites ?? {})
    .filter(([to]) => version > 0 && Number(to) > version)
    .map(([, table]) => `'${table}'`);
  if (tables.length === 0) return 0;
  const text = `SELECT COALESCE(sum(greatest(n_live_tup, reltuples::bigint)), 0)::bigint AS count FROM pg_stat_all_tables JOIN pg_class ON pg_class.oid = relid
    WHERE schemaname = '${schemaName}' AND pg_class.relname IN (${tables.join(', ')})`;
  return v.parse(countSchema, await database.read((sql) => sql.all(text)))[0].count;
}

export const countRows = (database: Postgres, { table }: Part): Promise<number> =>
  database.transaction(
    async (sql) =>
      v.parse(countSchema, await sql.all(`SELECT count(*) AS count FROM ${table}`))[0].count,
    unlimited,
  );

/** Commits a write that changes nothing. */
export const tryWrite = (database: Postgres, { name }: Part): Promise<unknown> =>
  database.transaction((sql) =>
    sql.final('UPDATE versions SET version = version WHERE part = ?', name),
  );

async function takeStep(sql: Sql, source: string, part: Part): Promise<number> {
  const { version } = await versionIn(sql, part);
  checkVersion(version, source, part);
  await prepareSchema(sql);
  const steps = version === 0 ? part.steps : part.steps.slice(version, version + 1);
  for (const statement of steps.flatMap(statementsOf))
    await sql.run(statement.replace(/^CREATE INDEX (?!IF)/, 'CREATE INDEX IF NOT EXISTS '));
  const write = `INSERT INTO versions (part, version, database_id) VALUES (?, ?, COALESCE((SELECT max(database_id) FROM versions), ?))
    ON CONFLICT (part) DO UPDATE SET version = excluded.version, database_id = excluded.database_id`;
  await sql.run(write, part.name, version + steps.length, randomUUID());
  return version + steps.length;
}

/** A role without the right to create schemas uses an existing one. */
async function prepareSchema(sql: Sql): Promise<void> {
  if (!(await exists(sql, `pg_namespace WHERE nspname = '${schemaName}'`)))
    await sql.run(`CREATE SCHEMA ${schemaName}`);
  if (
    !(await exists(sql, `pg_tables WHERE schemaname = '${schemaName}' AND tablename = 'versions'`))
  ) {
    await sql.run(
      'CREATE TABLE versions (part TEXT PRIMARY KEY, version BIGINT NOT NULL, database_id TEXT)',
    );
  }
  // Tables of earlier programs have no id.
  if (
    !(await exists(
      sql,
      `information_schema.columns WHERE table_schema = '${schemaName}' AND table_name = 'versions' AND column_name = 'database_id'`,
    ))
  ) {
    await sql.run('ALTER TABLE versions ADD COLUMN database_id TEXT');
  }
}

/** Translates SQLite statements to PostgreSQL. Text is compared byte by byte in both. */
const statementsOf = (step: string): string[] =>
  step
    .replaceAll('INTEGER PRIMARY KEY', 'BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY')
    .replaceAll('INTEGER', 'BIGINT')
    .replaceAll('BLOB', 'BYTEA')
    .replaceAll(/\bTEXT\b/g, 'TEXT COLLATE "C"')
    .replaceAll(/\) STRICT(, WITHOUT ROWID)?;/g, ');')
    .replaceAll(/json_each\((\w+)\) AS (\w+)/g, 'json_array_elements($1::json) AS $2 (value)')
    .split(';')
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');

function checkVersion(version: number, source: string, { name, steps }: Part): void {
  if (version <= steps.length) return;
  throw new Failure(
    'usage',
    `The ${name} in the database of ${source} was written by a newer svcpay: it was not changed.`,
    {
      hint: 'Use that version, or another database.',
    },
  );
}

const older = (version: number, source: string, { name, steps }: Part): Failure =>
  new Failure(
    'usage',
    `The ${name} in the database of ${source} has version ${version}; this program needs version ${steps.length}.`,
    {
      hint: 'Upgrade it once no older program uses it',
      next: { do: 'upgrade-database' },
    },
  );

const empty = (source: string, { name }: Part): Failure =>
  new Failure(
    'usage',
    `The database of ${source} has no ${name}: it is empty, or not the one that you mean.`,
    {
      hint: 'If it is the right one, create its tables once',
      next: { do: 'upgrade-database' },
    },
  );

/** @param known the id of the database that this home used so far */
export const anotherDatabase = (source: string, id: string, known: string): Failure =>
  new Failure(
    'usage',
    `The database of ${source} has the id ${id}, but this home paid from the database ${known}: it could pay again what it paid there.`,
    {
      hint: 'Set the earlier database again, or, if all its payments are in this one, accept it',
      next: { do: 'accept-database', id },
    },
  );
