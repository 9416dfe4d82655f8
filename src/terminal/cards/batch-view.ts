// A batch on the screen: its plan, its progress and its result.
import type { Big } from 'big.js';
import { formatAmount, formatSats, money, parseAmount, type Money } from '../../formats/amount.js';
import { counted } from '../../formats/text.js';
import { describeDuration } from '../../formats/duration.js';
import { factLines, heading, type Fact } from './card.js';
import { sideBySide } from '../layout.js';
import { sanitize } from '../sanitize.js';
import type { Canvas } from '../terminal.js';
import { fieldColumns } from '../rows/cell.js';
import { createTable } from '../rows/table.js';
import type { ListView, RecordView } from '../rows/view.js';
import { dateTime } from '../time.js';
import { shortened } from '../views/transaction-view.js';
import { shellArgument } from '../next-step.js';

/** The total of rows paid from one wallet in one currency, without fees. */
export interface BatchSum {
  readonly from: string;
  readonly ccy: string;
  readonly rows: number;
  readonly amount: Big;
  /** The spendable balance. Null if the balance is unknown or there is no wallet. */
  readonly available: Big | null;
}

/** The output of `--json`. */
export interface BatchSummary {
  readonly file: string;
  /** The start and the name of the run. */
  readonly run: string;
  readonly dryRun: boolean;
  readonly rows: number;
  /** Of these rows, those that an earlier run paid. */
  readonly paidBefore: number;
  readonly paid: number;
  /** Rows that the service accepted, and whose end this run did not await. */
  readonly sent: number;
  readonly unknown: number;
  readonly failed: number;
  readonly notBegun: number;
  /** The amounts debited in this run, including fees. */
  readonly spent: readonly { readonly ccy: string; readonly amount: Big }[];
  /** The planned total at the start, without fees. */
  readonly totals: readonly BatchSum[];
  /**
   * The debit of each wallet, quoted or estimated. Null if there was no question and no dry run.
   */
  readonly cost: readonly BatchCost[] | null;
  /** The earlier run for the comparison with this run. */
  readonly lastRun: { readonly at: number; readonly name: string; readonly rows: number } | null;
  /** Differences from earlier runs. */
  readonly remarks: readonly BatchRemark[];
  /** With --seal or --sealed: the digest of everything that is paid. */
  readonly seal: string | null;
  /** Rows that were already paid or in flight, and since when. */
  readonly earlier: readonly { readonly line: number; readonly at: number }[];
  /** The file with the outcome of every row. */
  readonly result: string | null;
}

export interface BatchRemark {
  readonly kind: string;
  readonly line: number | null;
  readonly payee: string;
  readonly before: string | null;
  readonly now: string | null;
  readonly note: string | null;
}

/** The total debited from a wallet. */
export interface BatchCost {
  readonly ccy: string;
  /** Fees are included, unless it is an estimate. */
  readonly total: Big;
  readonly fees: Big | null;
  readonly isEstimate: boolean;
}

interface RowCost {
  readonly total: Money;
  readonly fees: Money;
}

/** The costs of all rows, and the rows that the service refused. */
export interface QuotedCost {
  readonly costs: readonly BatchCost[];
  readonly rows: ReadonlyMap<number, RowCost>;
  readonly refused: readonly {
    readonly row: { readonly line: number };
    readonly failure: { readonly message: string };
  }[];
}

const remarkWords: Readonly<Record<string, string>> = {
  'new-payee': 'new payee',
  'account-changed': 'account changed',
  'institution-changed': 'bank changed',
  'name-changed': 'name changed',
  'amount-changed': 'amount changed',
  'payee-missing': 'was in the last run, is not in this one',
  'two-names': 'this account has another name',
  'row-twice': 'the same row twice',
};

const changeOf = ({ before, now, note }: BatchRemark): string =>
  [[before, now].filter((part) => part !== null).join(' -> '), note ?? '']
    .filter((part) => part !== '')
    .join(', ');

/** The text of a remark: `Line 4: Bob Tran: account changed, 0123456789 -> 9876543210`. */
export const remarkText = (remark: BatchRemark): string =>
  [
    remark.line === null ? '' : `Line ${remark.line}: `,
    `${remark.payee}: ${remarkWords[remark.kind] ?? remark.kind}`,
    changeOf(remark) === '' ? '' : `, ${changeOf(remark)}`,
  ].join('');

