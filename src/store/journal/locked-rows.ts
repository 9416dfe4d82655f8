// The rows that a transaction is about to write, and the names that it locks.
import * as v from 'valibot';
import type { Sql, SqlDatabase, SqlValue } from '../database/sql.js';
import type { PaymentDraft } from './payment.js';
import { readRows, selectPayments, type PaymentRow } from './rows.js';

export const rowOfPayment = async (sql: Sql, id: string): Promise<PaymentRow | undefined> =>
  readRows(await sql.all(selectPayments('p.id = ?'), id))[0];

const idsSchema = v.array(v.object({ id: v.string() }));

/** Waits for other writers first: the second statement sees their writes. */
export async function lockedRow(
  sql: Sql,
  { forUpdate }: SqlDatabase,
  condition: string,
  ...values: SqlValue[]
): Promise<PaymentRow | undefined> {
  const text = `SELECT id FROM payments WHERE ${condition}${forUpdate}`;
  const [found] = v.parse(idsSchema, await sql.all(text, ...values));
  return found && rowOfPayment(sql, found.id);
}

export const refLock = ({ scope, ref }: PaymentDraft): string => `ref ${scope} ${ref}`;

/**
 * Payments with equal idempotency keys are opened and submitted one after the other, whatever their
 * references.
 */
export const keyLock = ({ idempotencyKey }: PaymentDraft): string[] =>
  idempotencyKey === null ? [] : [`key ${idempotencyKey}`];
