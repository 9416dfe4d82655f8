// Caches of data from the service: transaction ids for resolving shortened ids, page sizes, and
// wallets and institutions for completion.
import * as v from 'valibot';
import type { Fields } from '../../formats/text.js';
import { openDocument } from './document.js';
import type { Home } from './home.js';

/** The schema of the stored transaction ids, with the newest last. */
const ids = v.object({
  seen: v.optional(
    v.array(v.object({ scope: v.string(), txnId: v.string(), about: v.optional(v.string()) })),
    [],
  ),
});

/** A transaction that a screen showed, with its description for completion. */
export interface SeenTransaction {
  readonly txnId: string;
  readonly about: string;
}

const mostKept = 2000;

/**
 * Opens a cache, which is empty if svcpay cannot read its file. Ignores write errors, so that
 * svcpay works in a read-only home.
 */
function openSeen<S extends v.GenericSchema<unknown, Fields>>(home: Home, name: string, schema: S) {
  const onUnreadable = (): void => undefined;
  const { read, update } = openDocument(home.data, `seen-${name}`, schema, { onUnreadable });
  return {
    read,
    keep: async (change: (before: v.InferOutput<S>) => v.InferOutput<S>): Promise<void> => {
      await update(change).catch(() => undefined);
    },
  };
}

const openIds = (home: Home) => openSeen(home, 'ids', ids);

/** The stored transaction ids, or an empty list if the file cannot be read. */
export function seenIds(home: Home, scope: string): readonly string[] {
  const { seen } = openIds(home).read();
  return seen.filter((each) => each.scope === scope).map(({ txnId }) => txnId);
}

/**
 * Stores transaction ids. If svcpay cannot store the id of a transaction, the user must later type
 * the full id.
 */
export async function keepSeenIds(
  home: Home,
  scope: string,
  shown: readonly SeenTransaction[],
): Promise<void> {
  const document = openIds(home);
  const { seen: before } = document.read();
  const isKnown = ({ txnId }: SeenTransaction): boolean =>
    before.some((each) => each.scope === scope && each.txnId === txnId && each.about !== undefined);
  const fresh = shown.filter((each) => !isKnown(each)).map((each) => ({ scope, ...each }));
  if (fresh.length === 0) return;
  const ids = new Set(fresh.map(({ txnId }) => txnId));
  await document.keep(({ seen }) => ({
    seen: [...seen.filter((each) => each.scope !== scope || !ids.has(each.txnId)), ...fresh].slice(
      -mostKept,
    ),
  }));
}

const wallets = v.object({ wallets: v.optional(v.array(v.string()), []) });

export async function keepSeenWallets(home: Home, ccys: readonly string[]): Promise<void> {
  const document = openSeen(home, 'wallets', wallets);
  const saved = new Set(document.read().wallets);
  if (!ccys.every((ccy) => saved.has(ccy))) await document.keep(() => ({ wallets: [...ccys] }));
}

const pageSizes = v.object({ pageSizes: v.optional(v.record(v.string(), v.number()), {}) });

const openPageSizes = (home: Home) => openSeen(home, 'page-sizes', pageSizes);

/**
 * The page size for requests to a service, which svcpay learned when the service returned fewer
 * rows than requested.
 */
export const seenPageSize = (home: Home, baseUrl: string): number | undefined =>
  openPageSizes(home).read().pageSizes[baseUrl];

export const keepSeenPageSize = (home: Home, baseUrl: string, size: number): Promise<void> =>
  openPageSizes(home).keep(({ pageSizes: others }) => ({
    pageSizes: { ...others, [baseUrl]: size },
  }));

const databases = v.object({
  databases: v.optional(
    v.record(v.string(), v.object({ generation: v.number(), latest: v.nullable(v.string()) })),
    {},
  ),
});

/**
 * The state of a database when this home last used it. A database that lacks the latest payment of
 * this state was restored from a backup.
 */
export function seenDatabase(home: Home, id: string) {
  const { read, keep } = openSeen(home, 'databases', databases);
  return {
    load: () => read().databases[id],
    save: (seen: { generation: number; latest: string | null }) =>
      keep(({ databases: others }) => ({ databases: { ...others, [id]: seen } })),
  };
}

const names = v.record(v.string(), v.string());
const institutions = v.object({ institutions: v.optional(v.record(v.string(), names), {}) });

/** @param seen the names of institutions by their codes */
export async function keepSeenInstitutions(
  home: Home,
  country: string,
  seen: Readonly<Record<string, string>>,
): Promise<void> {
  const document = openSeen(home, 'institutions', institutions);
  const saved = document.read().institutions[country] ?? {};
  if (Object.entries(seen).every(([code, name]) => saved[code] === name)) return;
  await document.keep(({ institutions: others }) => ({
    institutions: { ...others, [country]: { ...seen } },
  }));
}
