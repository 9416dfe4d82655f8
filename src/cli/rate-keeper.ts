// Stores the exchange rates at settlement, if the profile names a fiat currency. svcpay reads the
// exchange rates while the payment is in flight, so that a person does not wait for the rates. If
// no command waits for the settlement, svcpay stores the exchange rates at the submission.
import type { Rates, Transaction } from '../api/types.js';
import { fixed } from '../formats/amount.js';
import { isFinal, isQuoted } from '../formats/states.js';
import type { KeptRate, SettlementRates } from '../store/journal/records.js';
import { settledAt } from '../wallet/history/moved-amounts.js';
import { findRate } from '../wallet/quote/quote.js';
import { lazily } from './stores.js';

export interface RateKeeperDeps {
  readonly fiat: string;
  readonly account: () => Promise<{
    readonly client: { rates(): Promise<Rates>; serviceNow(): number };
    readonly scope: string;
  }>;
  readonly rates: () => Promise<SettlementRates>;
  readonly onClose: (close: () => Promise<void>) => void;
}

/** The maximum age in ms of exchange rates that svcpay stores as the rates of a settlement. */
const validMs = 60_000;
/**
 * The maximum age in ms of a settlement that svcpay detects late, and for which svcpay still stores
 * the current exchange rates.
 */
const lateMs = 3_600_000;
/** The largest number of transactions that the rate keeper remembers. */
const mostKnown = 1_000;

interface Read {
  readonly at: number;
  readonly rates: Rates;
}

export interface RateKeeper {
  /** Called for every transaction that the service reports. */
  readonly see: (txn: Transaction) => void;
  /** Resolves when the rate keeper has stored the exchange rates of all settled transactions. */
  readonly kept: () => Promise<unknown>;
}

/**
 * Creates the rate keeper. If a read of the exchange rates fails, the payment has no stored rate.
 */
export function rateKeeper({ fiat, account, rates, onClose }: RateKeeperDeps): RateKeeper {
  const inFlight = new Set<string>();
  const settled = new Set<string>();
  let latest: Promise<Read> | undefined;
  let work: Promise<void> = Promise.resolve();
  let isBusy = false;
  const finish = (): Promise<void> => work;
  const store = lazily(async () => {
    const opened = await rates();
    // The functions that were passed to `onClose` run in reverse order, so `finish` runs before the
    // stores and connections close.
    onClose(finish);
    return opened;
  });

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
    const isDone = isFinal(txn.txnState);
    const updatedAt = settledAt(txn) ?? 0;
    const isNear = !isDone || inFlight.has(txn.txnId) || updatedAt >= now - validMs;
    if (!isNear && updatedAt < now - lateMs) return;
    const before = await latest?.catch(() => undefined);
    const snapshot = before !== undefined && before.at >= now - validMs ? before : await read();
    const found = ratesOf(txn, fiat, snapshot.rates);
    if (Object.keys(found).length === 0) return;
    const settled = isDone ? updatedAt || now : null;
    const rate = { keptAt: snapshot.at, settledAt: settled, fiat, rates: found };
    await (await store())[isNear ? 'keep' : 'keepLate'](scope, txn.txnId, rate);
  };

  const keepNext = (txn: Transaction): void => {
    if (!isBusy) onClose(finish);
    isBusy = true;
    work = work.then(() => keep(txn)).catch(() => undefined);
  };

  const see = (txn: Transaction): void => {
    if (isQuoted(txn.txnState)) return;
    if (!isFinal(txn.txnState)) {
      if (inFlight.has(txn.txnId)) return;
      note(inFlight, txn.txnId);
      // For an outgoing payment, stores the exchange rates now. For an incoming payment, only reads
      // the exchange rates now, and stores them at the settlement.
      if (txn.sourceReq.method === 'servicepay') keepNext(txn);
      else if (latest === undefined) void read();
    } else if (txn.txnState === 'completed' && !settled.has(txn.txnId)) {
      note(settled, txn.txnId);
      keepNext(txn);
    }
  };
  return { see, kept: () => work };
}

function note(txnIds: Set<string>, txnId: string): void {
  txnIds.add(txnId);
  const [oldest] = txnIds;
  if (txnIds.size > mostKnown && oldest !== undefined) txnIds.delete(oldest);
}

/**
 * Returns the exchange rates of a transaction's two currencies, and omits the rates that the
 * service does not report.
 */
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
