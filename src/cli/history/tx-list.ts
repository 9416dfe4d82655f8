// Lists transactions, a page at a time or all of them. Specification: endpoint 10.
import type { ServiceClient } from '../../api/client.js';
import type { ListedTransaction, TransactionFilter, TransactionPage } from '../../api/types.js';
import { Failure } from '../../formats/failure.js';
import { isQuoted } from '../../formats/states.js';
import { commandFor } from '../../terminal/next-step.js';
import { idLength, transactionList } from '../../terminal/views/transaction-view.js';
import type { Context } from '../context.js';
import { namesOf } from '../../terminal/rows/list.js';
import { defineCommand } from '../define.js';
import { historyFilter, historyOptions, periodText } from './history-options.js';
import { asTransaction, isNotReached, offlineList, lastCheckedText } from './offline-list.js';
import { knownParties } from './parties.js';
import { rememberIds } from './resolve-id.js';
import { flag, whole } from '../values.js';

export const txList = defineCommand({
  prints: namesOf(undefined, transactionList(0)),
  options: {
    ...historyOptions,
    quotes: flag().describe('also show quotes that expired unconfirmed'),
    limit: whole(1, 1000).optional().describe('rows per page (default 20)'),
    page: whole(1, 1_000_000).optional().describe('page number (default 1)'),
    all: flag().describe('every page, with expired quotes, printed as it arrives'),
  },
  examples: [
    ['svcpay tx list --state failed --state expired --time 30d', 'failed and expired transactions'],
    [
      'svcpay tx list --since 2026-03-01 --until 2026-03-31 --all -o csv',
      'a month, for a spreadsheet',
    ],
    ['svcpay tx list --json --fields txnId,txnState', 'two fields of each, for a script'],
  ],
  async run({ limit, page, all, quotes, ...flags }, context) {
    if (all && (limit !== undefined || page !== undefined)) {
      throw new Failure('usage', '--all lists everything. Remove --limit and --page.');
    }
    const { out } = context;
    const { client: service } = await context.account();
    const filter = await historyFilter(flags, service);
    const isWanted = (txn: ListedTransaction): boolean =>
      quotes || flags.state.length > 0 || !isExpiredQuote(txn, service.serviceNow());
    const period = periodText(flags);
    if (all) {
      const heading = `Every transaction · ${period} · newest first`;
      const view = transactionList(service.serviceNow(), {
        heading,
        ...(out.forPeople && { ids: [] }),
      });
      return out.list(service.eachTransaction(filter), view);
    }
    const many = limit ?? pageSize(context);
    const found = await collect(service, filter, { page, limit: many }, isWanted).catch(
      async (error: unknown) => {
        if (isNotReached(error) && out.forPeople && isEverything({ page, ...flags }))
          await showJournalled(many, context);
        throw error;
      },
    );
    await show(found, { page, period }, service.serviceNow(), context);
  },
});

/** An unconfirmed quote that expired; services may still report it as a quote. */
export const isExpiredQuote = ({ txnState, sourceReq }: ListedTransaction, now: number): boolean =>
  sourceReq.method === 'servicepay' &&
  (txnState === 'expired' ||
    (isQuoted(txnState) && typeof sourceReq.expiresAt === 'number' && sourceReq.expiresAt < now));

const usualPage = 20;
/** Lines for heading, titles, footer and the next prompt. */
const besideRows = 4;

/** At most as many rows as the window shows. */
const pageSize = ({ out, terminal }: Context): number =>
  out.forPeople && terminal.stdoutIsTty
    ? Math.max(Math.min(usualPage, terminal.rows - besideRows), 3)
    : usualPage;

interface Found {
  /** Newest first. */
  readonly rows: readonly ListedTransaction[];
  /** All matches including hidden rows; undefined if the service does not count. */
  readonly total: number | undefined;
  readonly hidden: number;
  /** The next page. */
  readonly next: number | undefined;
}

/** Pages read to find visible rows. */
const mostPages = 10;

/** One page of the service; the first page is filled up from the next if rows of it are hidden. */
async function collect(
  service: ServiceClient,
  filter: TransactionFilter,
  { page, limit }: { readonly page: number | undefined; readonly limit: number },
  isWanted: (txn: ListedTransaction) => boolean,
): Promise<Found> {
  const rows: ListedTransaction[] = [];
  let hidden = 0;
  for (let at = page ?? 1; ; at += 1) {
    const { data, pagination } = await service.transactions({ ...filter, limit, page: at });
    const shown = data.filter(isWanted);
    rows.push(...shown);
    hidden += data.length - shown.length;
    const hasMore = hasMorePages({ data, pagination }, at, limit);
    const total = pagination?.total ?? (hasMore ? undefined : (at - 1) * limit + data.length);
    const isEnough =
      page !== undefined ||
      shown.length === data.length ||
      rows.length > limit / 2 ||
      at >= mostPages;
    if (!hasMore || isEnough) return { rows, total, hidden, next: hasMore ? at + 1 : undefined };
  }
}

/** Without a count, a full page means that there may be more. */
export function hasMorePages(
  { data, pagination }: TransactionPage,
  page: number,
  limit: number,
): boolean {
  if (data.length === 0) return false;
  return pagination?.total == null
    ? data.length >= limit
    : page * (pagination.limit || limit) < pagination.total;
}

const newestLast = (rows: readonly ListedTransaction[]): ListedTransaction[] =>
  rows.toReversed().toSorted((a, b) => (a.createdAt ?? 0) - (b.createdAt ?? 0));

/** People see the newest last and short unique ids; scripts get the service's order. */
async function show(
  { rows, total, hidden, next }: Found,
  { page = 1, period }: { readonly page: number | undefined; readonly period: string },
  now: number,
  context: Context,
): Promise<void> {
  const { out, terminal } = context;
  if (!out.forPeople) return out.list(rows, transactionList(now));
  const shown = newestLast(rows);
  const left = hidden === 0 ? [] : [`${hidden} expired hidden (--quotes)`];
  const many = total === undefined ? String(rows.length) : `${rows.length} of ${total}`;
  const count =
    rows.length === total ? `All ${total}` : `${page === 1 ? 'Last' : `Page ${page} ·`} ${many}`;
  const heading = [count, period, 'newest last', ...left].join(' · ');
  const ids = shown.map(({ txnId }) => txnId);
  const known = await knownParties(shown, context);
  const newest = ids.at(-1)?.slice(0, idLength(ids)) ?? '';
  const footer = [
    commandFor({ do: 'show', id: newest }),
    ...(next === undefined ? [] : [`--page ${next}`, '--all']),
    '--state failed',
  ].join(' · ');
  await out.list(
    shown,
    transactionList(now, { known, heading, footer, ...(terminal.stdoutIsTty && { ids }) }),
  );
  await rememberIds(ids, context);
}

/** Whether no filter is set. */
const isEverything = (flags: object): boolean =>
  Object.values(flags).every(
    (value) => value === undefined || (Array.isArray(value) && value.length === 0),
  );

/** Shows this home's payments and when they were last checked. */
async function showJournalled(atMost: number, context: Context): Promise<void> {
  const intents = await offlineList(atMost, context);
  if (intents.length === 0) return;
  const shown = newestLast(intents.map(asTransaction));
  const heading = `Service not reached · payments from this home · ${lastCheckedText(intents)} · newest last`;
  const known = await knownParties(shown, context);
  const ids = context.terminal.stdoutIsTty ? { ids: shown.map(({ txnId }) => txnId) } : {};
  await context.out.list(shown, transactionList(context.now(), { known, heading, ...ids }));
}
