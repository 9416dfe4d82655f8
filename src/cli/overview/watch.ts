// A live screen: balances, open payments and recent events.
import { existsSync } from 'node:fs';
import type { Key } from 'node:readline';
import Big from 'big.js';
import type { ListedTransaction, Transaction, Wallet } from '../../api/types.js';
import { formatAmount, fromWire, money } from '../../formats/amount.js';
import { formatDuration } from '../../formats/duration.js';
import { Failure } from '../../formats/failure.js';
import { messageOf } from '../../formats/unknown.js';
import { eventsFile } from '../../store/files/home.js';
import { receipt } from '../../terminal/cards/receipt.js';
import {
  openable,
  watchLines,
  type SeenEvent,
  type WatchModel,
} from '../../terminal/cards/watch-view.js';
import { openFullScreen, takeKeys } from '../../terminal/full-screen.js';
import { wrap } from '../../terminal/text.js';
import { movedAmounts } from '../../wallet/history/moved-amounts.js';
import type { Context } from '../context.js';
import { defineCommand } from '../define.js';
import { stateTimes } from '../history/transaction-details.js';
import { look } from './home.js';

export const watch = defineCommand({
  examples: [['svcpay watch', 'Enter opens a receipt, q leaves']],
  async run(_values, context) {
    const { terminal, out } = context;
    if (!terminal.canPrompt || !out.forPeople || !terminal.stdoutIsTty || terminal.isDumb) {
      throw new Failure('usage', 'watch draws a screen, and needs a terminal for it.', {
        hint: 'In a script: svcpay tx watch ID, or svcpay webhook listen -o jsonl',
      });
    }
    const first = await look(context);
    const summary = await showScreen(first, context);
    out.screen([summary]);
  },
});

const pollMs = 10_000;
const inboxMs = 1_000;
const mostEvents = 8;
const mostPages = 10;
const days = 30;
const dayMs = 86_400_000;

type Shown = Awaited<ReturnType<typeof look>>;

/** Resolves with a summary when the person leaves. */
async function showScreen(first: Shown, context: Context): Promise<string> {
  const { terminal, every, now, signal } = context;
  const { client } = await context.account();
  const startedAt = now();
  let model: WatchModel = {
    home: first.overview,
    more: first.more,
    past: new Map(),
    events: [],
    chosen: 0,
    problem: undefined,
    now: client.serviceNow(),
  };
  let opened: Transaction | 'reading' | undefined;
  let times: ReadonlyMap<string, number> | undefined;

  const lines = (): string[] => {
    model = { ...model, now: client.serviceNow() };
    return opened === undefined
      ? watchLines(model, terminal, terminal.unicode)
      : receiptLines(opened, times, model.now, context);
  };
  const { draw, close } = openFullScreen(terminal, lines);
  const open = async (): Promise<void> => {
    const txnId = openable(model)[model.chosen];
    if (txnId == null) return;
    opened = 'reading';
    draw();
    [opened, times] = await Promise.all([
      client.transaction(txnId),
      stateTimes(txnId, context),
    ]).catch((error: unknown) => {
      model = { ...model, problem: messageOf(error) };
      return [undefined, undefined];
    });
    draw();
  };
  const refresh = async (): Promise<void> => {
    try {
      const { overview, more } = await look(context);
      model = {
        ...model,
        home: overview,
        more,
        problem: undefined,
        chosen: Math.min(model.chosen, Math.max(openable(model).length - 1, 0)),
      };
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      model = { ...model, problem: error.message };
    }
    draw();
  };

  const ended = new AbortController();
  const leave = (): void => ended.abort();
  const onKey = ({ name, ctrl, sequence }: Key): void => {
    const rows = openable(model).length;
    if (
      (ctrl === true && name === 'c') ||
      (opened === undefined && (sequence === 'q' || name === 'escape'))
    )
      leave();
    else if (opened !== undefined) opened = undefined;
    else if (name === 'return') void open();
    else if (name === 'down' || sequence === 'j')
      model = { ...model, chosen: Math.min(model.chosen + 1, Math.max(rows - 1, 0)) };
    else if (name === 'up' || sequence === 'k')
      model = { ...model, chosen: Math.max(model.chosen - 1, 0) };
    draw();
  };
  const giveBack = takeKeys(terminal, onKey);
  const stopTicking = every(inboxMs, draw);
  signal.addEventListener('abort', leave);
  const merge = (events: readonly SeenEvent[]): void =>
    void (model = { ...model, events: [...events, ...model.events].slice(0, mostEvents) });
  try {
    void readPast(first.overview.wallets, context).then(
      (past) => void (model = { ...model, past }),
      () => undefined,
    );
    await Promise.all([
      repeat(pollMs, refresh, ended.signal, context),
      followInbox(merge, refresh, ended.signal, context),
    ]);
  } finally {
    signal.removeEventListener('abort', leave);
    stopTicking();
    giveBack();
    close();
  }
  return summaryOf(first.overview.wallets, model, now() - startedAt);
}

