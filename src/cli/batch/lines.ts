// Turns a row of a batch into the line that svcpay prints for the row.
import type { BatchLine } from '../../terminal/cards/batch-view.js';
import { unpaidOutcomes, type Row } from '../../wallet/batch/row.js';
import { furtherAttempt } from '../../wallet/batch/status.js';

/** @param next the command to run next for the row */
export function lineOf(row: Row, now: number, next: string | null = null): BatchLine {
  const { cost, failure, institution, institutionName, settledAt, state } = row;
  const total = unpaidOutcomes.has(state) ? undefined : row.total;
  const attempt = furtherAttempt(row);
  return {
    line: row.line,
    ref: row.ref,
    payee: row.name,
    bank: institutionName ?? institution,
    to: row.to,
    amount: row.written,
    from: row.from,
    method: row.method,
    cost: cost?.total.value ?? null,
    fees: cost?.fees.value ?? null,
    outcome: state,
    before: row.before ?? row.standing === 'settled',
    txnId: row.txnId ?? null,
    txnState: row.txnState ?? null,
    paid: total?.value ?? null,
    paidCcy: total?.ccy ?? null,
    error: failure?.kind ?? null,
    message:
      failure?.message ??
      (attempt === undefined
        ? null
        : `A further attempt, whose reference at the service is ${attempt}`),
    next,
    at: new Date(now).toISOString(),
    settled: settledAt === undefined ? null : new Date(settledAt).toISOString(),
  };
}
