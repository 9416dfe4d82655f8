// Opens the books of an account: reads every transaction once, with the payments of the journal and
// the sealed statements of closed months, and yields the rows of a statement.
import { inParts } from '../../terminal/rows/list.js';
import Big from 'big.js';
import { parse } from 'csv-parse/sync';
import { detailsOf } from '../../api/reading.js';
import type { ListedTransaction } from '../../api/types.js';
import { decimalsOf, fixed } from '../../formats/amount.js';
import {
  always,
  dateAfter,
  ownZone,
  parseDate,
  parseZone,
  type Span,
  spanOf,
} from '../../formats/calendar.js';
import { Failure, invalid } from '../../formats/failure.js';
import { changeOf, type StatementRow } from '../../formats/statement-row.js';
import { counted, messageOf } from '../../formats/text.js';
import type { Journal } from '../../store/journal/journal.js';
import {
  type Attempt,
  attemptRef,
  type AttemptState,
  mayHaveMoved,
  type Payment,
} from '../../store/journal/payment.js';
import type { Close, KeptRate } from '../../store/journal/records.js';
import {
  destinationIn,
  type LocalPayment,
  type Outcome,
  type Sources,
} from '../../wallet/books/compare.js';
import { type Books, gather } from '../../wallet/books/gather.js';
import {
  adjustmentOf,
  type Candidate,
  type Cells,
  openBookRows,
  quoteMs,
  signed,
} from '../../wallet/books/movement.js';
import {
  type Difference,
  markRow,
  rowOf,
  statementRows,
  type StatementScope,
} from '../../wallet/books/statement.js';
import { decodeOrder } from '../../wallet/order/orders.js';
import { keepMemorySmall, type Context } from '../context.js';
import { eventsOf, hasInbox, localFacts } from '../tx/local-facts.js';
import { word } from '../values.js';

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
export function periodOf(from: string | undefined, to: string | undefined, zone: string): Span {
  const first = from === undefined ? always.first : spanOf(from, zone).first;
  const end = to === undefined ? always.end : spanOf(to, zone).end;
  if (first < end) return { first, end };
  throw invalid('--from must not be later than --to.');
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

/** Reads the books. Their sorted copy of the transactions exists until the command ends. */
export async function openBooks(
  { zone, period, onPage, openMonth }: BooksWanted,
  context: Context,
): Promise<Books> {
  const { live, now, out, signal, sleep } = context;
  await keepMemorySmall(context);
  const { client: service, scope } = await context.account();
  const records = await context.books();
  const rows = openBookRows();
  context.onClose(rows.close);
  const closes = await closesOf(context);
  for (const close of closes) rows.seal(close.month, closedRows(close));
  const onRead = showProgress('Reading the history', context);
  const unstored = (what: string) => (error: unknown) =>
    out.warn(`svcpay could not store ${what}: ${messageOf(error)}`);
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
    stored: {
      of: async (txnIds) =>
        new Map([...(await records.times(scope, txnIds)), ...rows.sealedTimes(txnIds)]),
      // The statement succeeds even if svcpay cannot store a time or a successful check.
      keep: (times) => records.keepTimes(scope, times).catch(unstored('the settlement times')),
    },
    sealed: closes
      .filter(({ month }) => openMonth === undefined || month < openMonth)
      .map((close) => ({ month: close.month, ...spanOf(close.month, close.zone) })),
    settled: (txnId) => settledHere(txnId, context),
    recorded: (await records.entries(scope)).map((entry) => adjustmentOf(entry, zone)),
    ties: new Map((await records.ties(scope)).map(({ ccy, tiedAt }) => [ccy, tiedAt])),
    submitted: async () => [...rows.sealed(), ...(await submittedHere(context))],
  }).finally(live.stop);
  for (const ccy of books.unreported)
    out.warn(
      `svcpay cannot check the closing balance of ${ccy}, because the service reports no total.`,
    );
  const ties = books.tied.map(({ ccy, balance }) => ({
    ccy,
    tiedAt: books.at,
    balance: fixed(balance),
  }));
  await records.keepTies(scope, ties).catch(unstored('the successful check of the wallets'));
  return books;
}

const oldestEdgeYears = 10;

/** Returns the ends of the period and of each month in it, in epoch ms. */
function edgesOf({ first, end }: Span, zone: string, now: number): number[] {
  const edges = [first, end];
  const oldest = new Date(now).getUTCFullYear() - oldestEdgeYears;
  let month = new Date(Math.max(first, Date.UTC(oldest, 0))).toISOString().slice(0, 7);
  for (let at = 0; at < Math.min(end, now); month = dateAfter(month)) {
    at = spanOf(month, zone).end;
    if (at > first && at < end) edges.push(at);
  }
  return edges;
}

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
 * Returns the time at which a transaction settled, according to the webhook inbox or to the
 * exchange rates that svcpay stored at the settlement.
 */
async function settledHere(txnId: string, context: Context): Promise<number | undefined> {
  const events = await eventsOf(txnId, context);
  const { updatedAt } = events.find(({ txnState }) => txnState === 'completed') ?? {};
  if (updatedAt != null) return updatedAt;
  return (await ratesOf([txnId], context)).get(txnId)?.settledAt ?? undefined;
}

/**
 * Returns the books of one wallet, or the whole books. Throws Failure `not-found` for a wallet
 * without a balance and without movements.
 */
