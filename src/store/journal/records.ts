// The records of an account beside its payments: its books (adjustments, the last time at which the
// movements of each wallet added up to its balance, and closed months), the proposals that the
// owner decided on, the exchange rates of settled transactions, the notes of people, and the limits
// of an account in a shared database.
import * as v from 'valibot';
import {
  inserted,
  placeholders,
  rowOf,
  type SqlDatabase,
  type TransactionOptions,
  type Sql,
  type SqlValue,
  jsonOf,
} from '../database/sql.js';
import { actorOfJson, type Actor } from './steps.js';
import { readLimits, type Limits } from '../profile/profiles.js';

/**
 * An adjustment, which is money that no transaction explains, such as the opening balance of a
 * wallet. An adjustment never changes. A counter-entry undoes an adjustment.
 */
export interface BookEntry {
  readonly id: string;
  readonly ccy: string;
  /** The amount as a decimal, negative for money that left the wallet. */
  readonly amount: string;
  /** The calendar day of the entry, such as `2026-11-14`. */
  readonly dated: string;
  readonly note: string | null;
  /** The time at which svcpay recorded the entry, in epoch ms by the service's clock. */
  readonly recordedAt: number;
}

/** A record of the time at which the movements of a wallet added up to the service's balance. */
export interface Tie {
  readonly ccy: string;
  /**
   * The time at which the wallet's movements added up to its balance, in epoch ms according to the
   * service's clock.
   */
  readonly tiedAt: number;
  readonly balance: string;
}

export interface Close {
  /** A month such as `2026-10`. */
  readonly month: string;
  readonly zone: string;
  /** The statement of the month as CSV. */
  readonly sealed: string;
  /** The time at which the month was closed, in epoch ms by the service's clock. */
  readonly closedAt: number;
  /** The machine and process that closed the month. */
  readonly closedBy: string;
}

/** A difference between the books and the service that a person has accepted. */
export interface Accepted {
  readonly txnId: string;
  /** What differs, as JSON. svcpay reports a further difference of the same transaction. */
  readonly facts: string;
  readonly note: string;
  /** The time of the acceptance, in epoch ms by the service's clock. */
  readonly acceptedAt: number;
  /** The machine and process that recorded the acceptance. */
  readonly acceptedBy: string;
}

