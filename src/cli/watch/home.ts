// Shows the home screen if a person runs `svcpay` without a command at a terminal: balances,
// unfinished payments and a menu, and behind the menu the history with receipts.
import type { ListedTransaction } from '../../api/types.js';
import { exitCodes, Failure } from '../../formats/failure.js';
import {
  anyText,
  type Pose,
  back,
  type Back,
  type LinesAbove,
} from '../../terminal/ask/questions.js';
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
import { Ended } from '../process.js';
import {
  asOfText,
  openStates,
  pendingPayment,
  refreshOpen,
  asTransaction,
  isNotReached,
  offlineList,
  lastCheckedText,
  paymentOf,
} from '../tx/payments.js';
import { recipientsOf } from '../tx/local-facts.js';
import { type Picked, createdText, pick, type Place } from '../tx/resolve-id.js';
import { whereaboutsOf } from '../service.js';
import { readWorth } from '../payment/payment-screen.js';
import { messageOf } from '../../formats/text.js';
import { repeatable, type Instruction } from '../../wallet/instruction/instruction.js';
import { inWords } from '../../wallet/instruction/words.js';
import { commandLine, failureLines } from '../../terminal/next-step.js';
import { copying, openFullScreen } from '../../terminal/full-screen.js';
import { truncate, wrap } from '../../terminal/text.js';
import type { Canvas } from '../../terminal/terminal.js';
import { lineKind } from '../../terminal/views/transaction-view.js';
import type { Key } from 'node:readline';

export const home = defineCommand({
  examples: [['svcpay', 'shows balances, pending payments and a menu']],
  run: async (_inputs, context): Promise<Overview | undefined> =>
    isFresh(context) ? undefined : lookAround(context),
  view: {
    fields: [],
    dataOf: (found) => found?.home,
    print: (found, _parts, context) =>
      found === undefined ? welcome(context) : showHome(found, context),
  },
});

/** Shows the home screen and a menu, until the person leaves. */
async function showHome(first: Overview, context: Context): Promise<void> {
  const { terminal, out, ask, signal } = context;
  for (let found = first; ; found = await lookAround(context)) {
    const { home, more } = found;
    const { open, notReached } = more;
    await out.record(home, homeView(home, more));
    if (!terminal.canPrompt || !out.forPeople) {
      if (notReached !== undefined) throw notReached;
      return;
    }
    const words = await askWhatNext({
      pose: ask.pose,
      isPending: open.length > 0 || home.pending.some(isOutgoing),
      isReached: notReached === undefined,
      hasStory: home.recent.length + home.pending.length > 0,
      above: (canvas) => homeLines(home, more, canvas),
    });
    if (words === back) return;
    if (words === again) continue;
    const code =
      words === history
        ? await showHistory(context)
        : words === story
          ? await showHistory(context, { picked: pickedOf(found), part: 'story' })
          : await follow(words, context);
    // Ctrl-C in a command that the home screen runs ends the home screen too.
    if (code === exitCodes.interrupted || signal.aborted) throw new Ended(code);
  }
}

const isOutgoing = ({ sourceReq }: ListedTransaction): boolean => sourceReq.method === 'servicepay';

const isFresh = ({ settings }: Context): boolean =>
  !settings.embedded && (settings.baseUrl === undefined || settings.apiKey === undefined);

