// Builds the rows of a statement, with the recipients and rates that this home has stored.
import Big from 'big.js';
import { decimalsOf } from '../../formats/amount.js';
import type { Span } from '../../formats/calendar.js';
import type { KeptRate } from '../../store/journal/settlement-rates.js';
import type { RecipientOf } from '../../terminal/views/transaction-view.js';
import type { StatementLine } from '../../terminal/views/statement-view.js';
import type { Books } from '../../wallet/books/gather.js';
import { changeOf } from '../../wallet/books/movement.js';
import { statementRows, type Difference, type StatementRow } from '../../wallet/books/statement.js';
import type { Context } from '../context.js';
import { partiesOf } from '../tx/parties.js';

export interface StatementScope {
  readonly wallets: readonly string[];
  readonly period: Span;
  /** The current time of the service, in epoch ms. */
  readonly now: number;
  /** Returns the calendar day of an instant. */
  readonly day: (at: number) => string;
}

const rowsAtOnce = 200;

/** Looks up recipients and stored exchange rates in the data of this home. */
export interface LookUps {
  readonly parties: (txnIds: readonly string[]) => Promise<RecipientOf>;
  readonly rates: (txnIds: readonly string[]) => Promise<ReadonlyMap<string, KeptRate>>;
}

/**
 * Opens the lookups of recipients and exchange rates. If svcpay cannot read the data of this home,
 * the lookups return no data.
 */
export function lookUpsOf(context: Context): LookUps {
  const opened = context.account().then(async ({ scope }) => {
    return { scope, rates: await context.rates() };
  });
  opened.catch(() => undefined);
  return {
    parties: (txnIds) => partiesOf(txnIds, context),
    rates: (txnIds) =>
      opened.then(({ scope, rates }) => rates.of(scope, txnIds)).catch(() => new Map()),
  };
}

/**
 * Yields the statement lines of each wallet. If the closing balance of today differs from the
 * service's balance, the difference is a separate line after it.
 */
export async function* statementLines(
  books: Books,
  wanted: StatementScope,
  lookUps: LookUps,
): AsyncGenerator<StatementLine, void, void> {
  let rows: StatementRow[] = [];
  for (const row of allRows(books, wanted)) {
    rows.push(row);
    if (rows.length < rowsAtOnce) continue;
    yield* await linesOf(rows, wanted, lookUps);
    rows = [];
  }
  yield* await linesOf(rows, wanted, lookUps);
}

function* allRows(
  books: Books,
  { wallets, period, now }: StatementScope,
): Generator<StatementRow, void, void> {
  for (const ccy of wallets) {
    yield* statementRows(ccy, books.movements(ccy), period, now);
    const difference =
      period.end > now ? books.differences.find((each) => each.ccy === ccy) : undefined;
    if (difference !== undefined) yield differenceRow(difference, now);
  }
}

function differenceRow({ ccy, difference, reported }: Difference, now: number): StatementRow {
  const [more, less] = difference.gt(0) ? [difference, zero] : [zero, difference.abs()];
  return {
    ccy,
    kind: 'difference',
    at: now,
    created: null,
    txnId: null,
    other: null,
    reference: null,
    note: null,
    in: more,
    out: less,
    fee: zero,
    balance: reported,
  };
}

const zero = new Big(0);

async function linesOf(
  rows: readonly StatementRow[],
  { day }: StatementScope,
  lookUps: LookUps,
): Promise<StatementLine[]> {
  const txnIds = (of: readonly StatementRow[]): string[] => of.flatMap(({ txnId }) => txnId ?? []);
  const recipientOf = await lookUps.parties(txnIds(rows.filter(({ kind }) => kind === 'send')));
  const rates = await lookUps.rates(txnIds(rows));
  return rows.map((row) => {
    const { ccy, at, created, kind, other, in: received, out, fee, balance } = row;
    const { txnId, reference, note } = row;
    const kept = txnId === null ? undefined : rates.get(txnId);
    const rate = kept?.rates[ccy];
    return {
      date: at === null ? null : day(at),
      time: at === null || txnId === null ? null : new Date(at).toISOString(),
      created: created === null ? null : new Date(created).toISOString(),
      wallet: ccy,
      kind,
      counterparty: (txnId === null ? undefined : recipientOf(txnId)) ?? other,
      method: kind === 'send' || kind === 'receive' ? other : null,
      reference,
      note,
      in: received,
      out,
      fee,
      balance,
      fiatValue:
        kept === undefined || rate === undefined
          ? null
          : changeOf(row).abs().times(rate).round(decimalsOf(kept.fiat)),
      fiatRate: rate === undefined ? null : new Big(rate),
      fiat: kept === undefined || rate === undefined ? null : kept.fiat,
      txnId,
    };
  });
}
