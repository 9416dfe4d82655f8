// Follows transactions until each transaction is final. The exit code is 6 if a transaction did not
// complete.
import { idLength, paymentFields, transactionList } from '../../terminal/views/transaction-view.js';
import type { Transaction } from '../../api/types.js';
import { isUnknown, type Failure } from '../../formats/failure.js';
import { ageOf, stepsLine } from '../../terminal/cards/steps.js';
import { isFinal } from '../../formats/states.js';
import { takingTurns, waitUntilFinal } from '../../wallet/transaction/read.js';
import type { Context } from '../context.js';
import { defineCommand } from '../define.js';
import { waitingLine } from '../payment/payment-screen.js';
import { idsOf } from './local-facts.js';
import { pickId, rememberIds } from './resolve-id.js';
import { openStates, endedFailure, readDetails, recordState } from './payments.js';
import { duration, transaction } from '../values.js';

export const txWatch = defineCommand({
  arguments: {
    ids: transaction()
      .repeated()
      .otherwise([])
      .describe('ids (or their first 6 characters) or references of transactions'),
  },
  options: { waitTimeout: duration().optional().describe('longest time to wait') },
  examples: [
    ['svcpay tx watch ID ID', 'shows one line per transaction, redrawn on every change'],
    ['svcpay tx watch ID -o jsonl', 'prints one line of JSON per state change'],
  ],
  changes: true,
  async run({ ids, waitTimeout }, context): Promise<Watched> {
    const { live, out } = context;
    const { columns } = transactionList(context.present());
    const { client: service } = await context.account();
    const seen = new Map<string, Seen>();
    const latest = (): Transaction[] => [...seen.values()].map(({ txn }) => txn);
    const observe = (txn: Transaction): void => {
      const reached = [...(seen.get(txn.txnId)?.reached ?? []), txn.txnState];
      seen.set(txn.txnId, { txn, reached });
      out.change(txn, columns);
      live.update();
    };
    const wanted =
      ids.length > 0
        ? ids
        : [await pickId('Which transaction do you want to follow?', openStates, context)];
    for (const id of new Set(wanted)) {
      const { txn } = await readDetails(id, context, 'pending');
      if (!seen.has(txn.txnId)) observe(txn);
    }
    await rememberIds(latest(), context);
    const line = waitingLine(context);
    live.start(() => {
      const lines = watchLines([...seen.values()], context).join('\n');
      const [only, ...others] = latest();
      const isOne = only !== undefined && others.length === 0;
      return isOne ? line(only, lines, ageOf(only, service.serviceNow())) : lines;
    });
    try {
      const options = { atMostMs: waitTimeout, onChange: observe };
      const sleep = seen.size === 1 ? context.sleep : takingTurns(context, readsApartMs);
      const ended = await Promise.all(
        latest().map((txn) => waitUntilFinal(txn, options, { ...context, service, sleep })),
      );
      live.stop();
      const failures: Failure[] = [];
      for (const txn of ended) {
        const unpaid = endedFailure(txn, await recordState(txn, context), context);
        if (unpaid !== undefined) failures.push(unpaid);
      }
      const failure = failures.find(isUnknown) ?? failures[0];
      // For a script, `tx watch` leaves stdout empty if the exit code reports a failure.
      if (failure !== undefined && !out.forPeople) throw failure;
      return { ended, now: service.serviceNow(), failure };
    } finally {
      live.stop();
    }
  },
  view: { fields: paymentFields, dataOf: (watched) => onlyOf(watched) ?? watched.ended, print },
  failure: ({ failure }) => failure,
});

/** The pause between two reads of several transactions, which avoids rate limits. */
const readsApartMs = 1_000;

/**
 * The number of free rows below the watched lines: one row for the cursor, and one spare row for a
 * shrinking window.
 */
const rowsBelow = 2;

/**
 * Draws a line for each transaction or, if the window has too few rows, only for each open
 * transaction.
 */
function watchLines(all: readonly Seen[], { terminal }: Context): string[] {
  const { columns, rows, style } = terminal.stderrCanvas;
  const available = Math.max(rows - rowsBelow, 2);
  const open = all.filter(({ txn }) => !isFinal(txn.txnState));
  const shown = all.length > available ? open.slice(0, available - 1) : all;
  const length = idLength(all.map(({ txn }) => txn.txnId));
  const canvas = { style, columns: columns - Math.min(length, 36) - 2 };
  const lines = shown.map(
    ({ txn, reached }) =>
      `${style.dim(txn.txnId.slice(0, length))}  ${stepsLine(txn, canvas, reached)}`,
  );
  return shown.length === all.length ? lines : [...lines, `and ${all.length - shown.length} more`];
}

/** The latest read of a transaction, and the states that it reached meanwhile. */
interface Seen {
  readonly txn: Transaction;
  readonly reached: readonly string[];
}

interface Watched {
  readonly ended: readonly Transaction[];
  /** The service's clock, in epoch ms. */
  readonly now: number;
  readonly failure: Failure | undefined;
}

/** The only watched transaction, which programs get as an object instead of a list. */
const onlyOf = ({ ended }: Watched): Transaction | undefined =>
  ended.length === 1 ? ended[0] : undefined;

async function print(watched: Watched, _parts: object, { out }: Context): Promise<void> {
  const { ended, now } = watched;
  // In JSONL format, svcpay has already printed every state change, so it prints no final list.
  if (out.format === 'jsonl') return;
  const options = out.forPeople ? { ids: idsOf(ended), showsDone: true } : {};
  const view = transactionList(now, options);
  const only = out.format === 'json' ? onlyOf(watched) : undefined;
  if (only === undefined) await out.list(ended, view);
  else await out.record(only, { ...view, screen: () => [] });
}
