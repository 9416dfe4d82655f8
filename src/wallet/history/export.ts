// The history as text for other programs: CSV and JSONL with every transaction, journals with those that moved money.
import type { ListedTransaction } from '../../api/types.js';
import { plainNumber, type WireNumber } from '../../formats/amount.js';
import { asPlainCell } from '../../formats/formula.js';
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

export interface ExportManner {
  readonly format: ExportFormat;
  /** Writes an object as one line of JSON. */
  readonly json: (value: object) => string;
  /** Makes text from outside harmless for a screen, on one line. */
  readonly clean: (text: string) => string;
  /** Leaves in CSV what a spreadsheet would take for a formula. */
  readonly rawCells: boolean;
  /** Called for every transaction that has no place in this format. */
  readonly leftOut: (txn: ListedTransaction) => void;
}

/** Text as it comes, nothing before the first transaction is there. */
export async function* exportLines(
  pages: AsyncIterable<readonly ListedTransaction[]>,
  manner: ExportManner,
): AsyncGenerator<string, void, void> {
  const { head, write } = writerOf(manner);
  let gathered = head;
  for await (const page of pages) {
    for (const txn of page) {
      const text = write(txn);
      if (text === '') manner.leftOut(txn);
      gathered += text;
    }
    if (gathered.length < pieceLength) continue;
    yield gathered;
    gathered = '';
  }
  yield gathered;
}

/** Handing on few large pieces is twice as fast as one for each transaction. */
const pieceLength = 65_536;

function writerOf({ format, json, clean, rawCells }: ExportManner): Writer {
  const harmless = (text: string): string =>
    isHarmless.test(text) ? text : quoted(rawCells ? clean(text) : asPlainCell(clean(text)));
  const line = (txn: ListedTransaction): string => {
    let cells = '';
    let between = '';
    for (const [, cell, isText] of csvColumns) {
      cells += between + (isText === true ? harmless(cell(txn)) : cell(txn));
      between = ',';
    }
    return `${cells}\n`;
  };
  switch (format) {
    case 'csv':
      return {
        head: `${csvColumns.map(([title]) => title).join(',')}\n`,
        write: line,
      };
    case 'jsonl':
      return { head: '', write: (txn) => `${json(txn)}\n` };
    case 'hledger':
      return journal(hledgerWriter(), clean);
    case 'beancount':
      return journal(beancountWriter(), clean);
  }
}

function journal(
  { head, write }: { readonly head: string; readonly write: (entry: Entry) => string },
  clean: (text: string) => string,
): Writer {
  return {
    head,
    write: (txn) => {
      const entry = entryOf(txn, clean);
      return entry === undefined ? '' : write(entry);
    },
  };
}

type CsvColumn = readonly [title: string, cell: (txn: ListedTransaction) => string, isText?: true];

const number = (value: WireNumber | null | undefined): string =>
  value === null || value === undefined ? '' : plainNumber(value);

/** Both fees are in the source currency. */
const csvColumns: readonly CsvColumn[] = [
  ['time', ({ createdAt }) => (typeof createdAt === 'number' ? new Date(createdAt).toISOString() : '')],
  ['txnId', ({ txnId }) => txnId, true],
  ['extRefId', ({ extRefId }) => extRefId ?? '', true],
  ['txnState', ({ txnState }) => txnState, true],
  ['sourceMethod', ({ sourceReq }) => sourceReq.method ?? '', true],
  ['sourceCcy', ({ sourceReq }) => sourceReq.ccy ?? '', true],
  ['sourceAmount', ({ sourceReq }) => number(sourceReq.amtSettled ?? sourceReq.amtRequested)],
  ['destMethod', ({ destReq }) => destReq.method ?? '', true],
  ['destCcy', ({ destReq }) => destReq.ccy ?? '', true],
  ['destAmount', ({ destReq }) => number(destReq.amtSettled ?? destReq.amtRequested)],
  ['servicepayFees', ({ sourceReq }) => number(sourceReq.servicepayFees)],
  ['networkFees', ({ sourceReq }) => number(sourceReq.networkFees)],
  ['fxRate', ({ fxRate }) => number(fxRate)],
  ['note', ({ note }) => note ?? '', true],
];

/** Nothing in it steers, computes or has to be quoted: most texts are told from the others by one look. */
const isHarmless = /^(?:[A-Za-z0-9][\w .:/;()~-]*)?$/;

const needsQuotes = /[",\r\n]/;

/** RFC 4180, with a plain line break as the other formats have. */
const quoted = (cell: string): string => (needsQuotes.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
