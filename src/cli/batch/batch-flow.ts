// Runs a checked batch to its result: compares the rows with earlier runs, shows the plan, asks
// once, and pays row by row.
import { dayAndMonth } from '../../formats/calendar.js';
import {
  formatAmount,
  formatAmounts,
  money,
  moneyFromWire,
  type Money,
} from '../../formats/amount.js';
import { counted } from '../../formats/text.js';
import { Failure, ifAvailable } from '../../formats/failure.js';
import {
  batchCard,
  batchRowList,
  batchStatusList,
  dryRunLines,
  remarkText,
  type BatchPlan,
  type BatchSummary,
  batchFields,
  batchView,
} from '../../terminal/cards/batch-view.js';
import {
  paidAt,
  shortOf,
  totalsOf,
  type BatchCheck,
  Ceiling,
  priceRows,
  refusedRow,
  refuseUnpayable,
  tooPoor,
  type Cost,
  type Priced,
} from '../../wallet/batch/check.js';
import { compareRuns, needsAcceptance, type Comparison } from '../../wallet/batch/compare.js';
import { pastRuns, readRunName } from '../../wallet/batch/row.js';
import type { BatchConsent } from '../../wallet/batch/run.js';
import type { PaymentService } from '../../wallet/payment/model.js';
import type { Context } from '../context.js';
import type { View } from '../define.js';
import type { BatchSource, BatchFlags } from './batch-check.js';
import {
  openPayments,
  payBatch,
  quoteRow,
  type BatchEnd,
  type Drain,
  lineOf,
} from './batch-pay.js';

/** The end of a batch, with the plan of a dry run. */
export interface BatchResult extends BatchEnd {
  readonly plan: BatchPlan;
}

/** Quotes the checked rows, compares them with earlier runs, asks, and pays them. */
export async function runRows(
  source: BatchSource,
  given: BatchFlags,
  drain: Drain,
  context: Context,
): Promise<BatchResult> {
  const { globals, now } = context;
  const { check, approved } = source;
  const { toPay, totals } = check;
  const flags = await ruled(given, totals, context);
  // Reports a --max-fee in the wrong currency once instead of once per row.
  for (const { from } of totals) flags.maxFee?.(from);
  const comparison = await compare(source, flags, context);
  // Opens the connections to the service in advance, so that no payment waits for a new connection.
  context.early?.open(context.settings.baseUrl ?? '', flags.concurrency);
  const opened = await openPayments(flags.concurrency, context);
  const payment = { ...opened, budget: approved?.budget ?? opened.budget };
  const available = await balances(check, payment.service);
  const short = shortOf(
    totals.filter(({ from }) => available.isReported(from)),
    available.of,
  );
  const isShown = !globals.yes || flags.dryRun || approved !== undefined;
  // With --yes, svcpay quotes only conversions, whose debit it cannot compare with the balance.
  const unpriced = short.length > 0 ? [] : toPay.filter((row) => isShown || row.from !== row.ccy);
  const quoted = await context.live.during(
    () => 'Quoting',
    () => priceRows(unpriced, (row) => quoteRow(row, flags, payment)),
  );
  const priced = { ...quoted, costs: within(quoted.costs, approved?.rest) };
  const cost = isShown && short.length === 0 ? priced.costs : null;
  const before = summaryOf(source, flags, comparison, cost, available.of);
  const plan: BatchPlan = {
    rows: priced.rows.length > mostShown ? undefined : priced.rows.map((row) => lineOf(row, now())),
    refused: priced.refused.map((row) => lineOf(row, now())),
    short,
  };
  if (flags.dryRun && short.length === 0) {
    const lines = [...check.rows.filter((row) => !toPay.includes(row)), ...priced.rows]
      .toSorted((a, b) => a.line - b.line)
      .map((row) => lineOf(row, now()));
    const failure = failureIn(() => {
      const [refused] = priced.refused;
      refuseUnpayable(priced, available.of);
      if (refused !== undefined) throw refusedRow(refused);
    });
    return { summary: { ...before, list: lines }, rows: lines, failures: [], failure, plan };
  }
  showPlan(before, plan, context);
  if (short.length > 0) throw tooPoor(short);
  refuseUnpayable(priced, available.of);
  if (globals.yes && !flags.acceptChanges) refuseChanges(comparison);
  const consent = await agree(source, priced, context);
  return { ...(await payBatch(source, before, consent, flags, drain, payment, context)), plan };
}

