// The caches of what the service showed. They stand in a file of their own, so that the library,
// which reads no cache, does not load conf.
import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import { openDocument } from './document.js';
import type { Home } from './home.js';

/**
 * Defines a cache of the service's data, with a value for each key. A cache is empty if svcpay
 * cannot read its file, and ignores write errors, so that svcpay works in a read-only home.
 */
const cache =
  <T>(name: string, schema: v.GenericSchema<unknown, T>) =>
  (home: Pick<Home, 'data'>, key: string) => {
    const onUnreadable = (): void => undefined;
    const all = v.record(v.string(), schema);
    const { read, update } = openDocument(home.data, `seen-${name}`, all, { onUnreadable });
    return {
      load: (): T | undefined => read()[key],
      /** Stores the changed value, unless it equals the stored value. */
      async update(change: (before: T | undefined) => T): Promise<void> {
        const before = read()[key];
        if (isDeepStrictEqual(change(before), before)) return;
        await update((stored) => ({ ...stored, [key]: change(stored[key]) })).catch(
          () => undefined,
        );
      },
    };
  };

/** A transaction that a screen showed, with its description for completion. */
export interface SeenTransaction {
  readonly txnId: string;
  readonly about: string;
}

/** The transactions that screens showed, the newest last, by the scope of their account. */
export const seenTransactions = cache<readonly SeenTransaction[]>(
  'ids',
  v.array(v.object({ txnId: v.string(), about: v.string() })),
);

/** The currencies of the wallets, under the key `wallets`. */
export const seenWallets = cache('wallets', v.array(v.string()));

/**
 * The page size for requests to a service, by its base URL, which svcpay learned when the service
 * returned fewer rows than requested.
 */
export const seenPageSize = cache('page-sizes', v.number());

/**
 * The state of a database when this home last used it, by the id of the database. A database that
 * lacks the latest payment of this state was restored from a backup.
 */
export const seenDatabase = cache(
  'databases',
  v.object({ generation: v.number(), latest: v.nullable(v.string()) }),
);

/** The names of a country's institutions by their codes. */
export const seenInstitutions = cache('institutions', v.record(v.string(), v.string()));
