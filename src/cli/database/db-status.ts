// Shows where journal and inbox are, and of which version.
import { existsSync } from 'node:fs';
import { eventsFile, journalFile } from '../../store/files/home.js';
import { databaseList, type DatabaseRow } from '../../terminal/views/database-view.js';
import type { Needs } from '../context.js';
import { defineCommand } from '../define.js';
import { parts, type Found } from './db-flow.js';

export const dbStatus = defineCommand({
  examples: [['svcpay db status --json', 'where journal and inbox are, and whether they must be upgraded']],
  async run(_values, context) {
    const found = await context.database();
    const rows = found === undefined ? await inFiles(context) : await inDatabase(found);
    await context.out.list(rows, databaseList);
    const isLeft = found !== undefined && existsSync(journalFile(context.home));
    if (isLeft && context.config.read().journalMovedTo === undefined) {
      context.out.warn('The payments of this home are not in the database: svcpay db move');
    }
  },
});

async function inDatabase({ postgres }: Found): Promise<DatabaseRow[]> {
  const { versionOf } = await import('../../store/database/postgres-schema.js');
  return Promise.all(
    (await parts()).map(async (part) => ({
      part: part.name,
      place: postgres.where,
      version: await versionOf(postgres, part),
      needed: part.steps.length,
    })),
  );
}

async function inFiles({ home }: Needs<'home'>): Promise<DatabaseRow[]> {
  const { journalIn } = await import('../../store/journal/sqlite-journal.js');
  const { eventsIn } = await import('../../store/events/sqlite-events.js');
  const { versionIn } = await import('../../store/files/sqlite-file.js');
  const files = [
    ['journal', journalIn(journalFile(home))],
    ['inbox', eventsIn(eventsFile(home))],
  ] as const;
  return files.map(([part, file]) => ({ part, place: file.path, version: versionIn(file), needed: file.steps.length }));
}
