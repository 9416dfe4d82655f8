// SQLite and PostgreSQL have the same schema for the journal and the inbox, except for the tables
// that only one database needs.
import Database from 'libsql';
import * as v from 'valibot';
import { describe, expect, onTestFinished, test } from 'vitest';
import { postgresDatabase } from '../../../src/store/database/postgres.js';
import type { TableGroup } from '../../../src/store/database/postgres-schema.js';
import { inboxPart } from '../../../src/store/events/postgres-events.js';
import { sqliteSteps as inboxSteps } from '../../../src/store/events/sql-events.js';
import { journalPart, sqliteSteps as journalSteps } from '../../../src/store/journal/schema.js';
import { hasPostgres } from '../../support/postgres.js';
import { prepareTables } from '../../support/prepared-database.js';
import { usingPostgres } from '../../support/shared-postgres.js';

/** For each table: a description of each column, key and index. */
type Tables = Record<string, string[]>;

const rows = v.array(v.record(v.string(), v.nullable(v.union([v.string(), v.number()]))));
type Row = v.InferOutput<typeof rows>[number];
const types: Readonly<Record<string, string>> = {
  INTEGER: 'integer',
  TEXT: 'text',
  BLOB: 'bytes',
  bigint: 'integer',
  text: 'text',
  bytea: 'bytes',
};

const columnIn = ({ name, type, required, preset }: Row): string =>
  [name, types[String(type)], required === 1 && 'not null', preset !== null && `default ${preset}`]
    .filter(Boolean)
    .join(' ');

/**
 * Describes an index as `(a, b) WHERE c`, without the names and parentheses that a database adds.
 */
const indexIn = (isUnique: boolean, definition: string): string =>
  `${isUnique ? 'unique ' : ''}${definition.replaceAll(/[()"]|::\w+/g, '').replaceAll(/\s+/g, ' ')}`.trim();

function inSqlite(steps: readonly string[]): Tables {
  const db = new Database(':memory:');
  for (const step of steps) db.exec(step);
  const all = (text: string): Row[] =>
    v.parse(rows, db.prepare(text).all()).map(({ _metadata, ...row }) => row);
  const tables = all(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'",
  );
  return Object.fromEntries(
    tables.map(({ name: table }) => {
      const columns = all(
        `SELECT name, type, "notnull" OR pk > 0 AS required, dflt_value AS preset, pk FROM pragma_table_info('${table}')`,
      );
      const key = columns
        .filter(({ pk }) => Number(pk) > 0)
        .toSorted((one, other) => Number(one['pk']) - Number(other['pk']))
        .map(({ name }) => name);
      const indexes = all(
        `SELECT i.name, "unique" AS single, origin, partial, sql FROM pragma_index_list('${table}') i
         LEFT JOIN sqlite_schema s ON s.name = i.name WHERE origin <> 'pk'`,
      ).map(({ name, single, sql }) => {
        const names = all(`SELECT name FROM pragma_index_info('${name}') ORDER BY seqno`);
        const condition = / WHERE .*/.exec(String(sql ?? ''))?.[0] ?? '';
        return indexIn(single === 1, names.map((each) => each['name']).join(', ') + condition);
      });
      const foreign = all(
        `SELECT "from" || ' references ' || "table" || ' ' || "to" || ' on delete ' || lower(on_delete) AS words
         FROM pragma_foreign_key_list('${table}')`,
      ).map(({ words }) => String(words));
      return [
        String(table),
        [...columns.map(columnIn), `key ${key.join(', ')}`, ...indexes, ...foreign].toSorted(),
      ];
    }),
  );
}

const server = usingPostgres();

async function inPostgres(part: TableGroup): Promise<Tables> {
  const database = postgresDatabase({
    url: server().database(),
    source: 'the test',
    clock: () => performance.now(),
  });
  onTestFinished(() => database.close());
  await prepareTables(database, part);
  const all = (text: string): Promise<Row[]> =>
    database.read(async (sql) => v.parse(rows, await sql.all(text)));
  const columns =
    await all(`SELECT table_name::text AS table, column_name::text AS name, data_type::text AS type,
      (is_nullable = 'NO')::int AS required, column_default::text AS preset
    FROM information_schema.columns WHERE table_schema = 'svcpay' AND table_name NOT IN ('identity', 'submissions', 'part_versions')`);
  const indexes =
    await all(`SELECT tablename::text AS table, indexdef, indisunique::int AS single, indisprimary::int AS first
    FROM pg_indexes JOIN pg_class ON relname = indexname JOIN pg_index ON indexrelid = pg_class.oid
    WHERE schemaname = 'svcpay' AND tablename NOT IN ('identity', 'submissions', 'part_versions')`);
  const foreign = await all(`SELECT conrelid::regclass::text AS table,
      replace(replace(pg_get_constraintdef(oid), 'FOREIGN KEY (', ''), ')', '') AS words
    FROM pg_constraint WHERE contype = 'f'`);
  const tables: Tables = {};
  const add = (table: unknown, words: string): void =>
    void (tables[String(table)] ??= []).push(words);
  for (const column of columns) add(column['table'], columnIn(column));
  for (const { table, indexdef, single, first } of indexes) {
    const definition = indexIn(
      single === 1 && first === 0,
      String(indexdef).replace(/.* USING btree /, ''),
    );
    add(table, first === 1 ? `key ${definition}` : definition);
  }
  for (const { table, words } of foreign) {
    const [, from, to, column, end] =
      /^(\w+) REFERENCES (?:svcpay\.)?(\w+)\((\w+)(?: ON DELETE (\w+))?/.exec(String(words)) ?? [];
    add(
      table,
      `${from} references ${to} ${column} on delete ${(end ?? 'no action').toLowerCase()}`,
    );
  }
  return Object.fromEntries(
    Object.entries(tables).map(([table, words]) => [table, words.toSorted()]),
  );
}

describe.skipIf(!hasPostgres)('database schema', () => {
  test('defines identical journal tables in SQLite and PostgreSQL, except the tables for limits', async () => {
    const { limit_clocks: clocks, ...file } = inSqlite(journalSteps);
    const { account_limits: limits, ...database } = await inPostgres(journalPart);
    expect(database).toEqual(file);
    expect([clocks?.length, limits?.length]).toEqual([5, 3]);
    expect(file['attempts']).toContain('payment_id references payments id on delete cascade');
    expect(file['payments']).toContain('scope, opened_at WHERE unfinished = 1');
  });

  test('defines identical inbox tables in SQLite and PostgreSQL, except the tables for leases', async () => {
    const { workers, ...file } = inSqlite(inboxSteps);
    const { leases, ...database } = await inPostgres(inboxPart);
    const onlyThere = ['received_at', 'consumer, txn_id, event_id'];
    const common = Object.fromEntries(
      Object.entries(database).map(([table, words]) => [
        table,
        words.filter((each) => !onlyThere.includes(each)),
      ]),
    );
    expect(common).toEqual(file);
    expect([workers?.length, leases?.length]).toEqual([4, 8]);
  });
});
