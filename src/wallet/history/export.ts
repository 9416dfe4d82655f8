// Exports the history as CSV and JSONL with every transaction.
import type { ListedTransaction, RequestSide } from '../../api/types.js';
import { plainNumber, type WireNumber } from '../../formats/amount.js';
import { asPlainCell } from '../../formats/text.js';
import type { KeptRate } from '../../store/journal/records.js';

export const exportFormats = ['csv', 'jsonl'] as const;

export type ExportFormat = (typeof exportFormats)[number];

interface Writer {
  readonly head: string;
  readonly write: (page: readonly ListedTransaction[], rates: RatesOf, known: KnownOf) => string;
}

/** Returns the fiat rates that this home kept for the settlement of a transaction. */
export type RatesOf = (txnId: string) => Pick<KeptRate, 'fiat' | 'rates'> | undefined;

export interface ExportOptions {
  readonly format: ExportFormat;
  /** Writes each object as one line of JSON. */
  readonly jsonLines: (values: readonly object[]) => string;
  /** Sanitizes external text and puts it on one line. */
  readonly clean: (text: string) => string;
  /** Whether to write a cell unchanged even if a spreadsheet would run it as a formula. */
  readonly rawCells: boolean;
  readonly rates: (page: readonly ListedTransaction[]) => Promise<RatesOf>;
  /** Looks up what the journal knows of the transactions of a page. */
  readonly known: (page: readonly ListedTransaction[]) => Promise<KnownOf>;
}

/** Returns what the journal knows of a transaction. */
export type KnownOf = (txnId: string) => KnownTransaction | undefined;

/** The values that match a transaction with an invoice, a reference and an approval. */
export interface KnownTransaction {
  readonly destination: string | null;
  readonly paymentHash: string | null;
  readonly reference: string | null;
  readonly approvedBy: string | null;
}

/** Yields the export as text in large pieces. */
export async function* exportLines(
  pages: AsyncIterable<readonly ListedTransaction[]>,
  options: ExportOptions,
): AsyncGenerator<string, void, void> {
  const { head, write } = writerOf(options);
  let gathered = head;
  try {
    for await (const page of pages) {
      gathered += write(page, await options.rates(page), await options.known(page));
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

function writerOf({ format, jsonLines, clean, rawCells }: ExportOptions): Writer {
  if (format === 'jsonl')
    return {
      head: '',
      write: (page, _rates, known) =>
        jsonLines(page.map((txn) => withKnown(txn, known(txn.txnId)))),
    };
  const harmless = rawCells ? clean : (text: string) => asPlainCell(clean(text));
  const cell = (value: Cell): string => {
    if (value == null) return '';
    if (typeof value !== 'string') return plainNumber(value);
    return isHarmless.test(value) ? value : quoted(harmless(value));
  };
  const row = (cells: readonly Cell[]): string => `${cells.map(cell).join(',')}\n`;
  return {
    head: csvHead,
    write: (page, rates, known) =>
      page.map((txn) => row(cellsOf(txn, rates(txn.txnId), known(txn.txnId)))).join(''),
  };
}

const csvHead =
  'time,txnId,extRefId,txnState,sourceMethod,sourceCcy,sourceAmount,' +
  'destMethod,destCcy,destAmount,servicepayFees,networkFees,fxRate,note,' +
  'fiat,sourceFiatRate,destFiatRate,destination,paymentHash,reference,approvedBy\n';

const withKnown = (txn: ListedTransaction, known: KnownTransaction | undefined): object =>
  known === undefined ? txn : { ...txn, ...known };

type Cell = string | WireNumber | null | undefined;

/** Returns the cells of a CSV row, whose two fees are in the source currency. */
function cellsOf(
  txn: ListedTransaction,
  kept: ReturnType<RatesOf>,
  known: KnownTransaction | undefined,
): Cell[] {
  const { createdAt, txnId, extRefId, txnState, sourceReq, destReq, fxRate, note } = txn;
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