const remarkFact = (remark: BatchRemark): Fact => ({
  label:
    remark.line === null
      ? shortened(remark.payee)
      : `line ${remark.line}  ${shortened(remark.payee)}`,
  value: remarkWords[remark.kind] ?? remark.kind,
  note: changeOf(remark),
});

const mostRemarks = 50;

/** The remarks as one block above the question. */
function remarkLines(remarks: readonly BatchRemark[], canvas: Canvas): string[] {
  if (remarks.length === 0) return [];
  const shown = remarks.slice(0, mostRemarks);
  const more = remarks.length - shown.length;
  const { style } = canvas;
  return [
    `  ${style.bold(style.yellow('Check these first'))}`,
    ...factLines(shown.map(remarkFact), canvas),
    ...(more > 0 ? [`  ${style.dim(`and ${more} more: --dry-run --json lists them all`)}`] : []),
    '',
  ];
}

function costFact({ ccy, total, fees, isEstimate }: BatchCost): Fact {
  const value = formatAmount(money(ccy, total));
  if (isEstimate || fees === null)
    return { label: 'You pay', value: `about ${value}`, note: 'an estimate, fees not included' };
  return {
    label: 'You pay',
    value,
    note: `of it fees ${formatAmount(money(ccy, fees))}, as quoted`,
  };
}

const refusedFact = ({ row, failure }: QuotedCost['refused'][number]): Fact => ({
  label: `Line ${row.line}`,
  value: failure.message,
});

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

export interface BatchPlan {
  /** Undefined if the batch is too long to show. */
  readonly rows?: readonly BatchRowView[] | undefined;
  readonly quoted?: QuotedCost | undefined;
}

/** The plan of a batch, above its confirmation. */
export function batchCard(
  summary: BatchSummary,
  { rows, quoted }: BatchPlan,
  canvas: Canvas,
): string[] {
  const { file, notBegun, paidBefore, totals, cost, lastRun, remarks, earlier } = summary;
  const since =
    lastRun === null ? '' : ` · last run ${dayOf(lastRun.at)}, ${counted(lastRun.rows, 'row')}`;
  const before =
    paidBefore === 0
      ? []
      : [
          {
            label: 'Before',
            value: `${counted(paidBefore, 'row')} paid or in flight`,
            note: daysOf(earlier),
          },
        ];
  const isQuoted = quoted !== undefined;
  const fees =
    totals.length === 0 || isQuoted ? [] : [{ label: 'Fees', value: 'extra, quoted per row' }];
  const drawn =
    rows === undefined ? undefined : createTable(screenColumns, { ...canvas, gap: 3 })(rows);
  return [
    ...heading(`${sanitize(file)} · ${counted(notBegun, 'row')} to pay${since}`, canvas),
    ...(drawn === undefined ? [] : [...drawn.head, ...drawn.rows.flat(), '']),
    ...remarkLines(remarks, canvas),
    ...factLines(
      [
        ...before,
        ...totals.map(sumFact),
        ...(cost ?? []).map(costFact),
        ...fees,
        ...(quoted?.refused ?? []).map(refusedFact),
      ],
      canvas,
    ),
  ];
}

const dayOf = (at: number): string => dateTime(at).slice(0, 10);

/** The days on which rows were paid. */
const daysOf = (rows: BatchSummary['earlier']): string =>
  [...new Set(rows.map(({ at }) => dayOf(at)))].toSorted().join(', ');

export interface BatchRowView {
  readonly line: number;
  /** The name of the payee, if the row has one. */
  readonly payee: string | null;
  /** The bank of a payout. */
  readonly bank: string | null;
  readonly to: string;
  readonly amount: string;
  readonly from: string;
  readonly method: string;
  readonly ref: string;
  /** The debit with fees, and the fees in it. Null if the row was not quoted. */
  readonly cost: Big | null;
  readonly fees: Big | null;
}

const costText = ({ cost, from }: BatchRowView): string =>
  cost === null ? '' : formatAmount(money(from, cost));

/** `50 000 sat` for `50000sat`; unchanged if it is not an amount, such as `all`. */
function amountText({ amount }: BatchRowView): string {
  if (!/^\d+(?:\.\d+)?[a-z]+$/i.test(amount)) return amount;
  const parsed = parseAmount(amount);
  return /sats?$/i.test(amount) ? formatSats(parsed.value) : formatAmount(parsed);
}

