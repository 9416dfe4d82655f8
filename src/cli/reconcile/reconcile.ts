// Compares the service's list of transactions with the journal, the inbox and batch results, and
// prints the differences. With --import, `reconcile` adds the payments that are missing from a
// journal restored from a backup.
import Big from 'big.js';
import type { ListedTransaction, Transaction } from '../../api/types.js';
import { formatAmount, money } from '../../formats/amount.js';
import { ownZone } from '../../formats/calendar.js';
import { Failure, ifAvailable } from '../../formats/failure.js';
import { counted } from '../../formats/text.js';
import { openSortedRows, type SortedRows } from '../../store/files/sorted-rows.js';
import { latest, needsAnswer, type Attempt } from '../../store/journal/payment.js';
import {
  differenceList,
  importedFields,
  importedView,
} from '../../terminal/views/difference-view.js';
import { differenceText } from '../../terminal/views/statement-view.js';
import { differences, putListed, type KnownEvent } from '../../wallet/books/compare.js';
import { factsOf, type FoundDifference } from '../../wallet/books/compared.js';
import type { Books } from '../../wallet/books/gather.js';
import { withFigures } from '../../wallet/history/missing-amounts.js';
import { createdSince } from '../../wallet/history/newest-first.js';
import { reconcile as importMissing } from '../../wallet/history/reconcile.js';
import { spanFilter } from '../../wallet/payment/find.js';
import { recordRead } from '../../wallet/payment/record-read.js';
import type { Context } from '../context.js';
import { defineCommand } from '../define.js';
import { beginningOf, instant } from '../tx/history-options.js';
import { openPayments, readLatest } from '../tx/open-payments.js';
import { hasInbox } from '../payment/inbox.js';
import { file, flag } from '../values.js';
import { attemptsHere, knownPayments, resultRows } from '../statement/known-here.js';
import { showProgress, withBooks } from '../statement/open-books.js';