/**
 * Limits the costs to the rest of the highest total of a proposal. Throws Failure `limit` if the
 * rows cost more.
 */
function within(costs: readonly Cost[], rest: readonly Money[] | undefined): readonly Cost[] {
  if (rest === undefined) return costs;
  return costs.map((cost) => {
    const { value } = rest.find(({ ccy }) => ccy === cost.ccy) ?? money(cost.ccy, 0);
    if (cost.total.lte(value)) return { ...cost, most: cost.most.lt(value) ? cost.most : value };
    const [about, most] = [cost.total, value].map((each) => formatAmount(money(cost.ccy, each)));
    throw new Failure(
      'limit',
      `the rows cost about ${about}, but the proposal allows at most ${most}.`,
      { money: 'Nothing was sent' },
    );
  });
}

/** Returns the flags with the fee limit of the agent that runs the batch, if an agent does. */
async function ruled(
  flags: BatchFlags,
  totals: BatchCheck['totals'],
  { agent }: Context,
): Promise<BatchFlags> {
  const own = { maxFee: flags.maxFee, wait: flags.wait, waitTimeout: flags.waitTimeout };
  let maxFee = flags.maxFee;
  for (const { from } of totals)
    maxFee = (await agent?.admit?.({ from, method: undefined }, own))?.maxFee ?? maxFee;
  return { ...flags, maxFee };
}

/** The largest number of rows that svcpay shows above the question. */
const mostShown = 100;

