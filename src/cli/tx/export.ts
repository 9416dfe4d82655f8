// Exports the history page by page as CSV and JSONL with every transaction, for spreadsheets and
// programs.
import Big from 'big.js';
import { Failure, invalid } from '../../formats/failure.js';
import type { ListedTransaction, RequestSide } from '../../api/types.js';
import { exportList, type ExportedTransaction } from '../../terminal/views/transaction-view.js';
import { dateTime } from '../../terminal/time.js';
import { withFigures } from '../../wallet/history/moved-amounts.js';
import type { Context } from '../context.js';
import { defineCommand } from '../define.js';
import { historyFilter, historyOptions, withStates } from './history.js';
import { ratesOf } from '../statement/open-books.js';
import { idsOf, lookUp } from './local-facts.js';
import { choice } from '../values.js';

const exportFormats = ['csv', 'jsonl'] as const;

export const txExport = defineCommand({
  options: {
    format: choice(exportFormats, 'FORMAT')
      .optional()
      .describe(`same as -o: ${exportFormats.join(', ')}`),
    ...historyOptions,
  },
  examples: [
    [
      'svcpay tx export -o csv --since 2026-01-01 --until 2026-12-31 > 2026.csv',
      'exports a year, for a spreadsheet',
    ],
    [
      'svcpay tx export -o jsonl --month last',
      'exports the last month with all fields of the service',
    ],
  ],
  async run({ format, ...flags }, context) {
    const { globals } = context;
    if (globals.json || globals.fields !== undefined) {
      throw invalid(
        `svcpay tx export writes only ${exportFormats.join(', ')}. Remove --json and --fields.`,
        {
          hint: 'For JSON or chosen fields',
          next: { do: 'run', command: 'tx list --all' },
        },
      );
    }
    if (format === undefined) throw invalid(`Choose a format: -o ${exportFormats.join(', -o ')}.`);
    const { client } = await context.account();
    const filter = await historyFilter(flags, client);
    if (globals.rawCells && format !== 'csv') throw invalid('--raw-cells works only with -o csv.');
    const listed = client.eachTransactionPage(filter);
    // CSV needs amounts and fees, which the service's list of transactions may omit.
    const pages =
      format === 'jsonl' ? listed : withFigures(listed, (txnId) => client.transaction(txnId));
    const total = () =>
      client.transactions({ ...filter, limit: 1 }).then(({ pagination }) => pagination?.total);
    return { format, rows: exported(pages, total, flags, context) };
  },
  view: {
    fields: [],
    dataOf: ({ rows }: Export) => rows,
    print: ({ format, rows }, _parts, { out }) => out.file(format, rows, exportList),
  },
});

interface Export {
  readonly format: (typeof exportFormats)[number];
  readonly rows: AsyncIterable<ExportedTransaction>;
}

/**
 * Yields the transactions and shows the progress. If the export is interrupted, throws a failure
 * with the number of written transactions and the id of the last written transaction.
 * @param readTotal reads the number of transactions
 */
async function* exported(
  pages: AsyncIterable<readonly ListedTransaction[]>,
  readTotal: () => Promise<number | null | undefined>,
  flags: Parameters<typeof withStates>[1],
  context: Context,
): AsyncGenerator<ExportedTransaction> {
  const { live, terminal } = context;
  let written = 0;
  let last: ListedTransaction | undefined;
  let total: number | null | undefined;
  const amountText = (): string => `${written}${total == null ? '' : ` of ${total}`} transactions`;
  if (terminal.canAnimate && !terminal.stdoutIsTty) {
    void readTotal().then(
      (found) => (total = found),
      () => undefined,
    );
    live.start(() => `Writing ${amountText()}`);
  }
  try {
    for await (const page of pages) {
      yield* await withLocalFacts(page, context);
      written += page.length;
      last = page.at(-1) ?? last;
      live.update();
      live.progress(written, total ?? 0);
    }
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const end =
      last === undefined ? '' : `, ending with ${last.txnId} of ${dateTime(last.createdAt ?? 0)}`;
    const why = `The export is incomplete: it contains ${amountText()}${end}. ${error.message}`;
    withStates(error.saying(why), flags);
  } finally {
    live.stop();
  }
}

/** Adds the notes, the payments and the exchange rates that this home or database has stored. */
async function withLocalFacts(
  page: readonly ListedTransaction[],
  context: Context,
): Promise<readonly ExportedTransaction[]> {
  const { rows, knownOf } = await lookUp(page, context);
  const kept = await ratesOf(idsOf(rows), context);
  return rows.map((txn) => {
    const rates = kept.get(txn.txnId);
    const rateOf = ({ ccy }: RequestSide): Big | undefined => {
      const rate = rates?.rates[ccy ?? ''];
      return rate === undefined ? undefined : new Big(rate);
    };
    return {
      ...txn,
      ...knownOf(txn.txnId),
      ...(rates && {
        fiat: rates.fiat,
        sourceFiatRate: rateOf(txn.sourceReq),
        destFiatRate: rateOf(txn.destReq),
      }),
    };
  });
}
