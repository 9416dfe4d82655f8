// Pays many rows of a CSV file: checks all first, asks once, pays several at a time, and goes on where it was stopped.
import { existsSync } from 'node:fs';
import { Failure } from '../../formats/failure.js';
import { runBatchFile } from './batch-flow.js';
import { batchOptions } from './batch-options.js';
import { batchFields } from '../../terminal/cards/batch-view.js';
import type { Context } from '../context.js';
import { back, type Back } from '../../terminal/ask/ask.js';
import { defineCommand } from '../define.js';
import { leftAtOnce } from '../exit-with.js';
import { contextUnder, openDrain } from './drain.js';
import { file } from '../values.js';

export const batch = defineCommand({
  fields: batchFields,
  arguments: {
    file: file().optional().describe(
      'CSV with a head: ref, to, amount, currency, note, from; for payouts the flags of payout as columns; - for stdin',
    ),
  },
  options: batchOptions,
  examples: [
    ['svcpay batch payroll.csv --dry-run', 'checks every row and shows what it comes to'],
    ['svcpay batch payroll.csv', 'asks once, then pays; run it again and it pays no row twice'],
    ['svcpay batch payroll.csv --name 2026-11', 'the same rows as last month, paid again'],
    ['make-rows | svcpay batch - --yes --result paid.csv -o jsonl', 'from a pipe, a line of JSON for every row'],
  ],
  async run({ file, ...flags }, context) {
    const drain = openDrain(context);
    try {
      const path = file ?? (await askFile(context));
      if (path === back) throw leftAtOnce(context);
      await runBatchFile(path, flags, drain, contextUnder(drain.cut, context));
    } finally {
      drain.end();
    }
  },
});

const askFile = ({ ask }: Context): Promise<string | Back> =>
  ask.steps.parsed({
    message: 'File with the rows, as CSV',
    flag: 'FILE',
    parse: (given) => {
      if (existsSync(given)) return given;
      throw new Failure('usage', given === '' ? 'An answer is needed here.' : `There is no file ${given.slice(0, 80)}.`);
    },
  });
