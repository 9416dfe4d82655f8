// Lists one page of transactions or all transactions. Specification: endpoint 10.
import type { ServiceClient } from '../../api/client.js';
import type { ListedTransaction, TransactionFilter } from '../../api/types.js';
import { Failure } from '../../formats/failure.js';
import { unreachedText, commandFor } from '../../terminal/next-step.js';
import { picked, type Fields } from '../../terminal/rows/list.js';
import type { ListView, Rows } from '../../terminal/rows/view.js';
import { toJson } from '../../terminal/rows/json.js';
import {
  idLength,
  transactionList,
  type RecipientOf,
} from '../../terminal/views/transaction-view.js';
import type { Context } from '../context.js';
import { defineCommand, list } from '../define.js';
import {
  historyFilter,
  historyOptions,
  periodText,
  withStates,
  collected,
  hasMorePages,
  isExpiredQuote,
  newestLast,
  searched,
} from './history.js';
import { asTransaction, isNotReached, offlineList, lastCheckedText } from './payments.js';
import { openMeanwhile, recipientsOf, allExplained } from './local-facts.js';
import { rememberIds } from './resolve-id.js';
import { choice, flag, text, unless, whole } from '../values.js';
import { Ended } from '../process.js';
import { openPager, pagerOf } from '../../terminal/pager.js';
import type { OutputStream } from '../../terminal/terminal.js';

const ownFormats = ['page'] as const;

export const txList = defineCommand({
  options: {
    ...historyOptions,
    quotes: flag().describe('also list quotes that expired unconfirmed'),
    limit: whole(1, 1000).optional().describe('rows per page (default 20)'),
    page: whole(1, 1_000_000)
      .optional()
      .describe('page number (default 1); -o page prints { transactions, page, total, more }'),
    all: flag().describe('print all pages, newest last (svcpay tx export prints as it reads)'),
    search: text('TEXT')
      .optional()
      .describe(
        'only transactions with this text in payee, note, reference or id; reads the whole list',
      ),
    pager: unless().describe('do not use a pager, even if PAGER is set'),
    format: choice(ownFormats, 'FORMAT').optional().describe('same as -o page'),
  },
  formats: ownFormats,
  examples: [
    [
      'svcpay tx list --state failed --state expired --time 30d',
      'shows failed and expired transactions',
    ],
    [
      'svcpay tx list --since 2026-03-01 --until 2026-03-31 --all -o csv',
      'prints a month, for a spreadsheet',
    ],
    ['svcpay tx list --search "coffee house"', 'searches payee, note, reference and id'],
    [
      'svcpay tx list --json --fields txnId,txnState',
      'prints two fields of each transaction, newest last, for a script',
    ],
  ],
  async run(
    { limit, page = 1, all, quotes, format, search, pager, ...flags },
    context,
  ): Promise<Found | undefined> {
    const { out } = context;
    const command = pager && out.forPeople ? pagerOf(context.env, context.terminal) : undefined;
    if (command !== undefined) return throughPager(command, all, context);
    const isDocument = format === 'page';
    if (search !== undefined && page > 1)
      throw new Failure('usage', '--search lists every match. Remove --page.');
    if (all && (limit !== undefined || page > 1 || isDocument)) {
      throw new Failure('usage', '--all lists everything. Remove --limit, --page and -o page.');
    }
    const { client: service } = await context.account();
    const filter = await historyFilter(flags, service);
    const isWanted = (txn: ListedTransaction): boolean =>
      quotes || flags.state.length > 0 || !isExpiredQuote(txn, service.serviceNow());
    if (isDocument) {
      const found =
        search === undefined
          ? readPage(service, filter, page, limit ?? usualPage)
          : pageOf(
              searched(service.eachTransactionPage(filter), search, context),
              limit ?? usualPage,
            );
      return document(await found.catch((error: unknown) => withStates(error, flags)), context);
    }
    const period = periodText(flags);
    if (search !== undefined || all) {
      const pages = explaining(service.eachTransactionPage(filter), flags);
      const rows = await collected(searched(pages, search, context), isWanted, limit);
      const [many, empty] =
        search === undefined
          ? [`All ${rows.length}`]
          : [
              `${rows.length} found for "${search}"`,
              `No transaction matches "${search}" (${period}).`,
            ];
      const heading = `${many} · ${period} · newest last`;
      return described(
        newestLast(rows),
        { heading, footer: [], empty },
        service.serviceNow(),
        context,
      );
    }
    const many = limit ?? pageSize(context);
    const reading = filledPage(service, filter, page, many, isWanted);
    openMeanwhile(context);
    const found = await reading.catch(async (error: unknown) => {
      if (out.forPeople && isNotReached(error) && page === 1 && isEverything(flags))
        await showOffline(error, many, context);
      return withStates(error, flags);
    });
    return pageRows(found, { limit: many, period }, service.serviceNow(), context);
  },
  view: { ...list(transactionList), dataOf, print },
});

