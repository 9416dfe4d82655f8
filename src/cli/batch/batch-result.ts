// Writes the result file of a batch, which contains the rows of the batch file with their outcomes.
// The next run of the batch continues the result file.
import { createReadStream } from 'node:fs';
import { stringify } from 'csv-stringify/sync';
import Big from 'big.js';
import { openAppendFile } from '../../store/files/append-file.js';
import { Failure } from '../../formats/failure.js';
import { csvCell } from '../../terminal/rows/list.js';
import type { Cell } from '../../terminal/rows/view.js';
import { resultFields, type BatchLine } from '../../terminal/cards/batch-progress.js';
import type { BatchRow } from '../../wallet/batch/rows.js';
import { isProblem, readRows } from '../../wallet/batch/rows.js';
import { resultColumns } from './batch-row.js';

type Cells = BatchRow['cells'];

/** The fiat value of a debit at the settlement. */
export interface SettledWorth {
  readonly fiatRate: Big | null;
  readonly fiatValue: Big | null;
  readonly fiat: string | null;
}

export interface ResultFile {
  /**
   * Writes the line of a row to the result file. Resolves when the line of the row is on disk, or
   * immediately if the result file already contains the line.
   */
  write(line: BatchLine, cells: Cells): Promise<void>;
  /** Closes the result file, and keeps only the last line of each row. */
  close(): Promise<void>;
}

export interface ResultOptions {
  /**
   * The columns of the batch file, which the result file repeats so that svcpay can pay from the
   * result file.
   */
  readonly columns: readonly string[];
  readonly rawCells: boolean;
  readonly worthOf: (line: BatchLine) => Promise<SettledWorth>;
}

/**
 * Opens the result file. Throws Failure `usage` if the file is not a batch result or cannot be
 * written.
 */
export async function openResult(path: string, options: ResultOptions): Promise<ResultFile> {
  const { rawCells, worthOf } = options;
  const { file, fields } = await openWithColumns(path, options);
  const outcomes = new Map<string, string>();
  let hasRepeated = false;
  const say = (ref: string, outcome: string): void => {
    hasRepeated ||= outcomes.has(ref);
    outcomes.set(ref, outcome);
  };
  for await (const { ref = '', outcome = '' } of cellsOf(file.read())) say(ref, outcome);
  const append = async (line: BatchLine, cells: Cells): Promise<void> => {
    const values: Readonly<Record<string, unknown>> = {
      ...cells,
      ...line,
      ...(await worthOf(line)),
    };
    await file.append(csvLine(fields.map((name) => csvCell(cellOf(values[name]), rawCells))));
  };
  let writing: Promise<unknown> = Promise.resolve();
  return {
    async write(line, cells) {
      if (line.outcome === 'paid' && outcomes.get(line.ref) === 'paid') return;
      say(line.ref, line.outcome);
      const written = append(line, cells);
      writing = Promise.allSettled([writing, written]);
      await written;
    },
    async close() {
      await writing;
      // Removes repeated lines, because only the last line of each row counts. Leaves the result
      // file unchanged if svcpay cannot replace the file, or if the file contains lines that svcpay
      // did not write.
      if (hasRepeated)
        await file.replace(lastLines(file.read, fields, rawCells)).catch(() => undefined);
      hasRepeated = false;
      await file.close();
    },
  };
}

const cellOf = (value: unknown): Cell =>
  typeof value === 'string' || typeof value === 'number' || value instanceof Big ? value : null;

/** Adds the missing columns to an existing result file. */
async function openWithColumns(path: string, { columns, rawCells }: ResultOptions) {
  const found = await columnsOf(path);
  const others = columns.filter((name) => !resultColumns.ofResult.has(name));
  const before = found ?? [...resultFields, ...others];
  const fields = [...before, ...others.filter((name) => !before.includes(name))];
  const file = await openAppendFile(path, before.join(','));
  if (fields.length === before.length) return { file, fields };
  await file.replace(lastLines(file.read, fields, rawCells), fields.join(','));
  await file.close();
  return { file: await openAppendFile(path, fields.join(',')), fields };
}

/**
 * Reads the columns of an existing result file. Returns undefined for a new file and for a file
 * that is not a batch result.
 */
async function columnsOf(path: string): Promise<string[] | undefined> {
  const source = createReadStream(path, { end: longestHead }).on('error', () => undefined);
  let text = '';
  try {
    for await (const chunk of source) text += String(chunk);
  } catch {
    return undefined;
  }
  const [head = '', rest] = text.split('\n', 2);
  const isResult = rest !== undefined && head.startsWith(resultFields.join(','));
  return isResult ? head.split(',') : undefined;
}

const longestHead = 4_096;

async function* cellsOf(bytes: AsyncIterable<Buffer>): AsyncGenerator<Cells> {
  for await (const row of readRows(bytes, resultColumns)) if (!isProblem(row)) yield row.cells;
}

async function* lastLines(
  read: () => AsyncIterable<Buffer>,
  fields: readonly string[],
  rawCells: boolean,
): AsyncGenerator<string> {
  const left = new Map<string, number>();
  for await (const { ref = '' } of cellsOf(read())) left.set(ref, (left.get(ref) ?? 0) + 1);
  for await (const row of readRows(read(), resultColumns)) {
    if (isProblem(row)) throw new Failure('usage', row.message);
    const { cells } = row;
    const { ref = '' } = cells;
    const after = (left.get(ref) ?? 1) - 1;
    left.set(ref, after);
    if (after > 0) continue;
    yield csvLine(fields.map((name) => csvCell(cells[name.toLowerCase()] ?? '', rawCells)));
  }
}

const csvLine = (cells: readonly string[]): string => stringify([cells], { record_delimiter: '' });
