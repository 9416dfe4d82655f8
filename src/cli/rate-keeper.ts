// Stores the rates at settlement, if the profile names a fiat currency. They are read while the payment is
// in flight, so nobody waits for them.
import type { ServiceClient } from '../api/client.js';
import type { Rates, Transaction } from '../api/types.js';
import { fixed } from '../formats/amount.js';
import { isFinal, isQuoted } from '../formats/states.js';
import type { KeptRate, SettlementRates } from '../store/journal/settlement-rates.js';
import { findRate } from '../wallet/quote/rates.js';

export interface RateKeeperDeps {
  readonly fiat: string | undefined;
  readonly account: () => Promise<{ readonly client: ServiceClient; readonly scope: string }>;
  readonly rates: () => Promise<SettlementRates>;
  readonly onClose: (close: () => Promise<void>) => void;
}

/** Rates count for a settlement within this time of it. */
const validMs = 60_000;

interface Read {
  readonly at: number;
  readonly rates: Rates;
}

/**
 * Returns the function to call for every transaction that the service reports; undefined without a fiat currency. After
 * an error the rate is missing.
 */
export function rateKeeper({
  fiat,
  account,
  rates,
  onClose,
}: RateKeeperDeps): ((txn: Transaction) => void) | undefined {
  if (fiat === undefined) return undefined;
  const inFlight = new Set<string>();
  const settled = new Set<string>();
  let latest: Promise<Read> | undefined;
  let store: Promise<SettlementRates> | undefined;
  let work: Promise<unknown> = Promise.resolve();

  const read = (): Promise<Read> => {
    latest = account().then(async ({ client }) => ({
      rates: await client.rates(),
      at: client.serviceNow(),
    }));
    latest.catch(() => undefined);
    return latest;
  };

  const keep = async (txn: Transaction): Promise<void> => {
    const { client, scope } = await account();
    const now = client.serviceNow();
    const updatedAt = Math.max(txn.sourceReq.updatedAt ?? 0, txn.destReq.updatedAt ?? 0);
    if (!inFlight.has(txn.txnId) && updatedAt < now - validMs) return;
    const before = await latest?.catch(() => undefined);
    const known = before !== undefined && before.at >= now - validMs ? before : await read();
    const found = ratesOf(txn, fiat, known.rates);
    if (Object.keys(found).length === 0) return;
    if (store === undefined) store = rates();
    await (await store).keep(scope, txn.txnId, { keptAt: known.at, fiat, rates: found });
  };

  return (txn) => {
    if (isQuoted(txn.txnState)) return;
    if (!isFinal(txn.txnState)) {
      if (!inFlight.has(txn.txnId) && latest === undefined) void read();
      inFlight.add(txn.txnId);
    } else if (txn.txnState === 'completed' && !settled.has(txn.txnId)) {
      if (settled.size === 0) onClose(() => work.then(async () => (await store)?.close()));
      settled.add(txn.txnId);
      work = Promise.all([work, keep(txn).catch(() => undefined)]);
    }
  };
}

/** Rates of both currencies, if the service has them. */
function ratesOf(
  { sourceReq, destReq }: Transaction,
  fiat: string,
  rates: Rates,
): KeptRate['rates'] {
  const currencies = new Set(
    [sourceReq.ccy, destReq.ccy].flatMap((ccy) => ccy?.toUpperCase() ?? []),
  );
  return Object.fromEntries(
    [...currencies].flatMap((ccy): [string, string][] => {
      if (ccy === fiat) return [[ccy, '1']];
      try {
        return [[ccy, fixed(findRate(rates, `${ccy}/${fiat}`).rate)]];
      } catch {
        return [];
      }
    }),
  );
}
