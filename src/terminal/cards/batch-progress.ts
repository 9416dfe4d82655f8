// Shows a running batch: its progress, its finished rows and its result.
import { formatAmount, money } from '../../formats/amount.js';
import { counted } from '../../formats/text.js';
import { describeDuration } from '../../formats/calendar.js';
import { detailLines, heading } from './card.js';
import { sideBySide } from '../layout.js';
import type { Canvas } from '../terminal.js';
import { fieldColumns, fieldsOf, type RecordView } from '../rows/view.js';
import type { BatchLine, BatchSummary } from './batch-view.js';

export interface BatchProgress {
  readonly done: number;
  readonly rows: number;
  readonly failed: number;
  readonly elapsedMs: number;
  /**
   * The number of rows that earlier runs finished, which do not count towards the speed of this
   * run.
   */
  readonly skipped: number;
  readonly stopping: boolean;
}

const barWidth = 20;

/**
 * Draws the progress of a batch, such as `━━━━━━━━──────────── 16 of 40  1 failed  about 12 s
 * left`. svcpay omits parts of the progress that do not fit into the window.
 */
export function progressLine(progress: BatchProgress, { style, blocks, columns }: Canvas): string {
  const { done, rows, failed, stopping } = progress;
  const bar = progressBar(rows === 0 ? 1 : done / rows, { style, blocks });
  // While a batch stops, the reason why svcpay still waits is the most important part of the
  // progress.
  const parts = [
    { text: bar, priority: stopping ? 3 : 1 },
    { text: `${done} of ${rows}`, priority: stopping ? 1 : 0 },
    { text: failed === 0 ? '' : style.red(`${failed} failed`), priority: stopping ? 2 : 0 },
    stopping
      ? { text: style.yellow('finishing rows in flight') }
      : { text: leftText(progress), priority: 2 },
  ];
  return sideBySide(parts, columns - besideLive, '  ').join('\n');
}

/** @param part the part that is done, from 0 to 1 */
export function progressBar(part: number, { style, blocks }: Pick<Canvas, 'style' | 'blocks'>) {
  const filled = Math.floor(part * barWidth);
  return (
    style.green((blocks ? '━' : '#').repeat(filled)) +
    style.dim((blocks ? '─' : '-').repeat(barWidth - filled))
  );
}

/** The number of cells of the live line that the progress cannot use. */
const besideLive = 5;

function leftText({ done, rows, skipped, elapsedMs }: BatchProgress): string {
  const paid = done - skipped;
  if (paid < 1 || done >= rows) return '';
  return `about ${describeDuration((elapsedMs / paid) * (rows - done))} left`;
}

/**
 * Describes a finished row as a log line, such as `12/40  paid  order-118  0.00001003 BTC
 * c1d2e3f4-…`.
 */
export function rowLine(row: BatchLine, done: number, rows: number): string {
  const paid =
    row.paid === null || row.paidCcy === null ? '' : formatAmount(money(row.paidCcy, row.paid));
  const parts = [row.outcome, row.ref, paid, row.txnId ?? '', row.message ?? ''].filter(
    (part) => part !== '',
  );
  return `${done}/${rows}  ${parts.join('  ')}`;
}

/** The columns of the result file that precede the columns of the batch file. */
export const resultFields: readonly string[] = (
  'line ref to amount outcome before txnId txnState paid paidCcy error message at payee settled ' +
  'fiatRate fiatValue fiat'
).split(' ');

const lineFields = fieldsOf<BatchLine>()([
  'line',
  'ref',
  'payee',
  'bank',
  'to',
  'amount',
  'from',
  'method',
  'cost',
  'fees',
  'outcome',
  'before',
  'txnId',
  'txnState',
  'paid',
  'paidCcy',
  'error',
  'message',
  'next',
  'at',
  'settled',
]);

const summaryFields = fieldsOf<BatchSummary>()([
  'file',
  'dryRun',
  'rows',
  'paidBefore',
  'paid',
  'inFlight',
  'unknown',
  'failed',
  'notBegun',
  'spent',
  'totals',
  'cost',
  'run',
  'lastRun',
  'remarks',
  'earlier',
  'result',
  'list',
]);

/** The names that `--fields` accepts: the fields of the summary and, for jsonl, of a row. */
export const batchFields: readonly string[] = [...new Set([...summaryFields, ...lineFields])];

/** The maximum number of failed rows on the screen. The result file contains every failed row. */
export const shownFailures = 10;

/**
 * Returns the view of a batch's result.
 * @param failures the first rows that failed
 */
export function batchView(
  summary: BatchSummary,
  failures: readonly BatchLine[],
): RecordView<BatchSummary> {
  return {
    fields: batchFields,
    columns: fieldColumns(['rows', 'paid', 'inFlight', 'unknown', 'failed', 'notBegun', 'result']),
    quiet: ({ paid }) => String(paid),
    screen: (canvas) => summaryLines(summary, failures, canvas),
  };
}

function summaryLines(
  summary: BatchSummary,
  failures: readonly BatchLine[],
  canvas: Canvas,
): string[] {
  const { rows, paid, paidBefore, inFlight, unknown, failed, notBegun, spent, result } = summary;
  const { style } = canvas;
  const counts: [count: number, text: string][] = [
    [inFlight, 'in flight'],
    [unknown, 'not known yet'],
    [failed, 'not paid'],
    [notBegun, 'not started'],
  ];
  const others = counts.filter(([count]) => count > 0).map(([count, text]) => `${count} ${text}`);
  const before =
    paidBefore === 0
      ? ''
      : ` (${paidBefore === paid + inFlight ? 'all' : paidBefore} by an earlier run)`;
  const more = failed + unknown - failures.length;
  return [
    ...heading([`${paid} of ${counted(rows, 'row')} paid`, ...others].join(' · ') + before, canvas),
    ...detailLines(
      [
        ...spent.map(({ ccy, amount }) => ({
          label: paidBefore > 0 && paidBefore === paid + inFlight ? 'Spent before' : 'Spent',
          value: formatAmount(money(ccy, amount)),
          note: paidBefore > 0 ? 'in all runs, fees included' : 'fees included',
        })),
        ...(result === null ? [] : [{ label: 'Result', value: result, whole: true }]),
        ...failures.map(({ line, ref, message }) => ({
          label: `✗ Line ${line}`,
          value: `${ref}: ${message ?? ''}`,
        })),
      ],
      canvas,
    ),
    ...(more > 0 ? [`  ${style.dim(`and ${more} more`)}`] : []),
  ];
}
