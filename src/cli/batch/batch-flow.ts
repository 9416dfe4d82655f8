// Runs a batch from its file to its result: checks all rows, compares the rows with earlier runs,
// shows the plan, asks once, and pays row by row.
import { dayAndMonth } from '../../formats/calendar.js';
import { formatAmount, money, moneyFromWire, type Money } from '../../formats/amount.js';
import { counted } from '../../formats/text.js';
import { Failure, ifAvailable } from '../../formats/failure.js';
import {
  batchCard,
  batchRowList,
  dryRunLines,
  remarkText,
  type BatchPlan,
  type BatchSummary,
} from '../../terminal/cards/batch-view.js';
import { batchView } from '../../terminal/cards/batch-progress.js';
import { paidAt, shortOf, totalsOf, type BatchCheck } from '../../wallet/batch/check.js';
import { compareRuns, needsAcceptance, type Comparison } from '../../wallet/batch/compare.js';
import {
  Ceiling,
  priceRows,
  refusedRow,
  refuseUnpayable,
  tooPoor,
  type Priced,
} from '../../wallet/batch/cost.js';
import { pastRuns, readRunName } from '../../wallet/batch/history.js';
import type { BatchConsent } from '../../wallet/batch/run.js';
import type { PaymentService } from '../../wallet/payment/contract.js';
import { commandLine } from '../../terminal/next-step.js';
import type { Context } from '../context.js';
import { openFile, type CheckedFile } from './batch-check.js';
import { batchCommand, type BatchFlags } from './batch-options.js';
import { openPayments, payBatch, quoteRow, type BatchEnd } from './batch-pay.js';
import { checkSeal } from './batch-seal.js';
import type { Drain } from './drain.js';
import { lineOf } from './lines.js';

/** The end of a batch, with the plan of a dry run. */
export interface BatchResult extends BatchEnd {
  readonly plan: BatchPlan;
  /** The command that pays the batch after a dry run. */
  readonly toPay: string;
}

export async function runBatchFile(
  file: string,
  given: BatchFlags,
  drain: Drain,
  context: Context,
): Promise<BatchResult> {
  const { globals, now } = context;
  const checked = { ...given, dryRun: given.dryRun || given.seal };
  const found = await openFile(file, checked, context);
  const { check } = found;
  const { toPay, totals } = check;
  const flags = await ruled(checked, totals, context);
  // Reports a --max-fee in the wrong currency once instead of once per row.
  for (const { from } of totals) flags.maxFee?.(from);
  const seal = await checkSeal(found, flags, context);
  const comparison = await compare(found, flags, context);
  // Opens the connections to the service in advance, so that no payment waits for a new connection.
  context.early?.open(context.settings.baseUrl ?? '', flags.concurrency);
  const payment = await openPayments(flags.concurrency, context);
  const available = await balances(check, payment.service);
  const short = shortOf(
    totals.filter(({ from }) => available.isReported(from)),
    available.of,
  );
  const isShown = !globals.yes || flags.dryRun;
  // With --yes, svcpay quotes only conversions, whose debit it cannot compare with the balance.
  const unpriced = short.length > 0 ? [] : toPay.filter((row) => isShown || row.from !== row.ccy);
  const priced = await context.live.during(
    () => 'Quoting',
    () => priceRows(unpriced, (row) => quoteRow(row, flags, payment)),
  );
  const cost = isShown && short.length === 0 ? priced.costs : null;
  const before = summaryOf(
    file,
    found,
    flags,
    comparison,
    { cost, seal: seal ?? null },
    available.of,
  );
  const plan: BatchPlan = {
    rows: priced.rows.length > mostShown ? undefined : priced.rows.map((row) => lineOf(row, now())),
    refused: priced.refused.map((row) => lineOf(row, now())),
    short,
  };
  if (flags.dryRun && short.length === 0) {
    const paying = batchCommand(file, flags, { '--sealed': seal });
    const lines = [...check.rows.filter((row) => !toPay.includes(row)), ...priced.rows]
      .toSorted((a, b) => a.line - b.line)
      .map((row) => lineOf(row, now()));
    const failure = failureIn(() => {
      const [refused] = priced.refused;
      refuseUnpayable(priced, available.of);
      if (refused !== undefined) throw refusedRow(refused);
    });
    return {
      summary: { ...before, list: lines },
      failures: [],
      failure,
      plan,
      toPay: commandLine(paying, globals),
    };
  }
  showPlan(before, plan, context);
  if (short.length > 0) throw tooPoor(short);
  refuseUnpayable(priced, available.of);
  if (globals.yes && !flags.acceptChanges) refuseChanges(comparison);
  const consent = await agree(check, priced, context);
  const end = await payBatch(check, before, consent, flags, drain, payment, context);
  return { ...end, plan, toPay: '' };
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
export async function printBatch(
  { summary, failures, plan, toPay }: BatchResult,
  _parts: object,
  { out }: Context,
): Promise<void> {
  const { list, remarks, seal } = summary;
  if (list === undefined) {
    if (out.format !== 'jsonl') await out.record(summary, batchView(summary, failures));
    return;
  }
  if (out.format === 'json') return out.record(summary, batchView(summary, []));
  if (out.quiet && seal !== null) return out.text(seal);
  await out.list(list, batchRowList);
  if (out.forPeople)
    return out.screen((canvas) => [
      '',
      ...dryRunLines(summary, { ...plan, rows: undefined }, toPay, canvas),
    ]);
  for (const each of remarks) out.warn(`${remarkText(each)}.`);
  if (seal !== null) out.say(`Seal: ${seal}`);
}

async function compare(
  { check, name }: CheckedFile,
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
  file: string,
  { check: { rows, toPay, totals }, run }: CheckedFile,
  { dryRun }: BatchFlags,
  { remarks, last }: Comparison,
  planned: Pick<BatchSummary, 'cost' | 'seal'>,
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
    sent: 0,
    unknown: 0,
    failed: 0,
    notBegun: toPay.length,
    spent: [],
    ...planned,
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
  { rows, toPay, totals }: BatchCheck,
  { costs, rows: priced }: Priced,
  { ask, globals, settings, out, now }: Context,
): Promise<BatchConsent> {
  if (toPay.length === 0) {
    const day = dayAndMonth(Math.max(...rows.map(({ payment }) => paidAt(payment))), now());
    out.say(`This run sent nothing: every row was sent before, the latest on ${day}.`);
  }
  if (globals.yes) return { lines: new Set(toPay.map(({ line }) => line)), upTo: 'terms' };
  const quoted = priced.filter(({ cost }) => cost !== undefined);
  const consent = { lines: new Set(quoted.map(({ line }) => line)), upTo: new Ceiling(costs) };
  // If the service refused the quotes of all rows, svcpay does not ask for approval, and the result
  // of the batch contains the reasons.
  if (quoted.length === 0) return consent;
  const place = settings.embedded ? 'sandbox' : settings.profileName;
  const sum = (part: 'total' | 'most'): string =>
    costs.map((cost) => formatAmount(money(cost.ccy, cost[part]))).join(' and ');
  const wallets = [...new Set(totals.map(({ from }) => from))];
  await ask.agree(
    `Pay about ${sum('total')}, at most ${sum('most')}, in ${counted(quoted.length, 'row')} ` +
      `from your ${wallets.join(' and ')} wallet${wallets.length === 1 ? '' : 's'} (${place})?`,
    'Nothing was sent',
  );
  return consent;
}
