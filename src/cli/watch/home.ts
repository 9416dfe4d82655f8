// Shows the home screen if a person runs `svcpay` without a command at a terminal: balances,
// unfinished payments and a menu.
import type { ListedTransaction } from '../../api/types.js';
import { exitCodes, Failure } from '../../formats/failure.js';
import { back, type Ask, type Back, type LinesAbove } from '../../terminal/ask/ask.js';
import {
  homeLines,
  homeView,
  mostRecent,
  type Home,
  type HomeMore,
} from '../../terminal/cards/home-view.js';
import { decisive, isUnfinished, mayHaveMoved, status } from '../../store/journal/payment.js';
import { isThere } from '../../store/files/home.js';
import type { Context } from '../context.js';
import { outboxOf } from '../proposals/outbox.js';
import { defineCommand } from '../define.js';
import { Ended } from '../exit-with.js';
import { asOfText, openStates, pendingPayment, refreshOpen } from '../tx/open-payments.js';
import { asTransaction, isNotReached, offlineList, lastCheckedText } from '../tx/offline-list.js';
import { recipientsOf } from '../tx/local-facts.js';
import type { Picked } from '../tx/pick.js';
import { whereaboutsOf } from '../login/whereabouts.js';
import { showHistory } from './history.js';
import { readWorth } from './worth.js';

export const home = defineCommand({
  examples: [['svcpay', 'shows balances, pending payments and a menu']],
  async run(_values, context) {
    if (isFresh(context)) return welcome(context);
    const { terminal, out, ask, signal } = context;
    for (;;) {
      const { overview, more, isPending } = await readOverview(context).catch((error: unknown) =>
        lookHere(error, context),
      );
      await out.record(overview, homeView(overview, more));
      if (!terminal.canPrompt || !out.forPeople) {
        if (more.notReached !== undefined) throw more.notReached;
        return;
      }
      const words = await askWhatNext({
        ask: ask.steps,
        isPending,
        isReached: more.notReached === undefined,
        hasStory: overview.recent.length + overview.pending.length > 0,
        above: (canvas) => homeLines(overview, more, canvas),
      });
      if (words === back) return;
      if (words === again) continue;
      const code =
        words === history
          ? await showHistory(context)
          : words === story
            ? await showHistory(context, storyOf(overview))
            : await follow(words, context);
      // Ctrl-C in a command that the home screen runs ends the home screen too.
      if (code === exitCodes.interrupted || signal.aborted) throw new Ended(code);
    }
  },
});

const isFresh = ({ settings }: Context): boolean =>
  !settings.embedded && (settings.baseUrl === undefined || settings.apiKey === undefined);

async function welcome(context: Context): Promise<void> {
  if (!context.terminal.canPrompt) await context.client();
  context.out.screen(['', '  No account is connected yet.', '']);
  for (;;) {
    const chosen = await context.ask.steps.select<Words>({
      message: 'What next?',
      flag: 'COMMAND',
      choices: [
        {
          value: demo,
          name: 'See a demo',
          description: 'takes ten seconds, uses play money and stores nothing',
        },
        {
          value: ['login', '--sandbox'],
          name: 'Try the sandbox',
          description: 'the whole service on this machine, with play money',
        },
        {
          value: ['login'],
          name: 'Connect to a service',
          description: 'requires an address, an API key and an API secret',
        },
      ],
      backName: 'Leave',
    });
    if (chosen === back) return;
    const code = await follow(chosen, context);
    if (code !== 0) throw new Ended(code);
    // After a login, a new run reads the saved profile and shows the home screen.
    if (chosen !== demo) throw new Ended(await context.runLine(context.argv));
  }
}

const demo: Words = ['demo'];

/** Runs a command line together with the global options of this process. */
async function follow(words: Words, { argv, runLine, out }: Context): Promise<number> {
  out.say(`  svcpay ${words.join(' ')}`);
  return runLine([...argv, ...words]);
}

/** The data that the home screen and `watch` show. */
export interface OverviewData {
  readonly overview: Home;
  readonly more: HomeMore;
  readonly isPending: boolean;
}

export async function readOverview(context: Context): Promise<OverviewData> {
  const client = await context.client();
  const [place, wallets, worth, movements, proposals] = await Promise.all([
    whereaboutsOf(context),
    client.wallets(),
    context.out.forPeople ? readWorth(context) : () => undefined,
    readMovements(context),
    context.out.forPeople ? openProposals(context) : 0,
  ]);
  const { open, known, notAsked, morePending, ...listed } = movements;
  const overview: Home = { ...place, wallets, ...listed, asOf: client.serviceNow() };
  const leaves = listed.pending.some(({ sourceReq }) => sourceReq.method === 'servicepay');
  return {
    overview,
    more: { open, notAsked, morePending, notReached: undefined, worth, known, proposals },
    isPending: open.length > 0 || leaves,
  };
}

/** Counts the open proposals of the outbox. A home without an outbox loads no further code. */
async function openProposals(context: Context): Promise<number> {
  const folder = outboxOf(undefined, context);
  if (!isThere(folder) || context.settings.accountId !== undefined) return 0;
  const { findProposals } = await import('../proposals/find.js');
  const found = await findProposals(folder, context);
  return found.filter(({ view }) => view.state === 'open').length;
}

