// Pays the rows of a CSV file: checks all rows first, asks once, and pays several rows at a time. A
// later run of the same file resumes the batch.
import { existsSync } from 'node:fs';
import { Failure } from '../../formats/failure.js';
import type { Payment } from '../../store/journal/payment.js';
import { readRunName } from '../../wallet/batch/status.js';
import { journalFirst, unfinished } from '../../wallet/payment/journal-first.js';
import { labelOf } from './batch-check.js';
import { batchResultView, runBatchFile, type BatchResult } from './batch-flow.js';
import { batchOptions } from './batch-options.js';
import type { Context } from '../context.js';
import { back, type Back } from '../../terminal/ask/ask.js';
import { defineCommand } from '../define.js';
import { leftAtOnce } from '../exit-with.js';
import { draining } from './drain.js';
import { file } from '../values.js';

export const batch = defineCommand({
  arguments: {
    file: file()
      .optional()
      .describe(
        'CSV file with a header (ref, to, amount, currency, note, from; for payouts, ' +
          'columns named like the flags of svcpay payout), or - for stdin',
      ),
  },
  options: batchOptions,
  examples: [
    ['svcpay batch payroll.csv --dry-run', 'checks every row and shows the totals'],
    ['svcpay batch payroll.csv', 'asks once, then pays; a second run pays no row twice'],
    ['svcpay batch payroll.csv --name 2026-11', 'pays the same rows as last month again'],
    [
      'make-rows | svcpay batch - --yes --result paid.csv -o jsonl',
      'reads the rows from a pipe, and prints one line of JSON per row',
    ],
  ],
  changes: true,
  run: ({ file, ...flags }, context: Context): Promise<BatchResult> =>
    draining(context, async (drain, nested) => {
      const path = file ?? (await askFile(context));
      if (path === back) throw leftAtOnce(context);
      const label = labelOf(path, flags.name);
      const isOfBatch = ({ batch: mark }: Payment): boolean =>
        mark !== undefined && readRunName(mark.run).name === label;
      return journalFirst(flags.dryRun ? undefined : unfinished(isOfBatch), context.journal, () =>
        runBatchFile(path, flags, drain, nested),
      );
    }),
  view: batchResultView,
  failure: ({ failure }) => failure,
});

const askFile = ({ ask }: Context): Promise<string | Back> =>
  ask.steps.parsed({
    message: 'CSV file with the rows',
    flag: 'FILE',
    parse: (given) => {
      if (existsSync(given)) return given;
      throw new Failure(
        'usage',
        given === ''
          ? 'Enter the name of a CSV file.'
          : `File ${given.slice(0, 80)} does not exist.`,
      );
    },
  });
