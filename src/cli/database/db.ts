// Shows the location of journal and inbox, upgrades the database, and moves this home's files into it.
import { existsSync } from 'node:fs';
import { Failure } from '../../formats/failure.js';
import { eventsFile, journalFile } from '../../store/files/home.js';
import { isAlive } from '../../store/journal/owner.js';
import { describeDuration } from '../../formats/duration.js';
import type { Part } from '../../store/database/postgres-schema.js';
import { databaseList, movedView } from '../../terminal/views/database-view.js';
import type { Context } from '../context.js';
import { namesOf } from '../../terminal/rows/list.js';
import { defineCommand } from '../define.js';
import { databaseRows, parts, withFigures, type Found } from './figures.js';

export const dbStatus = defineCommand({
  prints: namesOf(undefined, databaseList),
  examples: [
    ['svcpay db status --json', 'where journal and inbox are, and whether they must be upgraded'],
  ],
  async run(_values, context) {
    const [found, rows] = [await context.database(), await databaseRows(context)];
    await context.out.list(await withFigures(rows, context), databaseList);
    const isLeft = found !== undefined && existsSync(journalFile(context.home));
    if (isLeft && context.config.read().journalMovedTo === undefined) {
      context.out.warn('The payments of this home are not in the database: svcpay db move');
    }
  },
});

export const dbUpgrade = defineCommand({
  fields: [],
  examples: [['svcpay db upgrade', 'once, when no older svcpay uses the database any more']],
  async run(_values, context) {
    const { postgres, source } = await findDatabase(context);
    const { readVersion, rowsToRewrite, upgradeTables } =
      await import('../../store/database/postgres-schema.js');
    for (const part of await parts()) {
      const { version } = await readVersion(postgres, part);
      const isStale = version > 0 && version < part.steps.length;
      if (isStale)
        context.out.say(upgradeNotice(part, version, await rowsToRewrite(postgres, part)));
      await upgradeTables(postgres, source, part);
      context.out.say(`The ${part.name} has version ${part.steps.length}.`);
    }
    context.out.did(
      (await parts()).map(({ name, steps }) => ({ part: name, version: steps.length })),
    );
  },
});

/** Measured with 500,000 payments on two busy cores. */
const rewrittenPerSecond = 14_000;

/** Announces what the upgrade stops, and for how long. */
function upgradeNotice({ name, steps }: Part, version: number, rows: number): string {
  const stops =
    name === 'journal'
      ? 'payments on this database wait'
      : 'receivers on this database store no events';
  const time =
    rows < rewrittenPerSecond
      ? 'about a second'
      : `about ${describeDuration((rows / rewrittenPerSecond) * 1000)} for ${rows} rows`;
  return `Upgrading the ${name} from version ${version} to ${steps.length}: ${stops} meanwhile, ${time}.`;
}

/** After an interruption, run it again. */
export const dbMove = defineCommand({
  fields: ['payments', 'events'],
  examples: [
    ['svcpay db move', 'from the files of this home; open payments go on from the database'],
  ],
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

/** Throws Failure `usage` without a configured database. */
async function findDatabase({ database }: Context): Promise<Found> {
  const found = await database();
  if (found !== undefined) return found;
  throw new Failure(
    'usage',
    'No database is set up: journal and inbox are in files of this home.',
    {
      hint: 'svcpay config set database-url postgres://USER@HOST/DATABASE, or SVCPAY_DATABASE_URL',
    },
  );
}
