// Exports the history page by page, for spreadsheets and programs.
import { Failure } from '../../formats/failure.js';
import type { ListedTransaction, TransactionPage } from '../../api/types.js';
import { parsedToLines } from '../../terminal/rows/json.js';
import { sanitize } from '../../terminal/sanitize.js';
import { dateTime } from '../../terminal/time.js';
import { exportFormats, exportLines, type ExportOptions } from '../../wallet/history/export.js';
import { withFigures } from '../../wallet/history/moved-amounts.js';
import type { Context } from '../context.js';
import { defineCommand } from '../define.js';
import { pieces } from '../show.js';
import { lookUpsOf } from '../statement/lines.js';
import { historyFilter, historyOptions, withStates } from './history-options.js';
import { localFacts, withNotes } from './local-facts.js';
import { choice } from '../values.js';

export const txExport = defineCommand({
  formats: exportFormats,
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
      throw new Failure(
        'usage',
        `svcpay tx export writes only ${exportFormats.join(', ')}. Remove --json and --fields.`,
        {
          hint: 'For JSON or chosen fields',
          next: { do: 'run', command: 'tx list --all' },
        },
      );
    }
    if (format === undefined)
      throw new Failure('usage', `Choose a format: -o ${exportFormats.join(', -o ')}.`);
    const { client: service } = await context.account();
    const filter = await historyFilter(flags, service);
    if (globals.rawCells && format !== 'csv')
      throw new Failure('usage', '--raw-cells works only with -o csv.');
    const listed = service.eachTransactionPage(filter);
    // CSV needs amounts and fees, which the service's list of transactions may omit.
    const history =
      format === 'jsonl' ? listed : withFigures(listed, (txnId) => service.transaction(txnId));
    const lines = (pages: Pages): AsyncIterable<string> =>
      exportLines(pages, {
        format,
        jsonLines: parsedToLines,
        clean: sanitize,
        rawCells: globals.rawCells,
        rates: ratesFor(format, context),
        known: (page) => localFacts(idsOf(page), context),
      });
    const count = () => service.transactions({ ...filter, limit: 1 });
    return writing(noted(history, context), lines, { count, flags }, context);
  },
  view: pieces,
});

/** Looks up the stored rates of a page, which only CSV contains. */
function ratesFor(
  format: (typeof exportFormats)[number],
  context: Context,
): ExportOptions['rates'] {
  if (format === 'jsonl') return () => Promise.resolve(() => undefined);
  const { rates } = lookUpsOf(context);
  return async (page) => {
    const kept = await rates(page.map(({ txnId }) => txnId));
    return (txnId) => kept.get(txnId);
  };
}

const idsOf = (page: readonly ListedTransaction[]): readonly string[] =>
  page.map(({ txnId }) => txnId);

async function* noted(pages: Pages, context: Context): Pages {
  for await (const page of pages) yield await withNotes(page, context);
}

type Pages = AsyncIterable<readonly ListedTransaction[]>;

interface Writing {
  /** Reads a page that reports the number of transactions. */
  readonly count: () => Promise<TransactionPage>;
  readonly flags: Parameters<typeof withStates>[1];
}

/**
 * Yields the lines of an export and shows the progress. If the export is interrupted, throws a
 * failure with the number of written transactions and the id of the last written transaction.
 */
async function* writing(
  pages: Pages,
  lines: (pages: Pages) => AsyncIterable<string>,
  { count, flags }: Writing,
  { live, terminal }: Context,
): AsyncGenerator<string> {
  let written = 0;
  let last: ListedTransaction | undefined;
  let total: number | undefined;
  async function* counted(): Pages {
    for await (const page of pages) {
      yield page;
      written += page.length;
      last = page.at(-1) ?? last;
      live.update();
      live.progress(written, total ?? 0);
    }
  }
  const amountText = (): string =>
    `${written}${total === undefined ? '' : ` of ${total}`} transactions`;
  if (terminal.canAnimate && !terminal.stdoutIsTty) {
    void count().then(
      ({ pagination }) => (total = pagination?.total ?? undefined),
      () => undefined,
    );
    live.start(() => `Writing ${amountText()}`);
  }
  try {
    yield* lines(counted());
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
