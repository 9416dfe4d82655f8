// Creates a database with svcpay's tables, as `svcpay db upgrade` does.
import { postgresDatabase, type Postgres } from '../../src/store/database/postgres.js';
import { upgradeTables, type TableGroup } from '../../src/store/database/postgres-schema.js';
import { inboxPart } from '../../src/store/events/postgres-events.js';
import { journalPart } from '../../src/store/journal/schema.js';
import type { Databases } from './postgres.js';

export const prepareTables = (database: Postgres, part: TableGroup): Promise<void> =>
  upgradeTables(database, part, { isNew: true });

/** Creates a prepared database and returns its address. */
export async function preparedDatabase(server: Databases): Promise<string> {
  const url = server.database();
  const database = postgresDatabase({ url, source: 'the test', clock: () => performance.now() });
  for (const part of [journalPart, inboxPart]) await prepareTables(database, part);
  await database.close();
  return url;
}