export const reconcile = defineCommand({
  arguments: { files: file().repeated().optional().describe('result files of svcpay batch') },
  options: {
    since: instant().describe(
      'only transactions created since this time: 36h, 2026-03-01 (default: all of history)',
    ),
    import: flag().describe(
      'import payments that the journal lacks, after a restore from a backup; pays nothing',
    ),
  },
  examples: [
    [
      'svcpay reconcile --since 7d',
      'compares service, journal and webhook inbox; exits with 10 if anything differs',
    ],
    ['svcpay reconcile payroll.csv.result.csv --json', 'also compares the result of a batch'],
    [
      'svcpay reconcile --import --since 36h',
      'imports lost payments after a restore from a backup; run it before you pay',
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

/**
 * `reconcile` reads the service's list of transactions from an hour before the period, because
 * svcpay can submit a quote up to an hour after its creation.
 */
const overlapMs = 3_600_000;

async function compare(since: number, files: readonly string[], context: Context): Promise<void> {
  const { scope } = await context.account();
  const accepted = new Map(
    (await (await context.books()).accepted(scope)).map((each) => [
      `${each.txnId} ${each.facts}`,
      each.note,
    ]),
  );
  const counts = new Map<string, number>();
  let quiet = 0;
  const noted = async function* (found: AsyncIterable<FoundDifference>) {
    for await (const each of found) {
      const note = accepted.get(`${each.txnId} ${factsOf(each)}`) ?? null;
      if (note === null) counts.set(each.difference, (counts.get(each.difference) ?? 0) + 1);
      else quiet += 1;
      yield { ...each, accepted: note };
    }
  };
  await withDifferences(
    since,
    files,
    async (found, totals) => {
      await context.out.list(noted(found), differenceList);
      context.out.say(
        totals ??
          'The wallet totals are not compared, because --since selects only part of the history.',
      );
    },
    context,
  );
  if (quiet > 0) context.out.say(`Accepted differences: ${quiet}.`);
  if (counts.size === 0) return;
  const kinds = [...counts].map(([kind, count]) => `${count} ${kind}`).join(', ');
  throw new Failure('books-differ', `The books differ: ${kinds}.`, {
    hint: counts.has('unknown here')
      ? 'After a restore from a backup: svcpay reconcile --import'
      : 'To accept the differences of a transaction: svcpay reconcile accept ID --note TEXT',
  });
}

/**
 * Compares the sources with the service, and passes the differences and the line about the totals
 * of the wallets to `use`.
 */
export async function withDifferences(
  since: number,
  files: readonly string[],
  use: (found: AsyncIterable<FoundDifference>, totals: string | undefined) => Promise<void>,
  context: Context,
): Promise<void> {
  const { client, scope, journal } = await context.account();
  const inbox = (await hasInbox(context)) ? eventsOf(context) : undefined;
  if (inbox === undefined)
    context.out.say('Events are not compared, because this home has no webhook inbox.');
  const unresolved = await readUnanswered(context);
  const sources = {
    journal: knownPayments(await journal(), scope, since),
    inbox,
    files: files.map((name) => ({ name, rows: resultRows(name) })),
  };
  const rows = openSortedRows();
  const read = (txnId: string): Promise<Transaction> => client.transaction(txnId);
  try {
    const totals = await putAll(since, rows, context);
    const differing = differences(sources, { rows, since, read });
    await use(following(unresolved, differing, totals?.differences ?? []), totals?.text);
  } finally {
    rows.close();
  }
}

async function* following(
  first: readonly FoundDifference[],
  then: AsyncIterable<FoundDifference>,
  last: readonly FoundDifference[],
): AsyncGenerator<FoundDifference> {
  yield* first;
  yield* then;
  yield* last;
}

interface Totals {
  readonly differences: readonly FoundDifference[];
  /** The last line that `reconcile` prints. */
  readonly text: string;
}

/**
 * Adds the service's list of transactions to `rows`, for the comparison with the journal. Returns
 * the totals of the wallets if the list covers the whole history.
 */
async function putAll(
  since: number,
  rows: SortedRows,
  context: Context,
): Promise<Totals | undefined> {
  const { client } = await context.account();
  const onPage = (page: readonly ListedTransaction[]): void => putListed(page, rows);
  if (since === 0)
    return withBooks({ zone: ownZone(), onPage }, async (books) => totalsOf(books), context);
  const onRead = showProgress('Comparing', context);
  const from = since - overlapMs;
  const listed = createdSince(client.eachTransactionPage(spanFilter(from)), from);
  for await (const page of withFigures(listed, (txnId) => client.transaction(txnId))) {
    onRead(page.length);
    onPage(page);
  }
  context.live.stop();
  return undefined;
}

function totalsOf({ openings, differences: differing, tied }: Books): Totals {
  const total = { difference: 'total differs', source: 'wallet', txnId: null } as const;
  return {
    differences: [
      ...openings.map(({ entry: { ccy }, value }) => ({
        ...total,
        reference: null,
        ccy,
        here: new Big(0),
        there: value,
        detail: 'opening, not explained by a transaction: svcpay statement open',
      })),
      ...differing.map((each) => ({
        ...total,
        reference: null,
        ccy: each.ccy,
        here: each.added,
        there: each.reported,
        detail: `${differenceText(each)}: svcpay statement`,
      })),
    ],
    text:
      tied.length === 0
        ? 'The transactions do not add up to the balance of any wallet.'
        : `The transactions add up to the balance of ${tied
            .map(({ ccy, balance }) => formatAmount(money(ccy, balance)))
            .join(', ')}.`,
  };
}

/**
 * Re-reads the attempts in `error` or with an unknown outcome, and records the reported states.
 * Returns all attempts, regardless of their age, that a person must resolve.
 */
async function readUnanswered(context: Context): Promise<FoundDifference[]> {
  const { client, scope, journal } = await context.account();
  const left: FoundDifference[] = [];
  for await (const { payment, attempt } of attemptsHere(await journal(), scope)) {
    if (!needsAnswer(attempt)) continue;
    const txn = await ifAvailable(client.transaction(attempt.txnId ?? ''));
    if (txn?.txnId === attempt.txnId)
      await recordRead(payment, txn, await journal(), context.owner);
    const after = await (await journal()).read(payment.id);
    const read = after?.attempts.find(({ number }) => number === attempt.number);
    left.push(...unresolved(payment.ref, read ?? attempt));
  }
  return left;
}

function unresolved(reference: string, attempt: Attempt): FoundDifference[] {
  const { txnId, txnState, spendCcy, approvedTotal, resolution } = attempt;
  if (!needsAnswer(attempt) || resolution !== null) return [];
  return [
    {
      difference: 'unresolved',
      source: 'journal',
      txnId,
      reference,
      ccy: spendCcy,
      here: approvedTotal === null ? null : new Big(approvedTotal),
      there: null,
      detail:
        `the service reports ${txnState ?? 'nothing'}; ask the service whether the ` +
        'money moved, then: svcpay tx resolve',
    },
  ];
}

async function* eventsOf({ events }: Context): AsyncGenerator<KnownEvent, void, void> {
  for await (const { txnId, txnState, updatedAt } of (await events()).since(0)) {
    if (txnId !== null && txnState !== null) yield { txnId, txnState, at: updatedAt ?? 0 };
  }
}

/** Allows payments for this account again after the reconciliation of a restored database. */
async function allowPayments({ database }: Context): Promise<void> {
  const found = await database();
  if (found === undefined) return;
  const { startGeneration } = await import('../../store/database/postgres-schema.js');
  await startGeneration(found.postgres);
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
  const { uncounted, unclear, ...counts } = await importMissing(since, deps);
  for (const payment of await openPayments(context))
    if (latest(payment).txnId !== null) await readLatest(payment, context);
  const open = (await openPayments(context)).length;
  live.stop();
  for (const txnId of uncounted)
    out.warn(`Limits do not count ${txnId}, because the service does not report its cost.`);
  await out.record({ ...counts, open }, importedView({ ...counts, open }));
  if (unclear.length === 0) return allowPayments(context);
  throw new Failure(
    'books-differ',
    'Not imported: the service returned too few details of ' +
      `${counted(unclear.length, 'transaction')}: ${unclear.join(', ')}.`,
    {
      hint:
        'These transactions may be payments of this account. ' +
        'Ask the service before you pay again.',
    },
  );
}
