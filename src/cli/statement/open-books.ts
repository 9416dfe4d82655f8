// Opens the books of an account: reads every transaction once, with the payments of the journal and
// the sealed statements of closed months, and yields the rows of a statement.
import type { ListedTransaction } from '../../api/types.js';
import { fixed, decimalsOf } from '../../formats/amount.js';
import {
  always,
  type CalendarDate,
  ownZone,
  parseDate,
  parseZone,
  type Span,
  spanOf,
} from '../../formats/calendar.js';
import { Failure } from '../../formats/failure.js';
import { counted, messageOf } from '../../formats/text.js';
import type { BookRecords, Close, KeptRate } from '../../store/journal/records.js';
import {
  openBookRows,
  adjustmentOf,
  type Candidate,
  changeOf,
  signed,
} from '../../wallet/books/movement.js';
import { type Books, gather } from '../../wallet/books/gather.js';
import type { StoredTimes } from '../../wallet/history/settled-at.js';
import {
  type Cells,
  type SealedMonth,
  sealedMovements,
  markRow,
  rowOf,
  statementRows,
  type Difference,
  type StatementScope,
} from '../../wallet/books/statement.js';
import type { Context } from '../context.js';
import { eventsOf } from '../payment/inbox.js';
import { word } from '../values.js';
import { parse } from 'csv-parse/sync';
import { detailsOf } from '../../api/reading/transaction.js';
import Big from 'big.js';
import type { Journal } from '../../store/journal/journal.js';
import {
  attemptRef,
  mayHaveMoved,
  type Attempt,
  type AttemptState,
  type Payment,
} from '../../store/journal/payment.js';
import { destinationIn, type LocalPayment, type Outcome } from '../../wallet/books/compare.js';
import { decodeOrder } from '../../wallet/order/orders.js';
import type { RecipientOf } from '../../terminal/views/transaction-view.js';
import type { StatementRow } from '../../formats/statement-row.js';
import type { KnownOf } from '../../wallet/history/export.js';
import { localFacts, partiesOf } from '../tx/local-facts.js';

export const zoneOption = (fallback = 'of this machine') =>
  word('ZONE', parseZone)
    .optional()
    .describe(`time zone of the calendar days, such as Asia/Ho_Chi_Minh (default: ${fallback})`);

export const date = () => word('DATE', parseDate);

export const zoneOf = (tz: string | undefined): string => tz ?? ownZone();

/**
 * Returns the period from the first day to the last day, including both days. Throws Failure
 * `usage` for a period that ends before its start.
 */
export function periodOf(
  from: CalendarDate | undefined,
  to: CalendarDate | undefined,
  zone: string,
): Span {
  const first = from === undefined ? always.first : spanOf(from, zone).first;
  const end = to === undefined ? always.end : spanOf(to, zone).end;
  if (first < end) return { first, end };
  throw new Failure('usage', '--from must not be later than --to.');
}

export interface BooksWanted {
  /** The time zone that defines the calendar days. */
  readonly zone: string;
  /**
   * The period of the books. svcpay looks up the settlement times of the transactions near the
   * start and the end of the period, and near the end of each month in it. Without a period, svcpay
   * looks up no times, because only the sums of the wallets count.
   */
  readonly period?: Span;
  /** The month that the books take from the list even if it is closed, as later months. */
  readonly openMonth?: string;
  readonly onPage?: (page: readonly ListedTransaction[]) => void | Promise<void>;
}

