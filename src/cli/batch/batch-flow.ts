// Runs a batch from its file to its result: checks all rows, compares the rows with earlier runs,
// shows the plan, asks once, and pays row by row.
import { formatAmount, money, moneyFromWire, type Money } from '../../formats/amount.js';
import { counted } from '../../formats/text.js';
import { Failure, ifAvailable } from '../../formats/failure.js';
import { batchView } from '../../terminal/cards/batch-progress.js';
import {
  batchCard,
  batchRowList,
  dryRunLines,
  remarkText,
  type BatchRowView,
  type BatchSummary,
} from '../../terminal/cards/batch-view.js';
import { back } from '../../terminal/ask/ask.js';
import { shortOf, type BatchCheck } from '../../wallet/batch/check.js';
import { compareRuns, needsAcceptance, type Comparison } from '../../wallet/batch/compare.js';
import {
  Ceiling,
  estimateCost,
  quoteCost,
  refusedRow,
  refuseUnpayable,
  tooPoor,
  type BatchTotal,
  type Cost,
  type Quoted,
} from '../../wallet/batch/cost.js';
import { pastRuns, readRunName } from '../../wallet/batch/history.js';
import { payeeRow } from '../../wallet/batch/payee.js';
import type { PlannedRow } from '../../wallet/batch/plan.js';
import type { BatchConsent } from '../../wallet/batch/run.js';
import type { PaymentDeps } from '../../wallet/payment/contract.js';
import { openFile, type CheckedFile } from './batch-check.js';
import { commandLine } from '../../terminal/next-step.js';
import { batchCommand, openPayments, payBatch, quoteRow, type BatchFlags } from './batch-pay.js';
import { checkSeal } from './batch-seal.js';
import type { Context } from '../context.js';
import type { Drain } from './drain.js';
import { parseMaxFee, type MaxFeeOf } from '../payment/payment-options.js';

export async function runBatchFile(
  file: string,
  given: BatchFlags,
  drain: Drain,
  context: Context,
): Promise<void> {
  const { globals, out } = context;
  const flags = { ...given, dryRun: given.dryRun || given.seal };
  const found = await openFile(file, flags, context);
  const { check } = found;
  // Reports a --max-fee in the wrong currency once instead of once per row.
  for (const { from } of check.totals) flags.maxFee?.(from);
  const seal = await checkSeal(found, flags, context);
  const comparison = await compare(found, flags, context);
  const available = await balances(context);
  const short = shortOf(
    check.totals.filter(({ from }) => available.isReported(from)),
    available.of,
  );
  // Opens the connections to the service in advance, so that no payment waits for a new connection.
  context.early?.open(context.settings.baseUrl ?? '', flags.concurrency);
  const payment = await openPayments(check, flags.concurrency, context);
  const needsYes = !globals.yes && !flags.dryRun;
  const isShown = (needsYes || flags.dryRun) && check.rows > check.settled && short.length === 0;
  const quoted =
    isShown && check.quotable !== undefined
      ? await costOf(check.quotable, flags, payment, context)
      : undefined;
  const estimate = isShown && quoted === undefined ? await estimated(check, context) : undefined;
  const before = summaryOf(
    file,
    found,
    flags,
    comparison,
    { cost: quoted?.costs ?? estimate ?? null, seal: seal ?? null },
    available.of,
  );
  if (flags.dryRun && short.length === 0) {
    await listRows(found.rows(), before, quoted, flags, context);
    const [refused] = quoted?.refused ?? [];
    if (refused !== undefined) throw refusedRow(refused);
    if (quoted !== undefined) refuseUnpayable(quoted, available.of);
    return;
  }
  showPlan(before, check, comparison, quoted, context);
  if (short.length > 0) throw tooPoor(short);
  if (quoted !== undefined) refuseUnpayable(quoted, available.of);
  if (!needsYes && !flags.acceptChanges) refuseChanges(comparison);
  const bounded =
    needsYes && quoted === undefined ? await withMaxFee(flags, check.totals, context) : flags;
  const consent = await agree(check, quoted, bounded, context);
  const { summary, failures, failure } = await payBatch(
    found.rows(),
    check,
    before,
    consent,
    bounded,
    drain,
    payment,
    context,
  );
  if (out.format !== 'jsonl') await out.record(summary, batchView(summary, failures));
  if (failure !== undefined) throw failure;
}

