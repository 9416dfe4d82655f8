// Stores the limits of accounts in the database. The limits of an account apply to every home that
// uses the database, including new homes.
import * as v from 'valibot';
import type { Sql, SqlDatabase } from '../database/sql.js';
import { readLimits, type Limits } from '../profile/profiles.js';

const amounts = v.record(v.string(), v.string());
const rowsSchema = v.array(
  v.object({
    limits: v.pipe(
      v.string(),
      v.parseJson(),
      v.object({ perPayment: amounts, perDay: amounts, destinations: v.array(v.string()) }),
    ),
  }),
);

/** The limits of an account, or undefined if the account has no limits in this database. */
export const limitsOfAccount = (
  database: SqlDatabase,
  account: string,
): Promise<Limits | undefined> => database.read((sql) => read(sql, account));

async function read(sql: Sql, account: string): Promise<Limits | undefined> {
  const [row] = v.parse(
    rowsSchema,
    await sql.all('SELECT limits FROM account_limits WHERE account = ?', account),
  );
  return row && readLimits(row.limits);
}

/**
 * Changes the limits of an account. Concurrent changes of an account's limits run one after the
 * other.
 */
export const changeLimitsOfAccount = (
  database: SqlDatabase,
  account: string,
  change: (before: Limits | undefined) => Limits,
): Promise<void> =>
  database.transaction(
    async (sql) => {
      const write =
        'INSERT INTO account_limits (account, limits) VALUES (?, ?) ' +
        'ON CONFLICT (account) DO UPDATE SET limits = excluded.limits';
      await sql.run(write, account, JSON.stringify(change(await read(sql, account))));
    },
    { locks: [`limits ${account}`] },
  );
