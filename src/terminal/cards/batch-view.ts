// A batch on the screen: what is to be paid, how far it has come, and how it went.
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

/** What rows paid from one wallet come to in one currency, without fees. */
export interface BatchSum {
  readonly from: string;
  readonly ccy: string;
  readonly rows: number;
  readonly amount: Big;
  /** What the wallet can spend; null where it is not known, or there is none. */
  readonly available: Big | null;
}

/** What `--json` prints. */
export interface BatchSummary {
  readonly file: string;
  readonly dryRun: boolean;
  readonly rows: number;
  /** Of those: paid by an earlier run. */
  readonly paidBefore: number;
  readonly paid: number;
  /** Taken by the service, and not waited for. */
  readonly sent: number;
  readonly unknown: number;
  readonly failed: number;
  readonly notBegun: number;
  /** What left the wallets in this run, fees included. */
  readonly spent: readonly { readonly ccy: string; readonly amount: Big }[];
  /** What was to be paid when it began, without fees. */
  readonly totals: readonly BatchSum[];
  /** The quoted total that was approved, fees included; null if it was not quoted before. */
  readonly cost: readonly BatchCost[] | null;
  /** Where the outcome of every row is kept. */
  readonly result: string | null;
}

/** The total that leaves a wallet, fees included. */
export interface BatchCost {
  readonly ccy: string;
  readonly total: Big;
}

/** The costs of all rows, and the rows that the service refused. */
export interface QuotedCost {
  readonly costs: readonly BatchCost[];
  readonly refused: readonly { readonly row: { readonly line: number }; readonly failure: { readonly message: string } }[];
}

function costFacts({ costs, refused }: QuotedCost): Fact[] {
  return [
    ...costs.map(({ ccy, total }) => ({ label: 'You pay', value: formatAmount(money(ccy, total)), note: 'fees included, as quoted' })),
    ...refused.map(({ row, failure }) => ({ label: `Line ${row.line}`, value: failure.message })),
  ];
}

function sumFact({ from, ccy, rows, amount, available }: BatchSum): Fact {
  const have = available === null ? `no ${from} wallet` : `you have ${formatAmount(money(from, available))}`;
  const value = `${formatAmount(money(ccy, amount))} in ${counted(rows, 'row')}`;
  return { label: `From ${from}`, value, note: from === ccy ? have : `at the current rate; ${have}` };
}

/** What a batch is going to pay, above the question whether it shall. */
export function batchCard(
  { file, rows, settled, totals, quoted }: Pick<BatchSummary, 'file' | 'rows' | 'totals'> & {
    readonly settled: number;
    readonly quoted?: QuotedCost | undefined;
  },
  canvas: Canvas,
): string[] {
  const earlier = settled === 0 ? [] : [{ label: 'Before', value: `${counted(settled, 'row')} paid or in flight` }];
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
  /** Rows finished before this run began, which say nothing about its pace. */
  readonly skipped: number;
  readonly stopping: boolean;
}

const barWidth = 20;

/** `████████────────────  16 of 40   1 failed   about 12 s left`, as much of it as there is room for. */
export function progressLine(progress: BatchProgress, { style, blocks, columns }: Canvas): string {
  const { done, rows, failed, stopping } = progress;
  const filled = rows === 0 ? barWidth : Math.floor((done / rows) * barWidth);
  const bar = style.green((blocks ? '━' : '#').repeat(filled)) + style.dim((blocks ? '─' : '-').repeat(barWidth - filled));
  const parts = [
    bar,
    `${done} of ${rows}`,
    ...(failed === 0 ? [] : [style.red(`${failed} failed`)]),
    ...(stopping ? [style.yellow('finishing rows in flight')] : leftText(progress)),
  ];
  // Where there is no room for all, the bar leaves first when the words after it say what is awaited, else they do.
  while (parts.length > 1 && widthOf(parts.join('  ')) > columns - besideLive) parts.splice(stopping ? 0 : -1, 1);
  return parts.join('  ');
}

/** What the live line puts around it. */
const besideLive = 5;

function leftText({ done, rows, skipped, elapsedMs }: BatchProgress): string[] {
  const paid = done - skipped;
  if (paid < 1 || done >= rows) return [];
  return [`about ${describeDuration((elapsedMs / paid) * (rows - done))} left`];
}

/** A row that is done, as a line for a log: `12/40  paid  order-118  0.00001003 BTC  c1d2e3f4-…`. */
export function rowLine(row: BatchLine, done: number, rows: number): string {
  const paid = row.paid === null || row.paidCcy === null ? '' : formatAmount(money(row.paidCcy, row.paid));
  const parts = [row.outcome, row.ref, paid, row.txnId ?? '', row.message ?? ''].filter((part) => part !== '');
  return `${done}/${rows}  ${parts.join('  ')}`;
}

/** A row of the result file and a line of jsonl. */
export interface BatchLine {
  readonly line: number;
  readonly ref: string;
  readonly to: string;
  /** As the file has it. */
  readonly amount: string;
  readonly outcome: 'paid' | 'sent' | 'unknown' | 'failed';
  readonly txnId: string | null;
  readonly txnState: string | null;
  /** What left the wallet, fees included. */
  readonly paid: Big | null;
  readonly paidCcy: string | null;
  /** Why it failed, as exit codes name it. */
  readonly error: string | null;
  readonly message: string | null;
  /** ISO 8601. */
  readonly at: string;
}

export const batchLineFields = [
  'line', 'ref', 'to', 'amount', 'outcome', 'txnId', 'txnState', 'paid', 'paidCcy', 'error', 'message', 'at',
] as const satisfies readonly (keyof BatchLine)[];

/** The names of the summary, and under jsonl those of a row. */
export const batchFields: readonly string[] = [
  'file', 'dryRun', 'rows', 'paidBefore', 'paid', 'sent', 'unknown', 'failed', 'notBegun', 'spent', 'totals', 'result',
  ...batchLineFields.filter((name) => name !== 'paid'),
];

/** So many rows that failed are shown; all are in the result file. */
export const shownFailures = 10;

/** @param failures the first rows that failed */
export function batchView(summary: BatchSummary, failures: readonly BatchLine[]): RecordView<BatchSummary> {
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

function summaryLines(summary: BatchSummary, failures: readonly BatchLine[], canvas: Canvas): string[] {
  const { rows, paid, paidBefore, sent, unknown, failed, notBegun, spent, result } = summary;
  const { style } = canvas;
  const counts: [count: number, text: string][] = [
    [sent, 'in flight'],
    [unknown, 'not known yet'],
    [failed, 'not paid'],
    [notBegun, 'not started'],
  ];
  const others = counts.filter(([count]) => count > 0).map(([count, text]) => `${count} ${text}`);
  const before = paidBefore === 0 ? '' : ` (${paidBefore === paid ? 'all' : paidBefore} in an earlier run)`;
  const more = failed + unknown - failures.length;
  return [
    ...heading([`${paid} of ${counted(rows, 'row')} paid${before}`, ...others].join(' · '), canvas),
    ...factLines(
      [
        ...spent.map(({ ccy, amount }) => ({ label: 'Spent', value: formatAmount(money(ccy, amount)), note: 'fees included' })),
        ...(result === null ? [] : [{ label: 'Result', value: result, whole: true }]),
        ...failures.map(({ line, ref, message }) => ({ label: `✗ Line ${line}`, value: `${ref}: ${message ?? ''}` })),
      ],
      canvas,
    ),
    ...(more > 0 ? [`  ${style.dim(`and ${more} more`)}`] : []),
  ];
}
