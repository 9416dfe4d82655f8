// Writes the result file of a batch: the columns of the batch file, and the outcome of each row as
// the journal has it. svcpay can pay from a result file.
import { open, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { stringify } from 'csv-stringify/sync';
import Big from 'big.js';
import { Failure } from '../../formats/failure.js';
import { codeOf, messageOf } from '../../formats/text.js';
import { resultFields } from '../../terminal/cards/batch-progress.js';
import type { BatchLine } from '../../terminal/cards/batch-view.js';
import { csvCell } from '../../terminal/rows/list.js';
import { isProblem, readRows, type BatchRow } from '../../wallet/batch/rows.js';
import { resultColumns } from './batch-row.js';

/** The fiat value of a debit at the settlement. */
export interface SettledWorth {
  readonly fiatRate: Big | null;
  readonly fiatValue: Big | null;
  readonly fiat: string | null;
}

/** A line of the result file, with the cells of the batch file. */
export interface ResultLine {
  readonly cells: BatchRow['cells'];
  readonly line: BatchLine;
  readonly worth: SettledWorth;
}

/**
 * Opens the result file, and returns a function that writes its lines. The lines replace earlier
 * lines with their references, except lines that already record a paid row. Throws Failure `usage`
 * if the file is not a batch result or cannot be written.
 * @param columns the columns of the batch file
 */
export async function openResult(
  path: string,
  columns: readonly string[],
  rawCells: boolean,
): Promise<(lines: readonly ResultLine[]) => Promise<void>> {
  const earlier = new Map<string, BatchRow['cells']>();
  const names = new Set([...resultFields, ...columns]);
  try {
    // Creates the file, so that a folder without write access stops the batch before any payment.
    await (await open(path, 'a', 0o600)).close();
    const bytes = await readFile(path);
    if (bytes.length > 0)
      for (const row of readRows(bytes, resultColumns)) {
        if (isProblem(row)) throw new Error(`line ${row.line}: ${row.message}`);
        if (row.cells['outcome'] === undefined) throw new Error('the file is not a batch result');
        earlier.set(row.cells['ref'] ?? '', row.cells);
        for (const name of Object.keys(row.cells)) if (!ofResult.has(name)) names.add(name);
      }
  } catch (cause) {
    throw new Failure('usage', `the results cannot be written to ${path}: ${messageOf(cause)}.`, {
      money: 'Nothing was sent',
      hint: 'Name another file for the results.',
      cause,
    });
  }
  const fields = [...names];
  return async (lines) => {
    for (const { line, cells, worth } of lines) {
      const isKept = line.outcome === 'paid' && earlier.get(line.ref)?.['outcome'] === 'paid';
      if (!isKept) earlier.set(line.ref, { ...cells, ...texts({ ...line, ...worth }) });
    }
    const rows = [...earlier.values()].map((cells) =>
      fields.map((name) => csvCell(cells[name.toLowerCase()] ?? '', rawCells)),
    );
    await replace(path, stringify([fields, ...rows])).catch((cause: unknown) => {
      throw new Failure(
        'unexpected',
        `The results cannot be written to ${path} (${codeOf(cause)}). The journal contains all ` +
          'payments.',
        {
          hint: 'Run the same command again. It continues the batch and pays no row twice.',
          cause,
        },
      );
    });
  };
}

const ofResult: ReadonlySet<string> = new Set(resultFields.map((name) => name.toLowerCase()));

/** The values of a line as cells, under the names that `readRows` gives columns. */
const texts = (values: object): Record<string, string> =>
  Object.fromEntries(
    Object.entries(values).flatMap(([name, value]: [string, unknown]) => {
      if (!ofResult.has(name.toLowerCase()) || value === null) return [];
      return [[name.toLowerCase(), value instanceof Big ? value.toFixed() : String(value)]];
    }),
  );

/** Replaces a file atomically and durably. */
async function replace(path: string, text: string): Promise<void> {
  const place = await realpath(path);
  const unfinished = `${place}.${process.pid}`;
  const file = await open(unfinished, 'w', (await stat(place)).mode);
  try {
    await file.writeFile(text);
    await file.sync();
    await rename(unfinished, place);
  } finally {
    await file.close();
    await rm(unfinished, { force: true });
  }
}
