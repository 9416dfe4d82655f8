// Exports the history page by page as CSV and JSONL with every transaction, for spreadsheets and
// programs.
import { Failure } from '../../formats/failure.js';
import type { ListedTransaction, TransactionPage, RequestSide } from '../../api/types.js';
import { toJson } from '../../terminal/rows/json.js';
import { sanitize } from '../../terminal/text.js';
import { dateTime } from '../../terminal/time.js';
import { withFigures } from '../../wallet/history/moved-amounts.js';
import type { Context } from '../context.js';
import { defineCommand, pieces } from '../define.js';
import { historyFilter, historyOptions, withStates } from './history.js';
import { ratesOf } from '../statement/open-books.js';
import { idsOf, localFacts, lookUp, type KnownOf } from './local-facts.js';
import { choice } from '../values.js';
import { plainNumber, type WireNumber } from '../../formats/amount.js';
import { asPlainCell } from '../../formats/text.js';
import type { KeptRate } from '../../store/journal/records.js';

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
    const options = {
      format,
      rawCells: globals.rawCells,
      rates: (txnIds: readonly string[]) => ratesOf(txnIds, context),
      known: (txnIds: readonly string[]) => localFacts(txnIds, context),
    };
    const count = () => service.transactions({ ...filter, limit: 1 });
    return writing(noted(history, context), options, flags, count, context);
  },
  view: pieces,
});

async function* noted(pages: Pages, context: Context): Pages {
  for await (const page of pages) yield (await lookUp(page, context)).rows;
}

type Pages = AsyncIterable<readonly ListedTransaction[]>;

/**
 * Yields the lines of an export and shows the progress. If the export is interrupted, throws a
 * failure with the number of written transactions and the id of the last written transaction.
 * @param count reads a page that reports the number of transactions
 */
async function* writing(
  pages: Pages,
  options: ExportOptions,
  flags: Parameters<typeof withStates>[1],
  count: () => Promise<TransactionPage>,
  { live, terminal }: Context,
): AsyncGenerator<string> {
  let written = 0;
  let last: ListedTransaction | undefined;
  let total: number | undefined;
  const onPage = (page: readonly ListedTransaction[]): void => {
    written += page.length;
    last = page.at(-1) ?? last;
    live.update();
    live.progress(written, total ?? 0);
  };
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
    yield* exportLines(pages, options, onPage);
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

export interface ExportOptions {
  readonly format: (typeof exportFormats)[number];
  /** Whether to write a cell unchanged even if a spreadsheet would run it as a formula. */
  readonly rawCells: boolean;
  /** Looks up the fiat rates that this home kept for settlements, which only CSV contains. */
  readonly rates: (txnIds: readonly string[]) => Promise<Rates>;
  /** Looks up what the journal knows of transactions. */
  readonly known: (txnIds: readonly string[]) => Promise<KnownOf>;
}

type Rates = ReadonlyMap<string, Pick<KeptRate, 'fiat' | 'rates'>>;

/** Yields the export as text in large pieces. */
export async function* exportLines(
  pages: Pages,
  { format, rates, known, rawCells }: ExportOptions,
  onPage: (page: readonly ListedTransaction[]) => void = () => undefined,
): AsyncGenerator<string, void, void> {
  const harmless = (text: string): string =>
    rawCells ? sanitize(text) : asPlainCell(sanitize(text));
  const cell = (value: Cell): string => {
    if (value == null) return '';
    if (typeof value !== 'string') return plainNumber(value);
    return isHarmless.test(value) ? value : quoted(harmless(value));
  };
  let gathered = format === 'csv' ? csvHead : '';
  try {
    for await (const page of pages) {
      const ids = idsOf(page);
      const kept = format === 'csv' ? await rates(ids) : undefined;
      const knownOf = await known(ids);
      gathered +=
        kept === undefined
          ? page.map((txn) => `${toJson({ ...txn, ...knownOf(txn.txnId) })}\n`).join('')
          : page.map((txn) => `${cellsOf(txn, kept, knownOf).map(cell).join(',')}\n`).join('');
      onPage(page);
      if (gathered.length < pieceLength) continue;
      yield gathered;
      gathered = '';
    }
  } catch (error) {
    // Yields the rows read before the error.
    yield gathered;
    throw error;
  }
  yield gathered;
}

/**
 * The number of characters after which svcpay yields a piece of the export. An export in large
 * pieces is twice as fast as an export in one piece per transaction.
 */
const pieceLength = 524_288;

const csvHead =
  'time,txnId,extRefId,txnState,sourceMethod,sourceCcy,sourceAmount,' +
  'destMethod,destCcy,destAmount,servicepayFees,networkFees,fxRate,note,' +
  'fiat,sourceFiatRate,destFiatRate,destination,paymentHash,reference,approvedBy\n';

type Cell = string | WireNumber | null | undefined;

/** Returns the cells of a CSV row, whose two fees are in the source currency. */
function cellsOf(txn: ListedTransaction, rates: Rates, knownOf: KnownOf): Cell[] {
  const { createdAt, txnId, extRefId, txnState, sourceReq, destReq, fxRate, note } = txn;
  const [kept, known] = [rates.get(txnId), knownOf(txnId)];
  const side = ({ method, ccy, amtSettled, amtRequested }: RequestSide): Cell[] => [
    method,
    ccy,
    amtSettled ?? amtRequested,
  ];
  return [
    typeof createdAt === 'number' ? new Date(createdAt).toISOString() : null,
    txnId,
    extRefId,
    txnState,
    ...side(sourceReq),
    ...side(destReq),
    sourceReq.servicepayFees,
    sourceReq.networkFees,
    fxRate,
    note,
    kept?.fiat,
    kept?.rates[sourceReq.ccy ?? ''],
    kept?.rates[destReq.ccy ?? ''],
    known?.destination,
    known?.paymentHash,
    known?.reference,
    known?.approvedBy,
  ];
}

/** Matches text that needs neither quotes nor sanitizing: a fast test that most texts pass. */
const isHarmless = /^(?:[A-Za-z0-9][\w .:/;()~-]*)?$/;

const needsQuotes = /[",\r\n]/;

/**
 * Quotes a cell as RFC 4180 requires. Unlike in RFC 4180, each row of the export ends with a line
 * feed only, as in the other formats.
 */
const quoted = (cell: string): string =>
  needsQuotes.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
