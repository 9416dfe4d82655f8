// Follows transactions until each transaction is final. The exit code is 6 if a transaction did not
// complete.
import { idLength, paymentFields, transactionList } from '../../terminal/views/transaction-view.js';
import type { Transaction } from '../../api/types.js';
import { isUnknown, type Failure } from '../../formats/failure.js';
import { ageOf, besideSteps, stepsLine, waitingText } from '../../terminal/cards/steps.js';
import { isFinal } from '../../formats/states.js';
import { takingTurns, waitUntilFinal } from '../../wallet/transaction/read.js';
import type { Context } from '../context.js';
import { defineCommand } from '../define.js';
import { readUsual } from '../payment/payment-screen.js';
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
    const { live, out, terminal } = context;
    const { columns } = transactionList(context.present());
    const { client: service } = await context.account();
    const latest = new Map<string, Transaction>();
    const reached = new Map<string, string[]>();
    const observe = (txn: Transaction): void => {
      latest.set(txn.txnId, txn);
      reached.set(txn.txnId, [...(reached.get(txn.txnId) ?? []), txn.txnState]);
      out.change(txn, columns);
      live.update();
    };
    const wanted =
      ids.length > 0
        ? ids
        : [await pickId('Which transaction do you want to follow?', openStates, context)];
    for (const id of new Set(wanted)) {
      const { txn } = await readDetails(id, context, 'pending');
      if (!latest.has(txn.txnId)) observe(txn);
    }
    await rememberIds([...latest.values()], context);
    const usual = terminal.canAnimate ? readUsual(context) : () => undefined;
    live.start(() => {
      const all = [...latest.values()];
      const lines = watchLines(all, reached, context);
      const [only] = all;
      if (only === undefined || all.length > 1 || !terminal.canAnimate) return lines.join('\n');
      const time = waitingText(only, ageOf(only, service.serviceNow()), usual(only));
      return besideSteps(lines.join('\n'), time, terminal.stderrCanvas);
    });
    try {
      const options = { atMostMs: waitTimeout, onChange: observe };
      const sleep = latest.size === 1 ? context.sleep : takingTurns(context, readsApartMs);
      const ended = await Promise.all(
        [...latest.values()].map((txn) =>
          waitUntilFinal(txn, options, { ...context, service, sleep }),
        ),
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
  view: { fields: paymentFields, dataOf, print: printEnded },
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
function watchLines(
  all: readonly Transaction[],
  reached: ReadonlyMap<string, readonly string[]>,
  { terminal }: Context,
): string[] {
  const { stderrCanvas } = terminal;
  const available = Math.max(stderrCanvas.rows - rowsBelow, 2);
  const open = all.filter(({ txnState }) => !isFinal(txnState));
  const shown = all.length > available ? open.slice(0, available - 1) : all;
  const length = idLength(all.map(({ txnId }) => txnId));
  const canvas = {
    style: stderrCanvas.style,
    columns: stderrCanvas.columns - Math.min(length, 36) - 2,
  };
  const lines = shown.map(
    (txn) =>
      `${stderrCanvas.style.dim(txn.txnId.slice(0, length))}  ` +
      `${stepsLine(txn, canvas, reached.get(txn.txnId))}`,
  );
  return shown.length === all.length ? lines : [...lines, `and ${all.length - shown.length} more`];
}

interface Watched {
  readonly ended: readonly Transaction[];
  /** The service's clock, in epoch ms. */
  readonly now: number;
  readonly failure: Failure | undefined;
}

/** Returns a single transaction as an object, and several transactions as a list. */
function dataOf({ ended }: Watched): object {
  return ended.length === 1 ? (ended[0] ?? ended) : ended;
}

async function printEnded(
  { ended, now }: Watched,
  _parts: object,
  { out }: Context,
): Promise<void> {
  // In JSONL format, svcpay has already printed every state change, so it prints no final list.
  if (out.format === 'jsonl') return;
  const ids = ended.map(({ txnId }) => txnId);
  const view = transactionList(now, out.forPeople ? { ids, showsDone: true } : {});
  const [only, ...others] = ended;
  if (only !== undefined && others.length === 0 && out.format === 'json')
    await out.record(only, { ...view, screen: () => [] });
  else await out.list(ended, view);
}
