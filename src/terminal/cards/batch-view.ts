// Shows a batch: its rows, costs and differences from earlier runs before its payments, then its
// progress and its result.
import type Big from 'big.js';
import { formatAmount, formatSats, money, parseAmount } from '../../formats/amount.js';
import type { FailureKind } from '../../formats/failure.js';
import { counted, ownReference, shortId, shortened } from '../../formats/text.js';
import { cardLines, heading, progressBar, type CardLine } from './card.js';
import { sanitize, sideBySide } from '../text.js';
import { describeDuration } from '../../formats/calendar.js';
import { dateTime } from '../time.js';
import type { Canvas } from '../terminal.js';
import { namesOf } from '../rows/list.js';
import { createTable } from '../rows/table.js';
import {
  type Column,
  type ListView,
  fieldColumns,
  fieldsOf,
  type RecordView,
} from '../rows/view.js';

/**
 * A row of a batch, which is the same in a dry run, in the progress of a run, in the result file
 * and in the status of the batch.
 */
export interface BatchLine {
  readonly line: number;
  readonly ref: string;
  /** The name of the payee, if the row has one. */
  readonly payee: string | null;
  /** The bank that receives a payout. */
  readonly bank: string | null;
  readonly to: string;
  /** The amount as written in the batch file. */
  readonly amount: string;
  readonly from: string;
  readonly method: string;
  /** The approximate debit including fees, or null without a quote. */
  readonly cost: Big | null;
  readonly fees: Big | null;
  readonly outcome: keyof typeof outcomeWords;
  /** Whether an earlier run submitted the payment. */
  readonly before: boolean;
  readonly txnId: string | null;
  readonly txnState: string | null;
  /** The debited amount, including fees. */
  readonly paid: Big | null;
  readonly paidCcy: string | null;
  /** The kind of the failure, if the row failed. */
  readonly error: FailureKind | null;
  readonly message: string | null;
  /** The command to run next for the row. */
  readonly next: string | null;
  /** The time when svcpay determined the outcome, in ISO 8601. */
  readonly at: string;
  /** The time of the settlement in ISO 8601. */
  readonly settled: string | null;
}

/** The words for the outcomes of rows, the most urgent outcome first. */
export const outcomeWords = {
  returned: 'returned',
  underpaid: 'underpaid',
  failed: 'failed',
  error: 'error: ask the service',
  unknown: 'outcome unknown',
  'in-flight': 'in flight',
  open: 'not sent yet',
  abandoned: 'abandoned',
  'not-started': 'not started',
  paid: 'paid',
} as const;

/** The total of the rows paid from one wallet in one currency, without fees. */
interface BatchSum {
  readonly from: string;
  readonly ccy: string;
  readonly rows: number;
  readonly amount: Big;
  /**
   * The spendable balance of the wallet, or null if the balance is unknown or the wallet does not
   * exist.
   */
  readonly available: Big | null;
}

/** The summary of a batch, which `--json` prints. */
export interface BatchSummary {
  readonly file: string;
  /** The id of the run, which contains its start time and its name. */
  readonly run: string;
  readonly dryRun: boolean;
  readonly rows: number;
  /** The number of rows that an earlier run paid or submitted. */
  readonly paidBefore: number;
  readonly paid: number;
  /** The number of rows that the service accepted, but whose settlement this run did not await. */
  readonly inFlight: number;
  readonly unknown: number;
  readonly failed: number;
  readonly notBegun: number;
  /** The amounts debited in this run, including fees. */
  readonly spent: readonly { readonly ccy: string; readonly amount: Big }[];
  /** The planned totals at the start of the run, without fees. */
  readonly totals: readonly BatchSum[];
  /**
   * The approximate debit of each wallet, or null for a run that asks no question and is not a dry
   * run.
   */
  readonly cost: readonly BatchCost[] | null;
  /** The earlier run with which svcpay compares this run. */
  readonly lastRun: {
    readonly at: number;
    readonly name: string;
    readonly rows: number;
    readonly totals: readonly Pick<BatchSum, 'from' | 'ccy' | 'rows' | 'amount'>[];
  } | null;
  /**
   * The differences between this batch and earlier runs, and the rows that repeat or contradict
   * each other.
   */
  readonly remarks: readonly BatchRemark[];
  /** The rows that were paid or in flight before this run, with the time of the earlier payment. */
  readonly earlier: readonly { readonly line: number; readonly at: number }[];
  /** The path of the file with the outcome of every row. */
  readonly result: string | null;
  /** The rows of a dry run. */
  readonly list?: readonly BatchLine[];
}

