// The ids of transactions that this home has shown, newest last: what a shortened id is looked up in. Losing it loses
// nothing but the short way to name a transaction.
import * as v from 'valibot';
import { openDocument } from './document.js';
import type { Home } from './home.js';

const schema = v.object({ seen: v.optional(v.array(v.object({ scope: v.string(), txnId: v.string() })), []) });

const mostKept = 2000;

const open = (home: Home) => openDocument(home.data, 'seen-ids', schema);

/** Of this service and account. Nothing where the file cannot be read. */
export function seenIds(home: Home, scope: string): readonly string[] {
  try {
    const { seen } = open(home).read();
    return seen.filter((each) => each.scope === scope).map(({ txnId }) => txnId);
  } catch {
    return [];
  }
}

/** Kept as far as that goes: a home that cannot be written still shows its transactions. */
export async function keepSeenIds(home: Home, scope: string, txnIds: readonly string[]): Promise<void> {
  const known = new Set(seenIds(home, scope));
  const fresh = txnIds.filter((txnId) => !known.has(txnId)).map((txnId) => ({ scope, txnId }));
  if (fresh.length === 0) return;
  // What could not be kept is asked for whole.
  await open(home)
    .update(({ seen }) => ({ seen: [...seen, ...fresh].slice(-mostKept) }))
    .catch(() => undefined);
}
