// Compares the service's list of transactions with the journal and the inbox. Accepts the
// differences of one transaction with a note.
import Big from 'big.js';
import { formatAmount, money } from '../../formats/amount.js';
import { always, ownZone, type Span } from '../../formats/calendar.js';
import { Failure, type FailureDetails, ifAvailable } from '../../formats/failure.js';
import { needsAnswer } from '../../store/journal/payment.js';
import {
  differenceList,
  type DifferenceRow,
  differenceText,
} from '../../terminal/views/statement-view.js';
import {
  type Comparison,
  type DifferenceCount,
  type FoundDifference,
  openComparison,
} from '../../wallet/books/compare.js';
import type { Books } from '../../wallet/books/gather.js';
import { quoteMs } from '../../wallet/books/movement.js';
import { withFigures, createdSince } from '../../wallet/history/moved-amounts.js';
import { spanFilter } from '../../api/pages.js';
import { recordRead } from '../../wallet/payment/record.js';
import type { Context } from '../context.js';
import { defineCommand, list } from '../define.js';
import { hasInbox } from '../tx/local-facts.js';
import { attemptsHere, openBooks, showProgress, sourcesOf } from '../statement/open-books.js';
import { createdSinceOption, month, spanAsked } from '../tx/history.js';
import { text } from '../values.js';

export const reconcile = defineCommand({
  options: {
    since: createdSinceOption(),
    month: month(),
  },
  examples: [
    [
      'svcpay reconcile --since 7d',
      'compares service, journal and webhook inbox; exits with 10 if anything differs',
    ],
  ],
  changes: true,
  async run(flags, context) {
    const { client } = await context.account();
    return compareAll(await spanAsked(flags, client), context);
  },
  view: list<DifferenceRow, Compared>(differenceList, ({ comparison }) => comparison.differences()),
  remarks({ comparison, books }) {
    const accepted = comparison.counts().reduce((sum, each) => sum + each.accepted, 0);
    return [totalsText(books), ...(accepted > 0 ? [`Accepted differences: ${accepted}.`] : [])];
  },
  failure({ comparison }) {
    const found = comparison.counts().filter(({ open }) => open > 0);
    if (found.length === 0) return undefined;
    const kinds = found.map(({ difference, open }) => `${open} ${difference}`).join(', ');
    return new Failure('books-differ', `The books differ: ${kinds}.`, adviceFor(found));
  },
});

/** Returns the advice for the first of these kinds that was found. */
const adviceFor = (found: readonly DifferenceCount[]): FailureDetails =>
  advice.find(([kind]) => found.some(({ difference }) => difference === kind))?.[1] ?? {
    hint: 'To accept the differences of a transaction',
    next: { do: 'run', command: 'reconcile accept ID --note TEXT' },
  };

const advice: readonly (readonly [FoundDifference['difference'], FailureDetails])[] = [
  ['unknown here', { hint: 'After a restore from a backup', next: { do: 'import-payments' } }],
  ['unresolved', { hint: 'To record the answer', next: { do: 'resolve', id: 'ID' } }],
  ['total differs', { hint: 'For each movement', next: { do: 'run', command: 'statement' } }],
];

interface Compared {
  readonly comparison: Comparison;
  /** The books of the whole history, or undefined for a part of the history. */
  readonly books: Books | undefined;
}

/** Compares the service's list with the journal, the inbox and the totals of the wallets. */
async function compareAll(period: Span, context: Context): Promise<Compared> {
  if (!(await hasInbox(context)))
    context.out.say('Events are not compared, because this home has no webhook inbox.');
  const comparison = openComparison();
  context.onClose(comparison.close);
  await readUnanswered(comparison, context);
  const isWhole = period.first === 0 && period.end === always.end;
  const books = isWhole
    ? await openBooks({ zone: ownZone(), onPage: comparison.list }, context)
    : await readList(period, comparison, context);
  await comparison.compare(await sourcesOf(period, context));
  if (books !== undefined) addTotals(books, comparison);
  return { comparison, books };
}

/** Reads the service's list from before the period, and shows the progress. */
async function readList(
  { first, end }: Span,
  comparison: Comparison,
  context: Context,
): Promise<undefined> {
  const { client } = await context.account();
  const onRead = showProgress('Comparing', context);
  const from = first - quoteMs;
  const listed = createdSince(client.eachTransactionPage(spanFilter(from, end)), from);
  try {
    for await (const page of withFigures(listed, (txnId) => client.transaction(txnId))) {
      onRead(page.length);
      comparison.list(page);
    }
  } finally {
    context.live.stop();
  }
}

function addTotals({ openings, differences }: Books, { add }: Comparison): void {
  const total = (ccy: string, here: Big, there: Big, detail: string): void =>
    add({ difference: 'total differs', source: 'wallet', ccy, here, there, detail });
  for (const { ccy, value } of openings)
    total(ccy, new Big(0), value, 'opening, not explained by a transaction');
  for (const each of differences) total(each.ccy, each.added, each.reported, differenceText(each));
}

function totalsText(books: Books | undefined): string {
  if (books === undefined)
    return 'The wallet totals are not compared, because the period is only a part of the history.';
  if (books.tied.length === 0)
    return 'The transactions do not add up to the balance of any wallet.';
  const balances = books.tied.map(({ ccy, balance }) => formatAmount(money(ccy, balance)));
  return `The transactions add up to the balance of ${balances.join(', ')}.`;
}

/**
 * Re-reads the attempts in `error` or with an unknown outcome, and records the reported states.
 * Adds all attempts, regardless of their age, that a person must resolve.
 */
async function readUnanswered({ add }: Comparison, context: Context): Promise<void> {
  const { client, scope, ...account } = await context.account();
  const journal = await account.journal();
  for await (const { payment, attempt } of attemptsHere(journal, scope)) {
    if (!needsAnswer(attempt)) continue;
    const txn = await ifAvailable(client.transaction(attempt.txnId ?? ''));
    if (txn?.txnId === attempt.txnId) await recordRead(payment, txn, journal, context.owner);
    const after = await journal.read(payment.id);
    const read = after?.attempts.find(({ number }) => number === attempt.number) ?? attempt;
    if (!needsAnswer(read) || read.resolution !== null) continue;
    const { txnId, txnState, spendCcy: ccy, approvedTotal } = read;
    add({
      difference: 'unresolved',
      source: 'journal',
      txnId,
      reference: payment.ref,
      ccy,
      here: approvedTotal,
      detail:
        `the service reports ${txnState ?? 'nothing'}; ask the service whether the ` +
        'money moved, then record the answer',
    });
  }
}

export const reconcileAccept = defineCommand({
  arguments: { id: text().describe('the transaction id') },
  options: { note: text().describe('why the differences are right') },
  changes: true,
  examples: [
    [
      "svcpay reconcile accept TXN --note 'customer paid 5 EUR less'",
      'records the present differences of the transaction as accepted',
    ],
  ],
  async run({ id, note }, context) {
    const { comparison } = await compareAll(always, context);
    const facts = comparison.facts(id);
    if (facts.length === 0)
      throw new Failure('not-found', `Nothing was accepted: ${id} has no difference.`, {
        hint: 'To list all differences',
        next: { do: 'run', command: 'reconcile' },
      });
    const { scope, client } = await context.account();
    const record = { txnId: id, note, acceptedAt: client.serviceNow(), acceptedBy: context.owner };
    const accepted = facts.map((each) => ({ ...record, facts: each }));
    await (await context.books()).accept(scope, accepted);
    return [...comparison.differences(id)].map((each) => ({ ...each, accepted: note }));
  },
  view: list(differenceList),
});