export interface BatchRemark {
  readonly kind: keyof typeof remarkWords;
  readonly line: number | null;
  readonly payee: string;
  readonly before: string | null;
  readonly now: string | null;
  readonly note: string | null;
}

/** The approximate total debited from a wallet. */
interface BatchCost {
  readonly ccy: string;
  /** The total debit, including fees. */
  readonly total: Big;
  readonly fees: Big;
  /** The highest total that a person approves. */
  readonly most: Big;
}

const remarkWords = {
  'run-again': 'have payee and amount of',
  'new-payee': 'new payee',
  'look-alike': 'name with look-alike letters',
  'holder-changed': 'account holder changed',
  'country-changed': 'country changed',
  'wallet-changed': 'paying wallet changed',
  'account-changed': 'account changed',
  'institution-changed': 'bank changed',
  'name-changed': 'name changed',
  'amount-changed': 'amount changed',
  'payee-missing': 'was in the last run, is not in this one',
  'two-names': 'same account, different name',
  'row-twice': 'duplicate row',
  'may-be-paid': 'may have been paid already',
} as const;

const changeOf = ({ before, now, note }: BatchRemark): string =>
  [[before, now].filter((part) => part !== null).join(' -> '), note].filter(Boolean).join(', ');

/**
 * Describes a difference from an earlier run, such as `Bob Tran: account changed, 0123456789 ->
 * 9876543210`, or `60 of 60 rows have payee and amount of the run of 24 Oct`.
 */
export const remarkText = (remark: BatchRemark, lineWord: 'Line' | 'line' = 'Line'): string => {
  const { kind, line, payee } = remark;
  const change = changeOf(remark);
  if (kind === 'run-again') return `${payee} ${remarkWords[kind]} ${change}`;
  const place = line === null ? '' : `${lineWord} ${line}: `;
  return `${place}${payee}: ${remarkWords[kind]}${change && `, ${change}`}`;
};

const remarkDetail = (remark: BatchRemark): CardLine => {
  const { kind, line, payee } = remark;
  const short = kind === 'run-again' ? payee : shortened(payee);
  return {
    label: line === null ? short : `line ${line}  ${short}`,
    value: remarkWords[kind],
    note: changeOf(remark),
  };
};

const mostRemarks = 50;

/** Draws the remarks about the rows as one block of lines above the question. */
function remarkLines(remarks: readonly BatchRemark[], canvas: Canvas): string[] {
  if (remarks.length === 0) return [];
  const { style } = canvas;
  return [
    `  ${style.bold(style.yellow('Check these first'))}`,
    ...cardLines(remarks.slice(0, mostRemarks).map(remarkDetail), canvas),
    ...moreLines(remarks.length - mostRemarks, ': --dry-run --json lists them all', canvas),
    '',
  ];
}

const moreLines = (more: number, text: string, { style }: Canvas): string[] =>
  more > 0 ? [`  ${style.dim(`and ${more} more${text}`)}`] : [];

const costDetail = ({ ccy, total, fees, most }: BatchCost): CardLine => ({
  label: 'You pay',
  value: `about ${formatAmount(money(ccy, total))}`,
  note:
    `including fees of about ${formatAmount(money(ccy, fees))}; ` +
    `at most ${formatAmount(money(ccy, most))}`,
});