/** Returns this home's data if svcpay cannot reach the service, and rethrows any other error. */
async function lookHere(reason: unknown, context: Context): Promise<OverviewData> {
  if (!isNotReached(reason) || !context.out.forPeople) throw reason;
  const payments = await offlineList(mostKnown, context);
  const open = payments.filter(isUnfinished);
  const done = payments.filter((payment) => status(payment) === 'paid');
  const recent = done.slice(0, mostRecent).map(asTransaction);
  const place = await whereaboutsOf(context);
  return {
    overview: { ...place, wallets: [], pending: [], unfinished: [], recent, asOf: context.now() },
    more: {
      open: open.map((payment) => pendingPayment({ payment, txn: undefined }, payment.updatedAt)),
      morePending: 0,
      notAsked: open.length === 0 ? undefined : lastCheckedText(open),
      notReached: reason,
      worth: () => undefined,
      known: await recipientsOf(recent, context),
    },
    isPending: open.length > 0,
  };
}

/**
 * The number of payments that svcpay reads from the journal, enough to find the recent payments
 * among abandoned payments.
 */
const mostKnown = 50;

type Movements = Pick<Home, 'pending' | 'unfinished' | 'recent'> &
  Pick<HomeMore, 'open' | 'morePending' | 'notAsked' | 'known'>;

const nothing: Movements = {
  pending: [],
  unfinished: [],
  recent: [],
  open: [],
  morePending: 0,
  notAsked: undefined,
  known: () => undefined,
};

/** Reads the service's pending and recent transactions, and the open payments of the journal. */
async function readMovements(context: Context): Promise<Movements> {
  const service = await ownService(context);
  if (service === undefined) return nothing;
  const [underWay, done, refreshed] = await Promise.all([
    service.transactions({ time: '30d', txnStatuses: openStates }),
    service.transactions({ time: '30d', txnStatuses: ['completed'], limit: mostRecent }),
    refreshOpen(context),
  ]);
  // Prefers the transactions that svcpay read by id, because the service's list contains fewer
  // fields.
  const byId = new Map(
    refreshed.open.flatMap((each) => (each.txn === undefined ? [] : [[each.txn.txnId, each.txn]])),
  );
  const pending = underWay.data.map((txn) => byId.get(txn.txnId) ?? txn);
  const listed = new Set(pending.map(({ txnId }) => txnId));
  const others = refreshed.open.filter(({ payment }) => !listed.has(decisive(payment).txnId ?? ''));
  return {
    pending,
    morePending: Math.max((underWay.pagination?.total ?? 0) - underWay.data.length, 0),
    recent: done.data,
    unfinished: others
      .filter(({ payment }) => !mayHaveMoved(decisive(payment)))
      .map(({ payment }) => payment.ref),
    open: others.map((each) => pendingPayment(each, refreshed.asOf)),
    known: await recipientsOf([...pending, ...done.data], context),
    notAsked: refreshed.isStale ? asOfText(refreshed) : undefined,
  };
}

/**
 * Returns the client that reads transactions, or undefined with `--account`, because the service
 * lists transactions only for the account of the API key.
 */
async function ownService(context: Context) {
  return context.account().then(
    ({ client }) => client,
    (error: unknown) => {
      if (error instanceof Failure && error.kind === 'usage') return undefined;
      throw error;
    },
  );
}

/** The words that follow `svcpay` in a command line. */
type Words = readonly string[];

const history: Words = ['tx', 'list'];

/** The choice "Try again", which reloads the home screen. */
const again: Words = [];

/** The choice that shows the story of the latest payment. */
const story: Words = ['tx', 'explain'];

/** The transactions of the home screen, newest last, with the latest payment chosen. */
function storyOf({ recent, pending }: Home): Picked {
  const rows = [...recent.toReversed(), ...pending];
  const isOut = ({ sourceReq }: ListedTransaction): boolean => sourceReq.method === 'servicepay';
  const { txnId = '' } = rows.findLast(isOut) ?? rows.at(-1) ?? {};
  return { txnId, rows, newer: 0, total: null, page: 1 };
}

interface MenuDeps {
  readonly ask: Ask['steps'];
  readonly above: LinesAbove;
  /**
   * Whether svcpay reached the service. If svcpay did not reach the service, the menu begins with
   * "Try again".
   */
  readonly isReached: boolean;
  readonly hasStory: boolean;
  /** Whether the home has a payment that `tx resume` can continue. */
  readonly isPending: boolean;
}

const entries: readonly {
  readonly name: string;
  readonly words: Words;
  readonly onlyPending?: boolean;
}[] = [
  { name: 'Receive', words: ['receive'] },
  { name: 'Send', words: ['send'] },
  { name: 'Swap', words: ['swap'] },
  { name: 'Pay out to a bank or phone', words: ['payout'] },
  { name: 'History', words: history },
  { name: 'Resume unfinished payments', words: ['tx', 'resume'], onlyPending: true },
];

/**
 * Asks for the next command. Resolves with the words of the chosen command line, or with `back`.
 */
export function askWhatNext({
  ask,
  isPending,
  isReached,
  hasStory,
  above,
}: MenuDeps): Promise<Words | Back> {
  const offered = entries.filter(({ onlyPending }) => onlyPending !== true || isPending);
  const choices = [...(isReached ? [] : [{ name: 'Try again', words: again }]), ...offered].map(
    ({ name, words }) => ({ value: words, name }),
  );
  return ask.select({
    message: 'What next?',
    flag: 'COMMAND',
    choices,
    backName: 'Leave',
    shortcut: hasStory ? { key: 'e', name: "Last payment's story", value: story } : undefined,
    above,
  });
}
