// Shows a live screen with balances, open payments and recent events.
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import type { Key } from 'node:readline';
import type Big from 'big.js';
import type { Wallet } from '../../api/types.js';
import { formatAmount, fromWire, type Money } from '../../formats/amount.js';
import { formatDuration } from '../../formats/calendar.js';
import { clockTime } from '../../terminal/time.js';
import { Failure, invalid } from '../../formats/failure.js';
import { messageOf } from '../../formats/text.js';
import { policies, poll, type PollNext, type PollTurn } from '../../formats/poll.js';
import { eventsFile } from '../../store/files/home.js';
import {
  openable,
  watchLines,
  type SeenEvent,
  type WatchModel,
} from '../../terminal/cards/watch-view.js';
import { openFullScreen } from '../../terminal/full-screen.js';
import { paragraph } from '../../terminal/text.js';
import { movedAmounts } from '../../wallet/history/moved-amounts.js';
import type { Context } from '../context.js';
import { defineCommand } from '../define.js';
import { pickedOf, readOverview, showHistory, type Overview } from './home.js';

export const watch = defineCommand({
  examples: [['svcpay watch', 'Enter opens a receipt, q leaves']],
  async run(_inputs, context): Promise<string> {
    const { terminal, out } = context;
    if (!terminal.canPrompt || !out.forPeople || !terminal.stdoutIsTty || terminal.isDumb) {
      throw invalid('svcpay watch draws a screen, so it must run in a terminal.', {
        hint: 'In a script',
        next: { do: 'watch', id: 'ID' },
      });
    }
    return showScreen(await readOverview(context), context);
  },
  view: {
    fields: [],
    dataOf: (summary) => summary,
    print: async (summary, _parts, { out }) => out.screen((canvas) => paragraph(summary, canvas)),
  },
});

const mostEvents = 8;
const mostPages = 10;
const days = 30;
const dayMs = 86_400_000;

/** The action of a pressed key, or undefined for a key that only changes the model. */
type KeyAction = 'leave' | 'open' | undefined;

export function pressed(
  { name, ctrl, sequence }: Key,
  model: WatchModel,
): readonly [WatchModel, KeyAction] {
  if (sequence === 'q' || name === 'escape' || (ctrl === true && name === 'c'))
    return [model, 'leave'];
  if (name === 'return') return [model, 'open'];
  const down = name === 'down' || sequence === 'j';
  const up = name === 'up' || sequence === 'k';
  return [choosing(model.chosen + (down ? 1 : up ? -1 : 0), model), undefined];
}

const choosing = (chosen: number, model: WatchModel): WatchModel => ({
  ...model,
  chosen: Math.max(Math.min(chosen, openable(model).length - 1), 0),
});

/**
 * Shows the live screen until the person leaves, and then does not wait for a running request.
 * Resolves with the summary that `watch` prints at the end.
 */
