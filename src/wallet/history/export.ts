// Exports the history. CSV and JSONL contain every transaction. A ledger journal contains only the
// transactions that moved money.
import type { ListedTransaction, RequestSide } from '../../api/types.js';
import { plainNumber, type WireNumber } from '../../formats/amount.js';
import { dayWriter } from '../../formats/calendar.js';
import { Failure } from '../../formats/failure.js';
import { asPlainCell } from '../../formats/text.js';
import { ledgerEntryOf, utcWriter, type Entry, type LedgerWriter } from './ledger-entry.js';
import {
  accountingFormat,
  accountingFormats,
  type AccountingFormat,
  type LocalData,
} from './accounting.js';
import { beancountWriter } from './beancount.js';
import { hledgerWriter } from './hledger.js';

export const exportFormats = [
  'csv',
  'jsonl',
  'hledger',
  'beancount',
  ...accountingFormats,
] as const;

export type ExportFormat = (typeof exportFormats)[number];

interface Writer {
  readonly head: string;
  readonly write: (page: readonly ListedTransaction[], local: LocalDataOf) => string;
}

/** Returns this home's data about a transaction of the current page. */
type LocalDataOf = (txnId: string) => LocalData;

export interface ExportOptions {
  readonly format: ExportFormat;
  /** Writes each object as one line of JSON. */
  readonly jsonLines: (values: readonly object[]) => string;
  /** Sanitizes external text and puts it on one line. */
  readonly clean: (text: string) => string;
  /** Whether to write a cell unchanged even if a spreadsheet would run it as a formula. */
  readonly rawCells: boolean;
  /** The time zone that decides the calendar day of a transaction. */
  readonly zone: string;
  /** The fiat currency of the account, for a format that needs one. */
  readonly ccy: string;
  /** Called for every transaction that does not fit the export's format. */
  readonly leftOut: (txn: ListedTransaction) => void;
  readonly local: (page: readonly ListedTransaction[]) => Promise<LocalDataOf>;
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
      gathered += write(page, await options.local(page));
      if (gathered.length < pieceLength) continue;
      yield gathered;
      gathered = '';
    }
  } catch (error) {
    // Yields the rows read before the error, unless the export has too many rows for the accounting
    // program.
    if (!(error instanceof Failure && error.kind === 'usage')) yield gathered;
    throw error;
  }
  yield gathered;
}

/**
 * The number of characters after which svcpay yields a piece of the export. An export in large
 * pieces is twice as fast as an export in one piece per transaction.
 */
const pieceLength = 524_288;

function writerOf({
  format,
  jsonLines,
  clean,
  rawCells,
  leftOut,
  zone,
  ccy,
}: ExportOptions): Writer {
  const utc = utcWriter();
  const day = dayWriter(zone);
  const entry = (txn: ListedTransaction, { kept }: LocalData): Entry | undefined =>
    ledgerEntryOf(txn, clean, utc, day, kept);
  const harmless = rawCells ? clean : (text: string) => asPlainCell(clean(text));
  switch (format) {
    case 'csv':
      return { head: csvHead, write: rowByRow(csvRow(utc, harmless)) };
    case 'jsonl':
      return { head: '', write: jsonLines };
    case 'hledger':
      return journal(hledgerWriter(zone), entry, leftOut);
    case 'beancount':
      return journal(beancountWriter(zone), entry, leftOut);
    default:
      return accounting(accountingFormat(format, ccy), day, harmless, leftOut);
  }
}

function journal(
  { head, write, declare }: LedgerWriter,
  read: (txn: ListedTransaction, local: LocalData) => Entry | undefined,
  leftOut: ExportOptions['leftOut'],
): Writer {
  const row = (txn: ListedTransaction, local: LocalData): string => {
    const entry = read(txn, local);
    if (entry !== undefined) {
      const { names, text } = write(entry);
      return declare(names) + text;
    }
    leftOut(txn);
    return '';
  };
  return { head, write: rowByRow(row) };
}

/** Throws Failure `usage` if the export has more rows than the accounting program accepts. */
function accounting(
  { head, row, atMost }: AccountingFormat,
  day: (at: number) => string,
  harmless: (text: string) => string,
  leftOut: ExportOptions['leftOut'],
): Writer {
  let count = 0;
  let last = 0;
  const line = (cells: readonly string[]): string =>
    `${cells.map((cell) => (isNumber.test(cell) ? cell : quoted(harmless(cell)))).join(',')}\n`;
  const write = (txn: ListedTransaction, local: LocalData): string => {
    const found = row(txn, day, local);
    if (found === undefined) {
      leftOut(txn);
      return '';
    }
    if ((count += 1) > atMost) throw tooMany(atMost, last);
    last = found.at;
    return line(found.cells);
  };
  return { head: `${head.join(',')}\n`, write: rowByRow(write) };
}

const isNumber = /^-?\d+(?:\.\d+)?$/;

function tooMany(atMost: number, oldest: number): Failure {
  const start = new Date(oldest).toISOString();
  return new Failure(
    'usage',
    `The export has more than ${atMost} rows, the maximum for one file. ` +
      `The newest ${atMost} rows go back to ${start}.`,
    {
      hint: `Export two files: one since ${start}, and one until just before ${start}.`,
    },
  );
}

const rowByRow =
  (row: (txn: ListedTransaction, local: LocalData) => string): Writer['write'] =>
  (page, local) => {
    let text = '';
    for (const txn of page) text += row(txn, local(txn.txnId));
    return text;
  };

const csvHead =
  'time,txnId,extRefId,txnState,sourceMethod,sourceCcy,sourceAmount,' +
  'destMethod,destCcy,destAmount,servicepayFees,networkFees,fxRate,note,' +
  'fiat,sourceFiatRate,destFiatRate\n';

/**
 * Writes a CSV row, whose two fees are in the source currency. Concatenates strings, which is the
 * fastest way, because an export may have a million rows.
 */
function csvRow(
  utc: (at: number) => string,
  harmless: (text: string) => string,
): (txn: ListedTransaction, local: LocalData) => string {
  const text = (value: string | null | undefined): string =>
    value == null ? '' : isHarmless.test(value) ? value : quoted(harmless(value));
  const side = ({ method, ccy, amtSettled, amtRequested }: RequestSide): string =>
    `${text(method)},${text(ccy)},${number(amtSettled ?? amtRequested)}`;
  const worth = (
    { sourceReq, destReq }: ListedTransaction,
    { fiat, rates }: NonNullable<LocalData['kept']>,
  ): string => `${fiat},${rates[sourceReq.ccy ?? ''] ?? ''},${rates[destReq.ccy ?? ''] ?? ''}`;
  return (txn, { kept }) => {
    const { createdAt, txnId, extRefId, txnState, sourceReq, destReq, fxRate, note } = txn;
    const time = typeof createdAt === 'number' ? utc(createdAt) : '';
    const ids = `${text(txnId)},${text(extRefId)},${text(txnState)}`;
    const fees = `${number(sourceReq.servicepayFees)},${number(sourceReq.networkFees)}`;
    const end = `${fees},${number(fxRate)},${text(note)}`;
    const last = kept === undefined ? ',,' : worth(txn, kept);
    return `${time},${ids},${side(sourceReq)},${side(destReq)},${end},${last}\n`;
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