export interface BookRecords {
  accepted(scope: string): Promise<readonly Accepted[]>;
  /** Records accepted differences, except those that are recorded already. */
  accept(scope: string, differences: readonly Accepted[]): Promise<void>;
  /** All adjustments in the order in which they were recorded. */
  entries(scope: string): Promise<readonly BookEntry[]>;
  add(scope: string, entry: BookEntry): Promise<void>;
  /**
   * For each wallet, the record of the last time at which its movements added up to its balance.
   */
  ties(scope: string): Promise<readonly Tie[]>;
  keepTies(scope: string, ties: readonly Tie[]): Promise<void>;
  /** The settlement times of those transactions for which a statement has stored the time. */
  times(scope: string, txnIds: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** Stores settlement times in epoch ms. A stored time never changes. */
  keepTimes(scope: string, times: ReadonlyMap<string, number>): Promise<void>;
  /** All closed months, sorted by month. */
  closes(scope: string): Promise<readonly Close[]>;
  /** Seals a month, or returns false if the month is sealed already. */
  addClose(scope: string, close: Close): Promise<boolean>;
  /** Deletes all records about the books of an account, after its sandbox was reset. */
  forget(scope: string): Promise<void>;
}

const entryRows = v.array(
  rowOf({
    id: v.string(),
    ccy: v.string(),
    amount: v.string(),
    dated: v.string(),
    note: v.nullable(v.string()),
    recordedAt: v.number(),
  }),
);

const tieRows = v.array(rowOf({ ccy: v.string(), tiedAt: v.number(), balance: v.string() }));

const timeRows = v.array(rowOf({ txnId: v.string(), settledAt: v.number() }));

const acceptedRows = v.array(
  rowOf({
    txnId: v.string(),
    facts: v.string(),
    note: v.string(),
    acceptedAt: v.number(),
    acceptedBy: v.string(),
  }),
);

const closeRows = v.array(
  rowOf({
    month: v.string(),
    zone: v.string(),
    sealed: v.string(),
    closedAt: v.number(),
    closedBy: v.string(),
  }),
);

const lasts: TransactionOptions = { lasts: true };
const ifMissing = 'ON CONFLICT DO NOTHING';

/** Reads and writes rows of the tables of records. */
const recordsIn = (database: SqlDatabase) => ({
  select: async <S extends v.GenericSchema>(
    schema: S,
    from: string,
    ...values: readonly SqlValue[]
  ): Promise<v.InferOutput<S>> =>
    v.parse(schema, await database.read((sql) => sql.all(`SELECT * FROM ${from}`, ...values))),
  insert: (
    table: string,
    rows: Parameters<typeof inserted>[1],
    end: string,
    options: TransactionOptions = {},
  ): Promise<boolean> =>
    database.transaction(
      async (sql) =>
        rows.length > 0 && ((await sql.run(...inserted(table, rows, end))) > 0 || sql.isAgain),
      options,
    ),
});

export function bookRecords(database: SqlDatabase): BookRecords {
  const { select, insert } = recordsIn(database);
  return {
    accepted: (scope) => select(acceptedRows, 'book_accepted WHERE scope = ?', scope),
    async accept(scope, differences) {
      const rows = differences.map((each) => ({ scope, ...each }));
      await insert('book_accepted', rows, ifMissing, lasts);
    },
    entries: (scope) =>
      select(entryRows, 'book_entries WHERE scope = ? ORDER BY recorded_at, id', scope),
    async add(scope, entry) {
      await insert('book_entries', [{ scope, ...entry }], ifMissing, lasts);
    },
    ties: (scope) => select(tieRows, 'book_ties WHERE scope = ?', scope),
    async keepTies(scope, ties) {
      const orUpdate = `ON CONFLICT (scope, ccy) DO UPDATE
        SET tied_at = excluded.tied_at, balance = excluded.balance`;
      const rows = ties.map((tie) => ({ scope, ...tie }));
      await insert('book_ties', rows, orUpdate);
    },
    async times(scope, txnIds) {
      const these = `book_times WHERE scope = ? AND txn_id IN (${placeholders(txnIds.length)})`;
      const found = txnIds.length === 0 ? [] : await select(timeRows, these, scope, ...txnIds);
      return new Map(found.map(({ txnId, settledAt }) => [txnId, settledAt]));
    },
    async keepTimes(scope, times) {
      const rows = [...times].map(([txnId, settledAt]) => ({ scope, txnId, settledAt }));
      await insert('book_times', rows, ifMissing);
    },
    closes: (scope) => select(closeRows, 'book_closes WHERE scope = ? ORDER BY month', scope),
    addClose: (scope, close) => insert('book_closes', [{ scope, ...close }], ifMissing, lasts),
    async forget(scope) {
      await database.transaction(async (sql) => {
        for (const table of ['entries', 'ties', 'times', 'accepted', 'closes'])
          await sql.run(`DELETE FROM book_${table} WHERE scope = ?`, scope);
      });
    },
  };
}

export interface ProposalRecord {
  readonly id: string;
  /** The digests of the proposed instructions, joined by spaces. */
  readonly digests: string;
  /** The file of the proposal, byte for byte. */
  readonly text: string;
  /** The time of the refusal in epoch ms, or null for a proposal that was not refused. */
  readonly refusedAt: number | null;
  readonly note: string | null;
}

export interface ProposalRecords {
  all(scope: string): Promise<readonly ProposalRecord[]>;
  /** Records a proposal, and its refusal. A refused proposal stays refused. */
  keep(scope: string, record: ProposalRecord): Promise<void>;
}

const proposalRows = v.array(
  rowOf({
    id: v.string(),
    digests: v.string(),
    text: v.string(),
    refusedAt: v.nullable(v.number()),
    note: v.nullable(v.string()),
  }),
);

const orRefuse = `ON CONFLICT (scope, id) DO UPDATE
  SET refused_at = excluded.refused_at, note = excluded.note
  WHERE proposals.refused_at IS NULL`;

export const proposalRecords = (database: SqlDatabase): ProposalRecords => {
  const { select, insert } = recordsIn(database);
  return {
    all: (scope) => select(proposalRows, 'proposals WHERE scope = ?', scope),
    async keep(scope, record) {
      await insert('proposals', [{ scope, ...record }], orRefuse, lasts);
    },
  };
};

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

const rateRows = v.array(
  rowOf({
    txnId: v.string(),
    keptAt: v.number(),
    settledAt: v.nullable(v.number()),
    fiat: v.string(),
    rates: jsonOf(v.record(v.string(), v.pipe(v.string(), v.decimal()))),
  }),
);

const orSettle = 'ON CONFLICT (scope, txn_id) DO UPDATE SET settled_at = excluded.settled_at';
const newRates = ', kept_at = excluded.kept_at, fiat = excluded.fiat, rates = excluded.rates';
const ifNotSettled = 'WHERE settlement_rates.settled_at IS NULL';

export const settlementRates = (database: SqlDatabase): SettlementRates => {
  const { select, insert } = recordsIn(database);
  const writing =
    (conflict: string): SettlementRates['keep'] =>
    async (scope, txnId, rate) => {
      const row = { scope, txnId, ...rate, rates: JSON.stringify(rate.rates) };
      const end = `${conflict} ${ifNotSettled}`;
      await insert('settlement_rates', [row], end, { isOptional: true });
    };
  return {
    keep: writing(`${orSettle}${newRates}`),
    keepLate: writing(orSettle),
    async of(scope, txnIds) {
      const ids = placeholders(txnIds.length);
      const these = `settlement_rates WHERE scope = ? AND txn_id IN (${ids})`;
      const found = txnIds.length === 0 ? [] : await select(rateRows, these, scope, ...txnIds);
      return new Map(found.map(({ txnId, ...rate }) => [txnId, rate]));
    },
  };
};

export interface TxnFacts {
  /** The facts of those transactions that the journal knows. */
  of(scope: string, txnIds: readonly string[]): Promise<ReadonlyMap<string, TxnFact>>;
  /** Adds a note to a transaction of either direction. */
  note(scope: string, txnId: string, note: string): Promise<void>;
}

export interface TxnFact {
  /** The payment of the transaction, or undefined for a transaction with notes only. */
  readonly payment?:
    | {
        readonly ref: string;
        readonly instruction: string;
        /** The order of the attempt, as JSON. */
        readonly request: string;
        readonly idempotencyKey: string | null;
        /** Who approved the attempt, or null if no approval is recorded. */
        readonly approvedBy: Actor | null;
      }
    | undefined;
  /** The notes, oldest first. */
  readonly notes: readonly TxnNote[];
}

export interface TxnNote {
  readonly at: number;
  readonly by: Actor;
  readonly note: string;
}

const paymentRows = v.array(
  rowOf({
    txnId: v.string(),
    ref: v.string(),
    instruction: v.string(),
    request: v.string(),
    idempotencyKey: v.nullable(v.string()),
    approvedBy: v.nullable(actorOfJson),
  }),
);
const noteRows = v.array(
  rowOf({ txnId: v.string(), at: v.number(), actor: actorOfJson, note: v.string() }),
);

const paymentsOf = `SELECT a.txn_id, p.ref, p.instruction, a.request, p.idempotency_key,
     (SELECT t.actor FROM trail t WHERE t.payment_id = p.id AND t.actor IS NOT NULL
        AND t.seq <= (SELECT max(s.seq) FROM trail s WHERE s.payment_id = p.id
          AND s.attempt = a.number AND s.step = 'approved')
        ORDER BY t.seq DESC LIMIT 1) AS approved_by
   FROM attempts a JOIN payments p ON p.id = a.payment_id
   WHERE p.scope = ? AND a.txn_id IN`;
const notesOf = 'SELECT txn_id, at, actor, note FROM notes WHERE scope = ? AND txn_id IN';

const insertNote = `INSERT INTO notes (scope, txn_id, seq, at, actor, note)
  SELECT ?, ?, COALESCE(max(seq), 0) + 1, ?, ?, ? FROM notes WHERE scope = ? AND txn_id = ?`;

/** @param by who writes notes */
export const txnFacts = (database: SqlDatabase, by: Actor): TxnFacts => ({
  async of(scope, txnIds) {
    const found = new Map<string, TxnFact>();
    if (txnIds.length === 0) return found;
    const these = `(${placeholders(txnIds.length)})`;
    const [payments = [], notes = []] = await database.read((sql) =>
      sql.last(
        [`${paymentsOf} ${these}`, scope, ...txnIds],
        [`${notesOf} ${these} ORDER BY txn_id, seq`, scope, ...txnIds],
      ),
    );
    for (const { txnId, ...payment } of v.parse(paymentRows, payments))
      found.set(txnId, { payment, notes: [] });
    for (const { txnId, actor, ...note } of v.parse(noteRows, notes)) {
      const known = found.get(txnId);
      found.set(txnId, {
        payment: known?.payment,
        notes: [...(known?.notes ?? []), { ...note, by: actor }],
      });
    }
    return found;
  },
  async note(scope, txnId, note) {
    const key = [scope, txnId] as const;
    await database.transaction(
      async (sql) => {
        const at = await sql.now();
        await sql.last([insertNote, ...key, at, JSON.stringify(by), note, ...key]);
      },
      { lasts: true, locks: [`note ${scope} ${txnId}`] },
    );
  },
});

const amounts = v.record(v.string(), v.string());
const rowsSchema = v.array(
  v.object({
    limits: jsonOf(
      v.object({ perPayment: amounts, perDay: amounts, destinations: v.array(v.string()) }),
    ),
  }),
);

/** The limits of an account, which are empty if the account has no limits in this database. */
export const limitsOfAccount = (database: SqlDatabase, account: string): Promise<Limits> =>
  database.read((sql) => read(sql, account));

async function read(sql: Sql, account: string): Promise<Limits> {
  const [row] = v.parse(
    rowsSchema,
    await sql.all('SELECT limits FROM account_limits WHERE account = ?', account),
  );
  return readLimits(row?.limits ?? {});
}

/**
 * Changes the limits of an account. Concurrent changes of an account's limits run one after the
 * other.
 */
export const changeLimitsOfAccount = (
  database: SqlDatabase,
  account: string,
  change: (before: Limits) => Limits,
): Promise<void> =>
  database.transaction(
    async (sql) => {
      const row = { account, limits: JSON.stringify(change(await read(sql, account))) };
      const orUpdate = 'ON CONFLICT (account) DO UPDATE SET limits = excluded.limits';
      await sql.run(...inserted('account_limits', [row], orUpdate));
    },
    { locks: [`limits ${account}`] },
  );
