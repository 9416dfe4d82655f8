// Compares the service's list of transactions with the journal and the inbox, and prints the
// differences. Accepts the differences of one transaction with a note.
import Big from 'big.js';
import type { ListedTransaction, Transaction } from '../../api/types.js';
import { formatAmount, money } from '../../formats/amount.js';
import { Failure, type FailureDetails, ifAvailable } from '../../formats/failure.js';
import { type Attempt, needsAnswer } from '../../store/journal/payment.js';
import { differenceList } from '../../terminal/views/difference-view.js';
import { differenceText } from '../../terminal/views/statement-view.js';
import { type Comparison, type KnownEvent, openComparison } from '../../wallet/books/compare.js';
import { factsOf, type FoundDifference } from '../../wallet/books/compared.js';
import type { Books } from '../../wallet/books/gather.js';
import { withFigures, createdSince } from '../../wallet/history/moved-amounts.js';
import { spanFilter } from '../../wallet/transaction/read.js';
import { recordRead } from '../../wallet/payment/record.js';
import type { Context } from '../context.js';
import { defineCommand } from '../define.js';
import { beginningOf, instant, instantsOf, month } from '../tx/history.js';
import { always, ownZone, type Span } from '../../formats/calendar.js';
import { hasInbox } from '../tx/local-facts.js';
import { attemptsHere, knownPayments } from '../statement/known-here.js';
import { showProgress, withBooks } from '../statement/open-books.js';
import { text } from '../values.js';

