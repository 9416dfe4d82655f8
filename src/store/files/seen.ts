// What was last seen here of the service: ids of transactions, which a shortened one is looked up in, the size of its pages, and
// wallets and institutions for completion. Losing it loses nothing else.
import * as v from 'valibot';
import { openDocument } from './document.js';
import type { Home } from './home.js';

/** Newest last. */
const ids = v.object({ seen: v.optional(v.array(v.object({ scope: v.string(), txnId: v.string() })), []) });

const mostKept = 2000;

const passOver = (): void => undefined;

const openIds = (home: Home) => openDocument(home.data, 'seen-ids', ids, { passOver });

/** Of this service and account. Nothing where the file cannot be read. */
export function seenIds(home: Home, scope: string): readonly string[] {
  const { seen } = openIds(home).read();
  return seen.filter((each) => each.scope === scope).map(({ txnId }) => txnId);
}

/** What could not be kept is asked for whole. */
export async function keepSeenIds(home: Home, scope: string, txnIds: readonly string[]): Promise<void> {
  const known = new Set(seenIds(home, scope));
  const fresh = txnIds.filter((txnId) => !known.has(txnId)).map((txnId) => ({ scope, txnId }));
  if (fresh.length === 0) return;
  await keep(() => openIds(home).update(({ seen }) => ({ seen: [...seen, ...fresh].slice(-mostKept) })));
}

const wallets = v.object({ wallets: v.optional(v.array(v.string()), []) });

export async function keepSeenWallets(home: Home, ccys: readonly string[]): Promise<void> {
  await keep(async () => {
    const document = openDocument(home.data, 'seen-wallets', wallets, { passOver });
    const known = new Set(document.read().wallets);
    if (ccys.every((ccy) => known.has(ccy))) return;
    await document.update(() => ({ wallets: [...ccys] }));
  });
}

const pageSizes = v.object({ pageSizes: v.optional(v.record(v.string(), v.number()), {}) });

/** How many rows a page of this service has at most, where it gave fewer than it was asked for first. */
export function seenPageSize(home: Home, baseUrl: string) {
  const document = openDocument(home.data, 'seen-page-sizes', pageSizes, { passOver });
  return {
    load: async () => document.read().pageSizes[baseUrl],
    save: (size: number) => keep(() => document.update((before) => ({ pageSizes: { ...before.pageSizes, [baseUrl]: size } }))),
  };
}

const names = v.record(v.string(), v.string());
const institutions = v.object({ institutions: v.optional(v.record(v.string(), names), {}) });

/** @param seen names by their codes */
export async function keepSeenInstitutions(home: Home, country: string, seen: Readonly<Record<string, string>>): Promise<void> {
  await keep(async () => {
    const document = openDocument(home.data, 'seen-institutions', institutions, { passOver });
    const known = document.read().institutions[country] ?? {};
    if (Object.entries(seen).every(([code, name]) => known[code] === name)) return;
    await document.update((before) => ({ institutions: { ...before.institutions, [country]: { ...seen } } }));
  });
}

/** Written only when something has changed, and as far as that goes: a home that cannot be written still shows what there is. */
async function keep(write: () => Promise<unknown>): Promise<void> {
  await write().catch(() => undefined);
}
