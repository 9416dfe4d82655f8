// Accepts the differences of one transaction with a note, so that reconcile lists them as accepted.
import { always } from '../../formats/calendar.js';
import { Failure } from '../../formats/failure.js';
import { differenceList } from '../../terminal/views/difference-view.js';
import { factsOf, type FoundDifference } from '../../wallet/books/compared.js';
import { defineCommand } from '../define.js';
import { text } from '../values.js';
import { withDifferences } from './reconcile.js';

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
