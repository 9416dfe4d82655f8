// The journal and the inbox of this home, opened when first used.
import type { EventStore } from '../store/events/event-store.js';
import type { Document } from '../store/files/document.js';
import { eventsFile, journalFile, type Home } from '../store/files/home.js';
import type { Journal } from '../store/journal/journal.js';
import type { Config } from '../store/profile/profiles.js';
import { isAlive } from './owner.js';

export interface StoreOptions {
  readonly home: Home;
  readonly config: Document<Config>;
  readonly now: () => number;
  /** Names this process. */
  readonly owner: () => string;
  readonly onClose: (close: () => Promise<void>) => void;
}

export interface Stores {
  journal(): Promise<Journal>;
  events(): Promise<EventStore>;
}

export function openStores({ home, config, now, owner, onClose }: StoreOptions): Stores {
  const journal = lazily(async () => {
    const { openJournal } = await import('../store/journal/sqlite-journal.js');
    const isKnown = config.read().hasJournal === true;
    const opened = openJournal({ path: journalFile(home), isAlive: (each) => isAlive(each, owner()), now, isKnown });
    onClose(() => opened.close());
    // Where the settings cannot be written, the journal still can.
    if (!isKnown) await config.update((before) => ({ ...before, hasJournal: true })).catch(() => undefined);
    return opened;
  });
  const events = lazily(async () => {
    const { openEventStore } = await import('../store/events/sqlite-events.js');
    const opened = openEventStore(eventsFile(home), now);
    onClose(() => opened.close());
    return opened;
  });
  return { journal, events };
}

/** Made when first asked for, and again when that failed: a service that was away once is asked again. */
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
