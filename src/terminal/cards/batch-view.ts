// A batch on the screen: its plan, its progress and its result.
import type { Big } from 'big.js';
import { formatAmount, money } from '../../formats/amount.js';
import { counted } from '../../formats/text.js';
import { describeDuration } from '../../formats/duration.js';
import { factLines, heading, type Fact } from './card.js';
import { sanitize } from '../sanitize.js';
import type { Canvas } from '../terminal.js';
import { widthOf } from '../text.js';
import { fieldColumns } from '../rows/cell.js';
import type { ListView, RecordView } from '../rows/view.js';

/** The total of rows paid from one wallet in one currency, without fees. */
export interface BatchSum {
  readonly from: string;
  readonly ccy: string;
  readonly rows: number;
  readonly amount: Big;
  /** The spendable balance; null if unknown, or without a wallet. */
  readonly available: Big | null;
}

/** The output of `--json`. */
export interface BatchSummary {
  readonly file: string;
  readonly dryRun: boolean;
  readonly rows: number;
  /** Of those: paid by an earlier run. */
  readonly paidBefore: number;
  readonly paid: number;
  /** Accepted by the service, and not awaited. */
  readonly sent: number;
  readonly unknown: number;
  readonly failed: number;
  readonly notBegun: number;
  /** The amounts debited in this run, including fees. */
  readonly spent: readonly { readonly ccy: string; readonly amount: Big }[];
  /** The planned total at the start, without fees. */
  readonly totals: readonly BatchSum[];
  /** The quoted total that was approved, fees included; null if it was not quoted before. */
  readonly cost: readonly BatchCost[] | null;
  /** The file with the outcome of every row. */
  readonly result: string | null;
}

/** The total debited from a wallet, including fees. */
export interface BatchCost {
  readonly ccy: string;
  readonly total: Big;
}

/** The costs of all rows, and the rows that the service refused. */
export interface QuotedCost {
  readonly costs: readonly BatchCost[];
  readonly refused: readonly {
    readonly row: { readonly line: number };
    readonly failure: { readonly message: string };
  }[];
}

function costFacts({ costs, refused }: QuotedCost): Fact[] {
  return [
    ...costs.map(({ ccy, total }) => ({
      label: 'You pay',
      value: formatAmount(money(ccy, total)),
      note: 'fees included, as quoted',
    })),
    ...refused.map(({ row, failure }) => ({ label: `Line ${row.line}`, value: failure.message })),
  ];
}

function sumFact({ from, ccy, rows, amount, available }: BatchSum): Fact {
  const have =
    available === null ? `no ${from} wallet` : `you have ${formatAmount(money(from, available))}`;
  const value = `${formatAmount(money(ccy, amount))} in ${counted(rows, 'row')}`;
  return {
    label: `From ${from}`,
    value,
    note: from === ccy ? have : `at the current rate; ${have}`,
  };
}

/** The plan of a batch, above its confirmation. */
export function batchCard(
  {
    file,
    rows,
    settled,
    totals,
    quoted,
  }: Pick<BatchSummary, 'file' | 'rows' | 'totals'> & {
    readonly settled: number;
    readonly quoted?: QuotedCost | undefined;
  },
  canvas: Canvas,
): string[] {
  const earlier =
    settled === 0
      ? []
      : [{ label: 'Before', value: `${counted(settled, 'row')} paid or in flight` }];
  const unknown = totals.length === 0 ? [] : [{ label: 'Fees', value: 'extra, quoted per row' }];
  const fees = quoted === undefined ? unknown : costFacts(quoted);
  return [
    ...heading(`${sanitize(file)}: ${counted(rows - settled, 'row')} to pay`, canvas),
    ...factLines([...earlier, ...totals.map(sumFact), ...fees], canvas),
  ];
}

export interface BatchRowView {
  readonly line: number;
  readonly to: string;
  readonly amount: string;
  readonly from: string;
  readonly method: string;
  readonly ref: string;
}

export const batchRowList: ListView<BatchRowView> = {
  columns: [
    { name: 'line', title: 'Line', value: ({ line }) => line, align: 'right' },
    { name: 'amount', title: 'Amount', value: ({ amount }) => amount, align: 'right' },
    { name: 'from', title: 'From', value: ({ from }) => from, priority: 2 },
    { name: 'method', title: 'Method', value: ({ method }) => method, priority: 1 },
    { name: 'to', title: 'To', value: ({ to }) => to, shrinks: true },
    { name: 'ref', title: 'Reference', value: ({ ref }) => ref, priority: 3 },
  ],
  quiet: ({ ref }) => ref,
  empty: 'No rows to pay.',
};

export interface BatchProgress {
  readonly done: number;
  readonly rows: number;
  readonly failed: number;
  readonly elapsedMs: number;
  /** Rows finished before this run, which do not count for its speed. */
  readonly skipped: number;
  readonly stopping: boolean;
}

const barWidth = 20;

