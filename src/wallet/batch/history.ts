// Reads earlier runs of batches from the journal.
import type { Journal } from '../../store/journal/journal.js';
import { readPaidRow, type PaidRow } from './row.js';

/** A run of a batch, with the rows that it paid. */
export interface PastRun {
  /** The name of the run. See `BatchMark`. */
  readonly run: string;
  readonly rows: readonly PaidRow[];
}

/** The number of runs that svcpay compares with a batch: this run and a year of monthly runs. */
const runsCompared = 13;

/** The number of latest runs in which svcpay searches for a run with a given name. */
export const runsKept = 1_000;

/** The name of a run: its start, by which runs are sorted, and the name of the batch. */
export const runName = (startedAt: number, name: string): string =>
  `${new Date(startedAt).toISOString()} ${name}`;

/** The start of a run in epoch ms, and the name of its batch. */
export const readRunName = (
  run: string,
): { readonly startedAt: number; readonly name: string } => ({
  startedAt: Date.parse(run.slice(0, isoLength)),
  name: run.slice(isoLength + 1),
});

const isoLength = '2026-10-22T09:12:03.123Z'.length;

/** Lists earlier runs, newest first. */
export async function pastRuns(
  journal: Pick<Journal, 'runs' | 'paidInRun'>,
  scope: string,
): Promise<PastRun[]> {
  const past: PastRun[] = [];
  for (const { run } of await journal.runs(scope, runsCompared)) {
    const rows = (await journal.paidInRun(scope, run)).flatMap((row) => readPaidRow(row) ?? []);
    if (rows.length > 0) past.push({ run, rows });
  }
  return past;
}
