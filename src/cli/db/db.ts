// Shows and checks where the journal and the inbox are stored, upgrades the database, moves the
// files of this home into it, replays the trail of every payment, and imports the payments that the
// journal lacks.
import { Failure, ifAvailable, invalid } from '../../formats/failure.js';
import { databaseIdVariable } from '../../store/database/address.js';
import { eventsFile, journalFile } from '../../store/files/home.js';
import { isAlive } from '../../store/journal/steps.js';
import type { TableGroup } from '../../store/database/postgres-schema.js';
import {
  databaseList,
  type ImportCounts,
  importedView,
  movedView,
  verifiedList,
  type DatabaseRow,
} from '../../terminal/views/database-view.js';
import type { Context } from '../context.js';
import { defineCommand, done, list, record } from '../define.js';
import { choice, flag } from '../values.js';
import { counted } from '../../formats/text.js';
import { progressBar } from '../../terminal/cards/card.js';
import { type Verified, verify } from '../../wallet/payment/story.js';
import { createdSinceOption, instant, spanAsked, startOf } from '../tx/history.js';
import { decisive } from '../../store/journal/payment.js';
import { importMissing } from '../../wallet/history/import-payments.js';
import { showProgress } from '../statement/open-books.js';
import { openPayments, readDecisive } from '../tx/payments.js';
import { seenDatabase } from '../../store/files/seen.js';
import type { SqliteFile } from '../../store/files/sqlite-file.js';

export const dbStatus = defineCommand({
  options: {
    format: choice(['prometheus'], 'FORMAT')
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
    const { checkTables, upgradeTables } = await databaseTables();
    const reached: { readonly part: string; readonly version: number }[] = [];
    for (const part of await parts()) {
      const onStep = (version: number): void => context.out.say(upgradeNotice(part, version));
      await upgradeTables(postgres, part, { isNew, onStep });
      const version = part.steps.length;
      context.out.say(`The ${part.name} has version ${version}.`);
      const { id } = await checkTables(postgres, part);
      if (isNew && part.name === 'journal')
        context.out.say(`In containers, which keep no settings, set ${databaseIdVariable}=${id}`);
      reached.push({ part: part.name, version });
    }
    return reached;
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
    const { checkTables } = await databaseTables();
    for (const part of await parts()) await checkTables(postgres, part);
    const { config, owner, now } = context;
    const { moveInto } = await import('../../store/database/move.js');
    const files = await filesOf(context);
    const moved = await moveInto(postgres, files, (each) => isAlive(each, owner), now);
    await config.update((before) => ({ ...before, journalMovedTo: postgres.where }));
    return moved;
  },
  view: record(movedView),
});

const databaseTables = () => import('../../store/database/postgres-schema.js');

async function filesOf({ home }: Pick<Context, 'home'>, isKnown?: boolean) {
  const { journalIn } = await import('../../store/journal/schema.js');
  const { eventsIn } = await import('../../store/events/sqlite-events.js');
  return { journal: journalIn(journalFile(home), isKnown), inbox: eventsIn(eventsFile(home)) };
}

/** Opens the configured database. Throws Failure `usage` if no database is configured. */
async function findDatabase({ database }: Context): Promise<OpenDatabase> {
  const found = await database();
  if (found !== undefined) return found;
  throw invalid('No database is set up: the journal and the inbox are files of this home.', {
    hint: 'Set SVCPAY_DATABASE_URL, or',
    next: { do: 'run', command: 'config set database-url postgres://USER@HOST/DATABASE' },
  });
}

export const dbVerify = defineCommand({
  options: {
    format: choice(['prometheus'], 'FORMAT').optional().describe('same as -o prometheus: metrics'),
    since: instant().describe('only payments that changed since this time: 36h, 2026-03-01'),
  },
  examples: [
    ['svcpay db verify', 'exits with 10 and names the payments whose trail leads elsewhere'],
    ['svcpay db verify --since 48h -o prometheus > verify.prom', 'writes the result as metrics'],
  ],
  async run({ format, since }, { journal, live, now, out, terminal }) {
    let done = { payments: 0, part: 0 };
    if (terminal.canAnimate)
      live.start(() => {
        const bar = progressBar(done.part, terminal.stderrCanvas);
        return `${bar}  ${counted(done.payments, 'payment')} replayed`;
      });
    const from = since === undefined ? 0 : startOf(since, now());
    const found = await verify(await journal(), from, (payments, part) => {
      done = { payments, part };
      live.update();
      live.progress(part, 1);
    }).finally(live.stop);
    if (format !== undefined) {
      const { verifiedPage } = await import('../../webhooks/metrics.js');
      return { ...found, page: await verifiedPage({ ...found, now: now() }) };
    }
    const replayed = `${counted(found.payments, 'payment')}, ${counted(found.steps, 'step')}`;
    out.say(`Replayed ${replayed}${found.differing === 0 ? ': no differences.' : '.'}`);
    return found;
  },
  view: list(
    verifiedList,
    (found: Verified & { readonly page?: string }) => found.page ?? found.differences,
  ),
  failure: ({ differing }) =>
    differing === 0
      ? undefined
      : new Failure(
          'books-differ',
          `The journal has ${counted(differing, 'difference')} from its trails or daily totals.`,
          {
            hint:
              'Someone changed the journal, or it is damaged. Compare these payments with the ' +
              'service before you pay from this journal.',
          },
        ),
});