/** A page as one document, or rows with the view that draws them. */
type Found =
  | { readonly page: HistoryPage; readonly recipients: () => Promise<RecipientOf> }
  | { readonly rows: Rows<ListedTransaction>; readonly view: ListView<ListedTransaction> };

const document = (page: HistoryPage, context: Context): Found => ({
  page: { ...page, transactions: newestLast(page.transactions) },
  recipients: () => recipientsOf(page.transactions, context),
});

async function dataOf(found: Found | undefined, fields: Fields): Promise<unknown> {
  if (found === undefined || 'rows' in found) return found?.rows;
  const { transactions, ...page } = found.page;
  if (fields === undefined) return found.page;
  const { columns } = transactionList(0, { recipientOf: await found.recipients() });
  return { ...page, transactions: transactions.map((row) => picked(row, fields, columns)) };
}

async function print(
  found: Found | undefined,
  _parts: object,
  { out, terminal }: Context,
): Promise<void> {
  if (found === undefined) return;
  if ('rows' in found) return out.list(found.rows, found.view);
  out.text(toJson(found.page, { indent: terminal.stdoutIsTty ? 2 : 0 }));
}

/** Runs the command line again, with its output sent to the pager instead of stdout. */
async function throughPager(
  command: string,
  isStreamed: boolean,
  { argv, env, stdout, stderr, runLine, takeSignals }: Context,
): Promise<undefined> {
  const own = Object.fromEntries(
    Object.entries(env).filter(([name]) => !name.startsWith('SVCPAY_')),
  );
  const pager = openPager(command, stdout, own);
  // While the pager runs, the pager handles Ctrl-C, and svcpay shows no live line, because a live
  // line would corrupt the pager's screen.
  const releaseSignals = takeSignals(() => undefined);
  const plain: OutputStream = Object.assign(Object.create(stderr, { isTTY: { value: false } }), {
    write: (text: string) => stderr.write(text),
  });
  try {
    const changes = { stdout: pager.stdout, env: { PAGER: '' } };
    const code = await runLine(argv, isStreamed ? { ...changes, stderr: plain } : changes);
    await pager.end();
    if (code !== 0) throw new Ended(code);
  } finally {
    releaseSignals();
  }
}

/** Yields the pages, and explains a state that the service does not know. */
async function* explaining<T>(
  pages: AsyncIterable<T>,
  flags: Parameters<typeof withStates>[1],
): AsyncGenerator<T> {
  try {
    yield* pages;
  } catch (error) {
    withStates(error, flags);
  }
}

/** Returns the first matches of a search as a page. */
async function pageOf(
  matches: AsyncIterable<ListedTransaction>,
  limit: number,
): Promise<HistoryPage> {
  const rows: ListedTransaction[] = [];
  for await (const txn of matches) if (rows.push(txn) > limit) break;
  const more = rows.length > limit;
  return {
    transactions: rows.slice(0, limit),
    page: 1,
    total: more ? null : rows.length,
    more,
  };
}

const usualPage = 20;
/**
 * The number of lines that the window needs in addition to the rows: heading, titles, footer and
 * the next prompt.
 */
const besideRows = 4;

/** The number of rows on a page, at most as many as the window can show. */
const pageSize = ({ out, terminal }: Context): number =>
  out.forPeople && terminal.stdoutIsTty
    ? Math.max(Math.min(usualPage, terminal.rows - besideRows), 3)
    : usualPage;

interface HistoryPage {
  readonly transactions: readonly ListedTransaction[];
  readonly page: number;
  /** The number of all matching transactions, or null if the service does not report the number. */
  readonly total: number | null;
  readonly more: boolean;
}

/**
 * Reads a page of the service's list without omitting a row, because a page with fewer rows than
 * requested would look like the last page.
 */
async function readPage(
  service: ServiceClient,
  filter: TransactionFilter,
  page: number,
  limit: number,
): Promise<HistoryPage> {
  const { data, pagination } = await service.transactions({ ...filter, limit, page });
  const more = hasMorePages({ data, pagination }, page, limit);
  const total = pagination?.total ?? (more ? null : (page - 1) * limit + data.length);
  return { transactions: data, page, total, more };
}

/**
 * A page for a screen, without expired quotes. svcpay fills the page with rows from the service's
 * next pages.
 */
