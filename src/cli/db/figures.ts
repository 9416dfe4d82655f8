// Describes the journal and the inbox, in a database or in files: location, size, and the reasons
// why they cannot be used.
import { Failure, ifAvailable } from '../../formats/failure.js';
import type { TableGroup } from '../../store/database/postgres-schema.js';
import { seenDatabase } from '../../store/files/seen.js';
import { eventsFile, journalFile } from '../../store/files/home.js';
import type { DatabaseRow } from '../../terminal/views/database-view.js';
import type { Context } from '../context.js';

export type OpenDatabase = NonNullable<Awaited<ReturnType<Context['database']>>>;

/** The journal and the inbox, and the reasons why svcpay cannot pay or store events. */
export interface Stored {
  readonly rows: readonly DatabaseRow[];
  readonly problems: readonly Failure[];
}

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
export async function inspectStores(context: Context): Promise<Stored> {
  const found = await context.database();
  return found === undefined ? inFiles(context) : inDatabase(found, context);
}

async function inDatabase(found: OpenDatabase, context: Context): Promise<Stored> {
  const rows: DatabaseRow[] = [];
  for (const part of await parts()) rows.push(await rowOf(part, found, context));
  const unpayable = await failureOf(async () => (await context.journal()).mayPay());
  const unwritable = await failureOf(async () => (await context.events()).check());
  const problems = [unpayable, unwritable].filter((each) => each !== undefined);
  const isOpen = rows.every(({ version, needed }) => version === needed);
  return {
    rows: isOpen ? rows.map((row) => ({ ...row, writable: unwritable === undefined })) : rows,
    // Both parts may fail for the same reason, such as missing tables.
    problems: problems.filter(({ message }, at) => at === 0 || message !== unpayable?.message),
  };
}

async function failureOf(work: () => Promise<unknown>): Promise<Failure | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
}

async function rowOf(
  part: TableGroup,
  { postgres }: OpenDatabase,
  { home, settings }: Context,
): Promise<DatabaseRow> {
  const { countRows, readVersion } = await import('../../store/database/postgres-schema.js');
  const { databaseId: known } = settings;
  const seen = known === undefined ? undefined : seenDatabase(home, known).load();
  const { identity, version } = await readVersion(postgres, part, seen);
  return {
    part: part.name,
    place: postgres.where,
    version,
    needed: part.steps.length,
    id: identity?.id ?? null,
    ...(identity !== undefined && {
      generation: identity.generation,
      restored: identity.restored,
    }),
    ...(version === part.steps.length && { rows: await countRows(postgres, part) }),
  };
}

async function inFiles(context: Context): Promise<Stored> {
  const { home, config } = context;
  const { journalIn } = await import('../../store/journal/sqlite-journal.js');
  const { eventsIn } = await import('../../store/events/sqlite-events.js');
  const { inspectFile } = await import('../../store/files/sqlite-file.js');
  const isKnown = config.read().hasJournal === true;
  const files = [
    ['journal', journalIn(journalFile(home), isKnown), 'payments'],
    ['inbox', eventsIn(eventsFile(home)), 'events'],
  ] as const;
  const found = files.map(([part, file, table]) => {
    const { refusal, ...row } = inspectFile(file, table);
    return { row: { part, place: file.path, needed: file.steps.length, ...row }, refusal };
  });
  const rows = found.map(({ row }) => row);
  const isOpen = rows[0]?.version === rows[0]?.needed;
  const unpayable = isOpen
    ? await failureOf(async () => (await context.journal()).mayPay())
    : undefined;
  const refusals = [unpayable, ...found.map(({ refusal }) => refusal)];
  return { rows, problems: refusals.filter((each) => each !== undefined) };
}
