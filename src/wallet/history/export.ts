// Exports the history as CSV and JSONL with every transaction.
import type { ListedTransaction, RequestSide } from '../../api/types.js';
import { plainNumber, type WireNumber } from '../../formats/amount.js';
import { asPlainCell } from '../../formats/text.js';
import type { KeptRate } from '../../store/journal/settlement-rates.js';

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
  const row = csvRow(utcWriter(), harmless);
  return {
    head: csvHead,
    write: (page, rates, known) => {
      let text = '';
      for (const txn of page) text += row(txn, rates(txn.txnId), known(txn.txnId));
      return text;
    },
  };
}

const csvHead =
  'time,txnId,extRefId,txnState,sourceMethod,sourceCcy,sourceAmount,' +
  'destMethod,destCcy,destAmount,servicepayFees,networkFees,fxRate,note,' +
  'fiat,sourceFiatRate,destFiatRate,destination,paymentHash,reference,approvedBy\n';

const withKnown = (txn: ListedTransaction, known: KnownTransaction | undefined): object =>
  known === undefined ? txn : { ...txn, ...known };

/**
 * Writes a CSV row, whose two fees are in the source currency. Concatenates strings, which is the
 * fastest way, because an export may have a million rows.
 */
function csvRow(
  utc: (at: number) => string,
  harmless: (text: string) => string,
): (
  txn: ListedTransaction,
  kept: ReturnType<RatesOf>,
  known: KnownTransaction | undefined,
) => string {
  const text = (value: string | null | undefined): string =>
    value == null ? '' : isHarmless.test(value) ? value : quoted(harmless(value));
  const side = ({ method, ccy, amtSettled, amtRequested }: RequestSide): string =>
    `${text(method)},${text(ccy)},${number(amtSettled ?? amtRequested)}`;
  const worth = (
    { sourceReq, destReq }: ListedTransaction,
    { fiat, rates }: NonNullable<ReturnType<RatesOf>>,
  ): string => `${fiat},${rates[sourceReq.ccy ?? ''] ?? ''},${rates[destReq.ccy ?? ''] ?? ''}`;
  const match = ({ destination, paymentHash, reference, approvedBy }: KnownTransaction): string =>
    `${text(destination)},${text(paymentHash)},${text(reference)},${text(approvedBy)}`;
  return (txn, kept, known) => {
    const { createdAt, txnId, extRefId, txnState, sourceReq, destReq, fxRate, note } = txn;
    const time = typeof createdAt === 'number' ? utc(createdAt) : '';
    const ids = `${text(txnId)},${text(extRefId)},${text(txnState)}`;
    const fees = `${number(sourceReq.servicepayFees)},${number(sourceReq.networkFees)}`;
    const end = `${fees},${number(fxRate)},${text(note)}`;
    const last = kept === undefined ? ',,' : worth(txn, kept);
    const matched = known === undefined ? ',,,' : match(known);
    return `${time},${ids},${side(sourceReq)},${side(destReq)},${end},${last},${matched}\n`;
  };
}

const number = (value: WireNumber | null | undefined): string =>
  value == null ? '' : plainNumber(value);

/** Matches text that needs neither quotes nor sanitizing: a fast test that most texts pass. */
const isHarmless = /^(?:[A-Za-z0-9][\w .:/;()~-]*)?$/;

const needsQuotes = /[",\r\n]/;

/**
 * Quotes a cell as RFC 4180 requires. Unlike in RFC 4180, each row of the export ends with a line
 * feed only, as in the other formats.
 */
const quoted = (cell: string): string =>
  needsQuotes.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;

const dayMs = 86_400_000;

/**
 * Returns a function that writes epoch ms as `2026-03-01T14:02:31.000Z`, like `toISOString`, but
 * about eight times as fast. The returned function caches the formatted date, because successive
 * transactions often have the same date.
 */
export function utcWriter(): (at: number) => string {
  const padded = Array.from({ length: 60 }, (_, n) => String(n).padStart(2, '0'));
  let begin = NaN;
  let day = '';
  return (at) => {
    if (!Number.isInteger(at)) return new Date(at).toISOString();
    if (!(at >= begin && at < begin + dayMs)) {
      begin = Math.floor(at / dayMs) * dayMs;
      day = new Date(begin).toISOString().slice(0, -'00:00:00.000Z'.length);
    }
    const ms = at - begin;
    const seconds = Math.floor(ms / 1000);
    const minutes = Math.floor(seconds / 60);
    const hour = padded[Math.floor(minutes / 60)];
    const time = `${hour}:${padded[minutes % 60]}:${padded[seconds % 60]}`;
    return `${day}${time}.${String(ms % 1000).padStart(3, '0')}Z`;
  };
}
