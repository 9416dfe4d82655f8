// Lists one page of transactions or all transactions. Specification: endpoint 10.
import type { ListedTransaction, TransactionFilter } from '../../api/types.js';
import { type Failure, invalid } from '../../formats/failure.js';
import { commandFor, unreachedText } from '../../terminal/next-step.js';
import { openPager, pagerOf } from '../../terminal/pager.js';
import { toJson } from '../../terminal/rows/json.js';
import {
  picked,
  type Column,
  type Fields,
  type ListView,
  type Rows,
} from '../../terminal/rows/view.js';
import type { OutputStream } from '../../terminal/terminal.js';
import { idLength, transactionList } from '../../terminal/views/transaction-view.js';
import type { Context } from '../context.js';
import { defineCommand, list } from '../define.js';
import { Ended } from '../process.js';
import { choice, flag, text, unless, whole, type ValuesOf } from '../values.js';
import {
  historyFilter,
  historyOptions,
  isListed,
  newestLast,
  periodText,
  readPage,
  searched,
  withStates,
  type HistoryPage,
} from './history.js';
import { allExplained, idsOf, lookUp, openMeanwhile, recipientsOf } from './local-facts.js';
import { asTransaction, isNotReached, lastCheckedText, offlineList } from './payments.js';
import { rememberIds } from './resolve-id.js';

const options = {
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
  format: choice(['page'], 'FORMAT').optional().describe('same as -o page'),
};

export const txList = defineCommand({
  options,
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
  async run(inputs, context): Promise<Found | undefined> {
    const { env, out, terminal } = context;
    const command = inputs.pager && out.forPeople ? pagerOf(env, terminal) : undefined;
    if (command !== undefined) return throughPager(command, inputs.all, context);
    return listed(inputs, context).catch((error: unknown) => withStates(error, inputs));
  },
  view: { ...list(transactionList), dataOf, print },
});

/** A page as one document, or rows with the view that draws them. */
type Found =
  | { readonly page: HistoryPage; readonly columns: readonly Column<ListedTransaction>[] }
  | { readonly rows: Rows<ListedTransaction>; readonly view: ListView<ListedTransaction> };