/** `████████────────────  16 of 40   1 failed   about 12 s left`, as far as it fits. */
export function progressLine(progress: BatchProgress, { style, blocks, columns }: Canvas): string {
  const { done, rows, failed, stopping } = progress;
  const filled = rows === 0 ? barWidth : Math.floor((done / rows) * barWidth);
  const bar =
    style.green((blocks ? '━' : '#').repeat(filled)) +
    style.dim((blocks ? '─' : '-').repeat(barWidth - filled));
  const parts = [
    bar,
    `${done} of ${rows}`,
    ...(failed === 0 ? [] : [style.red(`${failed} failed`)]),
    ...(stopping ? [style.yellow('finishing rows in flight')] : leftText(progress)),
  ];
  // A narrow window omits the bar if the text after it names a wait, otherwise the text.
  while (parts.length > 1 && widthOf(parts.join('  ')) > columns - besideLive)
    parts.splice(stopping ? 0 : -1, 1);
  return parts.join('  ');
}

/** The width of the live line around it. */
const besideLive = 5;

function leftText({ done, rows, skipped, elapsedMs }: BatchProgress): string[] {
  const paid = done - skipped;
  if (paid < 1 || done >= rows) return [];
  return [`about ${describeDuration((elapsedMs / paid) * (rows - done))} left`];
}

/** A finished row as a log line: `12/40  paid  order-118  0.00001003 BTC  c1d2e3f4-…`. */
export function rowLine(row: BatchLine, done: number, rows: number): string {
  const paid =
    row.paid === null || row.paidCcy === null ? '' : formatAmount(money(row.paidCcy, row.paid));
  const parts = [row.outcome, row.ref, paid, row.txnId ?? '', row.message ?? ''].filter(
    (part) => part !== '',
  );
  return `${done}/${rows}  ${parts.join('  ')}`;
}

/** A row of the result file and a line of jsonl. */
export interface BatchLine {
  readonly line: number;
  readonly ref: string;
  readonly to: string;
  /** From the file. */
  readonly amount: string;
  readonly outcome: 'paid' | 'sent' | 'unknown' | 'failed';
  readonly txnId: string | null;
  readonly txnState: string | null;
  /** The debited amount, including fees. */
  readonly paid: Big | null;
  readonly paidCcy: string | null;
  /** The kind of its failure. */
  readonly error: string | null;
  readonly message: string | null;
  /** ISO 8601. */
  readonly at: string;
}

export const batchLineFields = [
  'line',
  'ref',
  'to',
  'amount',
  'outcome',
  'txnId',
  'txnState',
  'paid',
  'paidCcy',
  'error',
  'message',
  'at',
] as const satisfies readonly (keyof BatchLine)[];

/** The fields of the summary, and with jsonl those of a row. */
export const batchFields: readonly string[] = [
  'file',
  'dryRun',
  'rows',
  'paidBefore',
  'paid',
  'sent',
  'unknown',
  'failed',
  'notBegun',
  'spent',
  'totals',
  'result',
  ...batchLineFields.filter((name) => name !== 'paid'),
];

/** The number of failed rows shown; all are in the result file. */
export const shownFailures = 10;

/** @param failures the first rows that failed */
export function batchView(
  summary: BatchSummary,
  failures: readonly BatchLine[],
): RecordView<BatchSummary> {
  return {
    fields: batchFields,
    columns: fieldColumns(['rows', 'paid', 'sent', 'unknown', 'failed', 'notBegun', 'result']),
    quiet: ({ paid }) => String(paid),
    screen: (canvas) => summaryLines(summary, failures, canvas),
  };
}

export const dryRunLines = (summary: BatchSummary, canvas: Canvas): string[] => [
  ...batchCard({ ...summary, settled: summary.rows - summary.notBegun }, canvas),
  `  ${canvas.style.dim('A dry run: nothing was sent.')}`,
];

function summaryLines(
  summary: BatchSummary,
  failures: readonly BatchLine[],
  canvas: Canvas,
): string[] {
  const { rows, paid, paidBefore, sent, unknown, failed, notBegun, spent, result } = summary;
  const { style } = canvas;
  const counts: [count: number, text: string][] = [
    [sent, 'in flight'],
    [unknown, 'not known yet'],
    [failed, 'not paid'],
    [notBegun, 'not started'],
  ];
  const others = counts.filter(([count]) => count > 0).map(([count, text]) => `${count} ${text}`);
  const before =
    paidBefore === 0 ? '' : ` (${paidBefore === paid ? 'all' : paidBefore} in an earlier run)`;
  const more = failed + unknown - failures.length;
  return [
    ...heading([`${paid} of ${counted(rows, 'row')} paid${before}`, ...others].join(' · '), canvas),
    ...factLines(
      [
        ...spent.map(({ ccy, amount }) => ({
          label: 'Spent',
          value: formatAmount(money(ccy, amount)),
          note: 'fees included',
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
