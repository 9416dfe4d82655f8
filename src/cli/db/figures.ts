// Describes the journal and the inbox, in a database or in files: location, size, and whether they
// accept writes.
import { Failure, ifAvailable } from '../../formats/failure.js';
import type { TableGroup } from '../../store/database/postgres-schema.js';
import { seenDatabase } from '../../store/files/seen.js';
import { eventsFile, journalFile } from '../../store/files/home.js';
import type { DatabaseRow } from '../../terminal/views/database-view.js';
import type { Context } from '../context.js';

export type OpenDatabase = NonNullable<Awaited<ReturnType<Context['database']>>>;

/**
 * Adds the numbers of unfinished payments and undelivered events to the description. Skips tables
 * whose version this program does not use, and creates no tables.
 */
export const withFigures = (
  rows: readonly DatabaseRow[],
  { journal, events }: Context,
): Promise<DatabaseRow[]> =>
  Promise.all(
    rows.map(async (row) => {
      if (row.version !== row.needed) return row;
      const read = async () =>
        row.part === 'journal'
          ? { unfinished: await (await journal()).unfinished() }
          : { backlog: await (await events()).backlog() };
      return { ...row, ...(await ifAvailable(read())) };
    }),
  );

export async function parts() {
  const { journalPart } = await import('../../store/journal/schema.js');
  const { inboxPart } = await import('../../store/events/postgres-events.js');
  return [journalPart, inboxPart];
}

/** Describes the journal and the inbox without creating files or tables. */
export async function databaseRows(context: Context): Promise<DatabaseRow[]> {
  const found = await context.database();
  return found === undefined
    ? inFiles(context)
    : Promise.all((await parts()).map((part) => rowOf(part, found, context)));
}

async function rowOf(
  part: TableGroup,
  { postgres }: OpenDatabase,
  { out, home, settings }: Context,
): Promise<DatabaseRow> {
  const { countRows, readVersion, tryWrite } =
    await import('../../store/database/postgres-schema.js');
  const { databaseId: known } = settings;
  const seen = known === undefined ? undefined : seenDatabase(home, known).load();
  const { identity, version } = await readVersion(postgres, part, seen);
  const row = {
    part: part.name,
    place: postgres.where,
    version,
    needed: part.steps.length,
    id: identity?.id ?? null,
    ...(identity !== undefined && {
      generation: identity.generation,
      restored: identity.restored,
    }),
  };
  if (version !== part.steps.length) return row;
  const refusal = await tryWrite(postgres, part).then(
    () => undefined,
    (error: unknown) => error,
  );
  if (refusal !== undefined && !(refusal instanceof Failure)) throw refusal;
  if (refusal !== undefined) out.warn(refusal.message);
  return { ...row, rows: await countRows(postgres, part), writable: refusal === undefined };
}

async function inFiles({ home, config }: Context): Promise<DatabaseRow[]> {
  const { journalIn } = await import('../../store/journal/sqlite-journal.js');
  const { eventsIn } = await import('../../store/events/sqlite-events.js');
  const { inspectFile } = await import('../../store/files/sqlite-file.js');
  const isKnown = config.read().hasJournal === true;
  const files = [
    ['journal', journalIn(journalFile(home), isKnown), 'payments'],
    ['inbox', eventsIn(eventsFile(home)), 'events'],
  ] as const;
  return files.map(([part, file, table]) => ({
    part,
    place: file.path,
    needed: file.steps.length,
    ...inspectFile(file, table),
  }));
}