function dataOf(found: Found | undefined, fields: Fields): unknown {
  if (found === undefined || 'rows' in found) return found?.rows;
  const { page, columns } = found;
  return { ...page, transactions: page.transactions.map((row) => picked(row, fields, columns)) };
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

const usualPage = 20;
/**
 * The number of lines that the window needs in addition to the rows: heading, titles, footer and
 * the next prompt.
 */
const besideRows = 4;

async function listed(
  {
    limit,
    page = 1,
    all,
    quotes,
    format,
    search,
    pager: _pager,
    ...flags
  }: ValuesOf<typeof options>,
  context: Context,
): Promise<Found> {
  const { out, terminal } = context;
  if (search !== undefined && page > 1) throw invalid('--search lists every match. Remove --page.');
  if (all && (limit !== undefined || page > 1 || format !== undefined))
    throw invalid('--all lists everything. Remove --limit, --page and -o page.');
  const { client: service } = await context.account();
  const filter = await historyFilter(flags, service);
  const isDocument = format !== undefined;
  const isWanted = quotes || isDocument ? () => true : isListed(flags.state, service);
  // A page for people is at most as long as their window.
  const room =
    out.forPeople && terminal.stdoutIsTty && !isDocument ? terminal.rows - besideRows : usualPage;
  const many = limit ?? Math.max(Math.min(usualPage, room), 3);
  const reading =
    search === undefined && !all
      ? filledPage(filter, page, many, isWanted, context)
      : searched(filter, search, isWanted, context, isDocument ? many + 1 : limit).then((found) =>
          firstPage(found, isDocument ? many : Infinity),
        );
  openMeanwhile(context);
  const isFirst = page === 1 && isEverything({ ...flags, search, format });
  const read = await reading.catch(async (error: unknown) => {
    if (out.forPeople && isNotReached(error) && isFirst) await showOffline(error, many, context);
    throw error;
  });
  const transactions = newestLast(read.transactions);
  if (!isDocument) return pageRows({ ...read, transactions }, many, { ...flags, search }, context);
  const { total, more } = read;
  const recipientOf = await recipientsOf(transactions, context);
  const { columns } = transactionList(0, { recipientOf });
  return { page: { transactions, page, total, more }, columns };
}

/** Whether the flags set no filter. */
const isEverything = (flags: object): boolean =>
  Object.values(flags).every(
    (value) => value === undefined || (Array.isArray(value) && value.length === 0),
  );

/** Returns the first matches of a search as a page. */
function firstPage(matches: readonly ListedTransaction[], limit: number): ScreenPage {
  const more = matches.length > limit;
  const total = more ? null : matches.length;
  return { transactions: matches.slice(0, limit), page: 1, total, more, hidden: 0, last: 1 };
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

/**
 * A page for a screen, without expired quotes. svcpay fills the page with rows from the service's
 * next pages.
 */
interface ScreenPage extends HistoryPage {
  readonly hidden: number;
  /** The number of the last page that svcpay read from the service's list for this screen page. */
  readonly last: number;
}

/** The largest number of pages that svcpay reads to find visible rows. */
const mostPages = 10;

async function filledPage(
  filter: TransactionFilter,
  page: number,
  limit: number,
  isWanted: (txn: ListedTransaction) => boolean,
  context: Context,
): Promise<ScreenPage> {
  const rows: ListedTransaction[] = [];
  let hidden = 0;
  for (let last = page; ; last += 1) {
    const { transactions, total, more } = await readPage(filter, last, limit, context);
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

type PageFlags = Parameters<typeof periodText>[0] & { readonly search: string | undefined };

/** Returns the heading and the footer of a page, its place, and the text of an empty page. */
function pageTexts(
  { transactions: { length }, page, total, more, hidden, last }: ScreenPage,
  limit: number,
  { search, ...flags }: PageFlags,
) {
  const period = periodText(flags);
  const left = hidden === 0 ? [] : [`${hidden} expired hidden (--quotes)`];
  const headed = (count: string): string => [count, period, 'newest last', ...left].join(' · ');
  if (search !== undefined)
    return {
      heading: headed(`${length} found for "${search}"`),
      place: '',
      footer: [],
      empty: `No transaction matches "${search}" (${period}).`,
    };
  const place = `Page ${page}${total === null ? '' : ` of ${Math.ceil(total / limit)}`}`;
  const many = total === null ? String(length) : `${length} of ${total}`;
  const count = page === 1 ? `Last ${many}` : `${place} · ${many}`;
  const none =
    total === null
      ? `Page ${page} is empty.`
      : `There is no page ${page}. The last page is ${Math.max(Math.ceil(total / limit), 1)}.`;
  return {
    place,
    heading: headed(length === total ? `All ${total}` : count),
    footer: [...(more ? [`older: --page ${last + 1}`] : []), 'search: --search TEXT'],
    ...(page > 1 && hidden === 0 && total !== 0 && { empty: none }),
  };
}

/**
 * Describes a page with short unique ids, and with the command for the newest row. For programs, a
 * remark names the next page.
 */
async function pageRows(
  read: ScreenPage,
  limit: number,
  flags: PageFlags,
  context: Context,
): Promise<Found> {
  const { out, globals, terminal } = context;
  const { transactions, page, more, last } = read;
  const { place, footer, ...texts } = pageTexts(read, limit, flags);
  if (!out.forPeople && (more || page > 1) && transactions.length > 0)
    out.say(
      `${place}, newest last.` + (more ? ` Next page: --page ${last + 1}. All pages: --all` : ''),
    );
  const { client } = await context.account();
  const ids = idsOf(transactions);
  const { rows, recipientOf } = await lookUp(transactions, context);
  const newest = ids.at(-1)?.slice(0, idLength(ids)) ?? '';
  const view = transactionList(client.serviceNow(), {
    recipientOf,
    footer: [commandFor({ do: 'show', id: newest }, globals), ...footer].join('   '),
    ...(terminal.stdoutIsTty && { ids }),
  });
  await rememberIds(transactions, context, recipientOf);
  return { rows: await allExplained(rows, context), view: { ...view, ...texts } };
}

/** Lists this home's payments from the journal, with the time of the last check. */
async function showOffline(why: Failure, atMost: number, context: Context): Promise<void> {
  const payments = await offlineList(atMost, context);
  if (payments.length === 0) return;
  const shown = newestLast(payments.map(asTransaction));
  const heading =
    `Payments from this home (${unreachedText(why)}) ` +
    `· ${lastCheckedText(payments)} · newest last`;
  const recipientOf = await recipientsOf(shown, context);
  const ids = context.terminal.stdoutIsTty ? { ids: idsOf(shown) } : {};
  await context.out.list(shown, transactionList(context.now(), { recipientOf, heading, ...ids }));
}
