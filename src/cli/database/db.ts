// Where journal and inbox are, and of which version; the tables of the database brought up to date; what is in files moved there.
import { existsSync } from 'node:fs';
import { Failure } from '../../formats/failure.js';
import { eventsFile, journalFile } from '../../store/files/home.js';
import { isAlive } from '../../store/journal/owner.js';
import { databaseList, movedView, type DatabaseRow } from '../../terminal/views/database-view.js';
import type { Context } from '../context.js';
import { defineCommand } from '../define.js';
import { withFigures } from './figures.js';

export const dbStatus = defineCommand({
  examples: [['svcpay db status --json', 'where journal and inbox are, and whether they must be upgraded']],
  async run(_values, context) {
    const found = await context.database();
    const rows = found === undefined ? await inFiles(context) : await inDatabase(found);
    await context.out.list(await withFigures(rows, context), databaseList);
    const isLeft = found !== undefined && existsSync(journalFile(context.home));
    if (isLeft && context.config.read().journalMovedTo === undefined) {
      context.out.warn('The payments of this home are not in the database: svcpay db move');
    }
  },
});

/** Step by step to the version of this program. */
export const dbUpgrade = defineCommand({
  fields: [],
  examples: [['svcpay db upgrade', 'once, when no older svcpay uses the database any more']],
  async run(_values, context) {
    const { postgres, source } = await findDatabase(context);
    const { upgradeTables } = await import('../../store/database/postgres-schema.js');
    for (const part of await parts()) {
      await upgradeTables(postgres, source, part);
      context.out.say(`The ${part.name} is of version ${part.steps.length}.`);
    }
    context.out.did((await parts()).map(({ name, steps }) => ({ part: name, version: steps.length })));
  },
});

/** What is interrupted is run again. */
export const dbMove = defineCommand({
  fields: ['payments', 'events'],
  examples: [['svcpay db move', 'from the files of this home; open payments go on from the database']],
  async run(_values, context) {
    const { home, config, out, owner } = context;
    const { postgres, source } = await findDatabase(context);
    const { prepareTables } = await import('../../store/database/postgres-schema.js');
    const { moveInto } = await import('../../store/database/move.js');
    const { journalIn } = await import('../../store/journal/sqlite-journal.js');
    const { eventsIn } = await import('../../store/events/sqlite-events.js');
    for (const part of await parts()) await prepareTables(postgres, source, part);
    const files = { journal: journalIn(journalFile(home)), inbox: eventsIn(eventsFile(home)) };
    const moved = await moveInto(postgres, files, (each) => isAlive(each, owner));
    await config.update((before) => ({ ...before, journalMovedTo: postgres.where }));
    await out.record(moved, movedView(moved));
  },
});

type Found = NonNullable<Awaited<ReturnType<Context['database']>>>;

/** Throws Failure `usage` where no database is set up. */
async function findDatabase({ database }: Context): Promise<Found> {
  const found = await database();
  if (found !== undefined) return found;
  throw new Failure('usage', 'No database is set up: journal and inbox are in files of this home.', {
    hint: 'svcpay config set database-url postgres://USER@HOST/DATABASE, or SVCPAY_DATABASE_URL',
  });
}

async function parts() {
  const { journalPart } = await import('../../store/journal/postgres-journal.js');
  const { inboxPart } = await import('../../store/events/postgres-events.js');
  return [journalPart, inboxPart];
}

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

async function inFiles({ home }: Context): Promise<DatabaseRow[]> {
  const { journalIn } = await import('../../store/journal/sqlite-journal.js');
  const { eventsIn } = await import('../../store/events/sqlite-events.js');
  const { versionIn } = await import('../../store/files/sqlite-file.js');
  const files = [
    ['journal', journalIn(journalFile(home))],
    ['inbox', eventsIn(eventsFile(home))],
  ] as const;
  return files.map(([part, file]) => ({ part, place: file.path, version: versionIn(file), needed: file.steps.length }));
}