function sumDetail(
  { from, ccy, rows, amount, available }: BatchSum,
  lastRun: BatchSummary['lastRun'],
): CardLine {
  const have =
    available === null ? `no ${from} wallet` : `you have ${formatAmount(money(from, available))}`;
  const last = lastRun?.totals.find((each) => each.from === from && each.ccy === ccy);
  const before =
    last === undefined
      ? ''
      : `; last run ${formatAmount(money(ccy, last.amount))} in ${counted(last.rows, 'row')}`;
  return {
    label: `From ${from}`,
    value: `${formatAmount(money(ccy, amount))} in ${counted(rows, 'row')}`,
    note: `${from === ccy ? '' : 'converted at the current rate; '}${have}${before}`,
  };
}

export interface BatchPlan {
  /** The rows to pay, or undefined to show only the totals. */
  readonly rows?: readonly BatchLine[] | undefined;
  /** The rows that the service refused to quote. */
  readonly refused: readonly BatchLine[];
  /** The wallets with too little money, as sentences. */
  readonly short: readonly string[];
}

/** Draws the plan of a batch above the question for approval. */
export function batchCard(
  summary: BatchSummary,
  { rows, refused, short }: BatchPlan,
  canvas: Canvas,
): string[] {
  const { file, notBegun, paidBefore, totals, cost, lastRun, remarks, earlier } = summary;
  const since =
    lastRun === null ? '' : ` · last run ${dayOf(lastRun.at)}, ${counted(lastRun.rows, 'row')}`;
  const days = [...new Set(earlier.map(({ at }) => dayOf(at)))].toSorted();
  const before = {
    label: 'Before',
    value: `${counted(paidBefore, 'row')} paid, in flight or unknown`,
    note: days.join(', '),
  };
  const table = rows?.length ? createTable(screenColumns, { ...canvas, gap: 3 })(rows) : undefined;
  return [
    ...heading(`${sanitize(file)} · ${counted(notBegun, 'row')} to pay${since}`, canvas),
    ...short.map((text) => `  ${canvas.style.red(text)}`),
    ...(table === undefined ? [] : [...table.head, ...table.rows.flat(), '']),
    ...remarkLines(remarks, canvas),
    ...cardLines(
      [
        ...(paidBefore === 0 ? [] : [before]),
        ...totals.map((total) => sumDetail(total, lastRun)),
        ...(cost ?? []).map(costDetail),
        ...refused.map(({ line, message }) => ({ label: `Line ${line}`, value: message ?? '' })),
      ],
      canvas,
    ),
  ];
}

const dayOf = (at: number): string => dateTime(at).slice(0, 10);

const costText = ({ cost, from }: BatchLine): string =>
  cost === null ? '' : formatAmount(money(from, cost));

/**
 * Formats an amount with a unit, for example `50000sat` as `50 000 sat`. Returns any other amount
 * unchanged, such as `all`.
 */
function amountText({ amount }: BatchLine): string {
  if (!/^\d+(?:\.\d+)?[a-z]+$/i.test(amount)) return amount;
  const parsed = parseAmount(amount);
  return /sats?$/i.test(amount) ? formatSats(parsed.value) : formatAmount(parsed);
}

const columns = {
  line: { title: 'Line', align: 'right' },
  payee: { title: 'Payee', priority: 1 },
  bank: { title: 'Bank', priority: 2 },
  to: { title: 'To', shrinks: true, priority: 1 },
  amount: { title: 'Amount', text: amountText, align: 'right' },
  cost: { title: 'Costs about', text: costText, align: 'right' },
  fees: { only: 'rows' },
  from: { title: 'From', priority: 4 },
  method: { title: 'Method', priority: 3 },
  ref: { title: 'Reference', text: ({ ref }) => ownReference(ref), priority: 5 },
  outcome: { title: 'State', text: ({ outcome }) => outcomeWords[outcome] },
  before: { only: 'rows' },
  paid: { only: 'rows' },
  paidCcy: { only: 'rows' },
  txnId: { title: 'Id', text: shortId, priority: 6 },
  message: { title: 'Remark', below: true, priority: 1 },
  next: { title: 'What to do', below: true, priority: 1 },
} satisfies Readonly<Record<string, Omit<Column<BatchLine>, 'name'>>>;