export const dbImport = defineCommand({
  options: {
    since: createdSinceOption(),
  },
  examples: [
    [
      'svcpay db import --since 36h',
      'imports lost payments after a restore from a backup; run it before you pay',
    ],
  ],
  changes: true,
  async run({ since }, context) {
    const { live, out, now, newId } = context;
    const { client: service, id: account, scope, journal } = await context.account();
    const onRead = showProgress('Comparing the journal', context);
    try {
      const { uncounted, unclear, ...counts } = await importMissing(
        (await spanAsked({ since }, service)).first,
        { service, journal: await journal(), scope, account, now, newId, onRead },
      );
      for (const payment of await openPayments(context))
        if (decisive(payment).txnId !== null) await readDecisive(payment, context);
      live.stop();
      for (const txnId of uncounted)
        out.warn(`Limits do not count ${txnId}, because the service does not report its cost.`);
      const found = await context.database();
      // After the import into a restored database, payments are allowed again.
      if (unclear.length === 0 && found !== undefined)
        await (await databaseTables()).startGeneration(found.postgres);
      return { counts: { ...counts, open: (await openPayments(context)).length }, unclear };
    } finally {
      live.stop();
    }
  },
  view: record<ImportCounts, { readonly counts: ImportCounts }>(
    importedView,
    ({ counts }) => counts,
  ),
  failure: ({ unclear }) => (unclear.length === 0 ? undefined : notImported(unclear)),
});

const notImported = (unclear: readonly string[]): Failure =>
  new Failure(
    'books-differ',
    'Not imported: the service returned too few details of ' +
      `${counted(unclear.length, 'transaction')}: ${unclear.join(', ')}.`,
    {
      hint:
        'These transactions may be payments of this account. ' +
        'Ask the service before you pay again.',
    },
  );

type OpenDatabase = NonNullable<Awaited<ReturnType<Context['database']>>>;

/** The journal and the inbox, and the reasons why svcpay cannot pay or store events. */
interface Stored {
  readonly rows: readonly DatabaseRow[];
  readonly problems: readonly Failure[];
}

/**
 * Adds the numbers of unfinished payments and undelivered events to the description. Skips tables
 * whose version this program does not use, and creates no tables.
 */
const withFigures = (
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

async function parts() {
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
  const isOpen = rows.every(({ version, needed }) => version === needed);
  return {
    rows: isOpen ? rows.map((row) => ({ ...row, writable: unwritable === undefined })) : rows,
    // Both parts may fail for the same reason, such as missing tables.
    problems: [
      unpayable,
      unwritable?.message === unpayable?.message ? undefined : unwritable,
    ].filter((each) => each !== undefined),
  };
}

const failureOf = (work: () => Promise<unknown>): Promise<Failure | undefined> =>
  work().then(
    () => undefined,
    (error: unknown) => {
      if (error instanceof Failure) return error;
      throw error;
    },
  );

async function rowOf(
  part: TableGroup,
  { postgres }: OpenDatabase,
  { home, settings }: Context,
): Promise<DatabaseRow> {
  const { countRows, readVersion } = await databaseTables();
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
  const { journal, inbox } = await filesOf(context, context.config.read().hasJournal === true);
  const { inspectFile } = await import('../../store/files/sqlite-file.js');
  const rows: DatabaseRow[] = [];
  const refusals: (Failure | undefined)[] = [];
  const inspect = (part: string, file: SqliteFile, table: string): void => {
    const { refusal, ...found } = inspectFile(file, table);
    rows.push({ part, place: file.path, needed: file.steps.length, ...found });
    refusals.push(refusal);
  };
  inspect('journal', journal, 'payments');
  inspect('inbox', inbox, 'events');
  if (rows[0]?.version === rows[0]?.needed)
    refusals.unshift(await failureOf(async () => (await context.journal()).mayPay()));
  return { rows, problems: refusals.filter((each) => each !== undefined) };
}
