// Yields the rows of a statement, with the recipients and rates that this home has stored.
import Big from 'big.js';
import { decimalsOf } from '../../formats/amount.js';
import type { KeptRate } from '../../store/journal/records.js';
import type { RecipientOf } from '../../terminal/views/transaction-view.js';
import type { Books } from '../../wallet/books/gather.js';
import { changeOf, signed } from '../../wallet/books/movement.js';
import type { StatementRow } from '../../formats/statement-row.js';
import {
  markRow,
  rowOf,
  statementRows,
  type Difference,
  type StatementScope,
} from '../../wallet/books/statement.js';
import type { Context } from '../context.js';
import type { KnownOf } from '../tx/local-facts.js';
import { localFacts } from '../tx/local-facts.js';
import { partiesOf } from '../tx/local-facts.js';

const rowsAtOnce = 200;

/** Looks up recipients and stored exchange rates in the data of this home. */
export interface LookUps {
  readonly parties: (txnIds: readonly string[]) => Promise<RecipientOf>;
  readonly rates: (txnIds: readonly string[]) => Promise<ReadonlyMap<string, KeptRate>>;
  readonly known: (txnIds: readonly string[]) => Promise<KnownOf>;
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
    known: (txnIds) => localFacts(txnIds, context),
    rates: (txnIds) =>
      opened.then(({ scope, rates }) => rates.of(scope, txnIds)).catch(() => new Map()),
  };
}

/**
 * Yields the rows of each wallet. If the closing balance of today differs from the service's
 * balance, the difference is a separate row after it.
 */
export const statementLines = (
  books: Books,
  scope: StatementScope,
  lookUps: LookUps,
): AsyncGenerator<StatementRow> => looked(walletRows(books, scope), lookUps);

/** Yields the rows of all wallets without balances, in the order of their times. */
export const timedLines = (
  books: Books,
  { period, day }: Pick<StatementScope, 'period' | 'day'>,
  lookUps: LookUps,
): AsyncGenerator<StatementRow> => looked(timedRows(books, period, day), lookUps);

function* timedRows(
  books: Books,
  period: StatementScope['period'],
  day: StatementScope['day'],
): Generator<StatementRow> {
  const none = new Big(0);
  for (const movement of books.movements(undefined, period)) yield rowOf(movement, none, day);
}

function* walletRows(books: Books, scope: StatementScope): Generator<StatementRow> {
  const { wallets, period, now, day } = scope;
  for (const ccy of wallets) {
    yield* statementRows(ccy, books.movements(ccy), scope);
    const difference =
      period.end > now ? books.differences.find((each) => each.ccy === ccy) : undefined;
    if (difference !== undefined) yield differenceRow(difference, day(now));
  }
}

const differenceRow = ({ ccy, difference, reported }: Difference, date: string): StatementRow => ({
  ...markRow('difference', ccy, date, reported),
  ...signed(difference),
});

async function* looked(
  rows: Iterable<StatementRow>,
  lookUps: LookUps,
): AsyncGenerator<StatementRow> {
  let part: StatementRow[] = [];
  for (const row of rows) {
    part.push(row);
    if (part.length < rowsAtOnce) continue;
    yield* await withLocalData(part, lookUps);
    part = [];
  }
  yield* await withLocalData(part, lookUps);
}

async function withLocalData(
  rows: readonly StatementRow[],
  lookUps: LookUps,
): Promise<StatementRow[]> {
  const txnIds = (of: readonly StatementRow[]): string[] => of.flatMap(({ txnId }) => txnId ?? []);
  const recipientOf = await lookUps.parties(txnIds(rows.filter(({ kind }) => kind === 'send')));
  const rates = await lookUps.rates(txnIds(rows));
  const knownOf = await lookUps.known(txnIds(rows));
  return rows.map((row) => {
    const known = row.txnId === null ? undefined : knownOf(row.txnId);
    const [party, kept] = row.txnId === null ? [] : [recipientOf(row.txnId), rates.get(row.txnId)];
    const rateOf = (ccy: string | null): Big | null => {
      const rate = kept?.rates[ccy ?? ''];
      return rate === undefined ? null : new Big(rate);
    };
    const fiatRate = rateOf(row.wallet);
    return {
      ...row,
      ...(known !== undefined && {
        destination: known.destination,
        paymentHash: known.paymentHash,
        approvedBy: known.approvedBy,
      }),
      counterparty: party ?? row.counterparty,
      ...(kept !== undefined &&
        fiatRate !== null && {
          fiatValue: changeOf(row).abs().times(fiatRate).round(decimalsOf(kept.fiat)),
          fiatRate,
          exchangedRate: rateOf(row.exchangedCcy),
          fiat: kept.fiat,
        }),
    };
  });
}
