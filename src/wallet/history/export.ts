// Exports the history: CSV and JSONL with every transaction, journals with those that moved money.
import type { ListedTransaction } from '../../api/types.js';
import { plainNumber, type WireNumber } from '../../formats/amount.js';
import { dayWriter } from '../../formats/calendar.js';
import { Failure } from '../../formats/failure.js';
import { asPlainCell } from '../../formats/text.js';
import { utcWriter } from '../../formats/utc.js';
import { accountingFormat, accountingFormats, type AccountingFormat } from './accounting.js';
import { beancountWriter } from './beancount.js';
import { hledgerWriter } from './hledger.js';
import { ledgerEntryOf, type Entry, type LedgerWriter } from './ledger-entry.js';

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
  readonly write: (page: readonly ListedTransaction[]) => string;
}

export interface ExportOptions {
  readonly format: ExportFormat;
  /** Writes each object as a line of JSON. */
  readonly jsonLines: (values: readonly object[]) => string;
  /** Sanitizes external text to one line. */
  readonly clean: (text: string) => string;
  /** Keeps cells that a spreadsheet would run as formulas. */
  readonly rawCells: boolean;
  /** The time zone of the calendar days. */
  readonly zone: string;
  /** The fiat currency of the account, if the format needs one. */
  readonly ccy: string;
  /** Called for every transaction that does not fit the format. */
  readonly leftOut: (txn: ListedTransaction) => void;
}

/** Yields text in large pieces, the first one after the first page. */
export async function* exportLines(
  pages: AsyncIterable<readonly ListedTransaction[]>,
  options: ExportOptions,
): AsyncGenerator<string, void, void> {
  const { head, write } = writerOf(options);
  let gathered = head;
  try {
    for await (const page of pages) {
      gathered += write(page);
      if (gathered.length < pieceLength) continue;
      yield gathered;
      gathered = '';
    }
  } catch (error) {
    // Writes the rows read so far, unless the program would refuse the file.
    if (!(error instanceof Failure && error.kind === 'usage')) yield gathered;
    throw error;
  }
  yield gathered;
}

/** Large pieces are twice as fast as one per transaction. */
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
  const harmless = rawCells ? clean : (text: string) => asPlainCell(clean(text));
  switch (format) {
    case 'csv':
      return { head: csvHead, write: rowByRow(csvRow(utc, harmless)) };
    case 'jsonl':
      return { head: '', write: jsonLines };
    case 'hledger':
      return journal(hledgerWriter(zone), (txn) => ledgerEntryOf(txn, clean, utc, day), leftOut);
    case 'beancount':
      return journal(beancountWriter(zone), (txn) => ledgerEntryOf(txn, clean, utc, day), leftOut);
    default:
      return accounting(accountingFormat(format, ccy), day, harmless, leftOut);
  }
}

function journal(
  { head, write, openings }: LedgerWriter,
  read: (txn: ListedTransaction) => Entry | undefined,
  leftOut: ExportOptions['leftOut'],
): Writer {
  const row = (txn: ListedTransaction): string => {
    const entry = read(txn);
    if (entry !== undefined) {
      const text = write(entry);
      return openings() + text;
    }
    leftOut(txn);
    return '';
  };
  return { head, write: rowByRow(row) };
}

/** Throws Failure `usage` for more rows than the program accepts. */
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
  const write = (txn: ListedTransaction): string => {
    const found = row(txn, day);
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

const tooMany = (atMost: number, oldest: number): Failure =>
  new Failure(
    'usage',
    `There are more than ${atMost} rows, and a file may have no more. The newest ${atMost} go back to ${new Date(oldest).toISOString()}.`,
    {
      hint: 'Write two files: one since that time, one until just before.',
    },
  );

const rowByRow =
  (row: (txn: ListedTransaction) => string): Writer['write'] =>
  (page) => {
    let text = '';
    for (const txn of page) text += row(txn);
    return text;
  };

const csvHead =
  'time,txnId,extRefId,txnState,sourceMethod,sourceCcy,sourceAmount,destMethod,destCcy,destAmount,servicepayFees,networkFees,fxRate,note\n';

/** Both fees are in the source currency. Builds the row as one text, because an export writes a million rows. */
function csvRow(
  utc: (at: number) => string,
  harmless: (text: string) => string,
): (txn: ListedTransaction) => string {
  const text = (value: string | null | undefined): string =>
    value == null ? '' : isHarmless.test(value) ? value : quoted(harmless(value));
  return ({ createdAt, txnId, extRefId, txnState, sourceReq, destReq, fxRate, note }) => {
    const time = typeof createdAt === 'number' ? utc(createdAt) : '';
    const source = `${text(sourceReq.method)},${text(sourceReq.ccy)},${number(sourceReq.amtSettled ?? sourceReq.amtRequested)}`;
    const dest = `${text(destReq.method)},${text(destReq.ccy)},${number(destReq.amtSettled ?? destReq.amtRequested)}`;
    const fees = `${number(sourceReq.servicepayFees)},${number(sourceReq.networkFees)}`;
    return `${time},${text(txnId)},${text(extRefId)},${text(txnState)},${source},${dest},${fees},${number(fxRate)},${text(note)}\n`;
  };
}

const number = (value: WireNumber | null | undefined): string =>
  value == null ? '' : plainNumber(value);

/** Text that needs neither quotes nor sanitizing; a fast test for most texts. */
const isHarmless = /^(?:[A-Za-z0-9][\w .:/;()~-]*)?$/;

const needsQuotes = /[",\r\n]/;

/** RFC 4180, but with the line break of the other formats. */
const quoted = (cell: string): string =>
  needsQuotes.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
