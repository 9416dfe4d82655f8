// What was last seen here of the service, for completion: wallets and institutions. Losing it loses nothing else.
import * as v from 'valibot';
import { openDocument } from './document.js';
import type { Home } from './home.js';

const wallets = v.object({ wallets: v.optional(v.array(v.string()), []) });

export async function keepSeenWallets(home: Home, ccys: readonly string[]): Promise<void> {
  await keep(async () => {
    const document = openDocument(home.data, 'seen-wallets', wallets);
    const known = new Set(document.read().wallets);
    if (ccys.every((ccy) => known.has(ccy))) return;
    await document.update(() => ({ wallets: [...ccys] }));
  });
}

const names = v.record(v.string(), v.string());
const institutions = v.object({ institutions: v.optional(v.record(v.string(), names), {}) });

/** @param seen names by their codes */
export async function keepSeenInstitutions(home: Home, country: string, seen: Readonly<Record<string, string>>): Promise<void> {
  await keep(async () => {
    const document = openDocument(home.data, 'seen-institutions', institutions);
    const known = document.read().institutions[country] ?? {};
    if (Object.entries(seen).every(([code, name]) => known[code] === name)) return;
    await document.update((before) => ({ institutions: { ...before.institutions, [country]: { ...seen } } }));
  });
}

/** Written only when something has changed, and as far as that goes: a home that cannot be written still shows what there is. */
async function keep(write: () => Promise<void>): Promise<void> {
  await write().catch(() => undefined);
}
