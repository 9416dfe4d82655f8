// What this home or database knows of transactions beside the service: the payments they belong to,
// who approved them, and the notes of people. Notes are never changed.
import * as v from 'valibot';
import { placeholders, rowOf, type SqlDatabase } from '../database/sql.js';
import { actorOfJson, type Actor } from './steps.js';

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
    idempotencyKey: v.nullable(v.string()),
    approvedBy: v.nullable(actorOfJson),
  }),
);
const noteRows = v.array(
  rowOf({ txnId: v.string(), at: v.number(), actor: actorOfJson, note: v.string() }),
);

const selectPayments = (count: number): string =>
  `SELECT a.txn_id, p.ref, p.instruction, p.idempotency_key,
     (SELECT t.actor FROM trail t WHERE t.payment_id = p.id AND t.actor IS NOT NULL
        AND t.seq <= (SELECT max(s.seq) FROM trail s WHERE s.payment_id = p.id
          AND s.attempt = a.number AND s.step = 'approved')
        ORDER BY t.seq DESC LIMIT 1) AS approved_by
   FROM attempts a JOIN payments p ON p.id = a.payment_id
   WHERE p.scope = ? AND a.txn_id IN (${placeholders(count)})`;

const selectNotes = (count: number): string =>
  `SELECT txn_id, at, actor, note FROM notes
   WHERE scope = ? AND txn_id IN (${placeholders(count)}) ORDER BY txn_id, seq`;

const insertNote = `INSERT INTO notes (scope, txn_id, seq, at, actor, note)
  SELECT ?, ?, COALESCE(max(seq), 0) + 1, ?, ?, ? FROM notes WHERE scope = ? AND txn_id = ?`;

/** @param by who writes notes */
export const txnFacts = (database: SqlDatabase, by: Actor): TxnFacts => ({
  async of(scope, txnIds) {
    const found = new Map<string, TxnFact>();
    if (txnIds.length === 0) return found;
    const count = txnIds.length;
    const [payments = [], notes = []] = await database.read((sql) =>
      sql.last([selectPayments(count), scope, ...txnIds], [selectNotes(count), scope, ...txnIds]),
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
