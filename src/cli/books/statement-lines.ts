// The rows of a statement with what this home knows of them: who got a payment, and what it was worth.
import Big from 'big.js';
import type { Span } from '../../formats/calendar.js';
import type { StatementLine } from '../../terminal/views/statement-view.js';
import type { Books } from '../../wallet/books/gather.js';
import { statementRows, type Difference, type StatementRow } from '../../wallet/books/statement.js';
import type { Context } from '../context.js';
import { partiesOf } from '../history/parties.js';

export interface Wanted {
  readonly wallets: readonly string[];
  readonly period: Span;
  /** The service's clock, epoch ms. */
  readonly now: number;
  /** What each wallet held before its first listed transaction. */
  readonly before: ReadonlyMap<string, Big>;
  /** The calendar day of an instant. */
  readonly day: (at: number) => string;
}

/** So many rows are looked up at a time. */
const rowsAtOnce = 200;

/**
 * Wallet by wallet. A difference to what the service reports is a row of its own after the closing balance of today.
 *
 * @param context where names are looked up; without it the rows have only what the service reports
 */
export async function* statementLines(books: Books, wanted: Wanted, context: Context | undefined): AsyncGenerator<StatementLine, void, void> {
  let rows: StatementRow[] = [];
  for (const row of allRows(books, wanted)) {
    rows.push(row);
    if (rows.length < rowsAtOnce) continue;
    yield* await linesOf(rows, wanted, context);
    rows = [];
  }
  yield* await linesOf(rows, wanted, context);
}

function* allRows(books: Books, { wallets, period, now, before }: Wanted): Generator<StatementRow, void, void> {
  for (const ccy of wallets) {
    yield* statementRows(ccy, books.movements(ccy), period, now, before.get(ccy));
    const difference = period.end > now ? books.differences.find((each) => each.ccy === ccy) : undefined;
    if (difference !== undefined) yield differenceRow(difference, now);
  }
}

function differenceRow({ ccy, difference, reported }: Difference, now: number): StatementRow {
  const [more, less] = difference.gt(0) ? [difference, zero] : [zero, difference.abs()];
  return { ccy, kind: 'difference', at: now, txnId: null, other: null, reference: null, note: null, in: more, out: less, fee: zero, balance: reported };
}

const zero = new Big(0);

async function linesOf(rows: readonly StatementRow[], { day }: Wanted, context: Context | undefined): Promise<StatementLine[]> {
  const sent = rows.flatMap(({ kind, txnId }) => (kind === 'send' && txnId !== null ? txnId : []));
  const known = context === undefined ? () => undefined : await partiesOf(sent, context);
  return rows.map(({ ccy, at, kind, other, in: received, out, fee, balance, txnId, reference, note }) => ({
    date: at === null ? null : day(at),
    time: at === null || txnId === null ? null : new Date(at).toISOString(),
    wallet: ccy,
    kind,
    counterparty: (txnId === null ? undefined : known(txnId)) ?? other,
    reference,
    note,
    in: received,
    out,
    fee,
    balance,
    fiatValue: null,
    fiatRate: null,
    fiat: null,
    txnId,
  }));
}
