// Shows a live screen with balances, open payments and recent events.
import { existsSync } from 'node:fs';
import type { Key } from 'node:readline';
import Big from 'big.js';
import type { ListedTransaction, Transaction, Wallet } from '../../api/types.js';
import { formatAmount, fromWire, money } from '../../formats/amount.js';
import { formatDuration } from '../../formats/calendar.js';
import { Failure } from '../../formats/failure.js';
import { messageOf } from '../../formats/text.js';
import { policies, poll, type PollNext, type PollTurn } from '../../formats/poll.js';
import { eventsFile } from '../../store/files/home.js';
import { receipt } from '../../terminal/cards/receipt.js';
import {
  openable,
  watchLines,
  type SeenEvent,
  type WatchModel,
} from '../../terminal/cards/watch-view.js';
import { openFullScreen, takeKeys } from '../../terminal/full-screen.js';
import { widthOf, wrap } from '../../terminal/layout.js';
import { clockTime } from '../../terminal/time.js';
import { movedAmounts } from '../../wallet/history/moved-amounts.js';
import type { Context } from '../context.js';
import { defineCommand } from '../define.js';
import { stateTimes } from '../tx/payments.js';
import { readOverview, type OverviewData } from './home.js';

export const watch = defineCommand({
  examples: [['svcpay watch', 'Enter opens a receipt, q leaves']],
  async run(_values, context) {
    const { terminal, out } = context;
    if (!terminal.canPrompt || !out.forPeople || !terminal.stdoutIsTty || terminal.isDumb) {
      throw new Failure('usage', 'svcpay watch draws a screen, so it must run in a terminal.', {
        hint: 'In a script',
        next: { do: 'watch', id: 'ID' },
      });
    }
    const first = await readOverview(context);
    const summary = await showScreen(first, context);
    out.screen(({ columns }) => wrap(summary, columns - 2).map((line) => `  ${line}`));
  },
});

const mostEvents = 8;
const mostPages = 10;
const days = 30;
const dayMs = 86_400_000;

/** The data of the live screen, and the receipt that covers the live screen. */
interface View {
  readonly model: WatchModel;
  readonly opened: 'reading' | Opened | undefined;
}

interface Opened {
  readonly txn: Transaction;
  readonly times: ReadonlyMap<string, number> | undefined;
}

/** The action of a pressed key, or undefined for a key that only changes the view. */
type KeyAction = 'leave' | 'open' | undefined;

export function pressed({ name, ctrl, sequence }: Key, view: View): readonly [View, KeyAction] {
  const { model, opened } = view;
  if (ctrl === true && name === 'c') return [view, 'leave'];
  if (opened !== undefined) return [{ model, opened: undefined }, undefined];
  if (sequence === 'q' || name === 'escape') return [view, 'leave'];
  if (name === 'return') return [view, 'open'];
  const down = name === 'down' || sequence === 'j';
  const up = name === 'up' || sequence === 'k';
  const chosen = model.chosen + (down ? 1 : up ? -1 : 0);
  return [{ model: choosing(chosen, model), opened }, undefined];
}

const choosing = (chosen: number, model: WatchModel): WatchModel => ({
  ...model,
  chosen: Math.max(Math.min(chosen, openable(model).length - 1), 0),
});

/**
 * Shows the live screen until the person leaves, and then does not wait for a running request.
 * Resolves with the summary that `watch` prints at the end.
 */
async function showScreen({ overview, more }: OverviewData, context: Context): Promise<string> {
  const { terminal, live, every, now, signal } = context;
  const { client } = await context.account();
  const startedAt = now();
  const ended = new AbortController();
  const leave = (): void => ended.abort();
  const start = { home: overview, more, past: new Map(), events: [], chosen: 0 };
  let view: View = {
    model: { ...start, problem: undefined, now: client.serviceNow() },
    opened: undefined,
  };
  const lines = (): string[] => linesOf(client.serviceNow(), view, context);
  // Hides the notice of a slow request, because the live screen shows the age of the data.
  const resume = live.aside();
  const { open: show, draw, close } = openFullScreen(terminal, lines);
  const change = (changes: Partial<WatchModel>): void => {
    const model = choosing(view.model.chosen, { ...view.model, ...changes });
    view = { ...view, model };
    draw();
  };
  const open = async (): Promise<void> => {
    const txnId = openable(view.model)[view.model.chosen];
    if (txnId == null) return;
    view = { ...view, opened: 'reading' };
    const opened = await readOpened(txnId, context).catch(messageOf);
    if (view.opened !== 'reading') return;
    view = { ...view, opened: typeof opened === 'string' ? undefined : opened };
    change(typeof opened === 'string' ? { problem: opened } : {});
  };
  const refresh = async (): Promise<void> => {
    const seen = await readOverview(context).catch(problemOf);
    if (typeof seen === 'string') change({ problem: seen });
    else change({ home: seen.overview, more: seen.more, problem: undefined });
  };
  const onKey = (key: Key): void => {
    const [next, action] = pressed(key, view);
    view = next;
    if (action === 'leave') leave();
    if (action === 'open') void open();
    draw();
  };
  const hide = (): (() => void) => {
    close();
    return show;
  };
  const release = takeKeys(terminal, { onKey, hide });
  const stopTicking = every(tickMs, draw);
  signal.addEventListener('abort', leave);
  const merge = (events: readonly SeenEvent[]): void =>
    change({ events: [...events, ...view.model.events].slice(0, mostEvents) });
  try {
    void readPast(overview.wallets, context).then(
      (past) => change({ past }),
      () => undefined,
    );
    const loops = [
      poll(policies.watchScreen, afterFirstTurn(refresh), { ...context, signal: ended.signal }),
      followInbox(merge, refresh, ended.signal, context),
    ];
    await Promise.race([Promise.all(loops), aborted(ended.signal)]);
  } finally {
    signal.removeEventListener('abort', leave);
    stopTicking();
    release();
    close();
    resume();
  }
  return summaryOf(overview.wallets, view.model, now() - startedAt);
}

