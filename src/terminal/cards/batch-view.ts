// Shows a batch before its payments: its rows, its costs, and differences from earlier runs.
import type { Big } from 'big.js';
import { formatAmount, formatSats, money, parseAmount, type Money } from '../../formats/amount.js';
import { counted } from '../../formats/text.js';
import { detailLines, heading, type CardDetail } from './card.js';
import { sanitize } from '../sanitize.js';
import type { Canvas } from '../terminal.js';
import { createTable } from '../rows/table.js';
import type { ListView } from '../rows/view.js';
import { dateTime } from '../time.js';
import { shortened } from '../../formats/text.js';

/** The total of the rows paid from one wallet in one currency, without fees. */
export interface BatchSum {
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
  /** The number of rows that an earlier run paid. */
  readonly paidBefore: number;
  readonly paid: number;
  /** The number of rows that the service accepted, but whose settlement this run did not await. */
  readonly sent: number;
  readonly unknown: number;
  readonly failed: number;
  readonly notBegun: number;
  /** The amounts debited in this run, including fees. */
  readonly spent: readonly { readonly ccy: string; readonly amount: Big }[];
  /** The planned totals at the start of the run, without fees. */
  readonly totals: readonly BatchSum[];
  /**
   * The quoted or estimated debit of each wallet, or null for a run that asks no question and is
   * not a dry run.
   */
  readonly cost: readonly BatchCost[] | null;
  /** The earlier run with which svcpay compares this run. */
  readonly lastRun: { readonly at: number; readonly name: string; readonly rows: number } | null;
  /**
   * The differences between this batch and earlier runs, and the rows that repeat or contradict
   * each other.
   */
  readonly remarks: readonly BatchRemark[];
  /** The digest of all payments of the batch, if --seal or --sealed is given. */
  readonly seal: string | null;
  /** The rows that were paid or in flight before this run, with the time of the earlier payment. */
  readonly earlier: readonly { readonly line: number; readonly at: number }[];
  /** The path of the file with the outcome of every row. */
  readonly result: string | null;
}

export interface BatchRemark {
  readonly kind: keyof typeof remarkWords;
  readonly line: number | null;
  readonly payee: string;
  readonly before: string | null;
  readonly now: string | null;
  readonly note: string | null;
}

/** The total debited from a wallet. */
export interface BatchCost {
  readonly ccy: string;
  /** The total debit: a quoted total with fees, or an estimated total without fees. */
  readonly total: Big;
  readonly fees: Big | null;
  readonly isEstimate: boolean;
}

interface RowCost {
  readonly total: Money;
  readonly fees: Money;
}

/** The costs of the quoted rows, and the rows that the service refused. */
export interface QuotedCost {
  readonly costs: readonly BatchCost[];
  readonly rows: ReadonlyMap<number, RowCost>;
  readonly refused: readonly {
    readonly row: { readonly line: number };
    readonly failure: { readonly message: string };
  }[];
}

