// The history as text for other programs: CSV and JSONL with every transaction, journals with those that moved money.
import type { ListedTransaction } from '../../api/types.js';
import { plainNumber, type WireNumber } from '../../formats/amount.js';
import { beancountWriter } from './beancount.js';
import { hledgerWriter } from './hledger.js';
import { entryOf, type Entry } from './ledger-entry.js';

export const exportFormats = ['csv', 'jsonl', 'hledger', 'beancount'] as const;

export type ExportFormat = (typeof exportFormats)[number];

/** Writes one transaction after the other; an empty text leaves one out. */
interface Writer {
  readonly head: string;
  readonly write: (txn: ListedTransaction) => string;
}

/**
 * Text as it comes, nothing before the first transaction is there.
 *
 * @param json writes an object as one line of JSON
 * @param leftOut called for every transaction that has no place in this format
 */
export async function* exportLines(
  transactions: AsyncIterable<ListedTransaction>,
  format: ExportFormat,
  json: (value: object) => string,
  leftOut: () => void,
): AsyncGenerator<string, void, void> {
  const { head, write } = writerOf(format, json);
  let gathered = head;
  for await (const txn of transactions) {
    const text = write(txn);
    if (text === '') leftOut();
    gathered += text;
    if (gathered.length < pieceLength) continue;
    yield gathered;
    gathered = '';
  }
  yield gathered;
}

/** Handing on few large pieces is twice as fast as one for each transaction. */
const pieceLength = 65_536;

function writerOf(format: ExportFormat, json: (value: object) => string): Writer {
  switch (format) {
    case 'csv':
      return {
        head: csvLine(csvColumns.map(([title]) => title)),
        write: (txn) => csvLine(csvColumns.map(([, cell]) => cell(txn))),
      };
    case 'jsonl':
      return { head: '', write: (txn) => `${json(txn)}\n` };
    case 'hledger':
      return journal(hledgerWriter());
    case 'beancount':
      return journal(beancountWriter());
  }
}

function journal({ head, write }: { readonly head: string; readonly write: (entry: Entry) => string }): Writer {
  return {
    head,
    write: (txn) => {
      const entry = entryOf(txn);
      return entry === undefined ? '' : write(entry);
    },
  };
}

type CsvColumn = readonly [title: string, cell: (txn: ListedTransaction) => string];

const number = (value: WireNumber | null | undefined): string =>
  value === null || value === undefined ? '' : plainNumber(value);

/** Both fees are in the source currency. */
const csvColumns: readonly CsvColumn[] = [
  ['time', ({ createdAt }) => (typeof createdAt === 'number' ? new Date(createdAt).toISOString() : '')],
  ['txnId', ({ txnId }) => txnId],
  ['extRefId', ({ extRefId }) => extRefId ?? ''],
  ['txnState', ({ txnState }) => txnState],
  ['sourceMethod', ({ sourceReq }) => sourceReq.method ?? ''],
  ['sourceCcy', ({ sourceReq }) => sourceReq.ccy ?? ''],
  ['sourceAmount', ({ sourceReq }) => number(sourceReq.amtSettled ?? sourceReq.amtRequested)],
  ['destMethod', ({ destReq }) => destReq.method ?? ''],
  ['destCcy', ({ destReq }) => destReq.ccy ?? ''],
  ['destAmount', ({ destReq }) => number(destReq.amtSettled ?? destReq.amtRequested)],
  ['servicepayFees', ({ sourceReq }) => number(sourceReq.servicepayFees)],
  ['networkFees', ({ sourceReq }) => number(sourceReq.networkFees)],
  ['fxRate', ({ fxRate }) => number(fxRate)],
  ['note', ({ note }) => note ?? ''],
];

const needsQuotes = /[",\r\n]/;

/** RFC 4180, with a plain line break as the other formats have. */
function csvLine(cells: readonly string[]): string {
  return `${cells.map((cell) => (needsQuotes.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(',')}\n`;
}
