// Exports the history page by page, for spreadsheets, programs and bookkeeping.
import { Failure } from '../../formats/failure.js';
import type { ListedTransaction, TransactionPage } from '../../api/types.js';
import { parsedToLines } from '../../terminal/rows/json.js';
import { sanitize } from '../../terminal/sanitize.js';
import { dateTime } from '../../terminal/time.js';
import { isFiat } from '../../formats/amount.js';
import { counted } from '../../formats/text.js';
import { accountingFormats } from '../../wallet/history/accounting.js';
import { exportFormats, exportLines, type ExportOptions } from '../../wallet/history/export.js';
import { withFigures } from '../../wallet/history/missing-amounts.js';
import type { Context } from '../context.js';
import { defineCommand } from '../define.js';
import { pieces } from '../show.js';
import { lookUpsOf } from '../statement/lines.js';
import { recipientsOf } from './parties.js';
import { historyFilter, historyOptions, withStates } from './history-options.js';
import { zoneOption } from '../statement/open-books.js';
import { choice, currency } from '../values.js';

export const txExport = defineCommand({
  formats: exportFormats,
  options: {
    format: choice(exportFormats, 'FORMAT')
      .optional()
      .describe(`same as -o: ${exportFormats.join(', ')}`),
    wallet: currency()
      .optional()
      .describe('with -o xero or -o quickbooks: the fiat wallet to export'),
    tz: zoneOption('UTC'),
    ...historyOptions,
  },
  examples: [
    ['svcpay tx export -o hledger > svcpay.journal', 'exports everything, for hledger'],
    [
      'svcpay tx export -o csv --since 2026-01-01 --until 2026-12-31 > 2026.csv',
      'exports a year, for a spreadsheet',
    ],
    [
      'svcpay tx export -o xero --wallet USD --since 2026-10-01 --until 2026-10-31 > october.csv',
      'exports the movements of one fiat wallet',
    ],
  ],
  async run({ format, wallet, tz = 'UTC', ...flags }, context) {
    const { globals, out } = context;
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
    const ccy = walletOf(format, wallet);
    const { client: service } = await context.account();
    const filter = await historyFilter(flags, service);
    if (globals.rawCells && !cellFormats.has(format))
      throw new Failure(
        'usage',
        `--raw-cells works only with -o ${[...cellFormats].join(', -o ')}.`,
      );
    const left = { unmoved: 0, unclear: 0 };
    const leftOut = ({ txnState }: ListedTransaction): void =>
      void (left[txnState === 'completed' ? 'unclear' : 'unmoved'] += 1);
    const listed = service.eachTransactionPage(filter);
    // All formats except JSONL need amounts and fees, which the service's list of transactions may
    // omit.
    const history =
      format === 'jsonl' ? listed : withFigures(listed, (txnId) => service.transaction(txnId));
    const lines = (pages: Pages): AsyncIterable<string> =>
      exportLines(pages, {
        format,
        jsonLines: parsedToLines,
        clean: sanitize,
        rawCells: globals.rawCells,
        zone: tz,
        ccy,
        leftOut,
        local: localDataFor(format, context),
      });
    const count = () => service.transactions({ ...filter, limit: 1 });
    const onEnd = (): void => (ccy === '' ? reportLeftOut(left, out) : undefined);
    return writing(history, lines, { count, onEnd, flags }, context);
  },
  view: pieces,
});

/** The formats whose cells a spreadsheet could execute as formulas. */
const cellFormats: ReadonlySet<string> = new Set(['csv', ...accountingFormats]);

/**
 * Returns the wallet whose transactions svcpay exports, or an empty string for all wallets. Throws
 * Failure `usage` if the export format does not support the wallet.
 */
function walletOf(format: (typeof exportFormats)[number], wallet: string | undefined): string {
  const isOfOne = format === 'xero' || format === 'quickbooks';
  if (!isOfOne && wallet !== undefined)
    throw new Failure('usage', '--wallet works only with -o xero and -o quickbooks.');
  if (!isOfOne) return '';
  if (wallet !== undefined && isFiat(wallet)) return wallet;
  throw new Failure(
    'usage',
    `-o ${format} exports one fiat wallet. Name the wallet, e.g. --wallet USD.`,
  );
}

/** Looks up payees for accounting formats, and rates for the formats that can contain rates. */
function localDataFor(
  format: (typeof exportFormats)[number],
  context: Context,
): ExportOptions['local'] {
  const { rates } = lookUpsOf(context);
  const hasPayee = accountingFormats.some((each) => each === format);
  const hasRates = format !== 'jsonl' && format !== 'xero' && format !== 'quickbooks';
  return async (page) => {
    const payees = hasPayee ? await recipientsOf(page, context) : () => undefined;
    const kept = hasRates ? await rates(page.map(({ txnId }) => txnId)) : new Map();
    return (txnId) => ({ payee: payees(txnId), kept: kept.get(txnId) });
  };
}

type Pages = AsyncIterable<readonly ListedTransaction[]>;

function reportLeftOut(
  { unmoved, unclear }: { readonly unmoved: number; readonly unclear: number },
  out: Context['out'],
): void {
  if (unmoved > 0) out.say(`Not exported: ${counted(unmoved, 'transaction')} that moved no money.`);
  if (unclear > 0)
    out.warn(
      `Not exported: ${counted(unclear, 'transaction')} without a usable amount, ` +
        'currency or time.',
    );
}

interface Writing {
  /** Reads a page that reports the number of transactions. */
  readonly count: () => Promise<TransactionPage>;
  readonly onEnd: () => void;
  readonly flags: Parameters<typeof withStates>[1];
}

/**
 * Yields the lines of an export and shows the progress. If the export is interrupted, throws a
 * failure with the number of written transactions and the id of the last written transaction.
 */
async function* writing(
  pages: Pages,
  lines: (pages: Pages) => AsyncIterable<string>,
  { count, onEnd, flags }: Writing,
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
    const message = `The export is incomplete: it contains ${amountText()}${end}. ${error.message}`;
    withStates(new Failure(error.kind, message, { ...error, cause: error }), flags);
  } finally {
    live.stop();
  }
  onEnd();
}