async function showScreen({ home, more }: Overview, context: Context): Promise<string> {
  const { terminal, live, every, now, signal } = context;
  const { client } = await context.account();
  const startedAt = now();
  const ended = new AbortController();
  const leave = (): void => ended.abort();
  let model: WatchModel = {
    home,
    more,
    past: new Map(),
    events: [],
    chosen: 0,
    problem: undefined,
    now: client.serviceNow(),
  };
  // Hides the notice of a slow request, because the live screen shows the age of the data.
  const resume = live.aside();
  const onKey = (key: Key): void => {
    const [next, action] = pressed(key, model);
    change(next);
    if (action === 'leave') leave();
    if (action === 'open') void open();
  };
  const lines = (): string[] =>
    watchLines({ ...model, now: client.serviceNow() }, terminal, terminal.unicode);
  const screen = openFullScreen(terminal, lines, onKey);
  const change = (changes: Partial<WatchModel>): void => {
    model = choosing(model.chosen, { ...model, ...changes });
    screen.draw();
  };
  const refresh = async (): Promise<void> => {
    const seen = await readOverview(context).catch(problemOf);
    change(typeof seen === 'string' ? { problem: seen } : { ...seen, problem: undefined });
  };
  // In the first turn, the screen has just shown current data.
  const later = async ({ number }: PollTurn): Promise<PollNext<void>> => {
    if (number > 1) await refresh();
    return {};
  };
  const open = async (): Promise<void> => {
    const txnId = openable(model)[model.chosen];
    if (txnId == null) return;
    screen.close();
    const picked = pickedOf(model, txnId);
    await showHistory(context, { picked, part: 'receipt' }).catch((error: unknown) =>
      change({ problem: messageOf(error) }),
    );
    if (!ended.signal.aborted) screen.open();
  };
  const stopTicking = every(tickMs, screen.draw);
  signal.addEventListener('abort', leave);
  const merge = (events: readonly SeenEvent[]): void =>
    change({ events: [...events, ...model.events].slice(0, mostEvents) });
  try {
    void readPast(home.wallets, context).then(
      (past) => change({ past }),
      () => undefined,
    );
    const loops = [
      poll(policies.watchScreen, later, { ...context, signal: ended.signal }),
      followInbox(merge, refresh, ended.signal, context),
    ];
    await Promise.race([Promise.all(loops), once(ended.signal, 'abort')]);
  } finally {
    signal.removeEventListener('abort', leave);
    stopTicking();
    screen.close();
    resume();
  }
  return summaryOf(home.wallets, model, now() - startedAt);
}

const tickMs = 1_000;

/**
 * Returns the message of a Failure. Rethrows an error that is not a Failure, to end the live
 * screen.
 */
function problemOf(error: unknown): string {
  if (error instanceof Failure) return error.message;
  throw error;
}

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
  const read = async (): Promise<PollNext<void>> => {
    const fresh: SeenEvent[] = [];
    for await (const { id, receivedAt, txnId, txnState } of inbox.since(from)) {
      if (id <= lastId) continue;
      [from, lastId] = [receivedAt, id];
      if (txnId !== null && txnState !== null) fresh.unshift({ txnId, txnState, at: receivedAt });
    }
    if (fresh.length === 0) return {};
    merge(fresh);
    await refresh();
    return {};
  };
  await poll(policies.watchInbox, read, { ...context, signal });
}

/** Computes the balances of the last 30 days backwards from the current balances. */
async function readPast(
  wallets: readonly Wallet[],
  context: Context,
): Promise<ReadonlyMap<string, readonly Big[]>> {
  const { client } = await context.account();
  const past = new Map(
    wallets.map(({ ccy, amount }) => [ccy, Array<Big>(days).fill(fromWire(amount ?? 0))]),
  );
  const today = client.serviceNow();
  const takeBack = ({ ccy, value }: Money, at: number): void => {
    const day = days - 1 - Math.floor((today - at) / dayMs);
    const balances = past.get(ccy)?.map((each, i) => (i < day ? each.plus(value) : each));
    if (balances !== undefined) past.set(ccy, balances);
  };
  const filter = { time: '30d', txnStatuses: ['completed'] } as const;
  let pages = 0;
  for await (const page of client.eachTransactionPage(filter)) {
    for (const txn of page) {
      const { createdAt, sourceReq, destReq } = txn;
      const moved = movedAmounts(txn);
      if (moved === undefined || createdAt == null) continue;
      const { left, arrived } = moved;
      if (sourceReq.method === 'servicepay') takeBack(left, createdAt);
      if (destReq.method === 'servicepay')
        takeBack({ ...arrived, value: arrived.value.neg() }, createdAt);
    }
    if ((pages += 1) === mostPages) break;
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
    const sign = change.lt(0) ? '−' : '+';
    const [is, by] = [fromWire(amount), change.abs()].map((each) =>
      formatAmount({ ccy, value: each }),
    );
    return change.eq(0) ? [] : [`${is} (${sign}${by})`];
  });
  const text = changes.length === 0 ? 'no balance changed' : changes.join(', ');
  return `Watched for ${formatDuration(ms)}, last updated at ${clockTime(home.asOf)}: ${text}.`;
}