export const batchRowList: ListView<BatchRowView> = {
  columns: [
    { name: 'line', title: 'Line', value: ({ line }) => line, align: 'right' },
    { name: 'payee', title: 'Payee', value: ({ payee }) => payee },
    { name: 'bank', title: 'Bank', value: ({ bank }) => bank, priority: 2 },
    { name: 'to', title: 'To', value: ({ to }) => to, shrinks: true, priority: 1 },
    {
      name: 'amount',
      title: 'Amount',
      value: ({ amount }) => amount,
      text: amountText,
      align: 'right',
    },
    { name: 'cost', title: 'Costs you', value: ({ cost }) => cost, text: costText, align: 'right' },
    { name: 'fees', title: 'Fee', value: ({ fees }) => fees, only: 'rows' },
    { name: 'from', title: 'From', value: ({ from }) => from, priority: 4 },
    { name: 'method', title: 'Method', value: ({ method }) => method, priority: 3 },
    { name: 'ref', title: 'Reference', value: ({ ref }) => ref, priority: 5 },
  ],
  quiet: ({ ref }) => ref,
  empty: 'No rows to pay.',
};

const screenColumns = batchRowList.columns.filter(
  ({ name, only }) => only !== 'rows' && name !== 'ref' && name !== 'from',
);

export interface BatchProgress {
  readonly done: number;
  readonly rows: number;
  readonly failed: number;
  readonly elapsedMs: number;
  /** Rows that were finished before this run. They do not count for its speed. */
  readonly skipped: number;
  readonly stopping: boolean;
}

const barWidth = 20;

/**
 * The progress of a batch, as far as it fits: `━━━━━━━━────────────  16 of 40  1 failed  about 12 s
 * left`.
 */
export function progressLine(progress: BatchProgress, { style, blocks, columns }: Canvas): string {
  const { done, rows, failed, stopping } = progress;
  const filled = rows === 0 ? barWidth : Math.floor((done / rows) * barWidth);
  const bar =
    style.green((blocks ? '━' : '#').repeat(filled)) +
    style.dim((blocks ? '─' : '-').repeat(barWidth - filled));
  // During a stop, the reason for the wait is the most important part.
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

/** The width of the live line around the progress. */
const besideLive = 5;

function leftText({ done, rows, skipped, elapsedMs }: BatchProgress): string {
  const paid = done - skipped;
  if (paid < 1 || done >= rows) return '';
  return `about ${describeDuration((elapsedMs / paid) * (rows - done))} left`;
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
  /** As in the file. */
  readonly amount: string;
  readonly outcome: 'paid' | 'sent' | 'unknown' | 'failed';
  readonly txnId: string | null;
  readonly txnState: string | null;
  /** The debited amount, including fees. */
  readonly paid: Big | null;
  readonly paidCcy: string | null;
  /** The kind of the row's failure. */
  readonly error: string | null;
  readonly message: string | null;
  /** ISO 8601. */
  readonly at: string;
  /** The name of the payee, if the row has one. */
  readonly payee: string | null;
  /** The time of the settlement, ISO 8601. */
  readonly settled: string | null;
}

const batchLineFields = [
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
  'payee',
  'settled',
] as const satisfies readonly (keyof BatchLine)[];

/** The columns of the result file, before those of the batch file. */
export const resultFields = [...batchLineFields, 'fiatRate', 'fiatValue', 'fiat'] as const;

/** The fields of the summary, and with jsonl the fields of a row. */
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
  'cost',
  'run',
  'lastRun',
  'remarks',
  'earlier',
  'seal',
  'result',
  ...batchLineFields.filter((name) => name !== 'paid'),
];

/** The number of failed rows on the screen. The result file has all of them. */
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

export const dryRunLines = (
  summary: BatchSummary,
  quoted: QuotedCost | undefined,
  canvas: Canvas,
): string[] => [
  ...batchCard(summary, { quoted }, canvas),
  ...(summary.seal === null ? [] : factLines(sealFacts(summary.file, summary.seal), canvas)),
  `  ${canvas.style.dim('A dry run: nothing was sent.')}`,
];

const sealFacts = (file: string, seal: string): Fact[] => [
  { label: 'Seal', value: seal, whole: true },
  { label: 'To pay', value: `svcpay batch ${shellArgument(file)} --sealed ${seal}`, whole: true },
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
