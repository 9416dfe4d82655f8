// Journal and inbox, opened on first use: in files of this home, or in the configured database.
import { Failure } from '../formats/failure.js';
import type { Postgres } from '../store/database/postgres.js';
import type { Part } from '../store/database/postgres-schema.js';
import type { EventStore } from '../store/events/event-store.js';
import type { Document } from '../store/files/document.js';
import { eventsFile, isThere, journalFile, type Home } from '../store/files/home.js';
import type { Journal } from '../store/journal/journal.js';
import type { SettlementRates } from '../store/journal/settlement-rates.js';
import { databaseVariable, findDatabase, type FoundDatabase } from '../store/profile/database.js';
import { changeProfile, type Config } from '../store/profile/profiles.js';
import type { SecretStore } from '../store/profile/secrets.js';
import { embeddedUrl, type Settings } from '../store/profile/settings.js';
import { isAlive } from '../store/journal/owner.js';

export interface StoreOptions {
  readonly home: () => Home;
  readonly config: () => Document<Config>;
  readonly settings: () => Settings;
  readonly secrets: () => SecretStore;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly now: () => number;
  readonly owner: () => string;
  readonly onClose: (close: () => Promise<void>) => void;
}

export interface Stores {
  journal(): Promise<Journal>;
  events(): Promise<EventStore>;
  /** The rates at settlement, on a connection that the caller closes. */
  rates(): Promise<SettlementRates>;
  /** The configured database, connected but unchecked; undefined without one. */
  database(): Promise<(FoundDatabase & { readonly postgres: Postgres }) | undefined>;
}

export function openStores(options: StoreOptions): Stores {
  const { home, config, now, onClose } = options;
  const isAliveHere = (owner: string): boolean => isAlive(owner, options.owner());

  const database = lazily(async () => {
    const found = await findDatabase(options.settings().profile, options.env, options.secrets);
    if (found === undefined) return undefined;
    const { postgresDatabase } = await import('../store/database/postgres.js');
    const postgres = postgresDatabase({ ...found, clock: () => performance.now() });
    onClose(() => postgres.close());
    return { ...found, postgres };
  });

  /** Stores the database's id at first use, so the home never pays from another database unnoticed. */
  const prepared = async (
    { postgres, source }: FoundDatabase & { postgres: Postgres },
    part: Part,
  ): Promise<Postgres> => {
    const { anotherDatabase, checkTables } = await import('../store/database/postgres-schema.js');
    const id = await checkTables(postgres, source, part);
    const { profile, profileName } = options.settings();
    if (profile.databaseId !== undefined && profile.databaseId !== id)
      throw anotherDatabase(source, id, profile.databaseId);
    // Works without it if the settings cannot be written.
    if (profile.databaseId === undefined)
      await changeProfile(config(), profileName, (before) => ({ ...before, databaseId: id })).catch(
        () => undefined,
      );
    return postgres;
  };

  /** Payments only in the file could be paid again from the database, and do not count towards its limits. */
  const hasUnmoved = async (): Promise<boolean> => {
    if (!isThere(journalFile(home())) || config().read().journalMovedTo !== undefined) return false;
    const { holdsPayments } = await import('../store/journal/sqlite-journal.js');
    return holdsPayments(journalFile(home()), embeddedUrl);
  };

  const journal = lazily(async () => {
    const found = await database();
    if (found !== undefined) {
      const { openPostgresJournal, journalPart } =
        await import('../store/journal/postgres-journal.js');
      const shared = openPostgresJournal(await prepared(found, journalPart), isAliveHere);
      return (await hasUnmoved())
        ? { ...shared, begin: () => Promise.reject(notMoved(journalFile(home()))) }
        : shared;
    }
    const { hasJournal, journalMovedTo } = config().read();
    if (journalMovedTo !== undefined) throw movedAway(journalMovedTo);
    const { openJournal } = await import('../store/journal/sqlite-journal.js');
    const opened = openJournal({
      path: journalFile(home()),
      isAlive: isAliveHere,
      now,
      isKnown: hasJournal === true,
    });
    onClose(() => opened.close());
    // Works without it if the settings cannot be written.
    if (hasJournal !== true)
      await config()
        .update((before) => ({ ...before, hasJournal: true }))
        .catch(() => undefined);
    return opened;
  });

  const rates = async (): Promise<SettlementRates> => {
    await journal();
    const { settlementRates } = await import('../store/journal/settlement-rates.js');
    const found = await database();
    if (found !== undefined)
      return { ...settlementRates(found.postgres), close: () => Promise.resolve() };
    const { sqliteDatabase } = await import('../store/database/sqlite-database.js');
    const { journalIn } = await import('../store/journal/sqlite-journal.js');
    return settlementRates(sqliteDatabase(journalIn(journalFile(home())), now));
  };

  const events = lazily(async () => {
    const found = await database();
    if (found !== undefined) {
      const { openPostgresEvents, inboxPart } = await import('../store/events/postgres-events.js');
      return openPostgresEvents(await prepared(found, inboxPart));
    }
    const { openEventStore } = await import('../store/events/sqlite-events.js');
    const opened = openEventStore(eventsFile(home()), now, isAliveHere);
    onClose(() => opened.close());
    return opened;
  });

  return { journal, events, rates, database };
}

const movedAway = (where: string): Failure =>
  new Failure(
    'usage',
    `The payments of this home were moved into the database ${where}, which is not configured now.`,
    {
      hint: `Set ${databaseVariable}, or svcpay config set database-url.`,
    },
  );

const notMoved = (path: string): Failure =>
  new Failure(
    'usage',
    `Nothing was sent: the payments of this home are in ${path}, not in the database.`,
    {
      hint: 'Move them first: svcpay db move',
    },
  );

/** Creates the value on first use, and again if a promise was rejected. */
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
