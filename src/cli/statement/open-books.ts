// Opens the books of an account, with the sealed statements of closed months. svcpay reads every
// transaction once, and shows the progress.
import type { ListedTransaction } from '../../api/types.js';
import { fixed } from '../../formats/amount.js';
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
import type { BookRecords, Close } from '../../store/journal/records.js';
import { openBookRows } from '../../wallet/books/book-rows.js';
import { type Books, gather } from '../../wallet/books/gather.js';
import { adjustmentOf, type Candidate, changeOf } from '../../wallet/books/movement.js';
import type { StoredTimes } from '../../wallet/history/moved-amounts.js';
import { type Cells, type SealedMonth, sealedMovements } from '../../wallet/books/sealed-months.js';
import type { Context } from '../context.js';
import { eventsOf } from '../tx/local-facts.js';
import { word } from '../values.js';
import { submittedHere } from './known-here.js';
import { lookUpsOf } from './lines.js';
import { parse } from 'csv-parse/sync';

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
