// Writes the history for a spreadsheet, a program or a book-keeping tool, page by page and never held whole.
import { Failure } from '../../formats/failure.js';
import { toJson } from '../../terminal/rows/json.js';
import { exportFormats, exportLines } from '../../wallet/history/export.js';
import { withFigures } from '../../wallet/history/missing-amounts.js';
import { defineCommand } from '../define.js';
import { historyFilter, historyOptions } from './history-options.js';
import { choice } from '../values.js';

export const txExport = defineCommand({
  arguments: {},
  options: {
    format: choice(exportFormats, 'FORMAT').optional().describe(exportFormats.join(', ')),
    ...historyOptions,
  },
  examples: [
    ['svcpay tx export --format hledger > svcpay.journal', 'everything, for hledger'],
    ['svcpay tx export --format csv --since 2026-01-01 --until 2026-12-31 > 2026.csv', 'a year, for a spreadsheet'],
  ],
  async run({ format, ...flags }, context) {
    const { globals, out } = context;
    if (format === undefined) throw new Failure('usage', `Say which format: --format ${exportFormats.join(', ')}.`);
    if (globals.json || globals.output !== undefined || globals.fields !== undefined) {
      throw new Failure('usage', 'An export has the form that --format names. Leave --json, -o and --fields out.', {
        hint: 'svcpay tx list --all takes those.',
      });
    }
    const service = await context.ownClient();
    const filter = await historyFilter(flags, service);
    const left = { out: 0 };
    const listed = service.eachTransaction(filter);
    // JSONL is the list as the service gives it; books and spreadsheets need the fees.
    const history = format === 'jsonl' ? listed : withFigures(listed, (txnId) => service.transaction(txnId));
    await out.pour(exportLines(history, format, toJson, () => (left.out += 1)));
    if (left.out > 0) {
      const what = left.out === 1 ? 'transaction that has' : 'transactions that have';
      out.say(`Left out: ${left.out} ${what} not moved money.`);
    }
  },
});
