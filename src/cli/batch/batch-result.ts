// The result file of a batch: one line per finished row, continued by the next run.
import { stringify } from 'csv-stringify/sync';
import { openAppendFile } from '../../store/files/append-file.js';
import { fromPlainCell } from '../../formats/text.js';
import { Failure } from '../../formats/failure.js';
import { csvCell } from '../../terminal/rows/rows.js';
import { batchLineFields, type BatchLine } from '../../terminal/cards/batch-view.js';
import { isProblem, readRows } from '../../wallet/batch/rows.js';

export interface ResultFile {
  /** Resolves when the line is on disk; immediately if the file has it. */
  write(line: BatchLine): Promise<void>;
  /** Keeps only the last line of each row. */
  close(): Promise<void>;
}

const columns = new Set(batchLineFields.map((name) => name.toLowerCase()));

/** Throws Failure `usage` if the file is not a batch result or cannot be written. */
export async function openResult(path: string, rawCells: boolean): Promise<ResultFile> {
  const file = await openAppendFile(path, batchLineFields.join(','));
  const outcomes = new Map<string, string>();
  let hasRepeated = false;
  const say = (ref: string, outcome: string): void => {
    hasRepeated ||= outcomes.has(ref);
    outcomes.set(ref, outcome);
  };
  for await (const { ref = '', outcome = '' } of cellsOf(file.read()))
    say(fromPlainCell(ref), outcome);
  return {
    async write(line) {
      if (line.outcome === 'paid' && outcomes.get(line.ref) === 'paid') return;
      say(line.ref, line.outcome);
      await file.append(csvLine(batchLineFields.map((name) => csvCell(line[name], rawCells))));
    },
    async close() {
      // The old file stays if it has foreign lines or cannot be replaced; the last line about a row counts.
      if (hasRepeated) await file.replace(lastLines(file.read)).catch(() => undefined);
      hasRepeated = false;
      await file.close();
    },
  };
}

type Cells = Readonly<Record<string, string>>;

async function* cellsOf(bytes: AsyncIterable<Buffer>): AsyncGenerator<Cells> {
  for await (const row of readRows(bytes, columns)) if (!isProblem(row)) yield row.cells;
}

async function* lastLines(read: () => AsyncIterable<Buffer>): AsyncGenerator<string> {
  const left = new Map<string, number>();
  for await (const { ref = '' } of cellsOf(read())) left.set(ref, (left.get(ref) ?? 0) + 1);
  for await (const row of readRows(read(), columns)) {
    if (isProblem(row)) throw new Failure('usage', row.message);
    const { cells } = row;
    const { ref = '' } = cells;
    const after = (left.get(ref) ?? 1) - 1;
    left.set(ref, after);
    if (after === 0) yield csvLine(batchLineFields.map((name) => cells[name.toLowerCase()] ?? ''));
  }
}

const csvLine = (cells: readonly string[]): string => stringify([cells], { record_delimiter: '' });