const listOf = (...names: (keyof typeof columns)[]): ListView<BatchLine> => ({
  columns: names.map((name) => ({ name, ...columns[name] })),
  quiet: ({ ref }) => ref,
  empty: 'This batch has no rows.',
});

/** The rows of a dry run. */
export const batchRowList = listOf(
  'line',
  'payee',
  'bank',
  'to',
  'amount',
  'cost',
  'fees',
  'from',
  'method',
  'ref',
);

/** The rows of a batch after its run. */
export const batchStatusList: ListView<BatchLine> = {
  ...listOf(
    'line',
    'payee',
    'to',
    'amount',
    'outcome',
    'before',
    'message',
    'next',
    'ref',
    'paid',
    'paidCcy',
    'txnId',
  ),
  fields: ['bank', 'from', 'method', 'cost', 'fees', 'txnState', 'error', 'at', 'settled'],
};

const screenColumns = batchRowList.columns.filter(
  ({ name, only }) => only !== 'rows' && name !== 'ref' && name !== 'from',
);

export const dryRunLines = (summary: BatchSummary, plan: BatchPlan, canvas: Canvas): string[] => [
  ...batchCard(summary, plan, canvas),
  `  ${canvas.style.dim('A dry run: nothing was sent.')}`,
];

/** Returns a heading such as `payroll.csv: 15 of 18 rows paid · 2 in flight · 1 failed`. */
export function statusHeading(file: string, lines: readonly BatchLine[], canvas: Canvas): string[] {
  const count = (outcome: BatchLine['outcome']): number =>
    lines.filter((each) => each.outcome === outcome).length;
  const others = [...new Set(lines.map(({ outcome }) => outcome))].filter(
    (each) => each !== 'paid',
  );
  const parts = [
    `${sanitize(file)}: ${count('paid')} of ${counted(lines.length, 'row')} paid`,
    ...others.map((outcome) => `${count(outcome)} ${outcomeWords[outcome]}`),
  ];
  return heading(parts.join(' · '), canvas);
}

interface BatchProgress {
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
  const { outcome, ref, paid, paidCcy, txnId, message } = row;
  const sum = paid && paidCcy && formatAmount(money(paidCcy, paid));
  return `${done}/${rows}  ${[outcome, ref, sum, txnId, message].filter(Boolean).join('  ')}`;
}

/** The columns of the result file that precede the columns of the batch file. */
export const resultFields: readonly string[] = (
  'line ref to amount outcome before txnId txnState paid paidCcy error message at payee settled ' +
  'fiatRate fiatValue fiat'
).split(' ');

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
export const batchFields: readonly string[] = [
  ...new Set([...summaryFields, ...namesOf(undefined, batchStatusList)]),
];

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
  const counts: [count: number, text: string][] = [
    [inFlight, 'in flight'],
    [unknown, 'not known yet'],
    [failed, 'not paid'],
    [notBegun, 'not started'],
  ];
  const others = counts.filter(([count]) => count > 0).map(([count, text]) => `${count} ${text}`);
  const isOfBefore = paidBefore > 0 && paidBefore === paid + inFlight;
  const before = paidBefore > 0 ? ` (${isOfBefore ? 'all' : paidBefore} by an earlier run)` : '';
  return [
    ...heading([`${paid} of ${counted(rows, 'row')} paid`, ...others].join(' · ') + before, canvas),
    ...cardLines(
      [
        ...spent.map(({ ccy, amount }) => ({
          label: isOfBefore ? 'Spent before' : 'Spent',
          value: formatAmount(money(ccy, amount)),
          note: paidBefore > 0 ? 'in all runs, fees included' : 'fees included',
        })),
        { label: 'Result', value: result, whole: true },
        ...failures.map(({ line, ref, message }) => ({
          label: `✗ Line ${line}`,
          value: `${ref}: ${message ?? ''}`,
        })),
      ],
      canvas,
    ),
    ...moreLines(failed + unknown - failures.length, '', canvas),
  ];
}
