// Opens the journal and the inbox on first use, in files of this home or in the configured
// database.
import { nextTurn } from '../api/timers.js';
import { type Failure, invalid } from '../formats/failure.js';
import type { Postgres } from '../store/database/postgres.js';
import { databaseIdVariable, databaseVariable, noAddress } from '../store/database/address.js';
import type { Identity, SeenDatabase, TableGroup } from '../store/database/postgres-schema.js';
import type { SqlDatabase } from '../store/database/sql.js';
import type { EventStore } from '../store/events/event-store.js';
import type { Document } from '../store/files/document.js';
import { seenDatabase } from '../store/files/seen.js';
import { eventsFile, isTemporary, isThere, journalFile, type Home } from '../store/files/home.js';
import type {
  BookRecords,
  ProposalRecords,
  SettlementRates,
  TxnFacts,
} from '../store/journal/records.js';
import type { BudgetRecords } from '../store/journal/spending.js';
import type { Journal } from '../store/journal/journal.js';
import {
  embeddedUrl,
  findDatabase,
  fromEnvironment,
  type FoundDatabase,
  type Settings,
  type SecretStore,
} from '../store/profile/settings.js';
import { changeProfile, type Config } from '../store/profile/profiles.js';
import { isAlive, type Actor } from '../store/journal/steps.js';
import type { Process } from './process.js';

/** What the stores and the service need, which the context computes on first use. */
export interface Foundation extends Process {
  readonly home: Home;
  readonly config: Document<Config>;
  readonly secrets: SecretStore;
  /**
   * The settings, combined from flags, environment and profile. Throws Failure `usage` for an
   * invalid setting.
   */
  readonly settings: Settings;
  /** The name of this process in the journal. */
  readonly owner: string;
  /** Who makes the changes of the journal. */
  readonly actor: Actor;
  /** Registers a function that runs when the command ends. */
  onClose(close: () => void | Promise<void>): void;
}

export interface Stores {
  journal(): Promise<Journal>;
  events(): Promise<EventStore>;
  /** Opens the stored exchange rates, which svcpay keeps next to the journal. */
  rates(): Promise<SettlementRates>;
  /** Opens the records of proposals that were paid or refused. */
  proposals(): Promise<ProposalRecords>;
  /** Opens the budgets of the accounts, which svcpay keeps next to the journal. */
  budgets(): Promise<BudgetRecords>;
  /** Opens the facts about transactions, which svcpay keeps next to the journal. */
  facts(): Promise<TxnFacts>;
  /** Opens the store of the books: opening balances, adjustments and closed months. */
  books(): Promise<BookRecords>;
  /**
   * Connects to the configured database without checking the tables. Returns undefined if no
   * database is configured.
   */
  database(): Promise<OpenDatabase | undefined>;
}

interface OpenDatabase extends FoundDatabase {
  readonly postgres: Postgres;
}

export function openStores(deps: Foundation): Stores {
  const { now, env, onClose } = deps;
  const isAliveHere = (owner: string): boolean => isAlive(owner, deps.owner);

  const connect = async (found: FoundDatabase): Promise<OpenDatabase> => {
    const { postgresDatabase } = await import('../store/database/postgres.js');
    const postgres = postgresDatabase({ ...found, clock: deps.elapsed, sleep: deps.sleep });
    onClose(() => postgres.close());
    return { ...found, postgres };
  };

  const database = lazily(async () => {
    const { profile, databaseId, embedded } = deps.settings;
    const found = await findDatabase(profile, env, () => deps.secrets);
    if (found !== undefined) return connect(found);
    // The embedded sandbox has no payments in the database.
    if (databaseId !== undefined && !embedded) throw noAddress(databaseId);
    return undefined;
  });

  const fileDatabase = lazily(async (): Promise<SqlDatabase> => {
    const { config, home } = deps;
    const { hasJournal, journalMovedTo } = config.read();
    if (journalMovedTo !== undefined) throw noAddress(journalMovedTo);
    await nextTurn();
    const { sqliteDatabase } = await import('../store/database/sqlite-database.js');
    const { journalIn } = await import('../store/journal/schema.js');
    const opened = sqliteDatabase(journalIn(journalFile(home), hasJournal === true), now);
    onClose(() => opened.close());
    // Ignores a failed write of the settings, because the journal works without the changed
    // settings.
    if (hasJournal !== true)
      await config.update((before) => ({ ...before, hasJournal: true })).catch(() => undefined);
    return opened;
  });

  const journal = lazily(async () => {
    const found = await database();
    if (found !== undefined) return sharedJournal(found, isAliveHere, deps);
    const { guarded, openSqlJournal } = await import('../store/journal/sql-journal.js');
    const opened = openSqlJournal(await fileDatabase(), isAliveHere, deps.actor);
    const { data } = deps.home;
    const isLost = deps.settings.isReal && isTemporary(data);
    return isLost ? guarded(opened, () => Promise.reject(lostWithContainer(data))) : opened;
  });

  /** Opens records that svcpay keeps next to the journal, once the journal is open. */
  const records =
    <T>(load: () => Promise<(database: SqlDatabase, by: Actor) => T>) =>
    async (): Promise<T> => {
      await journal();
      return (await load())((await database())?.postgres ?? (await fileDatabase()), deps.actor);
    };

  const events = lazily(async () => {
    const found = await database();
    if (found !== undefined) {
      const { openPostgresEvents, inboxPart } = await import('../store/events/postgres-events.js');
      await isIdKept(await identified(found, inboxPart, deps), deps);
      return openPostgresEvents(found.postgres);
    }
    const { openEventStore } = await import('../store/events/sqlite-events.js');
    const opened = openEventStore(eventsFile(deps.home), now, isAliveHere);
    onClose(() => opened.close());
    return opened;
  });

  return {
    journal,
    events,
    database,
    rates: records(async () => (await nextToJournal()).settlementRates),
    books: records(async () => (await nextToJournal()).bookRecords),
    proposals: records(async () => (await nextToJournal()).proposalRecords),
    facts: records(async () => (await nextToJournal()).txnFacts),
    budgets: records(async () => (await import('../store/journal/spending.js')).budgetRecords),
  };
}