async function repeat(
  ms: number,
  work: () => Promise<void>,
  signal: AbortSignal,
  { sleep }: Context,
): Promise<void> {
  while (!signal.aborted) {
    await sleep(ms, signal).catch(() => undefined);
    if (!signal.aborted) await work();
  }
}

/** Refreshes the screen for new events in the inbox. */
async function followInbox(
  merge: (events: readonly SeenEvent[]) => void,
  refresh: () => Promise<void>,
  signal: AbortSignal,
  context: Context,
): Promise<void> {
  if (!existsSync(eventsFile(context.home)) && (await context.database()) === undefined) return;
  const inbox = await context.events();
  let [from, lastId] = [context.now(), 0];
  await repeat(
    inboxMs,
    async () => {
      const fresh: SeenEvent[] = [];
      for await (const { id, receivedAt, txnId, txnState } of inbox.since(from)) {
        if (id <= lastId) continue;
        [from, lastId] = [receivedAt, id];
        if (txnId !== null && txnState !== null) fresh.unshift({ txnId, txnState, at: receivedAt });
      }
      if (fresh.length === 0) return;
      merge(fresh);
      await refresh();
    },
    signal,
    context,
  );
}

function receiptLines(
  txn: Transaction | 'reading',
  times: ReadonlyMap<string, number> | undefined,
  now: number,
  { terminal }: Context,
): string[] {
  const { rows, columns, style } = terminal;
  const drawn =
    txn === 'reading'
      ? ['  Reading …']
      : ['', ...receipt(txn, { now, times, total: movedAmounts(txn)?.left }, terminal)];
  // An invoice is shown whole, to be copied.
  const lines = drawn.flatMap((line) => wrap(line, columns - 1));
  const free = Math.max(rows - lines.length - 1, 0);
  return [
    ...lines.slice(0, rows - 1),
    ...Array<string>(free).fill(''),
    style.dim('  any key back'),
  ];
}

/** Balances of the last days, computed back from the present ones. */
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

/** `Watched 12:04: BTC 1.24500000 BTC (+0.00018000 BTC)`. */
function summaryOf(before: readonly Wallet[], { home }: WatchModel, ms: number): string {
  const changes = home.wallets.flatMap(({ ccy, amount }) => {
    const earlier = before.find((wallet) => wallet.ccy === ccy)?.amount;
    if (amount == null || earlier == null) return [];
    const change = fromWire(amount).minus(fromWire(earlier));
    if (change.eq(0)) return [];
    return [
      `${formatAmount(money(ccy, fromWire(amount)))} (${change.lt(0) ? '−' : '+'}${formatAmount(money(ccy, change.abs()))})`,
    ];
  });
  return `  Watched for ${formatDuration(ms)}: ${changes.length === 0 ? 'no balance changed' : changes.join(', ')}.`;
}
