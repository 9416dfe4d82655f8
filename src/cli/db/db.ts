// Shows where the journal and the inbox are stored, and upgrades the database. Moves the files of
// this home into the configured database.
import { Failure } from '../../formats/failure.js';
import { databaseIdVariable } from '../../store/database/address.js';
import { eventsFile, journalFile } from '../../store/files/home.js';
import { isAlive } from '../../store/journal/owner.js';
import type { TableGroup } from '../../store/database/postgres-schema.js';
import { databaseList, movedView } from '../../terminal/views/database-view.js';
import type { Context } from '../context.js';
import { defineCommand } from '../define.js';
import { done, list, record } from '../show.js';
import { choice, flag } from '../values.js';
import { inspectStores, parts, withFigures, type OpenDatabase, type Stored } from './figures.js';

const statusFormats = ['prometheus'] as const;

export const dbStatus = defineCommand({
  formats: statusFormats,
  options: {
    format: choice(statusFormats, 'FORMAT')
      .optional()
      .describe('same as -o prometheus: metrics for a textfile collector'),
  },
  examples: [
    [
      'svcpay db status --json',
      'shows where the journal and the inbox are, and whether they must be upgraded',
    ],
    [
      'svcpay db status -o prometheus > svcpay.prom',
      'writes the counts of unfinished payments and waiting events for node_exporter',
    ],
  ],
  async run({ format }, context) {
    if (format !== undefined) {
      const { storedPage } = await import('../../webhooks/metrics.js');
      const [journal, events] = [await context.journal(), await context.events()];
      return storedPage({ ...events, ...journal });
    }
    const { rows, problems } = await inspectStores(context);
    return { rows: await withFigures(rows, context), problems };
  },
  view: list(databaseList, (result: Stored | string) =>
    typeof result === 'string' ? result : result.rows,
  ),
  failure: (result) => (typeof result === 'string' ? undefined : result.problems[0]),
});

export const dbUpgrade = defineCommand({
  options: {
    new: flag().describe('create the tables of an empty database'),
  },
  examples: [
    ['svcpay db upgrade', 'run once, when no older version of svcpay uses the database'],
    ['svcpay db upgrade --new', 'run once for a new database; prints its id'],
  ],
  changes: true,
  async run({ new: isNew }, context) {
    const { postgres } = await findDatabase(context);
    const { checkTables, upgradeTables } = await import('../../store/database/postgres-schema.js');
    for (const part of await parts()) {
      const onStep = (version: number): void => context.out.say(upgradeNotice(part, version));
      await upgradeTables(postgres, part, { isNew, onStep });
      context.out.say(`The ${part.name} has version ${part.steps.length}.`);
      const { id } = await checkTables(postgres, part);
      if (isNew && part.name === 'journal')
        context.out.say(`In containers, which keep no settings, set ${databaseIdVariable}=${id}`);
    }
    return (await parts()).map(({ name, steps }) => ({ part: name, version: steps.length }));
  },
  view: done,
});

/** Returns the notice of an upgrade of the tables, which says what waits until the upgrade ends. */
function upgradeNotice({ name }: TableGroup, version: number): string {
  const stops =
    name === 'journal'
      ? 'Payments that use this database wait until the upgrade ends.'
      : 'Receivers that use this database store no events until the upgrade ends.';
  return `Upgrading the ${name} from version ${version} to ${version + 1}. ${stops}`;
}

/**
 * Moves the data of this home into the database. A second run of `db move` completes an interrupted
 * move.
 */
export const dbMove = defineCommand({
  examples: [
    ['svcpay db move', 'moves the files of this home; open payments continue from the database'],
  ],
  changes: true,
  async run(_inputs, context) {
    const { postgres } = await findDatabase(context);
    const { checkTables } = await import('../../store/database/postgres-schema.js');
    for (const part of await parts()) await checkTables(postgres, part);
    const { home, config, owner, now } = context;
    const { moveInto } = await import('../../store/database/move.js');
    const { journalIn } = await import('../../store/journal/sqlite-journal.js');
    const { eventsIn } = await import('../../store/events/sqlite-events.js');
    const files = { journal: journalIn(journalFile(home)), inbox: eventsIn(eventsFile(home)) };
    const moved = await moveInto(postgres, files, (each) => isAlive(each, owner), now);
    await config.update((before) => ({ ...before, journalMovedTo: postgres.where }));
    return moved;
  },
  view: record(movedView),
});

/** Opens the configured database. Throws Failure `usage` if no database is configured. */
async function findDatabase({ database }: Context): Promise<OpenDatabase> {
  const found = await database();
  if (found !== undefined) return found;
  throw new Failure(
    'usage',
    'No database is set up: the journal and the inbox are files of this home.',
    {
      hint: 'Set SVCPAY_DATABASE_URL, or',
      next: { do: 'run', command: 'config set database-url postgres://USER@HOST/DATABASE' },
    },
  );
}