const nextToJournal = () => import('../store/journal/records.js');

async function sharedJournal(
  found: OpenDatabase,
  isAliveHere: (owner: string) => boolean,
  deps: Foundation,
): Promise<Journal> {
  const { home, onClose } = deps;
  const { journalPart } = await import('../store/journal/schema.js');
  const { openSharedJournal } = await import('../store/journal/shared-journal.js');
  const { unidentifiedDatabase } = await import('../store/database/postgres-schema.js');
  const identity = await identified(found, journalPart, deps);
  let latest: SeenDatabase | undefined;
  onClose(async () => {
    const last = latest;
    if (last !== undefined) await seenDatabase(home, identity.id).update(() => last);
  });
  const refusal = (await isIdKept(identity, deps))
    ? await notMoved(deps)
    : unidentifiedDatabase(found.source, identity.id);
  return openSharedJournal({
    database: found.postgres,
    isAlive: isAliveHere,
    by: deps.actor,
    identity,
    refusal,
    onSeen: (after) => (latest = after),
  });
}

/**
 * Checks the tables and the id of the database. Throws Failure `usage` if this home must not pay
 * from the database.
 */
async function identified(
  { postgres, source }: OpenDatabase,
  part: TableGroup,
  { env, home, settings }: Foundation,
): Promise<Identity> {
  const { anotherDatabase, checkTables, unexpectedDatabase } =
    await import('../store/database/postgres-schema.js');
  const { databaseId: known } = settings;
  const seen = known === undefined ? undefined : seenDatabase(home, known).load();
  const identity = await checkTables(postgres, part, seen);
  if (known === undefined || known === identity.id) return identity;
  const isGiven = fromEnvironment(env, databaseIdVariable) !== undefined;
  throw (isGiven ? unexpectedDatabase : anotherDatabase)(source, identity.id, known);
}

/**
 * Ensures that the environment or the profile contains the id of the database. At the first
 * use of a database, svcpay stores the database's id in the profile. Returns false if svcpay cannot
 * write the profile.
 */
async function isIdKept({ id }: Identity, { settings, env, config }: Foundation): Promise<boolean> {
  const { profile, profileName } = settings;
  const isGiven = fromEnvironment(env, databaseIdVariable) !== undefined;
  if (isGiven || profile.databaseId !== undefined) return true;
  return changeProfile(config, profileName, (before) => ({ ...before, databaseId: id })).then(
    () => true,
    () => false,
  );
}

/**
 * Returns the refusal of a home whose payments exist only in the journal file, not in the database.
 * A home with such payments must not pay from the database, because svcpay could repeat the
 * payments, and because the limits of the database would not count the payments.
 */
async function notMoved({ config, home, settings }: Foundation): Promise<Failure | undefined> {
  const { hasJournal, journalMovedTo } = config.read();
  const path = journalFile(home);
  if (journalMovedTo !== undefined || (hasJournal !== true && !isThere(path))) return undefined;
  const { holdsPayments } = await import('../store/journal/sqlite-journal.js');
  // For a real service, svcpay ignores the payments of the embedded sandbox.
  if (!holdsPayments(path, settings.embedded ? undefined : embeddedUrl)) return undefined;
  return invalid(`The payments of this home are in ${path}, not in the database.`, {
    hint: 'Move the payments first',
    next: { do: 'run', command: 'db move' },
  });
}

/**
 * The refusal of a home that ends with its container. The next container starts with an empty
 * journal, so svcpay could repeat the payments.
 */
const lostWithContainer = (folder: string): Failure =>
  invalid(`The payment journal in ${folder} is lost when the container ends.`, {
    hint: `Mount a volume at this folder, or set ${databaseVariable}.`,
  });

/**
 * Returns a function that creates a value on first use. If the created value is a promise that
 * rejects, the next call of the returned function creates the value again.
 */
export function lazily<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  const forget = (): void => void (made = undefined);
  return () => {
    if (made === undefined) {
      made = { value: make() };
      if (made.value instanceof Promise) made.value.catch(forget);
    }
    return made.value;
  };
}