function failureIn(action: () => void): Failure | undefined {
  try {
    action();
    return undefined;
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
}

/** Prints the result of a batch, or the rows of a dry run. */
async function printBatch(
  { summary, rows, failures, plan }: BatchResult,
  _parts: object,
  { out }: Context,
): Promise<void> {
  const { list, remarks } = summary;
  if (list === undefined) {
    if (['csv', 'tsv'].includes(out.format) && !out.quiet) await out.list(rows, batchStatusList);
    else if (out.format !== 'jsonl') await out.record(summary, batchView(summary, failures));
    return;
  }
  if (out.format === 'json') return out.record(summary, batchView(summary, []));
  await out.list(list, batchRowList);
  if (out.forPeople)
    return out.screen((canvas) => [
      '',
      ...dryRunLines(summary, { ...plan, rows: undefined }, canvas),
    ]);
  for (const each of remarks) out.warn(`${remarkText(each)}.`);
}

export const batchResultView: View<BatchResult> = {
  fields: batchFields,
  dataOf: ({ summary, failures }) => (failures.length === 0 ? summary : { ...summary, failures }),
  print: printBatch,
};

async function compare(
  { check, name }: BatchSource,
  { factor }: BatchFlags,
  context: Context,
): Promise<Comparison> {
  const { scope, journal } = await context.account();
  const past = await pastRuns(await journal(), scope);
  return compareRuns(check.rows, past, { name, factor, now: context.now() });
}

/**
 * Throws Failure `usage` for differences from earlier runs that a person or --accept-changes must
 * approve.
 */
function refuseChanges({ remarks }: Comparison): void {
  const serious = remarks.filter(needsAcceptance);
  const [first] = serious;
  if (first === undefined) return;
  const more = serious.length === 1 ? '' : `, and ${counted(serious.length - 1, 'other change')}`;
  const text = remarkText(first, 'line');
  throw new Failure('usage', `${text}${more}.`, {
    money: 'Nothing was sent',
    hint:
      first.kind === 'run-again'
        ? 'If these are new payments, name the run with --name, or add --accept-changes.'
        : 'Check the file, then add --accept-changes.',
  });
}

interface Balances {
  readonly of: (ccy: string) => Money | undefined;
  /** Whether the service lists a wallet of this currency and reports its balance. */
  readonly isReported: (ccy: string) => boolean;
}

async function balances({ toPay }: BatchCheck, service: PaymentService): Promise<Balances> {
  const wallets = toPay.length === 0 ? undefined : await ifAvailable(service.wallets());
  return {
    of: (ccy) => moneyFromWire(ccy, wallets?.find((each) => each.ccy === ccy)?.availableBalance),
    isReported: (ccy) =>
      wallets?.every((each) => each.ccy !== ccy || each.availableBalance != null) === true,
  };
}

/**
 * Shows the plan of the batch above the question, or only the differences from earlier runs if
 * svcpay asks no question.
 */
function showPlan(summary: BatchSummary, plan: BatchPlan, { out }: Context): void {
  const isDrawn = out.card((canvas) => ['', ...batchCard(summary, plan, canvas), '']);
  if (!isDrawn) for (const each of summary.remarks) out.warn(`${remarkText(each)}.`);
}

function summaryOf(
  { check: { rows, toPay, totals }, file, run }: BatchSource,
  { dryRun }: BatchFlags,
  { remarks, last }: Comparison,
  cost: BatchSummary['cost'],
  available: (ccy: string) => Money | undefined,
): BatchSummary {
  const settled = rows.filter(({ standing }) => standing === 'settled');
  const lastRun = last && readRunName(last.run);
  return {
    file,
    run,
    dryRun,
    rows: rows.length,
    paidBefore: settled.length,
    paid: 0,
    inFlight: 0,
    unknown: 0,
    failed: 0,
    notBegun: toPay.length,
    spent: [],
    cost,
    totals: totals.map((total) => ({ ...total, available: available(total.from)?.value ?? null })),
    lastRun:
      last === undefined || lastRun === undefined
        ? null
        : {
            at: lastRun.startedAt,
            name: lastRun.name,
            rows: last.rows.length,
            totals: totalsOf(last.rows),
          },
    remarks,
    earlier: settled.map(({ line, payment }) => ({ line, at: paidAt(payment) })),
    result: null,
  };
}

/** Asks for the consent to the rows, or takes the consent that `--yes` gives. */
async function agree(
  { check: { rows, toPay, totals }, approved }: BatchSource,
  { costs, rows: priced }: Priced,
  { ask, globals, settings, out, now }: Context,
): Promise<BatchConsent> {
  if (toPay.length === 0) {
    const day = dayAndMonth(Math.max(...rows.map(({ payment }) => paidAt(payment))), now());
    out.say(`This run sent nothing: every row was sent before, the latest on ${day}.`);
  }
  const proposal = approved?.proposal;
  if (globals.yes) {
    const upTo = approved === undefined ? 'terms' : new Ceiling(approved.rest);
    return { lines: new Set(toPay.map(({ line }) => line)), upTo, proposal };
  }
  const quoted = priced.filter(({ cost }) => cost !== undefined);
  const most = costs.map((cost) => money(cost.ccy, cost.most));
  const lines = new Set(quoted.map(({ line }) => line));
  const consent = { lines, upTo: new Ceiling(most), proposal };
  // If the service refused the quotes of all rows, svcpay does not ask for approval, and the result
  // of the batch contains the reasons.
  if (quoted.length === 0) return consent;
  const place = settings.embedded ? 'sandbox' : settings.profileName;
  const sum = (part: 'total' | 'most'): string =>
    formatAmounts(costs.map((cost) => money(cost.ccy, cost[part])));
  const wallets = [...new Set(totals.map(({ from }) => from))];
  await ask.agree(
    `Pay about ${sum('total')}, at most ${sum('most')}, in ${counted(quoted.length, 'row')} ` +
      `from your ${wallets.join(' and ')} wallet${wallets.length === 1 ? '' : 's'} (${place})?`,
    'Nothing was sent',
  );
  return consent;
}