export const reconcile = defineCommand({
  options: {
    since: instant().describe(
      'only transactions created since this time: 36h, 2026-03-01 (default: all of history)',
    ),
    month: month(),
  },
  examples: [
    [
      'svcpay reconcile --since 7d',
      'compares service, journal and webhook inbox; exits with 10 if anything differs',
    ],
  ],
  fields: differenceList.columns.map(({ name }) => name),
  async run(flags, context) {
    const { client } = await context.account();
    const { since, until } = instantsOf(flags, client.serviceNow());
    const end = until !== undefined && 'last' in until ? until.last + 1 : always.end;
    const period = { first: await beginningOf(since, client), end };
    try {
      await compare(period, context);
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

async function compare(period: Span, context: Context): Promise<void> {
  const noteOf = await acceptedNotes(context);
  const counts = new Map<string, number>();
  let quiet = 0;
  const noted = async function* (found: AsyncIterable<FoundDifference>) {
    for await (const each of found) {
      const note = noteOf(each);
      if (note === null) counts.set(each.difference, (counts.get(each.difference) ?? 0) + 1);
      else quiet += 1;
      yield { ...each, accepted: note };
    }
  };
  await withDifferences(
    period,
    async (found, totals) => {
      await context.out.list(noted(found), differenceList);
      context.out.say(
        totals ??
          'The wallet totals are not compared, because the period is only a part of the history.',
      );
    },
    context,
  );
  if (quiet > 0) context.out.say(`Accepted differences: ${quiet}.`);
  if (counts.size === 0) return;
  const kinds = [...counts].map(([kind, count]) => `${count} ${kind}`).join(', ');
  throw new Failure('books-differ', `The books differ: ${kinds}.`, {
    ...adviceFor(counts),
  });
}

function adviceFor(found: ReadonlyMap<string, number>): Pick<FailureDetails, 'hint' | 'next'> {
  if (found.has('unknown here'))
    return { hint: 'After a restore from a backup', next: { do: 'import-payments' } };
  if (found.has('unresolved'))
    return { hint: 'To record the answer', next: { do: 'resolve', id: 'ID' } };
  if (found.has('total differs'))
    return { hint: 'For each movement', next: { do: 'run', command: 'statement' } };
  return {
    hint: 'To accept the differences of a transaction',
    next: { do: 'run', command: 'reconcile accept ID --note TEXT' },
  };
}

/** Returns a function that finds the note with which a person accepted a difference. */
async function acceptedNotes(context: Context) {
  const { scope } = await context.account();
  const accepted = new Map(
    (await (await context.books()).accepted(scope)).map((each) => [
      `${each.txnId} ${each.facts}`,
      each.note,
    ]),
  );
  return (found: FoundDifference): string | null =>
    accepted.get(`${found.txnId} ${factsOf(found)}`) ?? null;
}

/** Counts the differences of a period that nobody has accepted, in a list that the caller reads. */
export function openCount(period: Span, context: Context) {
  const comparison = openComparison();
  const from = period.first - overlapMs;
  const isNear = ({ createdAt }: ListedTransaction): boolean =>
    createdAt == null || (createdAt >= from && createdAt < period.end);
  return {
    onPage: (page: readonly ListedTransaction[]): void => comparison.list(page.filter(isNear)),
    async count(): Promise<number> {
      const noteOf = await acceptedNotes(context);
      let count = 0;
      for await (const each of await differencesOf(period, comparison, context))
        if (noteOf(each) === null) count += 1;
      return count;
    },
    close: (): void => comparison.close(),
  };
}

async function differencesOf(period: Span, comparison: Comparison, context: Context) {
  const { client, scope, journal } = await context.account();
  const sources = {
    journal: knownPayments(await journal(), scope, { ...period, end: period.end + overlapMs }),
    inbox: (await hasInbox(context)) ? eventsOf(context) : undefined,
  };
  const read = (txnId: string): Promise<Transaction> => client.transaction(txnId);
  return comparison.differences(sources, { period, read });
}

/**
 * Compares the sources with the service, and passes the differences and the line about the totals
 * of the wallets to `use`.
 */
async function withDifferences(
  period: Span,
  use: (found: AsyncIterable<FoundDifference>, totals: string | undefined) => Promise<void>,
  context: Context,
): Promise<void> {
  if (!(await hasInbox(context)))
    context.out.say('Events are not compared, because this home has no webhook inbox.');
  const unresolved = await readUnanswered(context);
  const comparison = openComparison();
  try {
    const totals = await putAll(period, comparison, context);
    const differing = await differencesOf(period, comparison, context);
    await use(following(unresolved, differing, totals?.differences ?? []), totals?.text);
  } finally {
    comparison.close();
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
 * Adds the service's list of transactions to the comparison with the journal. Returns
 * the totals of the wallets if the list covers the whole history.
 */
async function putAll(
  { first, end }: Span,
  comparison: Comparison,
  context: Context,
): Promise<Totals | undefined> {
  const { client } = await context.account();
  const onPage = (page: readonly ListedTransaction[]): void => comparison.list(page);
  if (first === 0 && end === always.end)
    return withBooks({ zone: ownZone(), onPage }, async (books) => totalsOf(books), context);
  const onRead = showProgress('Comparing', context);
  const from = first - overlapMs;
  const filter = {
    ...spanFilter(from),
    ...(end < always.end && { endTime: new Date(end).toISOString() }),
  };
  const listed = createdSince(client.eachTransactionPage(filter), from);
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
      ...openings.map(({ ccy, value }) => ({
        ...total,
        reference: null,
        ccy,
        here: new Big(0),
        there: value,
        detail: 'opening, not explained by a transaction',
      })),
      ...differing.map((each) => ({
        ...total,
        reference: null,
        ccy: each.ccy,
        here: each.added,
        there: each.reported,
        detail: differenceText(each),
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
        'money moved, then record the answer',
    },
  ];
}

async function* eventsOf({ events }: Context): AsyncGenerator<KnownEvent, void, void> {
  for await (const { txnId, txnState, updatedAt } of (await events()).since(0)) {
    if (txnId !== null && txnState !== null) yield { txnId, txnState, at: updatedAt ?? 0 };
  }
}

export const reconcileAccept = defineCommand({
  arguments: { id: text().describe('the transaction id') },
  options: { note: text().describe('why the differences are right') },
  fields: differenceList.columns.map(({ name }) => name),
  examples: [
    [
      "svcpay reconcile accept TXN --note 'customer paid 5 EUR less'",
      'records the present differences of the transaction as accepted',
    ],
  ],
  async run({ id, note }, context) {
    const found: FoundDifference[] = [];
    try {
      await withDifferences(
        always,
        async (all) => {
          for await (const each of all) if (each.txnId === id) found.push(each);
        },
        context,
      );
    } finally {
      context.live.stop();
    }
    if (found.length === 0)
      throw new Failure('not-found', `Nothing was accepted: ${id} has no difference.`, {
        hint: 'To list all differences',
        next: { do: 'run', command: 'reconcile' },
      });
    const { scope, client } = await context.account();
    const record = { txnId: id, note, acceptedAt: client.serviceNow(), acceptedBy: context.owner };
    const accepted = found.map((each) => ({ ...record, facts: factsOf(each) }));
    await (await context.books()).accept(scope, accepted);
    await context.out.list(
      found.map((each) => ({ ...each, accepted: note })),
      differenceList,
    );
  },
});
