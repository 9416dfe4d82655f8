// The currencies of the wallets that were last seen here, for completion. Losing them loses nothing else.
import * as v from 'valibot';
import { openDocument } from './document.js';
import type { Home } from './home.js';

const schema = v.object({ wallets: v.optional(v.array(v.string()), []) });

/** Written only when they have changed, and as far as that goes. */
export async function keepSeenWallets(home: Home, ccys: readonly string[]): Promise<void> {
  try {
    const document = openDocument(home.data, 'seen-wallets', schema);
    const known = new Set(document.read().wallets);
    if (ccys.every((ccy) => known.has(ccy))) return;
    await document.update(() => ({ wallets: [...ccys] }));
  } catch {
    // A home that cannot be written still shows its wallets.
  }
}