/** Reads the books, passes the books to `use`, then deletes the sorted copy of the transactions. */
export async function withBooks<T>(
  { zone, period, onPage, openMonth }: BooksWanted,
  use: (books: Books) => Promise<T>,
  context: Context,
): Promise<T> {
  const { live, now, out, signal, sleep } = context;
  const { client: service, scope } = await context.account();
  const records = await context.books();
  const recorded = (await records.entries(scope)).map((entry) => adjustmentOf(entry, zone));
  const ties = (await records.ties(scope)).map(({ ccy, tiedAt }) => [ccy, tiedAt] as const);
  const sealed = (await closesOf(context)).map(sealedMonth);
  const sealedTimes = new Map(
    sealed
      .flatMap(sealedMovements)
      .map(({ txnId, kind, at }) => [kind === 'correction' ? '' : (txnId ?? ''), at] as const),
  );
  const rows = openBookRows();
  const onRead = showProgress('Reading the history', context);
  try {
    const books = await gather({
      service,
      rows,
      now,
      signal,
      sleep,
      onPage: (page) => {
        onRead(page.length);
        return onPage?.(page);
      },
      edges: period === undefined ? [] : edgesOf(period, zone, service.serviceNow()),
      stored: storedTimes(sealedTimes, records, scope, out),
      sealed: sealed.filter(({ month }) => openMonth === undefined || month < openMonth),
      settled: (txnId) => settledHere(txnId, context),
      recorded,
      ties: new Map(ties),
      submitted: () => knownHere(closedTransactions(sealed), context),
    });
    live.stop();
    for (const ccy of books.unreported)
      out.warn(
        `svcpay cannot check the closing balance of ${ccy}, because the service reports no total.`,
      );
    await keepTies(books, records, scope, context);
    return await use(books);
  } finally {
    live.stop();
    rows.close();
  }
}

const oldestEdgeYears = 10;

/** Returns the ends of the period and of each month in it, in epoch ms. */
function edgesOf({ first, end }: Span, zone: string, now: number): number[] {
  const edges = [first, end];
  const oldest = new Date(now).getUTCFullYear() - oldestEdgeYears;
  const month = new Date(Math.max(first, Date.UTC(oldest, 0)));
  for (let at = 0; at < Math.min(end, now);) {
    at = spanOf(parseDate(month.toISOString().slice(0, 7)), zone).end;
    if (at > first && at < end) edges.push(at);
    month.setUTCMonth(month.getUTCMonth() + 1, 1);
  }
  return edges;
}

/**
 * Reads the settlement times of closed months and of earlier statements. The statement succeeds
 * even if svcpay cannot store a time.
 */
const storedTimes = (
  sealed: ReadonlyMap<string, number>,
  records: BookRecords,
  scope: string,
  { warn }: Pick<Context['out'], 'warn'>,
): StoredTimes => ({
  of: async (txnIds) => {
    const times = new Map(await records.times(scope, txnIds));
    for (const txnId of txnIds) {
      const at = sealed.get(txnId);
      if (at !== undefined) times.set(txnId, at);
    }
    return times;
  },
  keep: (times) =>
    records
      .keepTimes(scope, times)
      .catch((error: unknown) =>
        warn(`svcpay could not store the settlement times: ${messageOf(error)}`),
      ),
});

/**
 * Shows a progress line with the number of transactions. Returns a function that increases the
 * number on the progress line.
 */
export function showProgress(what: string, { live, terminal }: Context): (more: number) => void {
  let count = 0;
  if (terminal.canAnimate) live.start(() => `${what}: ${counted(count, 'transaction')}`);
  return (more) => {
    count += more;
    live.update();
  };
}

/**
 * Returns the payments of the journal, plus the transactions of closed months that are missing from
 * the journal.
 */
async function knownHere(
  closed: readonly Candidate[],
  context: Context,
): Promise<readonly Candidate[]> {
  const submitted = await submittedHere(context);
  const submittedIds = new Set(submitted.map(({ txnId }) => txnId));
  return [...submitted, ...closed.filter(({ txnId }) => !submittedIds.has(txnId))];
}

/**
 * Returns the time at which a transaction settled, according to the webhook inbox or to the
 * exchange rates that svcpay stored at the settlement.
 */
async function settledHere(txnId: string, context: Context): Promise<number | undefined> {
  const events = await eventsOf(txnId, context);
  const { updatedAt } = events.find(({ txnState }) => txnState === 'completed') ?? {};
  if (updatedAt != null) return updatedAt;
  const kept = await lookUpsOf(context).rates([txnId]);
  return kept.get(txnId)?.settledAt ?? undefined;
}

/**
 * Records the wallets whose balances the transactions explain. The statement succeeds even if
 * svcpay cannot record the wallets.
 */
async function keepTies(
  { at, tied }: Books,
  records: BookRecords,
  scope: string,
  { out }: Context,
): Promise<void> {
  const ties = tied.map(({ ccy, balance }) => ({ ccy, tiedAt: at, balance: fixed(balance) }));
  try {
    await records.keepTies(scope, ties);
  } catch (error) {
    out.warn(`svcpay could not record the successful check of the wallets: ${messageOf(error)}`);
  }
}