async function compare(
  { check, run }: CheckedFile,
  { factor }: BatchFlags,
  context: Context,
): Promise<Comparison> {
  const { scope, journal } = await context.account();
  const past = await pastRuns(await journal(), scope, run);
  return compareRuns(check.payees, past, factor);
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
  throw new Failure('usage', `Nothing was sent: ${text}${more}.`, {
    hint: 'Check the file, then add --accept-changes.',
  });
}

interface Balances {
  readonly of: (ccy: string) => Money | undefined;
  /** Whether the service lists a wallet of this currency and reports its balance. */
  readonly isReported: (ccy: string) => boolean;
}

async function balances(context: Context): Promise<Balances> {
  const { client } = await context.account();
  const wallets = await ifAvailable(client.wallets());
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
function showPlan(
  summary: BatchSummary,
  { quotable }: BatchCheck,
  { remarks }: Comparison,
  quoted: Quoted | undefined,
  { out }: Context,
): void {
  const rows = quoted === undefined ? undefined : quotable?.map((row) => rowView(row, quoted));
  const isDrawn = out.card((canvas) => ['', ...batchCard(summary, { rows, quoted }, canvas), '']);
  if (!isDrawn) for (const each of remarks) out.say(`${remarkText(each)}.`);
}

/** Lists the rows of a dry run or, with `--json`, adds the rows to the summary. */
async function listRows(
  rows: AsyncIterable<PlannedRow>,
  summary: BatchSummary,
  quoted: Quoted | undefined,
  flags: BatchFlags,
  { out, globals }: Context,
): Promise<void> {
  if (out.format === 'json') {
    const list: BatchRowView[] = [];
    for await (const row of rows) list.push(rowView(row, quoted));
    return out.record({ ...summary, list }, batchView(summary, []));
  }
  const { seal, remarks } = summary;
  if (out.quiet && seal !== null) return out.text(seal);
  await out.list(rowViews(rows, quoted), batchRowList);
  const toPay = batchCommand(summary.file, flags, { '--sealed': seal ?? undefined });
  const command = commandLine(toPay, globals);
  if (out.forPeople) out.screen((canvas) => ['', ...dryRunLines(summary, quoted, command, canvas)]);
  else for (const each of remarks) out.say(`${remarkText(each)}.`);
  if (seal !== null && !out.forPeople) out.say(`Seal: ${seal}`);
}

function rowView(row: PlannedRow, quoted: Quoted | undefined): BatchRowView {
  const { line, ref, to, amount, order } = row;
  const { name, institution, institutionName } = payeeRow(row);
  const cost = quoted?.rows.get(line);
  return {
    line,
    to,
    amount,
    from: order.body.sourceReq.ccy,
    method: order.body.destReq.method,
    ref,
    payee: name,
    bank: institutionName ?? institution,
    cost: cost?.total.value ?? null,
    fees: cost?.fees.value ?? null,
  };
}

async function* rowViews(
  rows: AsyncIterable<PlannedRow>,
  quoted: Quoted | undefined,
): AsyncGenerator<BatchRowView> {
  for await (const row of rows) yield rowView(row, quoted);
}

/** Quotes every row to determine the cost of the batch. */
function costOf(
  rows: readonly PlannedRow[],
  flags: BatchFlags,
  payment: PaymentDeps,
  { live }: Context,
): Promise<Quoted> {
  let done = 0;
  const line = (): string => `Quoting: ${done} of ${counted(rows.length, 'row')}`;
  return live.during(line, () =>
    quoteCost(rows, flags.concurrency, async (row) => {
      const cost = await quoteRow(row, flags, payment);
      done += 1;
      return cost;
    }),
  );
}

/**
 * Estimates the cost of a batch that is too long to quote, or returns no estimate if the exchange
 * rates are unavailable.
 */
async function estimated({ totals }: BatchCheck, context: Context): Promise<readonly Cost[]> {
  const { client } = await context.account();
  const rates = totals.every(({ from, ccy }) => from === ccy)
    ? {}
    : await ifAvailable(client.rates());
  return rates === undefined ? [] : estimateCost(totals, rates);
}

/**
 * Asks for approval of a batch that is too long to quote: the amounts plus a maximum fee per row.
 */
async function withMaxFee(
  flags: BatchFlags,
  totals: readonly BatchTotal[],
  { ask }: Context,
): Promise<BatchFlags> {
  if (flags.maxFee !== undefined || totals.length === 0) return flags;
  const parse = (text: string): MaxFeeOf => {
    const maxFee = parseMaxFee(text);
    for (const { from } of totals) maxFee(from);
    return maxFee;
  };
  const question = {
    message: 'Highest fee per row',
    example: 'e.g. 100sat or 1%',
    flag: '--max-fee AMOUNT|PERCENT',
    parse,
  };
  const maxFee = await ask.steps.parsed(question);
  if (maxFee === back) throw new Failure('declined', 'Nothing was sent: you went back.');
  return { ...flags, maxFee };
}

function feeText(maxFee: MaxFeeOf | undefined, totals: readonly BatchTotal[]): string {
  const [first] = totals;
  const limit = first && maxFee?.(first.from);
  if (limit === undefined) return '';
  return (
    ' plus at most ' +
    `${'percent' in limit ? `${limit.percent} %` : formatAmount(money(limit.ccy, limit.amount))} ` +
    'in fees per row'
  );
}

function summaryOf(
  file: string,
  { check: { rows, settled, earlier, totals }, run }: CheckedFile,
  { dryRun }: BatchFlags,
  { remarks, last }: Comparison,
  planned: Pick<BatchSummary, 'cost' | 'seal'>,
  available: (ccy: string) => Money | undefined,
): BatchSummary {
  return {
    file,
    run,
    dryRun,
    rows,
    paidBefore: settled,
    paid: 0,
    sent: 0,
    unknown: 0,
    failed: 0,
    notBegun: rows - settled,
    spent: [],
    ...planned,
    totals: totals.map((total) => ({ ...total, available: available(total.from)?.value ?? null })),
    lastRun:
      last === undefined
        ? null
        : {
            at: readRunName(last.run).startedAt,
            name: readRunName(last.run).name,
            rows: last.rows.length,
          },
    remarks,
    earlier,
    result: null,
  };
}

/** Asks for the consent to the rows, or takes the consent that `--yes` gives. */
async function agree(
  { rows, settled, totals, toPay: lines }: BatchCheck,
  cost: Quoted | undefined,
  { maxFee }: BatchFlags,
  { ask, settings, out }: Context,
): Promise<BatchConsent> {
  const nothing = { lines, upTo: new Ceiling([]) };
  if (rows === settled) out.say('Nothing was sent: no row is left to pay.');
  // If the service refused the quotes of all rows, svcpay does not ask for approval, and the result
  // of the batch contains the reasons.
  if (rows === settled || cost?.costs.length === 0) return nothing;
  const place = settings.embedded ? 'sandbox' : settings.profileName;
  const sums =
    cost === undefined
      ? totals.map(({ ccy, amount }) => money(ccy, amount))
      : cost.costs.map(({ ccy, total }) => money(ccy, total));
  const fees = cost === undefined ? feeText(maxFee, totals) : '';
  const what = `${sums.map(formatAmount).join(' and ')}${fees}`;
  const refused = cost?.refused.length ?? 0;
  const wallets = [...new Set(totals.map(({ from }) => from))];
  await ask.agree(
    `Pay ${what} in ${counted(rows - settled - refused, 'row')} from your ` +
      `${wallets.join(' and ')} wallet${wallets.length === 1 ? '' : 's'} (${place})?`,
    'Nothing was sent.',
  );
  return { lines, upTo: cost === undefined ? 'terms' : new Ceiling(cost.costs) };
}
