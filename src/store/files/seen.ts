// Caches of data from the service: transaction ids for resolving shortened ids, page sizes, and
// wallets and institutions for completion.
import * as v from 'valibot';
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

const onUnreadable = (): void => undefined;

const openIds = (home: Home) => openDocument(home.data, 'seen-ids', ids, { onUnreadable });

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
  const { seen: before } = openIds(home).read();
  const isKnown = ({ txnId }: SeenTransaction): boolean =>
    before.some((each) => each.scope === scope && each.txnId === txnId && each.about !== undefined);
  const fresh = shown.filter((each) => !isKnown(each)).map((each) => ({ scope, ...each }));
  if (fresh.length === 0) return;
  const ids = new Set(fresh.map(({ txnId }) => txnId));
  await keep(() =>
    openIds(home).update(({ seen }) => ({
      seen: [
        ...seen.filter((each) => each.scope !== scope || !ids.has(each.txnId)),
        ...fresh,
      ].slice(-mostKept),
    })),
  );
}

const wallets = v.object({ wallets: v.optional(v.array(v.string()), []) });

export async function keepSeenWallets(home: Home, ccys: readonly string[]): Promise<void> {
  await keep(async () => {
    const document = openDocument(home.data, 'seen-wallets', wallets, { onUnreadable });
    const saved = new Set(document.read().wallets);
    if (ccys.every((ccy) => saved.has(ccy))) return;
    await document.update(() => ({ wallets: [...ccys] }));
  });
}

const pageSizes = v.object({ pageSizes: v.optional(v.record(v.string(), v.number()), {}) });

const openPageSizes = (home: Home) =>
  openDocument(home.data, 'seen-page-sizes', pageSizes, { onUnreadable });

/**
 * The page size for requests to a service, which svcpay learned when the service returned fewer
 * rows than requested.
 */
export const seenPageSize = (home: Home, baseUrl: string): number | undefined =>
  openPageSizes(home).read().pageSizes[baseUrl];

export async function keepSeenPageSize(home: Home, baseUrl: string, size: number): Promise<void> {
  await keep(() =>
    openPageSizes(home).update((before) => ({
      pageSizes: { ...before.pageSizes, [baseUrl]: size },
    })),
  );
}

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
  const document = openDocument(home.data, 'seen-databases', databases, { onUnreadable });
  const load = () => document.read().databases[id];
  return {
    load,
    save: (seen: { generation: number; latest: string | null }) =>
      keep(() =>
        document.update(({ databases: others }) => ({ databases: { ...others, [id]: seen } })),
      ),
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
  await keep(async () => {
    const document = openDocument(home.data, 'seen-institutions', institutions, { onUnreadable });
    const saved = document.read().institutions[country] ?? {};
    if (Object.entries(seen).every(([code, name]) => saved[code] === name)) return;
    await document.update((before) => ({
      institutions: { ...before.institutions, [country]: { ...seen } },
    }));
  });
}

/**
 * Stores data for completion and lookups. Ignores write errors, so that svcpay works in a read-only
 * home.
 */
async function keep(write: () => Promise<unknown>): Promise<void> {
  await write().catch(() => undefined);
}