/**
 * Selects the wallets of the statement. Throws Failure `not-found` for a wallet without a balance
 * and without movements.
 */
export function chosenWallets(
  { currencies }: Books,
  wallet: string | undefined,
): readonly string[] {
  if (wallet === undefined) return currencies;
  if (currencies.includes(wallet)) return [wallet];
  throw new Failure('not-found', `There is no ${wallet} wallet with money or transactions.`, {
    next: { do: 'see-wallets' },
  });
}

/** Lists the closed months of this account in their order. */
export async function closesOf(context: Context): Promise<readonly Close[]> {
  const { scope } = await context.account();
  return (await context.books()).closes(scope);
}

export const closedRows = ({ sealed }: Close): readonly Cells[] => {
  const rows: Cells[] = parse(sealed, { columns: true });
  return rows;
};

const sealedMonth = (close: Close): SealedMonth => ({
  month: close.month,
  ...spanOf(parseDate(close.month), close.zone),
  rows: closedRows(close),
});

/**
 * Returns the transactions of closed months, because the service's list may no longer contain them.
 */
const closedTransactions = (months: readonly SealedMonth[]): Candidate[] =>
  months.flatMap(sealedMovements).flatMap((movement) =>
    movement.txnId === null || movement.kind === 'correction'
      ? []
      : {
          ccy: movement.ccy,
          at: movement.at,
          txnId: movement.txnId,
          reason: 'no longer in the list',
          txnState: 'completed',
          effect: changeOf(movement),
        },
  );

const paymentsAtOnce = 500;

interface Attempted {
  readonly payment: Payment;
  readonly attempt: Attempt;
}

/** Reads, in portions, all attempts of an account that have a transaction. */
export async function* attemptsHere(journal: Journal, scope: string): AsyncGenerator<Attempted> {
  let last = '';
  for (;;) {
    const payments = await journal.page(scope, last, paymentsAtOnce);
    for (const payment of payments)
      for (const attempt of payment.attempts)
        if (attempt.txnId !== null) yield { payment, attempt };
    last = payments.at(-1)?.id ?? '';
    if (payments.length < paymentsAtOnce) return;
  }
}

/**
 * Returns the payments that this home submitted, or no payments if svcpay cannot read the journal,
 * because the payments only help to explain a difference.
 */
export async function submittedHere(context: Context): Promise<readonly Candidate[]> {
  try {
    const { scope, journal } = await context.account();
    const found: Candidate[] = [];
    for await (const { payment, attempt } of attemptsHere(await journal(), scope)) {
      const { txnId, txnState, spendCcy, approvedTotal } = attempt;
      if (!mayHaveMoved(attempt) || txnId === null || spendCcy === null) continue;
      found.push({
        ccy: spendCcy,
        at: payment.openedAt,
        txnId,
        reason: 'not in the list',
        txnState: txnState ?? 'unknown',
        effect: approvedTotal === null ? null : new Big(approvedTotal).neg(),
      });
    }
    return found;
  } catch {
    return [];
  }
}

const outcomesOfStates: Readonly<Record<AttemptState, Outcome>> = {
  requested: 'nothing moved',
  quoted: 'nothing moved',
  submitting: 'in flight',
  'in-flight': 'in flight',
  paid: 'paid',
  failed: 'nothing moved',
  lapsed: 'nothing moved',
  error: 'error',
  unknown: 'unknown',
};

/** Reads the attempts of the journal that were made in a period. */
export async function* knownPayments(
  journal: Journal,
  scope: string,
  { first, end }: Span,
): AsyncGenerator<LocalPayment> {
  for await (const { payment, attempt } of attemptsHere(journal, scope)) {
    const at = attempt.submittedAt ?? payment.openedAt;
    if (at < first || at >= end) continue;
    const { txnId, state, number, spendCcy, approvedTotal, approvedReceives } = attempt;
    const { destReq } = decodeOrder(attempt.request).body;
    yield {
      txnId,
      reference: attemptRef(payment.ref, number),
      outcome: outcomesOfStates[state],
      state,
      ccy: spendCcy,
      total: approvedTotal === null ? null : new Big(approvedTotal),
      receivesCcy: destReq.ccy,
      destination: destinationIn(detailsOf(destReq.reqDetails)),
      receives: approvedReceives === null ? null : new Big(approvedReceives),
    };
  }
}

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