const remarkWords = {
  'new-payee': 'new payee',
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
  [[before, now].filter((part) => part !== null).join(' -> '), note ?? '']
    .filter((part) => part !== '')
    .join(', ');

/**
 * Describes a difference from an earlier run, such as `Bob Tran: account changed, 0123456789 ->
 * 9876543210`.
 */
export const remarkText = (remark: BatchRemark, lineWord: 'Line' | 'line' = 'Line'): string =>
  [
    remark.line === null ? '' : `${lineWord} ${remark.line}: `,
    `${remark.payee}: ${remarkWords[remark.kind]}`,
    changeOf(remark) === '' ? '' : `, ${changeOf(remark)}`,
  ].join('');

const remarkDetail = (remark: BatchRemark): CardDetail => ({
  label:
    remark.line === null
      ? shortened(remark.payee)
      : `line ${remark.line}  ${shortened(remark.payee)}`,
  value: remarkWords[remark.kind],
  note: changeOf(remark),
});

const mostRemarks = 50;

/** Draws the remarks about the rows as one block of lines above the question. */
function remarkLines(remarks: readonly BatchRemark[], canvas: Canvas): string[] {
  if (remarks.length === 0) return [];
  const shown = remarks.slice(0, mostRemarks);
  const more = remarks.length - shown.length;
  const { style } = canvas;
  return [
    `  ${style.bold(style.yellow('Check these first'))}`,
    ...detailLines(shown.map(remarkDetail), canvas),
    ...(more > 0 ? [`  ${style.dim(`and ${more} more: --dry-run --json lists them all`)}`] : []),
    '',
  ];
}

function costDetail({ ccy, total, fees, isEstimate }: BatchCost): CardDetail {
  const value = formatAmount(money(ccy, total));
  if (isEstimate || fees === null)
    return { label: 'You pay', value: `about ${value}`, note: 'an estimate, fees not included' };
  return {
    label: 'You pay',
    value,
    note: `including fees of ${formatAmount(money(ccy, fees))}, as quoted`,
  };
}

const refusedDetail = ({ row, failure }: QuotedCost['refused'][number]): CardDetail => ({
  label: `Line ${row.line}`,
  value: failure.message,
});

function sumDetail({ from, ccy, rows, amount, available }: BatchSum): CardDetail {
  const have =
    available === null ? `no ${from} wallet` : `you have ${formatAmount(money(from, available))}`;
  const value = `${formatAmount(money(ccy, amount))} in ${counted(rows, 'row')}`;
  return {
    label: `From ${from}`,
    value,
    note: from === ccy ? have : `converted at the current rate; ${have}`,
  };
}

export interface BatchPlan {
  /** The rows of the batch, or undefined if the batch is too long to show. */
  readonly rows?: readonly BatchRowView[] | undefined;
  readonly quoted?: QuotedCost | undefined;
}

/** Draws the plan of a batch above the question for approval. */
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
            value: `${counted(paidBefore, 'row')} paid, in flight or unknown`,
            note: daysOf(earlier),
          },
        ];
  const isQuoted = quoted !== undefined;
  const fees =
    totals.length === 0 || isQuoted
      ? []
      : [{ label: 'Fees', value: 'not included; the service quotes the fees of each row' }];
  const drawn =
    rows === undefined ? undefined : createTable(screenColumns, { ...canvas, gap: 3 })(rows);
  return [
    ...heading(`${sanitize(file)} · ${counted(notBegun, 'row')} to pay${since}`, canvas),
    ...(drawn === undefined ? [] : [...drawn.head, ...drawn.rows.flat(), '']),
    ...remarkLines(remarks, canvas),
    ...detailLines(
      [
        ...before,
        ...totals.map(sumDetail),
        ...(cost ?? []).map(costDetail),
        ...fees,
        ...(quoted?.refused ?? []).map(refusedDetail),
      ],
      canvas,
    ),
  ];
}

const dayOf = (at: number): string => dateTime(at).slice(0, 10);

/** Lists the days on which earlier runs paid the rows. */
const daysOf = (rows: BatchSummary['earlier']): string =>
  [...new Set(rows.map(({ at }) => dayOf(at)))].toSorted().join(', ');

export interface BatchRowView {
  readonly line: number;
  /** The name of the payee, if the row has one. */
  readonly payee: string | null;
  /** The bank that receives a payout. */
  readonly bank: string | null;
  readonly to: string;
  readonly amount: string;
  readonly from: string;
  readonly method: string;
  readonly ref: string;
  /** The debit including fees, or null if svcpay did not quote the row. */
  readonly cost: Big | null;
  readonly fees: Big | null;
}

const costText = ({ cost, from }: BatchRowView): string =>
  cost === null ? '' : formatAmount(money(from, cost));

/**
 * Formats an amount with a unit, for example `50000sat` as `50 000 sat`. Returns any other amount
 * unchanged, such as `all`.
 */
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

/** @param toPay the command that pays the sealed batch */
export const dryRunLines = (
  summary: BatchSummary,
  quoted: QuotedCost | undefined,
  toPay: string,
  canvas: Canvas,
): string[] => [
  ...batchCard(summary, { quoted }, canvas),
  ...(summary.seal === null ? [] : detailLines(sealDetails(summary.seal, toPay), canvas)),
  `  ${canvas.style.dim('A dry run: nothing was sent.')}`,
];

const sealDetails = (seal: string, toPay: string): CardDetail[] => [
  { label: 'Seal', value: seal, whole: true },
  { label: 'To pay', value: toPay, whole: true },
];