const tickMs = 1_000;

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve()));

/**
 * Returns a function for `poll` that does no work in the first turn, because the live screen has
 * just shown current data.
 */
const afterFirstTurn =
  (work: () => Promise<void>) =>
  async ({ number }: PollTurn): Promise<PollNext<void>> => {
    if (number > 1) await work();
    return {};
  };

/**
 * Returns the message of a Failure. Rethrows an error that is not a Failure, to end the live
 * screen.
 */
function problemOf(error: unknown): string {
  if (error instanceof Failure) return error.message;
  throw error;
}

const readOpened = async (txnId: string, context: Context): Promise<Opened> => {
  const { client } = await context.account();
  const [txn, times] = await Promise.all([client.transaction(txnId), stateTimes(txnId, context)]);
  return { txn, times };
};

/** Refreshes the live screen when the inbox receives new events. */
async function followInbox(
  merge: (events: readonly SeenEvent[]) => void,
  refresh: () => Promise<void>,
  signal: AbortSignal,
  context: Context,
): Promise<void> {
  if (!existsSync(eventsFile(context.home)) && (await context.database()) === undefined) return;
  const inbox = await context.events();
  let [from, lastId] = [context.now(), 0];
  const read = async (): Promise<void> => {
    const fresh: SeenEvent[] = [];
    for await (const { id, receivedAt, txnId, txnState } of inbox.since(from)) {
      if (id <= lastId) continue;
      [from, lastId] = [receivedAt, id];
      if (txnId !== null && txnState !== null) fresh.unshift({ txnId, txnState, at: receivedAt });
    }
    if (fresh.length === 0) return;
    merge(fresh);
    await refresh();
  };
  await poll(policies.watchInbox, afterFirstTurn(read), { ...context, signal });
}

function linesOf(now: number, { model, opened }: View, { terminal }: Context): string[] {
  if (opened === undefined) return watchLines({ ...model, now }, terminal, terminal.unicode);
  const { rows, columns, style } = terminal;
  const drawn =
    opened === 'reading'
      ? ['  Reading …']
      : [
          '',
          ...receipt(
            opened.txn,
            { now, times: opened.times, total: movedAmounts(opened.txn)?.left },
            terminal,
          ),
        ];
  // svcpay does not truncate an invoice, so that people can copy the invoice.
  const lines = drawn.flatMap((line) =>
    widthOf(line) < columns ? [line] : wrap(line.trim(), columns - 3).map((part) => `  ${part}`),
  );
  const free = Math.max(rows - lines.length - 1, 0);
  return [
    ...lines.slice(0, rows - 1),
    ...Array<string>(free).fill(''),
    style.dim('  any key back'),
  ];
}

/** Computes the balances of the last 30 days backwards from the current balances. */
async function readPast(
  wallets: readonly Wallet[],
  context: Context,
): Promise<ReadonlyMap<string, readonly Big[]>> {
  const { client } = await context.account();
  const moved: ListedTransaction[] = [];
  let pages = 0;
  for await (const page of client.eachTransactionPage({
    time: '30d',
    txnStatuses: ['completed'],
  })) {
    moved.push(...page);
    if ((pages += 1) === mostPages) break;
  }
  const today = client.serviceNow();
  const past = new Map(
    wallets.map(({ ccy, amount }) => [
      ccy,
      Array<Big>(days).fill(amount == null ? new Big(0) : fromWire(amount)),
    ]),
  );
  const takeBack = (ccy: string, value: Big, at: number): void => {
    const balances = past.get(ccy);
    const day = days - 1 - Math.floor((today - at) / dayMs);
    if (balances !== undefined)
      past.set(
        ccy,
        balances.map((balance, i) => (i < day ? balance.plus(value) : balance)),
      );
  };
  for (const txn of moved) {
    const amounts = movedAmounts(txn);
    if (amounts === undefined || typeof txn.createdAt !== 'number') continue;
    if (txn.sourceReq.method === 'servicepay')
      takeBack(amounts.left.ccy, amounts.left.value, txn.createdAt);
    if (txn.destReq.method === 'servicepay')
      takeBack(amounts.arrived.ccy, amounts.arrived.value.neg(), txn.createdAt);
  }
  return past;
}

/**
 * Returns the summary after `watch` ends, such as `Watched for 12:04, last updated at 10:22:53:
 * 1.24500000 BTC (+0.00018000 BTC).`
 */
function summaryOf(before: readonly Wallet[], { home }: WatchModel, ms: number): string {
  const changes = home.wallets.flatMap(({ ccy, amount }) => {
    const earlier = before.find((wallet) => wallet.ccy === ccy)?.amount;
    if (amount == null || earlier == null) return [];
    const change = fromWire(amount).minus(fromWire(earlier));
    if (change.eq(0)) return [];
    return [
      `${formatAmount(money(ccy, fromWire(amount)))} ` +
        `(${change.lt(0) ? '−' : '+'}${formatAmount(money(ccy, change.abs()))})`,
    ];
  });
  const text = changes.length === 0 ? 'no balance changed' : changes.join(', ');
  return `Watched for ${formatDuration(ms)}, last updated at ${clockTime(home.asOf)}: ${text}.`;
}
