// Imports the payments that the journal lacks from the service, after a restore from a backup.
import { Failure } from '../../formats/failure.js';
import { counted } from '../../formats/text.js';
import { decisive } from '../../store/journal/payment.js';
import { importedFields, importedView } from '../../terminal/views/database-view.js';
import { importMissing } from '../../wallet/history/import-payments.js';
import type { Context } from '../context.js';
import { defineCommand } from '../define.js';
import { showProgress } from '../statement/open-books.js';
import { beginningOf, instant } from '../tx/history-options.js';
import { openPayments, readDecisive } from '../tx/open-payments.js';

export const dbImport = defineCommand({
  options: {
    since: instant().describe(
      'only transactions created since this time: 36h, 2026-03-01 (default: all of history)',
    ),
  },
  examples: [
    [
      'svcpay db import --since 36h',
      'imports lost payments after a restore from a backup; run it before you pay',
    ],
  ],
  fields: importedFields,
  async run({ since }, context) {
    const { live, out, now, newId } = context;
    const { client: service, id: account, scope, journal } = await context.account();
    try {
      const { uncounted, unclear, ...counts } = await importMissing(
        await beginningOf(since, service),
        {
          service,
          journal: await journal(),
          scope,
          account,
          now,
          newId,
          onRead: showProgress('Comparing the journal', context),
        },
      );
      for (const payment of await openPayments(context))
        if (decisive(payment).txnId !== null) await readDecisive(payment, context);
      const open = (await openPayments(context)).length;
      live.stop();
      for (const txnId of uncounted)
        out.warn(`Limits do not count ${txnId}, because the service does not report its cost.`);
      await out.record({ ...counts, open }, importedView({ ...counts, open }));
      if (unclear.length > 0) throw notImported(unclear);
      await allowPayments(context);
    } finally {
      live.stop();
    }
  },
});

const notImported = (unclear: readonly string[]): Failure =>
  new Failure(
    'books-differ',
    'Not imported: the service returned too few details of ' +
      `${counted(unclear.length, 'transaction')}: ${unclear.join(', ')}.`,
    {
      hint:
        'These transactions may be payments of this account. ' +
        'Ask the service before you pay again.',
    },
  );

/** Allows payments for this account again after the import into a restored database. */
async function allowPayments({ database }: Context): Promise<void> {
  const found = await database();
  if (found === undefined) return;
  const { startGeneration } = await import('../../store/database/postgres-schema.js');
  await startGeneration(found.postgres);
}
