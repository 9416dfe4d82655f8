// Compares the service's list with journal, inbox and batch results, and lists the differences; with --import it adds
// payments that are missing in a journal restored from a backup.
import Big from 'big.js';
import { createReadStream } from 'node:fs';
import { Failure } from '../../formats/failure.js';
import { counted, fromPlainCell } from '../../formats/text.js';
import { openSortedRows } from '../../store/files/sorted-rows.js';
import { batchLineFields } from '../../terminal/cards/batch-view.js';
import {
  differenceList,
  importedFields,
  importedView,
} from '../../terminal/views/difference-view.js';
import { isProblem, readRows } from '../../wallet/batch/rows.js';
import {
  differences,
  type FoundDifference,
  type Known,
  type KnownEvent,
} from '../../wallet/books/compare.js';
import { withFigures } from '../../wallet/history/missing-amounts.js';
import { createdSince } from '../../wallet/history/newest-first.js';
import { reconcile as importMissing } from '../../wallet/history/reconcile.js';
import { spanFilter } from '../../wallet/payment/find.js';
import type { Context } from '../context.js';
import { defineCommand } from '../define.js';
import { beginningOf, instant } from '../history/history-options.js';
import { latest } from '../../store/journal/payment.js';
import { openPayments, readLatest } from '../history/open-payments.js';
import { hasInbox } from '../payment/payment-flow.js';
import { file, flag } from '../values.js';
import { submittedHere } from './known-here.js';

export const reconcile = defineCommand({
  arguments: { files: file().repeated().optional().describe('result files of svcpay batch') },
  options: {
    since: instant().describe(
      'only what was created from then on: 36h, 2026-03-01 (default: all of history)',
    ),
    import: flag().describe(
      'enter what the journal lacks, after a restore from a backup; pays nothing',
    ),
  },
  examples: [
    [
      'svcpay reconcile --since 7d',
      'service, journal and webhook inbox; exit 6 if anything differs',
    ],
    ['svcpay reconcile payroll.csv.result.csv --json', 'the result of a batch as well'],
    [
      'svcpay reconcile --import --since 36h',
      'after a restore from a backup, before anything is paid',
    ],
  ],
  fields: [...differenceList.columns.map(({ name }) => name), ...importedFields],
  async run({ files, since, import: enters }, context) {
    const { client } = await context.account();
    const from = await beginningOf(since, client);
    try {
      await (enters ? enterMissing(from, context) : compare(from, files ?? [], context));
    } finally {
      context.live.stop();
    }
  },
});

/** A quote lasts an hour at most, so earlier ones may have been submitted later. */
const overlapMs = 3_600_000;

async function compare(since: number, files: readonly string[], context: Context): Promise<void> {
  const { client, id, scope, journal } = await context.account();
  const inbox = (await hasInbox(context)) ? eventsOf(context) : undefined;
  if (inbox === undefined) context.out.say('No webhook inbox: events are not compared.');
  const submitted = await submittedHere(await journal(), id, scope);
  const sources = {
    listed: withFigures(
      createdSince(client.eachTransactionPage(spanFilter(since - overlapMs)), since - overlapMs),
      (txnId) => client.transaction(txnId),
    ),
    journal: submitted
      .filter(({ attempt }) => (attempt.submittedAt ?? 0) >= since)
      .map(({ payment: { ref }, attempt: { txnId, spendCcy, approvedTotal } }): Known => ({
        txnId: txnId ?? '',
        reference: ref,
        ccy: spendCcy,
        total: approvedTotal === null ? null : new Big(approvedTotal),
      })),
    inbox,
    files: files.map((name) => ({ name, rows: paidRows(name) })),
  };
  const rows = openSortedRows();
  const counts = new Map<string, number>();
  async function* found(): AsyncGenerator<FoundDifference, void, void> {
    const onRead = showProgress('Comparing', context);
    for await (const each of differences(sources, {
      rows,
      since,
      read: (txnId) => client.transaction(txnId),
      onRead,
    })) {
      context.live.stop();
      counts.set(each.difference, (counts.get(each.difference) ?? 0) + 1);
      yield each;
    }
    context.live.stop();
  }
  try {
    await context.out.list(found(), differenceList);
  } finally {
    rows.close();
  }
  if (counts.size === 0) return;
  const kinds = [...counts].map(([kind, count]) => `${count} ${kind}`).join(', ');
  throw new Failure('books-differ', `The books differ: ${kinds}.`, {
    hint: counts.has('unknown here')
      ? 'After a restore from a backup: svcpay reconcile --import'
      : undefined,
  });
}

function showProgress(what: string, { live, terminal }: Context): (count: number) => void {
  let read = 0;
  if (terminal.canAnimate) live.start(() => `${what}: ${counted(read, 'transaction')}`);
  return (count) => {
    read = count;
    live.update();
  };
}

async function* eventsOf({ events }: Context): AsyncGenerator<KnownEvent, void, void> {
  for await (const { txnId, txnState, updatedAt } of (await events()).since(0)) {
    if (txnId !== null && txnState !== null) yield { txnId, txnState, at: updatedAt ?? 0 };
  }
}

const resultColumns = new Set(batchLineFields.map((name) => name.toLowerCase()));

/** The rows with a transaction that did not fail. Throws Failure `usage` for a file that is not a batch result. */
async function* paidRows(path: string): AsyncGenerator<Known, void, void> {
  const source = createReadStream(path).on('error', () => undefined);
  try {
    for await (const row of readRows(source, resultColumns)) {
      if (isProblem(row))
        throw new Failure(
          'usage',
          `${path} is not a batch result: line ${row.line}: ${row.message}`,
        );
      const { txnid, ref, outcome, paid, paidccy } = row.cells;
      if (outcome === undefined)
        throw new Failure(
          'usage',
          `${path} is not a batch result: line ${row.line} has no outcome.`,
        );
      if (txnid === undefined || outcome === 'failed') continue;
      yield {
        txnId: txnid,
        reference: ref === undefined ? null : fromPlainCell(ref),
        ccy: paidccy ?? null,
        total: paid === undefined ? null : readTotal(paid, path),
      };
    }
  } catch (cause) {
    if (cause instanceof Failure) throw cause;
    throw new Failure('usage', `The file ${path} cannot be read.`, { cause });
  }
}

function readTotal(text: string, path: string): Big {
  if (/^\d+(?:\.\d+)?$/.test(text)) return new Big(text);
  throw new Failure('usage', `${path} is not a batch result: "${text}" is not an amount.`);
}

async function enterMissing(since: number, context: Context): Promise<void> {
  const { live, out, now, newId } = context;
  const { client: service, id: account, scope, journal } = await context.account();
  const deps = {
    service,
    journal: await journal(),
    scope,
    account,
    now,
    newId,
    onRead: showProgress('Comparing the journal', context),
  };
  const { uncounted, ...counts } = await importMissing(since, deps);
  for (const payment of await openPayments(context))
    if (latest(payment).txnId !== null) await readLatest(payment, context);
  const open = (await openPayments(context)).length;
  live.stop();
  for (const txnId of uncounted)
    out.warn(`The service does not report what ${txnId} cost: limits do not count it.`);
  await out.record({ ...counts, open }, importedView({ ...counts, open }));
}
