// The result file of a batch: one line per finished row, continued by the next run.
import { stringify } from 'csv-stringify/sync';
import { openAppendFile } from '../../store/files/append-file.js';
import { fromPlainCell } from '../../formats/text.js';
import { csvCell } from '../../terminal/rows/rows.js';
import { batchLineFields, type BatchLine } from '../../terminal/cards/batch-view.js';
import { isProblem, readRows } from '../../wallet/batch/rows.js';

export interface ResultFile {
  /** Resolves when the line is on the disk; at once for what the file says already. */
  write(line: BatchLine): Promise<void>;
  close(): Promise<void>;
}

/** Throws Failure `usage` for a file that is no result of a batch, or that cannot be written. */
export async function openResult(path: string, rawCells: boolean): Promise<ResultFile> {
  const file = await openAppendFile(path, batchLineFields.join(','));
  const said = new Map<string, string>();
  const headAndRows = readRows(file.before(), new Set(batchLineFields.map((name) => name.toLowerCase())));
  for await (const row of headAndRows) {
    if (!isProblem(row)) said.set(fromPlainCell(row.cells['ref'] ?? ''), row.cells['outcome'] ?? '');
  }
  return {
    write: (line) =>
      line.outcome === 'paid' && said.get(line.ref) === 'paid' ? Promise.resolve() : file.append(csvLine(line, rawCells)),
    close: () => file.close(),
  };
}

const csvLine = (line: BatchLine, rawCells: boolean): string =>
  stringify([batchLineFields.map((name) => csvCell(line[name], rawCells))], { record_delimiter: '' });
