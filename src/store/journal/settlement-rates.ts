// Stores the exchange rates of settled transactions to the fiat currency of the profile. The
// service does not report past rates, so a missing rate stays missing.
import * as v from 'valibot';
import { inserted, placeholders, rowOf, type SqlDatabase } from '../database/sql.js';

export interface KeptRate {
  /** The time at which the rates were read, in epoch ms by the service's clock. */
  readonly keptAt: number;
  /**
   * The time of the settlement in epoch ms by the service's clock, or null until svcpay reads the
   * settled transaction.
   */
  readonly settledAt: number | null;
  readonly fiat: string;
  /** The price in `fiat` of each currency of the transaction, as a decimal. */
  readonly rates: Readonly<Record<string, string>>;
}

export interface SettlementRates {
  /**
   * Stores the current exchange rates of a transaction's currencies. The rates at the settlement
   * later replace the rates at the submission.
   */
  keep(scope: string, txnId: string, rate: KeptRate): Promise<void>;
  /**
   * Stores the rates at a settlement that svcpay detected late. If the rates at the submission are
   * stored, `keepLate` keeps these rates and stores only the time of the settlement.
   */
  keepLate(scope: string, txnId: string, rate: KeptRate): Promise<void>;
  of(scope: string, txnIds: readonly string[]): Promise<ReadonlyMap<string, KeptRate>>;
}

const rows = v.array(
  rowOf({
    txnId: v.string(),
    keptAt: v.number(),
    settledAt: v.nullable(v.number()),
    fiat: v.string(),
    rates: v.pipe(v.string(), v.parseJson(), v.record(v.string(), v.pipe(v.string(), v.decimal()))),
  }),
);

const orSettle = 'ON CONFLICT (scope, txn_id) DO UPDATE SET settled_at = excluded.settled_at';
const newRates = ', kept_at = excluded.kept_at, fiat = excluded.fiat, rates = excluded.rates';
const ifNotSettled = 'WHERE settlement_rates.settled_at IS NULL';

export const settlementRates = (database: SqlDatabase): SettlementRates => {
  const writing =
    (conflict: string): SettlementRates['keep'] =>
    async (scope, txnId, rate) => {
      const row = { scope, txnId, ...rate, rates: JSON.stringify(rate.rates) };
      const statement = inserted('settlement_rates', [row], `${conflict} ${ifNotSettled}`);
      await database.transaction((sql) => sql.run(...statement), { isOptional: true });
    };
  return {
    keep: writing(`${orSettle}${newRates}`),
    keepLate: writing(orSettle),
    async of(scope, txnIds) {
      if (txnIds.length === 0) return new Map();
      const text = `SELECT * FROM settlement_rates
        WHERE scope = ? AND txn_id IN (${placeholders(txnIds.length)})`;
      const found = v.parse(rows, await database.read((sql) => sql.all(text, scope, ...txnIds)));
      return new Map(found.map(({ txnId, ...rate }) => [txnId, rate]));
    },
  };
};