async function welcome(context: Context): Promise<void> {
  if (!context.terminal.canPrompt) await context.client();
  context.out.screen(['', '  No account is connected yet.', '']);
  for (;;) {
    const chosen = await context.ask.pose<Words>({
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
async function follow(words: Words, { argv, runLine, out, globals }: Context): Promise<number> {
  out.say(`  ${commandLine({ command: words.join(' ') }, globals)}`);
  return runLine([...argv, ...words]);
}

/** The data that the home screen and `watch` show. */
export interface Overview {
  readonly home: Home;
  readonly more: HomeMore;
}

export async function readOverview(context: Context): Promise<Overview> {
  const client = await context.client();
  const { forPeople } = context.out;
  const [place, wallets, worth, movements, proposals] = await Promise.all([
    whereaboutsOf(context),
    client.wallets(),
    forPeople ? readWorth(context) : () => undefined,
    readMovements(context),
    forPeople ? openProposals(context) : 0,
  ]);
  const more = { worth, proposals, notReached: undefined };
  return overviewOf({ ...place, wallets, asOf: client.serviceNow() }, movements, more);
}

const overviewOf = (
  place: Omit<Home, keyof Movements>,
  { pending, unfinished, recent, ...shown }: Movements,
  more: Omit<HomeMore, keyof Movements>,
): Overview => ({ home: { ...place, pending, unfinished, recent }, more: { ...shown, ...more } });

/** Counts the open proposals of the outbox. A home without an outbox loads no further code. */
async function openProposals(context: Context): Promise<number> {
  const folder = outboxOf(undefined, context);
  if (!isThere(folder) || context.settings.accountId !== undefined) return 0;
  const { findProposals } = await import('../proposals/find.js');
  const found = await findProposals(folder, context);
  return found.filter(({ view }) => view.state === 'open').length;
}

/** Returns only this home's data if svcpay cannot reach the service. */
async function lookAround(context: Context): Promise<Overview> {
  try {
    return await readOverview(context);
  } catch (error) {
    if (!isNotReached(error) || !context.out.forPeople) throw error;
    const payments = await offlineList(mostKnown, context);
    const open = payments.filter(isUnfinished);
    const done = payments.filter((payment) => status(payment) === 'paid');
    const recent = done.slice(0, mostRecent).map(asTransaction);
    const movements: Movements = {
      ...nothing,
      recent,
      open: open.map((payment) => pendingPayment({ payment, txn: undefined }, payment.updatedAt)),
      notAsked: open.length === 0 ? undefined : lastCheckedText(open),
      known: await recipientsOf(recent, context),
    };
    const place = { ...(await whereaboutsOf(context)), wallets: [], asOf: context.now() };
    return overviewOf(place, movements, { worth: () => undefined, notReached: error });
  }
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
  // The service lists transactions only for the account of the API key, not for `--account`.
  if (context.settings.accountId !== undefined) return nothing;
  const { client } = await context.account();
  const [underWay, done, refreshed] = await Promise.all([
    client.transactions({ time: '30d', txnStatuses: openStates }),
    client.transactions({ time: '30d', txnStatuses: ['completed'], limit: mostRecent }),
    refreshOpen(context),
  ]);
  const { open, asOf } = refreshed;
  // Prefers the transactions that svcpay read by id, because the service's list contains fewer
  // fields.
  const read = new Map(open.map(({ txn }) => [txn?.txnId, txn]));
  const pending = underWay.data.map((txn) => read.get(txn.txnId) ?? txn);
  const listed = new Set<string | null>(pending.map(({ txnId }) => txnId));
  const others = open.filter(({ payment }) => !listed.has(decisive(payment).txnId));
  return {
    pending,
    morePending: Math.max((underWay.pagination?.total ?? 0) - underWay.data.length, 0),
    recent: done.data,
    unfinished: others
      .filter(({ payment }) => !mayHaveMoved(decisive(payment)))
      .map(({ payment }) => payment.ref),
    open: others.map((each) => pendingPayment(each, asOf)),
    known: await recipientsOf([...pending, ...done.data], context),
    notAsked: refreshed.isStale ? asOfText(refreshed) : undefined,
  };
}

/** The words that follow `svcpay` in a command line. */
type Words = readonly string[];

const history: Words = ['tx', 'list'];
const resume: Words = ['tx', 'resume'];

/** The choice that reloads the home screen. */
const again: Words = [];

/** The choice that shows the story of the latest payment. */
const story: Words = ['tx', 'explain'];

/**
 * Returns the transactions of a screen, newest last, among which the keys of a receipt move.
 * @param txnId the chosen transaction, by default the latest payment
 */
export function pickedOf({ home, more }: Overview, txnId?: string): Picked {
  const open = more.open.flatMap(({ transaction }) => transaction ?? []);
  const rows = [...home.recent.toReversed(), ...home.pending, ...open];
  const latest = rows.findLast(isOutgoing) ?? rows.at(-1);
  return { txnId: txnId ?? latest?.txnId ?? '', rows, newer: 0, total: null, page: 1 };
}

interface MenuDeps {
  readonly pose: Pose;
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

const choices: readonly { readonly value: Words; readonly name: string }[] = [
  { value: again, name: 'Try again' },
  { value: ['receive'], name: 'Receive' },
  { value: ['send'], name: 'Send' },
  { value: ['swap'], name: 'Swap' },
  { value: ['payout'], name: 'Pay out to a bank or phone' },
  { value: history, name: 'History' },
  { value: resume, name: 'Resume unfinished payments' },
];

/**
 * Asks for the next command. Resolves with the words of the chosen command line, or with `back`.
 */
export const askWhatNext = ({
  pose,
  isPending,
  isReached,
  hasStory,
  above,
}: MenuDeps): Promise<Words | Back> =>
  pose({
    message: 'What next?',
    flag: 'COMMAND',
    choices: choices.filter(({ value }) =>
      value === again ? !isReached : value !== resume || isPending,
    ),
    backName: 'Leave',
    shortcut: hasStory ? { key: 'e', name: "Last payment's story", value: story } : undefined,
    above,
  });

/**
 * Shows the list, and the receipts that the person opens. Resolves with the exit code of the last
 * payment when the person leaves the list.
 * @param first the transaction that the screen shows instead of the list
 */
export async function showHistory(
  context: Context,
  first?: { readonly picked: Picked; readonly part: Part },
): Promise<number> {
  const { signal, terminal } = context;
  const show = terminal.isDumb || !terminal.stdoutIsTty ? printReceipt : showReceipts;
  let code = 0;
  let opened = first;
  for (let place: Place = { page: 1 }; ;) {
    const picked = opened?.picked ?? (await pick('History', [], place, context));
    if (picked === back || signal.aborted) return code;
    const left = await show(picked, opened?.part ?? 'receipt', context);
    place = left.searches === true ? await askSearch(left, context) : left;
    if (left.again !== undefined) code = await repeat(left.again, context);
    if (signal.aborted || (opened !== undefined && left.searches !== true)) return code;
    opened = undefined;
  }
}

async function askSearch(place: Place, { ask }: Context): Promise<Place> {
  const text = await ask.pose({
    message: 'Search all transactions',
    flag: '--search TEXT',
    parse: anyText,
  });
  return text === back ? place : { page: 1, search: text };
}

/** The place to which a receipt returns, after a payment again or a question for a text. */
type Left = Place & { readonly again?: Instruction | undefined; readonly searches?: boolean };

interface Opened {
  readonly lines: (canvas: Canvas) => readonly string[];
  readonly again: Instruction | undefined;
}

/** What the screen shows of a transaction. */
type Part = 'receipt' | 'details' | 'story';

async function open(txnId: string, part: Part, context: Context): Promise<Opened> {
  if (part === 'story') {
    const { drawnStory, txExplain } = await import('../tx/tx.js');
    const told = await txExplain.run({ id: txnId }, context);
    return { lines: drawnStory(told, context), again: undefined };
  }
  const { txGet } = await import('../tx/get.js');
  const found = await txGet.run(
    { id: txnId, qrFile: undefined, format: undefined, verbose: part === 'details' },
    context,
  );
  if (typeof found === 'string') throw new Error('A receipt without a format is not a text.');
  const payment = await paymentOf(txnId, context);
  return { lines: found.screen, again: payment && repeatable(payment) };
}

/** The receipt on the screen: its row, and what svcpay has read of it. */
interface Shown {
  readonly index: number;
  readonly part: Part;
  /** The number of times that the person has asked for more lines of a long receipt. */
  readonly turns: number;
  readonly opened: Opened | undefined;
  readonly remark: string;
}

/** Shows receipts until a key returns to the list. Arrows show the receipts of the other rows. */
async function showReceipts(picked: Picked, first: Part, context: Context): Promise<Left> {
  const { terminal, signal } = context;
  const { rows } = picked;
  let shown: Shown = {
    index: rows.findIndex(({ txnId }) => txnId === picked.txnId),
    part: first,
    turns: 0,
    opened: undefined,
    remark: 'Reading …',
  };
  const idAt = (index: number): string => rows[index]?.txnId ?? picked.txnId;
  let leave = (_to: Partial<Left>): void => undefined;
  const left = new Promise<Left>((resolve) => {
    leave = (to) =>
      resolve({ page: picked.page, search: picked.search, txnId: idAt(shown.index), ...to });
  });
  const onKey = (key: Key): void => {
    const { index, part, opened } = shown;
    const turn = (to: Part): void => void read(index, part === to ? 'receipt' : to);
    switch (key.sequence) {
      case 'a':
        return opened?.again && leave({ again: opened.again });
      case 'd':
        return turn('details');
      case 's':
        return turn('story');
      case 'c':
        terminal.stdout.write(copying(idAt(index)));
        return change({ remark: `Copied ${idAt(index)}` });
      case ' ':
        return change({ turns: shown.turns + 1 });
      case '/':
        return leave({ searches: true });
    }
    if (key.name === 'up' && index > 0) return void read(index - 1, part);
    if (key.name === 'down' && index < rows.length - 1) return void read(index + 1, part);
    if (key.ctrl === true || ['escape', 'q', 'return'].includes(key.name ?? '')) leave({});
  };
  const screen = openFullScreen(terminal, () => linesOf(shown, picked, terminal), onKey);
  const change = (changes: Partial<Shown>): void => {
    shown = { ...shown, remark: '', ...changes };
    screen.draw();
  };
  const read = async (index: number, part: Part): Promise<void> => {
    change({ index, part, turns: 0, opened: undefined, remark: 'Reading …' });
    const opened = await open(idAt(index), part, context).catch(messageOf);
    if (index !== shown.index || part !== shown.part) return;
    change(typeof opened === 'string' ? { remark: opened } : { opened });
  };
  signal.addEventListener('abort', () => leave({}), { once: true });
  void read(shown.index, first);
  return left.finally(screen.close);
}

function linesOf(shown: Shown, { rows, newer, total }: Picked, canvas: Canvas): string[] {
  const { index, turns, opened } = shown;
  const { columns, style } = canvas;
  const txn = rows[index];
  const number = newer + rows.length - index;
  const head = ['History', `${number}${total === null ? '' : ` of ${total}`}`];
  const title = txn === undefined ? head : [...head, lineKind(txn), createdText(txn).slice(0, 16)];
  const lines = opened?.lines(canvas) ?? [];
  const roomAbove = (below: string[]): number => Math.max(canvas.rows - below.length - 2, 1);
  const whole = belowOf(shown, false, canvas);
  const below = lines.length > roomAbove(whole) ? belowOf(shown, true, canvas) : whole;
  const room = roomAbove(below);
  const start = (turns % Math.max(Math.ceil(lines.length / room), 1)) * room;
  return [
    `  ${style.dim(truncate(title.join(' · '), columns - 3))}`,
    '',
    ...lines.slice(start, start + room),
    ...below,
  ];
}

/** The lines below a receipt: a remark, and the keys. */
function belowOf(
  { part, opened, remark }: Shown,
  hasMore: boolean,
  { columns, style }: Canvas,
): string[] {
  const keys = [
    ...(hasMore ? ['space more'] : []),
    ...(opened?.again === undefined ? [] : ['a pay again']),
    part === 'details' ? 'd fewer details' : 'd details',
    part === 'story' ? 's receipt' : 's story',
    'c copy id',
    '↑↓ next',
    '/ search',
    'esc back',
  ].join(' · ');
  return [
    ...(remark === '' ? [] : ['', ...wrap(remark, columns - 3).map((line) => `  ${line}`)]),
    '',
    ...wrap(keys, columns - 3).map((line) => `  ${style.dim(line)}`),
  ];
}

/** Prints a receipt where the screen cannot be redrawn, and asks for the next step. */
async function printReceipt(picked: Picked, first: Part, context: Context): Promise<Left> {
  const { argv, ask, runLine } = context;
  await runLine([...argv, 'tx', first === 'story' ? 'explain' : 'get', picked.txnId]);
  const { again } = await open(picked.txnId, 'receipt', context);
  if (again === undefined) return picked;
  const chosen = await ask.pose<Instruction | Back>({
    message: 'What next?',
    flag: 'ID',
    choices: [{ value: again, name: `Pay again: ${inWords(again)}` }],
    default: back,
    backName: 'Back to the list',
  });
  return { ...picked, again: chosen === back ? undefined : chosen };
}

/** Pays again, and resolves with the exit code of the payment. */
async function repeat(instruction: Instruction, context: Context): Promise<number> {
  const { noFlags, payAgain } = await import('../again/again.js');
  try {
    await payAgain(instruction, noFlags(), context);
    return 0;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    context.out.card((canvas) => [
      '',
      ...failureLines(error, { money: true, canvas, run: context.globals }),
    ]);
    return error.exitCode;
  }
}