export function onlyWallet(books: Books, wallet: string | undefined): Books {
  if (wallet === undefined) return books;
  if (!books.currencies.includes(wallet))
    throw new Failure('not-found', `There is no ${wallet} wallet with money or transactions.`, {
      next: { do: 'see-wallets' },
    });
  const { openings, differences, tied } = books;
  const own = ({ ccy }: { readonly ccy: string }): boolean => ccy === wallet;
  return {
    ...books,
    currencies: [wallet],
    movements: (ccy = wallet, span) => books.movements(ccy, span),
    openings: openings.filter(own),
    differences: differences.filter(own),
    tied: tied.filter(own),
  };
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

/**
 * Returns the sources of this home to compare with the transactions of the period, which svcpay may
 * have submitted until a quote later.
 */
export async function sourcesOf(period: Span, context: Context): Promise<Sources> {
  const { client, scope, journal } = await context.account();
  return {
    journal: knownPayments(await journal(), scope, period),
    inbox: (await hasInbox(context)) ? (await context.events()).since(0) : undefined,
    accepted: await (await context.books()).accepted(scope),
    read: (txnId) => client.transaction(txnId),
    period,
  };
}

/** Reads the attempts of the journal that were made in a period. */
export async function* knownPayments(
  journal: Journal,
  scope: string,
  { first, end }: Span,
): AsyncGenerator<LocalPayment> {
  for await (const { payment, attempt } of attemptsHere(journal, scope)) {
    const at = attempt.submittedAt ?? payment.openedAt;
    if (at < first || at >= end + quoteMs) continue;
    const { txnId, state, number, spendCcy, approvedTotal, approvedReceives } = attempt;
    const { destReq } = decodeOrder(attempt.request).body;
    yield {
      txnId,
      reference: attemptRef(payment.ref, number),
      outcome: outcomesOfStates[state],
      state,
      ccy: spendCcy,
      total: approvedTotal,
      receivesCcy: destReq.ccy,
      destination: destinationIn(detailsOf(destReq.reqDetails)),
      receives: approvedReceives,
    };
  }
}

const rowsAtOnce = 200;

/** Looks up exchange rates at settlements, or none if svcpay cannot read the data of this home. */
export async function ratesOf(
  txnIds: readonly string[],
  context: Context,
): Promise<ReadonlyMap<string, KeptRate>> {
  try {
    const { scope } = await context.account();
    return await (await context.rates()).of(scope, txnIds);
  } catch {
    return new Map();
  }
}

/** Yields the rows of all wallets without balances, in the order of their times. */
export function* timedRows(books: Books, { period, day }: StatementScope): Generator<StatementRow> {
  const none = new Big(0);
  for (const movement of books.movements(undefined, period)) yield rowOf(movement, none, day);
}

/**
 * Yields the rows of each wallet. If the closing balance of today differs from the service's
 * balance, the difference is a separate row after it.
 */
export function* walletRows(
  { currencies, movements, differences, at }: Books,
  scope: StatementScope,
): Generator<StatementRow> {
  for (const ccy of currencies) {
    yield* statementRows(ccy, movements(ccy), { ...scope, now: at });
    const difference = differences.find((each) => each.ccy === ccy);
    if (difference !== undefined && scope.period.end > at)
      yield differenceRow(difference, scope.day(at));
  }
}

const differenceRow = ({ ccy, difference, reported }: Difference, date: string): StatementRow => ({
  ...markRow('difference', ccy, date, reported),
  ...signed(difference),
});

/** Adds the recipients, the approvals and the exchange rates that this home has stored. */
export async function* withLocalData(
  rows: Iterable<StatementRow>,
  context: Context,
  add = addLocalData,
): AsyncGenerator<StatementRow> {
  for await (const part of inParts(rows, rowsAtOnce)) yield* await add(part, context);
}

async function addLocalData(
  rows: readonly StatementRow[],
  context: Context,
): Promise<readonly StatementRow[]> {
  const ids = rows.flatMap(({ txnId }) => txnId ?? []);
  const { recipientOf, knownOf } = await localFacts(ids, context);
  return (await addRates(rows, context)).map((row) => {
    const { txnId, kind } = row;
    if (txnId === null) return row;
    const { destination, paymentHash, approvedBy } = knownOf(txnId) ?? row;
    const counterparty = (kind === 'send' ? recipientOf(txnId) : undefined) ?? row.counterparty;
    return { ...row, destination, paymentHash, approvedBy, counterparty };
  });
}

/** Adds the exchange rates that this home has stored at settlements. */
export async function addRates(
  rows: readonly StatementRow[],
  context: Context,
): Promise<readonly StatementRow[]> {
  const rates = await ratesOf(
    rows.flatMap(({ txnId }) => txnId ?? []),
    context,
  );
  return rows.map((row) => {
    const kept = rates.get(row.txnId ?? '');
    const rateOf = (ccy: string | null): Big | null => {
      const rate = kept?.rates[ccy ?? ''];
      return rate === undefined ? null : new Big(rate);
    };
    const fiatRate = rateOf(row.wallet);
    if (kept === undefined || fiatRate === null) return row;
    return {
      ...row,
      fiatValue: changeOf(row).abs().times(fiatRate).round(decimalsOf(kept.fiat)),
      fiatRate,
      exchangedRate: rateOf(row.exchangedCcy),
      fiat: kept.fiat,
    };
  });
}
