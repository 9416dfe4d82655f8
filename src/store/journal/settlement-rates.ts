// The exchange rates at which transactions settled, to the fiat currency of the profile. They cannot be requested
// later, so a missing one stays missing.
import * as v from 'valibot';
import { places, rowOf } from '../database/rows.js';
import type { SqlDatabase } from '../database/sql.js';

/** The last step of the journal; other tables do not depend on it. */
export const settlementRatesStep = `
  CREATE TABLE settlement_rates (
    scope TEXT NOT NULL,
    txn_id TEXT NOT NULL,
    kept_at INTEGER NOT NULL,
    fiat TEXT NOT NULL,
    rates TEXT NOT NULL,
    PRIMARY KEY (scope, txn_id)
  ) STRICT, WITHOUT ROWID;`;

export interface KeptRate {
  /** When the rates were read, epoch ms by the service clock. */
  readonly keptAt: number;
  readonly fiat: string;
  /** The price of each currency of the transaction in `fiat`, as decimals. */
  readonly rates: Readonly<Record<string, string>>;
}

export interface SettlementRates {
  /** Keeps existing rates. */
  keep(scope: string, txnId: string, rate: KeptRate): Promise<void>;
  of(scope: string, txnIds: readonly string[]): Promise<ReadonlyMap<string, KeptRate>>;
  close(): Promise<void>;
}

const rows = v.array(
  rowOf({
    txnId: v.string(),
    keptAt: v.number(),
    fiat: v.string(),
    rates: v.pipe(v.string(), v.parseJson(), v.record(v.string(), v.pipe(v.string(), v.decimal()))),
  }),
);

export const settlementRates = (database: SqlDatabase): SettlementRates => ({
  async keep(scope, txnId, { keptAt, fiat, rates }) {
    const text =
      'INSERT INTO settlement_rates (scope, txn_id, kept_at, fiat, rates) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING';
    await database.transaction((sql) =>
      sql.run(text, scope, txnId, keptAt, fiat, JSON.stringify(rates)),
    );
  },
  async of(scope, txnIds) {
    if (txnIds.length === 0) return new Map();
    const text = `SELECT txn_id, kept_at, fiat, rates FROM settlement_rates WHERE scope = ? AND txn_id IN (${places(txnIds.length)})`;
    const found = v.parse(rows, await database.read((sql) => sql.all(text, scope, ...txnIds)));
    return new Map(found.map(({ txnId, ...rate }) => [txnId, rate]));
  },
  close: () => database.close(),
});