interface ScreenPage extends HistoryPage {
  readonly hidden: number;
  /**
   * The number of the last page that svcpay read from the service's list of transactions for this
   * screen page.
   */
  readonly last: number;
}

/** The largest number of pages that svcpay reads to find visible rows. */
const mostPages = 10;

async function filledPage(
  service: ServiceClient,
  filter: TransactionFilter,
  page: number,
  limit: number,
  isWanted: (txn: ListedTransaction) => boolean,
): Promise<ScreenPage> {
  const rows: ListedTransaction[] = [];
  let hidden = 0;
  for (let last = page; ; last += 1) {
    const { transactions, total, more } = await readPage(service, filter, last, limit);
    const shown = transactions.filter(isWanted);
    rows.push(...shown);
    hidden += transactions.length - shown.length;
    const isEnough =
      page > 1 ||
      shown.length === transactions.length ||
      rows.length > limit / 2 ||
      last >= mostPages;
    if (!more || isEnough) return { transactions: rows, page, total, more, hidden, last };
  }
}

const pageCount = ({ total }: HistoryPage, limit: number): string =>
  total === null ? '' : ` of ${Math.ceil(total / limit)}`;

const noPage = (page: number, total: number | null, limit: number): string =>
  total === null
    ? `Page ${page} is empty.`
    : `There is no page ${page}. The last page is ${Math.max(Math.ceil(total / limit), 1)}.`;

/** Returns a page, newest row last. For programs, a remark names the next page. */
async function pageRows(
  found: ScreenPage,
  { limit, period }: { readonly limit: number; readonly period: string },
  now: number,
  context: Context,
): Promise<Found> {
  const { transactions: rows, page, total, more, hidden, last } = found;
  const { out } = context;
  const pages = pageCount(found, limit);
  if (!out.forPeople && (more || page > 1) && rows.length > 0)
    out.say(
      `Page ${page}${pages}, newest last.` +
        (more ? ` Next page: --page ${last + 1}. All pages: --all` : ''),
    );
  const left = hidden === 0 ? [] : [`${hidden} expired hidden (--quotes)`];
  const many = total === null ? String(rows.length) : `${rows.length} of ${total}`;
  const count =
    rows.length === total
      ? `All ${total}`
      : page === 1
        ? `Last ${many}`
        : `Page ${page}${pages} · ${many}`;
  const heading = [count, period, 'newest last', ...left].join(' · ');
  const footer = [...(more ? [`older: --page ${last + 1}`] : []), 'search: --search TEXT'];
  const isBeyond = page > 1 && hidden === 0 && total !== 0;
  const empty = isBeyond ? noPage(page, total, limit) : undefined;
  return described(newestLast(rows), { heading, footer, empty }, now, context);
}

/** Describes rows with short unique ids, and with the command for the newest row. */
async function described(
  shown: readonly ListedTransaction[],
  texts: { heading: string; footer: readonly string[]; empty: string | undefined },
  now: number,
  context: Context,
): Promise<Found> {
  const { terminal } = context;
  const { heading, footer, empty } = texts;
  const ids = shown.map(({ txnId }) => txnId);
  const recipientOf = await recipientsOf(shown, context);
  const newest = ids.at(-1)?.slice(0, idLength(ids)) ?? '';
  const view = transactionList(now, {
    recipientOf,
    heading,
    footer: [commandFor({ do: 'show', id: newest }, context.globals), ...footer].join('   '),
    ...(terminal.stdoutIsTty && { ids }),
  });
  await rememberIds(shown, context, recipientOf);
  return {
    rows: await allExplained(shown, context),
    view: empty === undefined ? view : { ...view, empty },
  };
}

/** Whether the flags set no filter. */
const isEverything = (flags: object): boolean =>
  Object.values(flags).every(
    (value) => value === undefined || (Array.isArray(value) && value.length === 0),
  );

/** Lists this home's payments from the journal, with the time of the last check. */
async function showOffline(why: Failure, atMost: number, context: Context): Promise<void> {
  const intents = await offlineList(atMost, context);
  if (intents.length === 0) return;
  const shown = newestLast(intents.map(asTransaction));
  const heading =
    `Payments from this home (${unreachedText(why)}) ` +
    `· ${lastCheckedText(intents)} · newest last`;
  const recipientOf = await recipientsOf(shown, context);
  const ids = context.terminal.stdoutIsTty ? { ids: shown.map(({ txnId }) => txnId) } : {};
  await context.out.list(shown, transactionList(context.now(), { recipientOf, heading, ...ids }));
}
